"""Test checks of gradients: right estimators pass, biased ones fail and are named, intervals cover the cosine."""

import json

import gymnasium as gym
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from stb_gym import RegretMeter, Threes, check
from stb_gym.check.gradients import direction
from stb_gym.check.sampled_turns import TurnSampler
from stb_gym.measure import policy_gradient
from tests import every
from tests.check import assert_named, assert_refused
from tests.check.zoo.ppo import perceptron

METER = RegretMeter(Threes(dice=3))


def random_play(observations, masks):
    return masks / masks.sum(axis=1, keepdims=True)


def of_table(meter, policy, weights_of):
    """Return a function from turns to a gradient by the logits of a table."""
    tables = meter.solution.tables
    chances = meter(policy).weights

    def gradient_of_a_batch(turns):
        weights = weights_of(turns) * turns.valid
        by_pair = np.bincount(turns.pair.ravel(), weights.ravel(), len(tables.pair_state))
        return by_pair - chances * tables.at_pairs(tables.sum_at_states(by_pair))

    return gradient_of_a_batch


def network():
    torch.manual_seed(0)
    return perceptron(METER.view.space.shape[0], len(METER.game.actions))


NET = network()


def of_network(net, weights_of, masked=True, adds=False):
    """Return a function from turns to the gradients of a network, as a trainer computes them."""

    def gradient_of_a_batch(turns):
        if not adds:
            net.zero_grad()
        logits = net(torch.as_tensor(turns.observation).float())
        if masked:
            logits = logits.masked_fill(~torch.as_tensor(turns.mask), -1e9)
        action = torch.as_tensor(turns.action)[..., None]
        log_probability = logits.log_softmax(dim=-1).gather(-1, action)[..., 0]
        weights = torch.as_tensor(weights_of(turns) * turns.valid)
        loss = -(weights * log_probability).sum() / len(turns.reward)
        loss.backward()
        return [-weight.grad for weight in net.parameters()]

    return gradient_of_a_batch


def leave_one_out(turns):
    returns = turns.reward.sum(axis=1).reshape(-1, turns.group_size)
    others = (returns.sum(axis=1, keepdims=True) - returns) / (turns.group_size - 1)
    return (returns - others).reshape(-1, 1)


def grpo(turns):
    """Return the returns normalised over groups, averaged over the moves of each turn."""
    returns = turns.reward.sum(axis=1).reshape(-1, turns.group_size)
    centred = returns - returns.mean(axis=1, keepdims=True)
    return (centred / (returns.std(axis=1, keepdims=True) + 1e-4)).reshape(-1, 1) / turns.length[:, None]


def test_a_right_estimator_passes():
    result = check.gradient(METER, NET, of_network(NET, leave_one_out), group_size=8, masked=True)
    assert result
    assert result.direction.cosine == pytest.approx(1, abs=0.01)
    assert result.direction.length == pytest.approx(1, abs=0.05)
    assert "no bias is found" in repr(result)
    assert json.loads(json.dumps(result.summary()))["batch_cosine"] == pytest.approx(result.direction.batch_cosine)


def test_a_right_estimator_passes_without_masks():
    plain = of_network(NET, leave_one_out, masked=False)
    assert check.gradient(METER, NET, plain, group_size=8, masked=False, batches=20)


FAULTS = {
    "averaged over its own moves, so moves of short turns count more; and each group is divided": of_network(NET, grpo),
    "the sign is wrong": of_network(NET, lambda turns: -leave_one_out(turns)),
    "ignore the masks": of_network(NET, leave_one_out, masked=False),
    "its own reward only": of_network(NET, lambda turns: turns.reward),
}


@pytest.mark.parametrize("words", every(4, FAULTS))
def test_faults_are_named(words):
    result = check.gradient(METER, NET, FAULTS[words], group_size=8, masked=True)
    [name] = result.likely
    assert words in name
    assert "the direction is biased" in repr(result)


def test_what_is_left_over_from_other_batches_is_found():
    right = of_table(METER, random_play, leave_one_out)
    seen = []

    def gradient_of_a_batch(turns):
        seen.append(right(turns))
        return seen[-2 if len(seen) % 5 == 0 else -1]

    result = check.gradient(METER, random_play, gradient_of_a_batch, group_size=8, batches=20)
    assert_named(result, "depends on the batches before")


def test_an_unknown_fault_is_not_named():
    wrong = of_table(METER, random_play, lambda turns: turns.reward.sum(axis=1, keepdims=True) * turns.state**2)
    assert len(check.gradient(METER, random_play, wrong).likely) == 3


def test_too_much_noise_decides_nothing():
    draws = np.random.default_rng(0)
    result = check.gradient(
        METER, random_play, lambda turns: draws.normal(size=len(METER.solution.tables.pair_state)), batches=20
    )
    assert not result
    assert result.likely == ("too few turns to tell",)


def test_a_batch_of_the_turns_needed_has_the_cosine_of_nine_tenths():
    estimator = of_table(METER, random_play, leave_one_out)
    first = check.gradient(METER, random_play, estimator, group_size=8)
    needed = 8 * round(first.direction.turns_needed / 8)
    again = check.gradient(METER, random_play, estimator, turns=needed, group_size=8, seed=1)
    assert needed > 600
    assert again.direction.batch_cosine == pytest.approx(0.9, abs=0.01)


def test_models_of_stable_baselines_are_checked():
    env = gym.make("stb_gym/Threes-v0", dice=3)
    model = MaskablePPO("MlpPolicy", env, n_steps=64, device="cpu", seed=0)
    meter = RegretMeter(env)
    assert check.gradient(meter, model, lambda turns: policy_gradient(meter, model), batches=10)


@pytest.mark.parametrize(
    ("policy", "function", "message"),
    [
        (random_play, lambda turns: None, "must return .* not None"),
        (random_play, lambda turns: np.zeros(3), "must return .* not shape"),
        (random_play, lambda turns: {}["gradient"], "raised KeyError"),
        (random_play, lambda turns: np.full(len(METER.solution.tables.pair_state), np.nan), "infinite or not a number"),
        (lambda observations, masks: masks.argmax(axis=1), print, "returns actions"),
        (lambda observations, masks: np.eye(masks.shape[1])[masks.argmax(axis=1)], print, "gradient is 0"),
        (lambda observations, masks: np.ones(masks.shape) / masks.shape[1], print, "probability 0 for illegal actions"),
    ],
)
def test_wrong_policies_and_answers_get_one_line(policy, function, message):
    assert_refused(message, check.gradient, METER, policy, function)


def test_a_loss_is_no_gradient():
    assert_refused(
        r"the gradient has shape \(\), .*: give a list", check.gradient, METER, NET, lambda turns: 1.0, masked=True
    )


def test_turns_must_fill_groups():
    assert_refused("multiple of group_size", check.gradient, METER, random_play, print, group_size=7)


@pytest.mark.parametrize(
    ("fault", "message"), every(2, [("adds", "set the gradients to zero"), ("steps", "make no step")])
)
def test_changes_of_the_agent_are_refused(fault, message):
    net = network()
    for weight in net.parameters():
        weight.grad = torch.ones_like(weight)  # left over from before the check
    right = of_network(net, leave_one_out, adds=fault == "adds")

    def gradient_of_a_batch(turns):
        slopes = right(turns)
        if fault == "steps":
            torch.optim.SGD(net.parameters(), 0.1).step()
        return slopes

    assert_refused(message, check.gradient, METER, net, gradient_of_a_batch, masked=True, group_size=8)


@pytest.mark.parametrize("masked", [True, False])
def test_sampled_turns_follow_the_policy(masked):
    evaluation = METER(NET, False, masked)
    turns = TurnSampler(evaluation, METER.policy(NET, False, masked), METER.view)(20_000, 4, np.random.SeedSequence(0))
    tables = evaluation.tables
    returns = evaluation.optimum.objective.sign * turns.reward.sum(axis=1)
    assert returns.mean() == pytest.approx(evaluation.value, abs=5 * returns.std() / len(returns) ** 0.5)
    assert turns.length.mean() == pytest.approx(evaluation.visits[tables.decisions].sum(), rel=0.02)
    assert np.ptp(turns.state[:, 0].reshape(-1, 4), axis=1).max() == 0
    assert (tables.observation[turns.state] == turns.observation)[turns.valid].all()
    assert (tables.legal[turns.state, turns.action] == (turns.pair >= 0))[turns.valid].all()


def coverage(dimensions, cosine, noise, batches, confidence, repetitions=300):
    """Return the shares of intervals that contain the cosine, and that exclude 1."""
    draws = np.random.default_rng(0)
    exact = np.eye(dimensions)[0]
    mean = cosine * exact + np.sqrt(1 - cosine**2) * np.eye(dimensions)[1]
    scale = noise / np.sqrt(np.arange(1, dimensions + 1))
    found = [
        direction(mean + scale * (draws.exponential(size=(batches, dimensions)) - 1), exact, 512, confidence).interval
        for _ in range(repetitions)
    ]
    low, high = np.array(found).T
    return np.mean((low <= cosine + 1e-4) & (cosine - 1e-4 <= high)), np.mean(high < 1)


@pytest.mark.nightly
def test_intervals_cover_the_cosine():
    contained, fails = coverage(10, 0.9, 0.5, 50, 0.9)
    assert contained >= 0.9
    assert fails >= 0.9
    _, fails = coverage(10, 1.0, 0.5, 50, 0.9)
    assert fails <= 0.02


@pytest.mark.nightly
@pytest.mark.parametrize("dimensions", [2, 30])
@pytest.mark.parametrize("cosine", [1.0, 0.97, 0.5, -0.9])
@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("batches", [20, 100])
def test_intervals_cover_the_cosine_everywhere(dimensions, cosine, noise, batches):
    contained, _ = coverage(dimensions, cosine, noise, batches, 0.95)
    assert contained >= 0.94
