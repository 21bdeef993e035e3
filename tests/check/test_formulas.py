"""Test checks of formulas: right estimators pass in every style, wrong ones fail and are named."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import stb_gym
from stb_gym import check
from stb_gym.check import faults
from stb_gym.check.formulas import ADVANTAGES
from stb_gym.check.trajectories import random_process, turns
from tests import every
from tests.check import assert_named, assert_refused


def loop(batch, next_value=None):
    """Return generalised advantages as most loops compute them, from the last step to the first."""
    advantage, last = np.zeros(batch.reward.shape), 0.0
    if next_value is None:
        next_value = np.where(batch.terminated, 0, batch.next_value)
    for t in reversed(range(len(advantage))):
        error = batch.reward[t] + batch.discount * next_value[t] - batch.value[t]
        last = error + batch.discount * batch.lam * ~batch.done[t] * last
        advantage[t] = last
    return advantage


def across(batch):
    """Return the same for arrays [B, T]."""
    return loop(batch.map(np.transpose)).T


@pytest.mark.parametrize(("function", "layout"), [(loop, "both"), (across, "BT")])
def test_right_advantages_pass_in_every_layout(function, layout):
    assert check.advantages(function, layout=layout)


@pytest.mark.slow
def test_tensors_in_single_precision_pass():
    torch = pytest.importorskip("torch")
    assert check.advantages(lambda batch: torch.as_tensor(loop(batch)).float().requires_grad_(), layout="TB")


@pytest.mark.slow
def test_half_precision_is_named():
    torch = pytest.importorskip("torch")
    assert_named(check.advantages(lambda batch: torch.as_tensor(loop(batch)).bfloat16(), layout="TB"), "half precision")
    right = partial(faults.right_value, kind="greedy")
    targets = check.q_targets(lambda batch: faults.targets(batch, right(batch)).astype(np.float16), layout="TB")
    assert_named(targets, "half precision")
    assert check.advantages(lambda batch: 1e9 * loop(batch), lam=[0.9]).likely == ()


def test_truncation_does_not_hide_termination():
    """In Gymnasium both flags may be True; code that reads truncated first adds the value of a state that is over."""

    def target(batch):
        best = np.where(batch.next_mask, batch.next_q, -np.inf).max(axis=-1)
        return batch.reward + batch.discount * best * (batch.truncated | ~batch.terminated)

    assert_named(check.q_targets(target), "a turn that ends at the time limit bootstraps")


@pytest.mark.parametrize("kind", ADVANTAGES)
def test_textbook_estimators_pass(kind):
    assert check.advantages(partial(faults.estimate, kind=kind), kind=kind, layout="TB")


def test_a_loop_that_takes_last_observations_only_where_a_turn_was_cut_is_named():
    def gae(batch):
        after = np.concatenate([batch.value[1:], batch.last_value[None]])  # the first of a new turn after an end
        after = np.where(batch.truncated, batch.next_value, after)
        return loop(batch, after)

    result = check.advantages(gae, discount=[0.9], lam=[0.8], layout="TB")
    assert result.likely == ("a turn that ended bootstraps from the first state of the next turn",)


def assert_all_named(check_of, wrong, unused):
    """Test that wrong versions of a formula are named, unless they change only what it does not use."""
    known = {}  # the wrong answers for each batch

    def answer(batch, name):
        if batch.reward.shape not in known:
            known[batch.reward.shape] = wrong(batch)
        return known[batch.reward.shape][name]

    check_of(partial(answer, name="the sign is wrong"), discount=[0.9], layout="TB")
    for name in next(iter(known.values())):
        result = check_of(partial(answer, name=name), discount=[0.9], layout="TB")
        assert result.passed == any(words in name for words in unused), name
        assert result.passed or name in result.likely


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ADVANTAGES)
def test_wrong_advantages_are_named(kind):
    unused = ["lambda", "recursion"] if kind == "n-step" else []
    check_of = partial(check.advantages, kind=kind, lam=[0.8])
    assert_all_named(check_of, partial(faults.wrong_advantages, kind=kind), unused)


@pytest.mark.slow
def test_wrong_returns_are_named():
    unused = ["lambda is taken as 1", "bootstraps", "treated", "terminated and truncated"]
    assert_all_named(check.returns, faults.wrong_returns, unused)


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["greedy", "double", "expected"])
def test_wrong_targets_are_named(kind):
    check_of = partial(check.q_targets, kind=kind, num_steps=3)
    assert_all_named(check_of, partial(faults.wrong_targets, kind=kind), ["lambda", "recursion", "itself"])


def best(batch, masked=True):
    """Return [..., 1] the best action at the next state."""
    return np.where(batch.next_mask | (not masked), batch.next_q, -np.inf).argmax(axis=-1)[..., None]


def quantile(batch, masked=True):
    """Return quantiles of targets."""
    chosen = np.take_along_axis(batch.next_distribution, best(batch, masked)[..., None], axis=-2)[..., 0, :]
    return batch.reward[..., None] + batch.discount * ~batch.terminated[..., None] * chosen


def categorical(batch, masked=True):
    """Return the probabilities of targets on the support, as C51 projects them."""
    chosen = np.take_along_axis(batch.next_distribution, best(batch, masked)[..., None], axis=-2)[..., 0, :]
    moved = batch.reward[..., None] + batch.discount * ~batch.terminated[..., None] * batch.support
    near = (1 - abs(moved.clip(batch.support[0], batch.support[-1])[..., None] - batch.support)).clip(0)
    return (chosen[..., None] * near).sum(axis=-2)


@pytest.mark.parametrize("num_steps", [1, 3])
@pytest.mark.parametrize("kind", ["greedy", "double", "expected"])
def test_textbook_targets_pass(kind, num_steps):
    def target(batch):
        return faults.targets(batch, faults.right_value(batch, kind))

    assert check.q_targets(target, kind=kind, num_steps=num_steps, layout="TB")


@pytest.mark.parametrize("function", every(2, [quantile, categorical], pytest.mark.slow))
def test_targets_of_distributions(function):
    """Test that right targets pass, and that targets without masks are named, and pass where all actions count."""
    check_of = partial(check.q_targets, kind=function.__name__)
    unmasked = partial(function, masked=False)
    assert check_of(function)
    assert check_of(unmasked).likely == ("the next value is the greatest one over illegal actions, too",)
    assert check_of(unmasked, masked=False, truncation=False)


def without_exact_values(batch):
    """Lose the probability of targets that are values of the support: the bounds below and above are equal."""
    chosen = np.take_along_axis(batch.next_distribution, best(batch)[..., None], axis=-2)[..., 0, :]
    place = batch.reward[..., None] + batch.discount * ~batch.terminated[..., None] * batch.support - batch.support[0]
    place = place.clip(0, len(batch.support) - 1)[..., None]
    low, high = np.floor(place), np.ceil(place)
    atoms = np.arange(len(batch.support))
    near = (high - place) * (low == atoms) + (place - low) * (high == atoms)
    return (chosen[..., None] * near).sum(axis=-2)


@pytest.mark.parametrize("function", [lambda batch: 0.99 * categorical(batch), without_exact_values])
def test_probabilities_that_do_not_sum_to_one_fail(function):
    result = check.q_targets(function, kind="categorical", discount=[0.9])
    assert_named(result, "probabilities do not sum to 1")


def projected_mean(batch):
    """Return the projection of the mean target."""
    mean = faults.targets(batch, faults.right_value(batch, "greedy"))
    return (1 - abs(mean[..., None] - batch.support)).clip(0)


def without_clip(batch):
    """Lose the probability of targets beyond the support."""
    inner = (batch.support > batch.support[0]) & (batch.support < batch.support[-1])
    return categorical(batch) * inner


@pytest.mark.parametrize(
    ("kind", "function", "words"),
    [
        ("categorical", projected_mean, "their distribution is not"),
        (
            "quantile",
            lambda batch: 0 * quantile(batch) + quantile(batch).mean(-1, keepdims=True),
            "distribution is not",
        ),
        ("categorical", without_clip, "not clipped to its ends"),
    ],
)
def test_wrong_distributions_with_the_right_mean_are_found(kind, function, words):
    assert_named(check.q_targets(function, kind=kind, discount=[0.9], layout="TB"), words)


def test_the_greatest_of_each_quantile_fails():
    def target(batch):
        greatest = np.where(batch.next_mask[..., None], batch.next_distribution, -np.inf).max(axis=-2)
        return batch.reward[..., None] + batch.discount * ~batch.terminated[..., None] * greatest

    assert not check.q_targets(target, kind="quantile")


@pytest.mark.parametrize("kind", ["categorical", "quantile"])
def test_distributions_after_several_steps(kind):
    assert check.q_targets(faults.target_distributions, kind=kind, num_steps=3, discount=[0.9], layout="TB")


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


def test_all_turns_are_enumerated():
    steps = turns(random_process(stb_gym.ShutTheBox(tiles=4, dice=1), 1.0, seed=1))
    begins = steps.steps_left == steps.process.longest_turn + 1
    assert steps.weight[begins].sum() == pytest.approx(1)
    assert {*steps.pair.ravel()} == {*range(len(steps.process.policy))}


def gae(rewards, values, dones):
    return rewards


def in_place(batch):
    batch.reward[:] = 0
    return batch.reward


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (in_place, "in_place changed batch.reward in place: let it work on a copy"),
        (gae, r"gae is called with one Batch \(reward, .*, ratio\): write an adapter"),
        (lambda batch: gae(batch), "raised TypeError for .* missing 2 required positional arguments"),
        (lambda batch: (batch.reward, batch.value), "must return one array of shape .*, not a tuple"),
        (lambda batch: None, "must return one array of shape .*, not None"),
        (lambda batch: "no", "must return one array or tensor of shape .*, not 'no'"),
        (lambda batch: batch.reward + 0j, "must return numbers, not array"),
        (lambda batch: [[1], [1, 2]], r"must return one array or tensor of shape .*, not \[\[1\], \[1, 2\]\]"),
        (lambda batch: batch.reward[:, None], "must return shape .*, not "),
        (lambda batch: batch.rewards, r"raised AttributeError for reward, .*, ratio \(442,\): .*rewards"),
    ],
)
def test_wrong_functions_are_refused_in_one_line(function, message):
    assert_refused(message, check.advantages, function)


def test_code_for_one_stream_hears_of_the_layout():
    def numbers(batch):
        return [reward.item() for reward in batch.reward]

    assert_refused('^pass layout="T" if numbers takes one stream at a time: numbers ', check.returns, numbers)
    assert_refused(r"^numbers ", partial(check.returns, layout="TB"), numbers)


def untrained(env):
    return lambda observations: observations[:, 0].astype(int)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (partial(check.advantages, loop, kind="gea"), r"unknown kind 'gea': .*; did you mean gae\?"),
        (partial(check.returns, loop, discount=[1.5]), r"each discount must be a number from 0\.01 to 1, not"),
        (partial(check.q_targets, loop, num_steps=0), "num_steps must be an integer from 1 to 100, not 0"),
        (partial(check.q_targets, loop, layout="B"), "unknown layout"),
        (partial(check.advantages, loop, lam=[]), "check of advantages ran nothing: there is no case"),
        (partial(check.agent, untrained, rungs=["masks in play"]), "agent ran nothing: masks in play: .* no masks"),
    ],
)
def test_wrong_arguments_are_refused(run, message):
    assert_refused(message, run)


def test_a_report_says_what_is_wrong_and_where():
    result = check.advantages(lambda batch: -loop(batch), lam=[0.9], discount=[1.0])
    assert result.likely == ("the sign is wrong",)
    report = repr(result)
    assert report.startswith("advantages FAILED in 4 of 4 cases\n  likely: the sign is wrong\n")  # pytest shortens it
    assert "the mean is" in result.where
    assert json.loads(json.dumps(result.summary()))["passed"] is False
    assert repr(check.advantages(loop, lam=[0.9])).startswith("advantages passed: 8 cases, greatest error ")


def test_a_value_that_is_not_a_number_fails():
    assert_named(check.returns(lambda batch: np.full(batch.reward.shape, np.nan)), "answers are not finite")
