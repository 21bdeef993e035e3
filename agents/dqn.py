"""Masked DQN: stable-baselines3's DQN over nodes, in which targets and exploration respect the action mask.

    target = reward + max over legal a of q_target(next node, a), or the reward alone where the turn is over

Mnih et al., "Human-level control through deep reinforcement learning", 2015. The target network changes only now and
then, so its maximum is computed once for every node after each change and looked up in the updates. These choices
differ from those of stable-baselines3:

- The loss is the squared error. Outcomes are random, and the Huber loss would estimate something between their mean and
  their median.
- The replay buffer keeps all transitions of a training. What a move leads to does not depend on the policy that chose
  it, so old transitions are as good as new ones, and more of them mean less noise.
- Every environment decides by itself whether it explores.
- The network is updated after every step of the vector environment, not after every fourth.
- Rewards are not discounted.

`DQNSettings` says which other settings differ.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.dqn.policies import DQNPolicy

from agents.learner import Snapshot, explored, named, part
from agents.networks import MaskedQNetwork, NodeNetwork
from agents.node_learner import NodeLearner
from agents.replay import TRANSITION, NodeReplayBuffer
from agents.vec_env import NodeVecEnv
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import IntArray, check_integer


@dataclass(frozen=True)
class DQNSettings:
    """Settings of DQN and of QR-DQN."""

    masks: bool
    """Whether illegal actions are masked; without masks they end the turn with the worst score."""
    num_envs: int
    """Environments that are stepped at once (stable-baselines3: 1)."""
    batch_size: int
    """Samples in a minibatch (stable-baselines3: 32)."""
    gradient_steps: int
    """Updates after every step of the vector environment."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0 (stable-baselines3: 0.0001, constant)."""
    exploration: float
    """Probability of a random move after the warm-up (stable-baselines3: 1 falling to 0.05)."""
    buffer_size: int
    """Transitions in the replay buffer (stable-baselines3: 1000000)."""
    learning_starts: int
    """Steps of the warm-up, during which all moves are random (stable-baselines3: 100)."""
    target_update_interval: int
    """Steps between two copies of the network to the target network."""
    width: int
    """Units in each of the two hidden layers (stable-baselines3: 64)."""
    embedding: int
    """Length of the embedding of a state, and of that of a node; 0, as in stable-baselines3, for none."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_integer("width", self.width, 1, 4096)
        check_integer("embedding", self.embedding, 0, 4096)
        if self.exploration >= 1:
            raise ValueError(f"exploration must be below 1, or nothing greedy is left, not {self.exploration}")

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn."""
        return (self.learning_starts // self.num_envs + 1) * self.num_envs


class NodeQPolicy(DQNPolicy):
    """The policy of DQN with masked networks over nodes.

    Args:
        args: what DQN passes to its policies.
        network: function of K that makes a network with K outputs for every action.
        estimates: K, how many estimates of an action's return the network makes.
        kwargs: what DQN passes to its policies.
    """

    q_net: MaskedQNetwork  # type: ignore[assignment]
    q_net_target: MaskedQNetwork  # type: ignore[assignment]

    def __init__(self, *args: Any, network: Any, estimates: int, **kwargs: Any):
        self._make_network = network
        self._estimates = estimates
        super().__init__(*args, **kwargs)

    def make_q_net(self) -> Any:
        """A masked network, for the policy and for its target."""
        return MaskedQNetwork(self._make_network(self._estimates), self._estimates)


class MaskedDQN(NodeLearner, DQN):
    """DQN over nodes."""

    policy: NodeQPolicy
    replay_buffer: NodeReplayBuffer  # type: ignore[assignment]

    _future: torch.Tensor | None = None

    @staticmethod
    def loss(value: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of estimates [B, K] against targets [B, K]."""
        return torch.nn.functional.mse_loss(value, target)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[NDArray[np.int64], Any]:
        """Greedy actions [B]; unless `deterministic`, a random legal one replaces each with the exploration rate."""
        actions = np.asarray(self.policy.q_net.greedy(torch.as_tensor(observation[:, 0]).long())[0])
        if not deterministic:
            explores = torch.rand(actions.shape).numpy() < self.exploration_rate
            actions = np.where(explores, self._random_legal(observation), actions)
        return actions, state

    def _random_legal(self, observation: Any) -> NDArray[np.int64]:
        return random_legal(self.policy.q_net.network.legal[observation[:, 0]])

    def _sample_action(self, learning_starts: int, action_noise: Any = None, n_envs: int = 1) -> tuple[Any, Any]:
        warm_up = self.num_timesteps < learning_starts
        actions = self._random_legal(self._last_obs) if warm_up else self.predict(self._last_obs)[0]
        return actions, actions

    def _store_transition(
        self, replay_buffer: Any, buffer_action: Any, new_obs: Any, reward: Any, dones: Any, infos: Any
    ) -> None:
        replay_buffer.add(self._last_obs, new_obs, buffer_action, reward, dones, infos)
        self._last_obs = new_obs

    def _on_step(self) -> None:
        super()._on_step()
        if self._n_calls % max(self.target_update_interval // self.n_envs, 1) == 0:
            self._future = None  # the target network has changed

    @torch.no_grad()
    def future(self) -> torch.Tensor:
        """[N + 1, K] the return of every node as the target network estimates it, 0 where the turn is over."""
        if self._future is None:
            legal = self.policy.q_net.network.legal
            _, estimates = self.policy.q_net_target.greedy(torch.arange(len(legal)))
            ends = torch.zeros(1, estimates.shape[1])
            self._future = torch.cat([torch.where(legal.any(dim=1)[:, None], estimates, 0.0), ends])
        return self._future

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Update the network on samples from the replay buffer."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size)
            nodes, place = torch.unique(batch.node, return_inverse=True)
            value = self.policy.q_net(nodes)[place, batch.action]
            loss = self.loss(value, batch.reward[:, None] + self.future()[batch.next])
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps
        self.logger.record("train/loss", loss.item())

    def probabilities(self, nodes: IntArray) -> NDArray[np.float32]:
        """See `Learner`."""
        greedy, _ = self.policy.q_net.greedy(torch.as_tensor(nodes))
        legal = self.policy.q_net.network.legal[nodes].numpy()
        return explored(legal, np.asarray(greedy), self.exploration_rate)

    def values(self, nodes: IntArray) -> NDArray[np.float64]:
        """See `Learner`."""
        _, estimates = self.policy.q_net.greedy(torch.as_tensor(nodes))
        return np.asarray(estimates.mean(dim=1), np.float64) / self.vec_env.reward_scale

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        buffer = {"rows": self.replay_buffer.rows.view(np.uint8), "pos": self.replay_buffer.pos}
        return {**super().snapshot(), **named("buffer", buffer), "n_calls": self._n_calls}

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        super().restore(snapshot)
        buffer = part(snapshot, "buffer")
        self.replay_buffer.restore(buffer["rows"].view(TRANSITION), buffer["pos"])
        self._n_calls = snapshot["n_calls"]
        self._future = None


def random_legal(legal: torch.Tensor) -> NDArray[np.int64]:
    """[B] a random legal action for each row of the mask [B, A]; the first action where none is legal."""
    return np.asarray((torch.rand(legal.shape) * legal).argmax(dim=1))


def make_dqn(envs: TurnVectorEnv, settings: DQNSettings, seed: int) -> MaskedDQN:
    """A DQN that has learned nothing yet."""
    return make_node_dqn(MaskedDQN, 1, envs, settings, seed)


def make_node_dqn(
    algorithm: type[MaskedDQN], estimates: int, envs: TurnVectorEnv, settings: DQNSettings, seed: int
) -> MaskedDQN:
    """A DQN or a descendant of it that has learned nothing yet.

    Args:
        algorithm: its class.
        estimates: how many estimates of the return of every action its network makes.
        envs: the vector environment, in SAME_STEP mode.
        settings: its settings.
        seed: of the dice, the network and the exploration.
    """
    tables = envs.transitions.tables

    def network(estimates: int) -> NodeNetwork:
        outputs = tables.actions * estimates
        return NodeNetwork(tables, outputs, settings.width, settings.embedding, settings.masks)

    learner = algorithm(
        NodeQPolicy,
        NodeVecEnv(envs),
        learning_rate=lambda remaining: settings.learning_rate * max(remaining, 0.0),
        buffer_size=settings.buffer_size,
        replay_buffer_class=NodeReplayBuffer,  # type: ignore[arg-type]
        learning_starts=settings.learning_starts,
        batch_size=settings.batch_size,
        gamma=1.0,
        train_freq=1,
        gradient_steps=settings.gradient_steps,
        target_update_interval=settings.target_update_interval,
        exploration_initial_eps=settings.exploration,
        exploration_final_eps=settings.exploration,
        policy_kwargs={
            "network": network,
            "estimates": estimates,
            "optimizer_kwargs": {"fused": True},  # the same steps, faster
        },
        seed=seed,
        device="cpu",
    )
    learner.exploration_rate = settings.exploration  # stable-baselines3 sets it at the first step only
    return learner
