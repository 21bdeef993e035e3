"""Whole updates of other libraries, each behind an adapter of some lines."""

import numpy as np
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.algorithms.ppo.torch.ppo_torch_learner import PPOTorchLearner
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from tianshou.algorithm import DQN, PPO
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.modelfree.reinforce import DiscreteActorPolicy
from tianshou.algorithm.optim import TorchOptimizerFactory
from tianshou.data import Batch, ReplayBuffer
from tianshou.utils.net.common import Net
from tianshou.utils.net.discrete import DiscreteActor, DiscreteCritic
from tianshou.utils.torch_utils import policy_within_training_step
from torch import nn
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from stb_gym import check


def networks(task):
    return (
        nn.Sequential(nn.Linear(task.num_features, 64), nn.Tanh(), nn.Linear(64, outputs))
        for outputs in (task.num_actions, 1)
    )


class TorchRL:
    """TorchRL's loss and estimator of advantages, in the loop of its tutorial."""

    distributions = ("torchrl",)

    def __init__(self, task):
        self.task = task
        actor, critic = networks(task)
        self.network = nn.ModuleDict({"actor": actor, "critic": critic})
        self.logits = actor
        self.values = lambda observation: critic(observation)[:, 0]
        policy = ProbabilisticActor(
            TensorDictModule(actor, in_keys=["observation"], out_keys=["logits"]),
            in_keys=["logits", "mask"],
            distribution_class=MaskedCategorical,
            return_log_prob=True,
        )
        value = ValueOperator(critic, in_keys=["observation"])
        self.advantage = GAE(gamma=task.discount, lmbda=task.lam, value_network=value, average_gae=False)
        self.loss = ClipPPOLoss(
            policy,
            value,
            entropy_coeff=task.entropy_coefficient,
            critic_coeff=task.value_coefficient,
            loss_critic_type="l2",
            normalize_advantage=False,
        )
        self.optimiser = torch.optim.SGD(self.loss.parameters(), task.learning_rate)

    def update(self, transitions):
        tensors = {name: torch.as_tensor(array) for name, array in vars(transitions).items()}
        ends = tensors["terminated"][:, None]
        data = TensorDict(
            {
                "observation": tensors["observation"],
                "mask": tensors["mask"],
                "action": tensors["action"],
                "action_log_prob": tensors["log_prob"],
                "next": {
                    "observation": tensors["next_observation"],
                    "reward": tensors["reward"][:, None],
                    "terminated": ends,
                    "done": ends,
                },
            },
            [len(ends)],
        )
        self.advantage(data)
        for _ in range(self.task.num_epochs):
            for rows in torch.randperm(len(data)).split(self.task.batch_size):
                losses = self.loss(data[rows])
                self.optimiser.zero_grad()
                sum(losses[name] for name in ("loss_objective", "loss_critic", "loss_entropy")).backward()
                nn.utils.clip_grad_norm_(self.loss.parameters(), self.task.max_grad_norm)
                self.optimiser.step()


def test_torchrl():
    result = check.update(TorchRL)
    assert result, result
    assert "torchrl" in result.versions


class Tianshou:
    """What Tianshou's learners share: the buffer, and the update outside of a trainer."""

    distributions = ("tianshou",)

    def __init__(self, task):
        self.task = task
        self.optim = TorchOptimizerFactory(torch.optim.SGD, lr=task.learning_rate)

    def fill(self, transitions, observation, next_observation):
        buffer = ReplayBuffer(len(transitions.action))
        for t in range(len(transitions.action)):
            buffer.add(
                Batch(
                    obs=observation(t),
                    act=transitions.action[t],
                    rew=transitions.reward[t],
                    terminated=transitions.terminated[t],
                    truncated=False,
                    obs_next=next_observation(t),
                    info={},
                )
            )
        return buffer


class TianshouPPO(Tianshou):
    def __init__(self, task):
        super().__init__(task)
        actor, critic = (Net(state_shape=task.num_features, hidden_sizes=[64]) for _ in range(2))
        actor = DiscreteActor(preprocess_net=actor, action_shape=task.num_actions, softmax_output=False)
        critic = DiscreteCritic(preprocess_net=critic)
        self.logits = lambda observation: actor(observation)[0]
        self.values = lambda observation: critic(observation)[:, 0]
        self.algorithm = PPO(
            policy=DiscreteActorPolicy(actor=actor, action_space=task.env.action_space),
            critic=critic,
            optim=self.optim,
            gamma=task.discount,
            gae_lambda=task.lam,
            vf_coef=task.value_coefficient,
            ent_coef=task.entropy_coefficient,
            max_grad_norm=task.max_grad_norm,
            advantage_normalization=False,
        )
        self.network = nn.ModuleDict({"actor": actor, "critic": critic})

    def update(self, transitions):
        buffer = self.fill(transitions, transitions.observation.__getitem__, transitions.next_observation.__getitem__)
        with policy_within_training_step(self.algorithm.policy):
            self.algorithm.update(buffer, self.task.batch_size, self.task.num_epochs)


class TianshouDQN(Tianshou):
    double = True

    def __init__(self, task):
        super().__init__(task)
        self.network = Net(state_shape=task.num_features, action_shape=task.num_actions, hidden_sizes=[64])
        policy = DiscreteQLearningPolicy(model=self.network, action_space=task.env.action_space)
        self.algorithm = DQN(
            policy=policy,
            optim=self.optim,
            gamma=task.discount,
            target_update_freq=100,
            is_double=self.double,
            huber_loss_delta=1.0,
        )
        self.target_network = self.algorithm.model_old

    def q_values(self, observation):
        return self.network(observation)[0]

    def target_q_values(self, observation):
        return self.target_network(observation)[0]

    def update(self, transitions):
        buffer = self.fill(
            transitions,
            lambda t: Batch(obs=transitions.observation[t], mask=transitions.mask[t].astype(float)),
            lambda t: Batch(obs=transitions.next_observation[t], mask=transitions.next_mask[t].astype(float)),
        )
        with policy_within_training_step(self.algorithm.policy):
            self.algorithm.update(buffer, 0)


class TianshouSingleDQN(TianshouDQN):
    double = False


def test_ppo_of_tianshou():
    result = check.update(TianshouPPO, masked=False)
    assert result, result


def test_double_dqn_of_tianshou_masks_its_targets():
    result = check.update(TianshouDQN, double=True, clipping=False)
    assert result, result


def test_single_dqn_of_tianshou_does_not_mask_its_targets():
    """A fault of Tianshou 2.0.1: `DQN._target_q` takes the greatest of the raw outputs of the target network."""
    result = check.update(TianshouSingleDQN, clipping=False)
    assert result.likely == ("the next value is the greatest one over illegal actions, too",)


class PlainLearner(PPOTorchLearner):
    """RLlib's learner with plain SGD."""

    def configure_optimizers_for_module(self, module_id, config=None):
        parameters = self.get_parameters(self.module[module_id])
        optimiser = torch.optim.SGD(parameters, config.lr)
        self.register_optimizer(
            module_id=module_id, optimizer=optimiser, params=parameters, lr_or_lr_schedule=config.lr
        )


class RLlib:
    """RLlib's learner, with the connectors that compute advantages, on episodes of RLlib's class."""

    distributions = ("ray",)

    def __init__(self, task):
        spaces = {"observation_space": task.env.observation_space, "action_space": task.env.action_space}
        self.episode = lambda **columns: SingleAgentEpisode(
            **spaces, **columns, terminated=True, truncated=False, len_lookback_buffer=0
        )
        config = PPOConfig().environment(**spaces).learners(num_learners=0, num_gpus_per_learner=0)
        config.training(
            learner_class=PlainLearner,
            lr=task.learning_rate,
            gamma=task.discount,
            lambda_=task.lam,
            vf_loss_coeff=task.value_coefficient,
            vf_clip_param=1e9,
            entropy_coeff=task.entropy_coefficient,
            use_kl_loss=False,
            train_batch_size_per_learner=task.num_steps,
        )
        self.learner = config.build_learner(env=task.env)
        self.network = self.learner.module["default_policy"]

    def logits(self, observation):
        return self.network._forward_train({"obs": observation})["action_dist_inputs"]

    def values(self, observation):
        return self.network.compute_values({"obs": observation})

    def update(self, transitions):
        logits = self.logits(torch.as_tensor(transitions.observation)).detach().numpy()
        ends = np.flatnonzero(transitions.terminated) + 1
        episodes = [
            self.episode(
                observations=[*transitions.observation[first:end], transitions.next_observation[end - 1]],
                actions=[*transitions.action[first:end]],
                rewards=[*transitions.reward[first:end]],
                extra_model_outputs={
                    "action_logp": [*transitions.log_prob[first:end]],
                    "action_dist_inputs": [*logits[first:end]],
                },
            )
            for first, end in zip(np.append(0, ends[:-1]), ends, strict=True)
        ]
        self.learner.update(episodes=episodes, timesteps={"num_env_steps_sampled_lifetime": 0}, num_epochs=1)


def test_rllib():
    """RLlib always normalises advantages, and its minibatches have rows that its loss leaves out."""
    result = check.update(RLlib, masked=False, normalised=True, minibatches=False)
    assert result, result


def test_rllib_normalises_over_rows_that_its_loss_leaves_out():
    """A fault of RLlib 2.60.0: one more row for each episode is in the mean and in the standard deviation."""
    seen = []

    class Records(PlainLearner):
        def compute_loss_for_module(self, *, batch, **others):
            seen.append((batch["advantages"], batch["loss_mask"]))
            return super().compute_loss_for_module(batch=batch, **others)

    class Recorded(RLlib):
        def update(self, transitions):
            self.learner.__class__ = Records
            super().update(transitions)

    check.update(Recorded, masked=False, normalised=True, minibatches=False)
    [(advantage, mask)] = seen
    assert abs(advantage.mean()) < 1e-5 < 0.01 < abs(advantage[mask].mean())
    assert abs(advantage.std() - 1) < 1e-3 < 0.01 < abs(advantage[mask].std() - 1)
