"""Test checks of formulas: right estimators pass in every style, wrong ones fail and are named."""

import json
from dataclasses import replace
from functools import partial

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import check
from stb_gym.check import faults
from stb_gym.check.trajectories import random_process, streams, turns
from tests import mostly_nightly


def loop(batch):
    """Return generalised advantages as most loops compute them, from the last step to the first."""
    advantage, last = np.zeros(batch.reward.shape), 0.0
    next_value = np.where(batch.terminated, 0, batch.next_value)
    for t in reversed(range(len(advantage))):
        error = batch.reward[t] + batch.discount * next_value[t] - batch.value[t]
        last = error + batch.discount * batch.lam * ~batch.done[t] * last
        advantage[t] = last
    return advantage


def in_torch(batch):
    """Return generalised advantages in single precision."""
    torch = pytest.importorskip("torch")
    batch = batch.map(torch.as_tensor)
    advantage = torch.zeros(batch.reward.shape)
    last = torch.zeros(())
    for t in reversed(range(len(advantage))):
        goes_on = 1 - batch.done[t].float()
        next_value = batch.next_value[t].float() * (1 - batch.terminated[t].float())
        error = batch.reward[t].float() + batch.discount * next_value - batch.value[t].float()
        last = error + batch.discount * batch.lam * goes_on * last
        advantage[t] = last
    return advantage


def in_buffer(batch):
    """Return the advantages of the buffer of stable-baselines3, whose collector adds the value after a truncation."""
    torch = pytest.importorskip("torch")
    buffers = pytest.importorskip("stable_baselines3.common.buffers")
    length, width = batch.reward.shape
    box, actions = gym.spaces.Box(0, 1, (1,)), gym.spaces.Discrete(2)
    buffer = buffers.RolloutBuffer(length, box, actions, gae_lambda=batch.lam, gamma=batch.discount, n_envs=width)
    begins = np.ones(width)
    for t in range(length):
        reward = batch.reward[t] + batch.discount * batch.truncated[t] * batch.next_value[t]
        value = torch.as_tensor(batch.value[t]).float()
        buffer.add(np.zeros((width, 1)), np.zeros((width, 1)), reward, begins, value, torch.zeros(width))
        begins = batch.done[t]
    buffer.compute_returns_and_advantage(torch.as_tensor(batch.last_value).float(), begins)
    return buffer.advantages


@pytest.mark.parametrize(
    ("function", "layout"),
    [
        (loop, "both"),
        pytest.param(in_torch, "both", marks=pytest.mark.slow),
        pytest.param(in_buffer, "TB", marks=pytest.mark.slow),
    ],
)
def test_right_advantages_pass_in_every_style(function, layout):
    assert check.advantages(function, layout=layout)


def test_streams_may_come_across():
    assert check.advantages(lambda batch: loop(batch.map(np.transpose)).T, layout="BT", lam=[0.9], discount=[1.0])


def right(formula):
    """Return a formula as a function of a batch [T, B]."""
    return lambda batch: formula(batch, faults.bootstrapped(batch), faults.goes_on(batch))


@pytest.mark.parametrize("kind", faults.FORMULAS)
def test_other_estimators_pass(kind):
    assert check.advantages(right(faults.FORMULAS[kind]), kind=kind, layout="TB")


UNUSED = {  # words of faults in what a formula does not use
    "gae": ["ratios", "windows"],
    "lambda-return": ["ratios", "windows"],
    "n-step": ["lambda", "recursion", "ratios"],
    "v-trace": ["windows"],
    "v-trace-advantage": ["windows"],
    "returns": ["lambda is taken as 1", "ratios", "windows"],
    "targets": ["lambda", "recursion", "ratios", "itself"],
}


def assert_named(check_of, wrong, unused):
    """Test that wrong versions of a formula are named, unless they change only what it does not use."""
    for name, fault in wrong.items():
        result = check_of(fault, discount=[0.9], layout="TB")
        assert result.passed == any(words in name for words in unused), name
        assert result.passed or name in result.likely


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_nightly(faults.FORMULAS, lambda kind: kind == "gae"))
def test_wrong_advantages_are_named(kind):
    assert_named(partial(check.advantages, kind=kind, lam=[0.9]), faults.faults_of_advantages(kind), UNUSED[kind])


def test_wrong_returns_are_named():
    assert_named(check.returns, faults.faults_of_returns(), UNUSED["returns"])


def target_of(kind):
    """Return a function that gives targets of one step, as most loops compute them."""

    def target(batch):
        legal = np.where(batch.next_mask, batch.next_q, -np.inf)
        if kind == "greedy":
            value = legal.max(axis=-1)
        elif kind == "double":
            best = np.where(batch.next_mask, batch.next_q_online, -np.inf).argmax(axis=-1)
            value = np.take_along_axis(batch.next_q, best[..., None], axis=-1)[..., 0]
        else:
            value = (batch.next_policy * batch.next_q).sum(axis=-1)
        return batch.reward + batch.discount * np.where(batch.terminated, 0, value)

    return target


@pytest.mark.parametrize("kind", ["greedy", "double", "expected"])
def test_right_targets_pass(kind):
    assert check.q_targets(target_of(kind), kind=kind)


def test_right_targets_of_several_steps_pass():
    def target(batch):
        best = np.where(batch.next_mask, batch.next_q, -np.inf).max(axis=-1)
        return right(faults.n_step)(replace(batch, next_value=best, value=np.zeros(batch.reward.shape)))

    assert check.q_targets(target, num_steps=3, layout="TB")
    result = check.q_targets(target_of("greedy"), num_steps=3, layout="TB")
    assert not result


def chosen(batch, masked=True):
    """Return [..., N] the distribution of the best action at the next state."""
    best = np.where(batch.next_mask | (not masked), batch.next_q, -np.inf).argmax(axis=-1)
    return np.take_along_axis(batch.next_distribution, best[..., None, None], axis=-2)[..., 0, :]


def categorical(batch, masked=True):
    """Return the probabilities of targets on the support, as C51 projects them."""
    goes_on = batch.discount * ~batch.terminated[..., None]
    moved = (batch.reward[..., None] + goes_on * batch.support).clip(batch.support[0], batch.support[-1])
    near = (1 - abs(moved[..., None] - batch.support)).clip(0)
    return (chosen(batch, masked)[..., None] * near).sum(axis=-2)


def quantiles(batch, masked=True):
    """Return quantiles of targets."""
    return batch.reward[..., None] + batch.discount * ~batch.terminated[..., None] * chosen(batch, masked)


@pytest.mark.parametrize(("kind", "function"), [("categorical", categorical), ("quantile", quantiles)])
def test_means_of_distributions_are_compared(kind, function):
    assert check.q_targets(function, kind=kind)
    unmasked = check.q_targets(lambda batch: function(batch, masked=False), kind=kind)
    assert unmasked.likely == ("the next value is the greatest one over illegal actions, too",)


def test_probabilities_that_do_not_sum_to_one_fail():
    assert not check.q_targets(lambda batch: 0.99 * categorical(batch), kind="categorical")


def test_targets_without_masks_take_all_actions():
    def target(batch):
        return batch.reward + batch.discount * np.where(batch.terminated, 0, batch.next_q.max(axis=-1))

    assert check.q_targets(target, masked=False)
    assert check.q_targets(target).likely == ("the next value is the greatest one over illegal actions, too",)


@pytest.mark.slow
@pytest.mark.parametrize("kind", mostly_nightly(["greedy", "double", "expected"], lambda kind: kind == "double"))
def test_wrong_targets_are_named(kind):
    assert_named(partial(check.q_targets, kind=kind, num_steps=3), faults.faults_of_targets(kind), UNUSED["targets"])


def test_values_are_those_of_the_solver():
    game = stb_gym.ShutTheBox(tiles=5)
    random = random_process(game, 1.0, seed=3)
    plain = replace(random, move_reward=np.zeros(len(random.policy)))
    tables = plain.tables
    probabilities = np.zeros(tables.legal.shape)
    probabilities[tables.pair_state, tables.pair_action] = plain.policy
    evaluated = stb_gym.evaluate(game, probabilities)
    at_afterstates, at_states = evaluated.utilities
    live = ~plain.is_over
    np.testing.assert_allclose(plain.value[live], at_states[live], rtol=1e-13)
    np.testing.assert_allclose(plain.backup(plain.value), tables.after_pairs(at_afterstates), rtol=1e-13)


@pytest.mark.parametrize("discount", [1.0, 0.9])
def test_mean_returns_are_the_values(discount):
    process = random_process(stb_gym.ShutTheBox(tiles=4, dice=1), discount, seed=1)
    steps = turns(process)
    mean, weight = steps.mean(faults.looked_ahead(steps.reward, discount * ~steps.terminated))
    exact = np.broadcast_to(process.backup(process.value), mean.shape)
    np.testing.assert_allclose(mean[weight > 0], exact[weight > 0], rtol=1e-12)
    assert {*np.flatnonzero(weight.any(axis=0))} == {*range(len(process.policy))}


def test_probabilities_of_streams_sum_to_one():
    process = random_process(stb_gym.ShutTheBox(tiles=4, dice=1, faces=4), 1.0, seed=0)
    for steps in (streams(process, 3), streams(process, 3, limit=2)):
        np.testing.assert_allclose(steps.weight.sum(axis=1), 1)
    begins = turns(process).steps_left[:, 0] == process.longest_turn + 1
    np.testing.assert_allclose(turns(process).weight[begins].sum(), 1)


def in_place(batch):
    batch.reward[:] = 0
    return batch.reward


MISTAKES = {
    "in place": (in_place, ValueError, "in_place changed batch.reward in place: let it work on a copy"),
    "pair": (lambda batch: (batch.reward, batch.value), TypeError, "must return one array of shape .*, not a tuple"),
    "nothing": (lambda batch: None, TypeError, "must return one array of shape .*, not NoneType"),
    "words": (lambda batch: "no", TypeError, "must return numbers, not 'no'"),
    "shape": (lambda batch: batch.reward[:, None], ValueError, "must return shape .*, as batch.reward has, not "),
    "error": (
        lambda batch: batch.rewards,
        TypeError,
        r"raised AttributeError for reward, .*, ratio \(442,\): .*rewards",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_wrong_functions_are_refused_in_one_line(mistake):
    function, kind, message = MISTAKES[mistake]
    with pytest.raises(kind, match=message) as raised:
        check.advantages(function)
    assert "\n" not in str(raised.value)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match=r"unknown kind 'gea': .*; did you mean gae\?"):
        check.advantages(loop, kind="gea")
    with pytest.raises(ValueError, match=r"each discount must be a number from 0\.01 to 1, not"):
        check.returns(loop, discount=[1.5])
    with pytest.raises(ValueError, match="num_steps must be an integer from 1 to 100, not 0"):
        check.q_targets(loop, num_steps=0)
    with pytest.raises(ValueError, match="unknown layout"):
        check.q_targets(loop, layout="B")


def test_a_report_says_what_is_wrong_and_where():
    result = check.advantages(lambda batch: -loop(batch), lam=[0.9], discount=[1.0])
    assert result.likely == ("the sign is wrong",)
    report = repr(result)
    assert report.startswith("advantages FAILED in 4 of 4 cases")
    assert "likely: the sign is wrong" in report
    assert "the mean is" in result.where
    assert json.loads(json.dumps(result.summary()))["passed"] is False
    assert repr(check.advantages(loop, lam=[0.9])).startswith("advantages passed: 8 cases, greatest error ")


def test_a_value_that_is_not_a_number_fails():
    assert not check.returns(lambda batch: np.full(batch.reward.shape, np.nan))


@pytest.mark.parametrize(
    ("run", "reason"),
    [
        (lambda: check.advantages(loop, lam=[]), "advantages ran nothing: there is no case"),
        (lambda: check.returns(loop, discount=[]), "returns ran nothing: there is no case"),
        (lambda: check.agent(untrained, rungs=[]), "agent ran nothing: there is no case"),
        (
            lambda: check.agent(untrained, rungs=["masks in play"]),
            "agent ran nothing: masks in play: .* takes no masks",
        ),
    ],
)
def test_a_check_that_runs_nothing_does_not_pass(run, reason):
    with pytest.raises(ValueError, match=f"the check of {reason}"):
        run()


def untrained(env):
    return lambda observations: observations[:, 0].astype(int)
