"""Test whole updates: unmodified libraries pass, and faults planted in textbook learners are flagged and named."""

import random
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import stable_baselines3
import torch
from sb3_contrib import TRPO, MaskablePPO
from stable_baselines3 import A2C
from torch import nn

from stb_gym import check
from tests import every, mostly_nightly
from tests.check import assert_named, assert_refused
from tests.check.zoo import dqn_faults, ppo_faults
from tests.check.zoo.dqn import DQN
from tests.check.zoo.ppo import PPO


@pytest.mark.parametrize("algorithm", every(4, [stable_baselines3.DQN, A2C, stable_baselines3.PPO, MaskablePPO]))
def test_unmodified_libraries_pass(algorithm):
    result = check.update(algorithm)
    assert result, result
    assert {"torch", "stable-baselines3"} <= set(result.versions)


class Shared(PPO):
    """Both networks begin with the same layer."""

    def __init__(self, task):
        super().__init__(task)
        self.network["actor"][0] = self.network["critic"][0]
        self.optimisers = [torch.optim.SGD(self.network.parameters(), 1.0)]


@pytest.mark.parametrize("make", every(2, [PPO, Shared]))
def test_a_loop_passes(make):
    assert check.update(make)


class WritesIntoItsArrays(PPO):
    def update(self, transitions):
        super().update(transitions)
        transitions.reward[:] = 0


def test_arrays_belong_to_the_learner():
    assert check.update(WritesIntoItsArrays, clipping=False)


class Compiled(PPO):
    def __init__(self, task):
        super().__init__(task)
        self.actor = torch.compile(self.actor, backend="eager")


@pytest.mark.nightly
def test_compiled_networks_pass_without_a_warning():
    assert check.update(Compiled)


class DrawsItsWeights(PPO):
    def __init__(self, task):
        super().__init__(task, seed=torch.randint(10**6, ()).item() + np.random.randint(10**6))  # noqa: NPY002


def test_the_same_learner_has_the_same_result_again():
    def states():
        return torch.get_rng_state().tolist(), random.getstate(), np.random.get_state()[1].tolist()  # noqa: NPY002

    before = states()
    first = check.update(DrawsItsWeights, minibatches=False, clipping=False)
    assert states() == before
    torch.rand(1)
    assert check.update(DrawsItsWeights, minibatches=False, clipping=False) == first


# Faults in a loop


class FirstMinibatch(PPO):
    def minibatches(self, size):
        yield next(super().minibatches(size))


class OneEpoch(PPO):
    def minibatches(self, size):
        yield from torch.randperm(size).split(self.task.batch_size)


class PartialWindow(PPO):
    """Leaves out the last of five chunks over which it accumulates gradients."""

    def minibatches(self, size):
        for rows in super().minibatches(size):
            yield rows[: len(rows) * 4 // 5]

    def step(self, loss):
        super().step(0.8 * loss)


class Normalises(PPO):
    normalises = True


class NormalisesWithWrongSign(ppo_faults.ActorSign):
    normalises = True


class EndsOfStepBefore(PPO):
    def advantages(self, batch):
        return super().advantages(replace(batch, terminated=np.roll(batch.terminated, 1, axis=0)))


class Blows(PPO):
    def objective(self, ratio, advantage, batch):
        return super().objective(ratio, advantage, batch) / 0


class Replacement(PPO):
    def minibatches(self, size):
        yield from torch.randint(size, (size,)).split(self.task.batch_size)


class Momentum(PPO):
    def __init__(self, task):
        super().__init__(task, optimiser=partial(torch.optim.SGD, momentum=0.9))


IN_LOOPS = {
    Momentum: "or the optimiser has momentum",
    Replacement: "a part of the data is left out or used more often",
    ppo_faults.ActorSign: "the policy loss has -1 times the right factor",
    ppo_faults.EntropyDetached: "the entropy bonus has 0 times the right factor",
    FirstMinibatch: "only the first of all minibatches is used",
    OneEpoch: "only one epoch is done",
    PartialWindow: "a part of the data is left out",
    ppo_faults.NoReshuffle: "the same minibatches are used in each epoch",
    ppo_faults.MaskMissingInUpdate: "illegal actions are not masked in the update",
    Normalises: "the policy loss has",
    EndsOfStepBefore: "advantages: end flags are those of the step before",
    Blows: "infinite or NaN",
}


FAST = [ppo_faults.ActorSign, ppo_faults.NoReshuffle]


@pytest.mark.parametrize("make", mostly_nightly(IN_LOOPS, FAST.__contains__))
def test_faults_in_loops_are_named(make):
    assert_named(check.update(make), IN_LOOPS[make])


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("make", "option"),
    [(ppo_faults.EntropyDetached, "entropy"), (ppo_faults.ClipWrongNet, "clipping"), (FirstMinibatch, "minibatches")],
)
def test_what_a_learner_lacks_may_be_left_out(make, option):
    assert check.update(make, **{option: False})


@pytest.mark.nightly
def test_normalised_advantages_may_have_any_scale():
    assert check.update(Normalises, normalised=True)
    assert "the policy loss" in check.update(NormalisesWithWrongSign, normalised=True).likely[0]


# Action values


class SingleDQN(dqn_faults.DoubleIsPlain):
    """The target network selects the next action, too."""


@pytest.mark.parametrize(("make", "double"), [(DQN, True), (SingleDQN, False)])
def test_masked_q_learning_passes(make, double):
    assert check.update(make, double=double)


class OnlineTarget(SingleDQN):
    def best_next(self, next_q, next_q_online, mask):
        return super().best_next(next_q_online, next_q, mask)


class TauIgnored(DQN):
    def update_target(self):
        self.copy_weights()


class TauExchanged(DQN):
    def update_target(self):
        self.task = replace(self.task, tau=1 - self.task.tau)
        super().update_target()


IN_Q_LEARNING = {
    DQN: (False, "the next value is that of the action which the other network selects"),
    OnlineTarget: (False, "the next value is the greatest one of the network that selects"),
    dqn_faults.TargetUnmasked: (True, "the network that selects sees illegal actions, too"),
    dqn_faults.EndIgnored: (True, "a turn that ended bootstraps"),
    TauIgnored: (True, "tau is ignored"),
    TauExchanged: (True, "tau and 1 - tau are exchanged"),
}


@pytest.mark.parametrize("make", every(3, IN_Q_LEARNING))
def test_faults_in_q_learning_are_named(make):
    double, words = IN_Q_LEARNING[make]
    assert_named(check.update(make, double=double), words)


@pytest.mark.parametrize(("make", "seed"), [(DQN, 2), (dqn_faults.TargetUnmasked, 4)])
def test_networks_that_select_the_same_actions_by_chance_hide_no_fault(make, seed):
    double, words = IN_Q_LEARNING[make]
    assert_named(check.update(partial(make, seed=seed), double=double), words)


# Wrong calls


class WrongShape(PPO):
    def logits(self, observation):
        return super().logits(observation)[:, :-1]


class NoUpdate(PPO):
    update = None


class Detached(PPO):
    def logits(self, observation):
        return super().logits(observation).detach()


class TooSmall(PPO):
    def __init__(self, task):
        super().__init__(task)
        self.actor = self.network["actor"] = nn.Linear(task.num_features, task.num_actions)


class Frozen(PPO):
    def __init__(self, task):
        super().__init__(task)
        self.network["actor"][0].bias.requires_grad_(False)


class Half(PPO):
    def __init__(self, task):
        super().__init__(task)
        self.network.bfloat16()

    def logits(self, observation):
        return super().logits(observation.bfloat16())


class Dropout(PPO):
    def __init__(self, task):
        super().__init__(task)
        self.actor = self.network["actor"] = nn.Sequential(self.actor, nn.Dropout(0.1))


class Blind(DQN):
    """All action values are equal, whatever the parameters."""

    def q_values(self, observation):
        return 0 * super().q_values(observation)

    def target_q_values(self, observation):
        return 0 * super().target_q_values(observation)


WRONG_CALLS = {
    Frozen: "network has frozen parameters: let actor.0.bias learn, or leave them out",
    Half: "network must have parameters of single or double precision",
    Dropout: "Dropout.logits answers differently each time: switch off dropout",
    (lambda: PPO): "<lambda> is called with one UpdateTask",
    TooSmall: "the network cannot represent the policy of the data: .*; use a hidden layer of 16 or more",
    WrongShape: "WrongShape.logits must return a tensor of shape",
    NoUpdate: "NoUpdate.update raised TypeError",
    Detached: "gradient",
    TRPO: "update knows PPO, A2C, DQN and MaskablePPO, not TRPO",
    str: "must return a learner",
    Blind: "agree on the best actions",
}


@pytest.mark.parametrize("make", WRONG_CALLS)
def test_wrong_learners_are_refused(make):
    assert_refused(WRONG_CALLS[make], check.update, make)
