"""Test whole updates: unmodified libraries pass, and faults that are planted in them are flagged and named."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from sb3_contrib import TRPO, MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.policies import ActorCriticPolicy
from torch import nn

from stb_gym import check
from tests import every


def marked_nightly(parameters):
    return [pytest.param(parameter, marks=pytest.mark.nightly) for parameter in parameters]


@pytest.mark.parametrize("algorithm", [DQN, *marked_nightly([A2C, PPO, MaskablePPO])])
def test_unmodified_libraries_pass(algorithm):
    result = check.update(algorithm)
    assert result, result
    assert {"torch", "stable-baselines3"} <= set(result.versions)


class Loop:
    """Proximal policy optimisation in one file, as teaching code has it; subclasses have faults."""

    shared = False

    def __init__(self, task):
        torch.manual_seed(0)
        self.task = task
        self.trunk = nn.Sequential(nn.Linear(task.num_features, 64), nn.Tanh()) if self.shared else nn.Identity()
        width = 64 if self.shared else task.num_features
        self.actor = nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, task.num_actions))
        self.critic = nn.Sequential(nn.Linear(width, 64), nn.Tanh(), nn.Linear(64, 1))
        self.network = nn.ModuleDict({"trunk": self.trunk, "actor": self.actor, "critic": self.critic})
        self.optimiser = torch.optim.SGD(self.held(), task.learning_rate)

    def held(self):
        return self.network.parameters()

    def logits(self, observation):
        return self.actor(self.trunk(observation))

    def values(self, observation):
        return self.critic(self.trunk(observation))[:, 0]

    def distribution(self, observation, mask):
        return torch.distributions.Categorical(logits=self.logits(observation).masked_fill(~mask, -1e8))

    def advantages(self, data):
        advantage, last = np.zeros(len(data.reward), np.float32), 0.0
        for t in reversed(range(len(advantage))):
            goes_on = 1 - data.terminated[t]
            next_value = data.value[t + 1] if t + 1 < len(advantage) else 0.0
            error = data.reward[t] + self.task.discount * next_value * goes_on - data.value[t]
            last = error + self.task.discount * self.task.lam * goes_on * last
            advantage[t] = last
        return advantage

    def policy_loss(self, log_prob, old, advantage):
        ratio = (log_prob - old).exp()
        return torch.max(-advantage * ratio, -advantage * ratio.clamp(0.8, 1.2)).mean()

    def value_loss(self, value, target):
        return ((value - target) ** 2).mean()

    def entropy(self, distribution):
        return distribution.entropy().mean()

    def loss(self, data):
        distribution = self.distribution(data["observation"], data["mask"])
        policy = self.policy_loss(distribution.log_prob(data["action"]), data["log_prob"], data["advantage"])
        value = self.value_loss(self.values(data["observation"]), data["target"])
        return policy + self.task.value_coefficient * value - self.task.entropy_coefficient * self.entropy(distribution)

    def clip(self):
        nn.utils.clip_grad_norm_(self.network.parameters(), self.task.max_grad_norm)

    def step(self, loss):
        self.optimiser.zero_grad()
        loss.backward()
        self.clip()
        self.optimiser.step()

    def minibatches(self):
        for _ in range(self.task.num_epochs):
            yield from torch.randperm(self.task.num_steps).split(self.task.batch_size)

    def update(self, transitions):
        advantage = self.advantages(transitions)
        data = {name: torch.as_tensor(array) for name, array in vars(transitions).items()}
        data |= {"advantage": torch.as_tensor(advantage), "target": torch.as_tensor(advantage + transitions.value)}
        for rows in self.minibatches():
            self.step(self.loss({name: column[rows] for name, column in data.items()}))


class Shared(Loop):
    shared = True


class NoCritic(Loop):
    """REINFORCE with discounted returns."""

    values = property()

    def loss(self, data):
        distribution = self.distribution(data["observation"], data["mask"])
        policy = -(distribution.log_prob(data["action"]) * data["advantage"]).mean()
        return policy - self.task.entropy_coefficient * self.entropy(distribution)


@pytest.mark.parametrize("make", [Loop, *marked_nightly([Shared, NoCritic])])
def test_a_loop_passes(make):
    assert check.update(make)


# Faults in unmodified libraries


def only_heads(monkeypatch):
    build = ActorCriticPolicy._build

    def with_other_optimiser(self, lr_schedule):
        build(self, lr_schedule)
        heads = [*self.action_net.parameters(), *self.value_net.parameters()]
        self.optimizer = torch.optim.SGD(heads, lr_schedule(1))

    monkeypatch.setattr(ActorCriticPolicy, "_build", with_other_optimiser)


def no_masks_in_update(monkeypatch):
    evaluate = MaskableActorCriticPolicy.evaluate_actions
    monkeypatch.setattr(
        MaskableActorCriticPolicy,
        "evaluate_actions",
        lambda self, observations, actions, action_masks=None: evaluate(self, observations, actions),
    )


IN_LIBRARIES = [
    (PPO, only_heads, "the optimiser does not hold mlp_extractor.policy_net.0.weight"),
    (MaskablePPO, no_masks_in_update, "illegal actions are not masked in the update"),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("algorithm", "plant", "words"), IN_LIBRARIES)
def test_faults_in_libraries_are_named(algorithm, plant, words, monkeypatch):
    plant(monkeypatch)
    result = check.update(algorithm)
    assert not result
    assert words in result.likely[0], result


# Faults in a loop


class ActorSign(Loop):
    def policy_loss(self, log_prob, old, advantage):
        return super().policy_loss(log_prob, old, -advantage)


class NoEntropy(Loop):
    def entropy(self, distribution):
        return super().entropy(distribution).detach()


class Sum(Loop):
    def loss(self, data):
        return len(data["action"]) * super().loss(data)


class CriticsOptimiserHoldsActor(Loop):
    def held(self):
        return self.actor.parameters()


class FirstMinibatch(Loop):
    def minibatches(self):
        yield next(super().minibatches())


class OneEpoch(Loop):
    def minibatches(self):
        yield from torch.randperm(self.task.num_steps).split(self.task.batch_size)


class PartialWindow(Loop):
    """Leaves out the last of five chunks over which it accumulates gradients."""

    def minibatches(self):
        for rows in super().minibatches():
            yield rows[: len(rows) * 4 // 5]

    def step(self, loss):
        super().step(0.8 * loss)


class MaskMissing(Loop):
    def distribution(self, observation, mask):
        return super().distribution(observation, torch.ones_like(mask))


class Normalises(Loop):
    def policy_loss(self, log_prob, old, advantage):
        return super().policy_loss(log_prob, old, (advantage - advantage.mean()) / advantage.std())


class EndsOfStepBefore(Loop):
    def advantages(self, data):
        return super().advantages(replace(data, terminated=np.append(False, data.terminated[:-1])))


class NoClipping(Loop):
    def clip(self):
        pass


class Blows(Loop):
    def policy_loss(self, log_prob, old, advantage):
        return super().policy_loss(log_prob, old, advantage) / 0


IN_LOOPS = {
    ActorSign: "the policy loss has -1 times the right factor",
    NoEntropy: "the entropy bonus has 0 times the right factor",
    Sum: "the step is 5929 times as long",
    CriticsOptimiserHoldsActor: "the optimiser does not hold critic.0.weight",
    FirstMinibatch: "only the first of all minibatches is used",
    OneEpoch: "only one epoch is done",
    PartialWindow: "a part of the data is left out",
    MaskMissing: "illegal actions are not masked in the update",
    Normalises: "the policy loss has",
    EndsOfStepBefore: "advantages: end flags are those of the step before",
    NoClipping: "the gradient is not clipped",
    Blows: "infinite or NaN",
}


FAST = [ActorSign]


@pytest.mark.parametrize("make", [*FAST, *marked_nightly(make for make in IN_LOOPS if make not in FAST)])
def test_faults_in_loops_are_named(make):
    result = check.update(make)
    assert not result
    assert IN_LOOPS[make] in result.likely[0], result


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "option"), [(NoEntropy, "entropy"), (NoClipping, "clipping"), (FirstMinibatch, "minibatches")]
)
def test_what_a_learner_lacks_may_be_left_out(make, option):
    assert check.update(make, **{option: False})


@pytest.mark.nightly
def test_normalised_advantages_may_have_any_scale():
    assert check.update(Normalises, normalised=True)
    assert "the policy loss" in check.update(ActorSign, normalised=True).likely[0]


# Action values


class Q:
    """Q-learning with masks and a target network; subclasses have faults."""

    double = False

    def __init__(self, task):
        torch.manual_seed(0)
        self.task = task
        self.q_values = self.network = self.build()
        self.target_q_values = self.target_network = self.build()
        self.optimiser = torch.optim.SGD(self.network.parameters(), task.learning_rate)

    def build(self):
        return nn.Sequential(nn.Linear(self.task.num_features, 64), nn.ReLU(), nn.Linear(64, self.task.num_actions))

    def next_value(self, observation, mask):
        values = self.target_q_values(observation).masked_fill(~mask, -torch.inf)
        selects = self.q_values(observation).masked_fill(~mask, -torch.inf) if self.double else values
        return values.gather(1, selects.argmax(dim=1, keepdim=True))[:, 0]

    def target(self, data):
        with torch.no_grad():
            ahead = self.next_value(data["next_observation"], data["next_mask"])
            return data["reward"] + self.task.discount * ahead.where(~data["terminated"], 0)

    def taken(self, data):
        return self.q_values(data["observation"]).gather(1, data["action"][:, None])[:, 0]

    def update(self, transitions):
        data = {name: torch.as_tensor(array) for name, array in vars(transitions).items()}
        self.optimiser.zero_grad()
        (0.5 * (self.taken(data) - self.target(data)) ** 2).mean().backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.task.max_grad_norm)
        self.optimiser.step()

    def update_target(self):
        with torch.no_grad():
            for old, new in zip(self.target_network.parameters(), self.network.parameters(), strict=True):
                old += self.task.tau * (new - old)


class DoubleQ(Q):
    double = True


@pytest.mark.parametrize("make", [Q, DoubleQ])
def test_masked_q_learning_passes(make):
    assert check.update(make, double=make.double)


class OnlineTarget(Q):
    def next_value(self, observation, mask):
        return self.q_values(observation).masked_fill(~mask, -torch.inf).max(dim=1).values


class Unmasked(Q):
    def next_value(self, observation, mask):
        return super().next_value(observation, torch.ones_like(mask))


class EndsIgnored(Q):
    def target(self, data):
        return super().target(data | {"terminated": torch.zeros_like(data["terminated"])})


class TauIgnored(Q):
    def update_target(self):
        self.target_network.load_state_dict(self.network.state_dict())


IN_Q_LEARNING = {
    DoubleQ: "the next value is that of the action which the other network selects",
    OnlineTarget: "the next value is the greatest one of the network that selects",
    Unmasked: "the next value is the greatest one over illegal actions, too",
    EndsIgnored: "a turn that ended bootstraps",
    TauIgnored: "tau is ignored",
}


@pytest.mark.parametrize("make", every(3, IN_Q_LEARNING))
def test_faults_in_q_learning_are_named(make):
    result = check.update(make)
    assert not result
    assert IN_Q_LEARNING[make] in result.likely[0], result


# Wrong calls


class WrongShape(Loop):
    def logits(self, observation):
        return super().logits(observation)[:, :-1]


class NoUpdate(Loop):
    update = None


class Detached(Loop):
    def logits(self, observation):
        return super().logits(observation).detach()


class TooSmall(Loop):
    def __init__(self, task):
        super().__init__(task)
        self.actor = self.network["actor"] = nn.Linear(task.num_features, task.num_actions)


WRONG_CALLS = {
    TooSmall: "the network cannot represent the policy of the data",
    WrongShape: "WrongShape.logits must return a tensor of shape",
    NoUpdate: "NoUpdate.update raised TypeError",
    Detached: "gradient",
}


@pytest.mark.parametrize("make", WRONG_CALLS)
def test_wrong_learners_are_refused_in_one_line(make):
    with pytest.raises((TypeError, ValueError), match=WRONG_CALLS[make]) as raised:
        check.update(make)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("make", "words"), [(TRPO, "update knows PPO, A2C, DQN and MaskablePPO, not TRPO"), (str, "must return a learner")]
)
def test_other_classes_are_refused(make, words):
    with pytest.raises(TypeError, match=words):
        check.update(make)
