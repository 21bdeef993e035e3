"""DQN: its targets and losses, episodes in every mode, its variants, and resuming."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.checkpoints import load_snapshot, save_snapshot
from agents.dqn import DQN, DQNSettings
from agents.replay import OVER
from agents.returns import best, losses
from stb_gym import RegretMeter, ShutTheBox, solve
from stb_gym.solver import compile_game

BOX = "stb_gym/ShutTheBox-v0"
SETTINGS = DQNSettings(
    masks=True,
    num_envs=64,
    batch_size=256,
    gradient_steps=2,
    learning_rate=5e-3,
    averaging=0.05,
    exploration=0.15,
    warm_up=500,
    weighting=0.5,
    width=32,
    pooled=True,
    value_new=False,
    double=False,
    quantiles=1,
)


def make(mode="SameStep", kind="vector_entry_point", tiles=5, **options):
    vector = {"autoreset_mode": gym.vector.AutoresetMode(mode)}
    if kind == "sync":
        return gym.make_vec(BOX, 64, kind, vector_kwargs=vector, tiles=tiles, **options)
    return gym.make_vec(BOX, 64, kind, **vector, tiles=tiles, **options)


def dqn(envs=None, seed=0, **changes):
    return DQN(envs or make(), replace(SETTINGS, **changes), seed)


def regret(learner, game):
    return RegretMeter(game)(lambda seen, masks: learner.probabilities(seen, masks).argmax(axis=1)).regret


def test_the_best_action_is_legal_and_its_returns_have_the_greatest_mean():
    estimates = np.array([[[0, 4], [3, 3], [9, 9]], [[1, 1], [0, 2], [0, 0]], [[5, 5], [1, 1], [2, 2]]], np.float32)
    assert best(estimates, np.array([[1, 1, 0], [1, 1, 1], [0, 0, 0]], np.bool_)).tolist() == [1, 0, 0]


def test_the_loss_is_least_at_the_mean_or_at_the_quantiles():
    mean, target = torch.tensor([[2.0], [3.0]]), torch.tensor([[0.0], [7.0]])
    assert losses(mean, target).tolist() == [4, 16]
    samples = torch.tensor([[0.0, 0.0, 1.0, 7.0]])
    grid = torch.linspace(-1, 8, 91)
    spread = torch.zeros(91, 4)
    for quantile, least in enumerate([0.0, 0.0, 1.0, 7.0]):
        estimates = spread.clone()
        estimates[:, quantile] = grid
        loss = losses(estimates, samples.expand(91, 4))
        assert grid[loss.argmin()] == pytest.approx(least, abs=0.05)


@cache
def in_gymnasium(mode, cut):
    """A learner that has learned in environments of Gymnasium, the episodes of which may be cut short."""
    learner = dqn(make(mode, "sync", wrappers=[lambda env: gym.wrappers.TimeLimit(env, 2)] if cut else []))
    learner.learn_until(2000 if cut else 4000)
    return learner


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("cut", [False, True])
def test_what_is_kept_are_transitions_of_the_game_however_episodes_end_and_begin(mode, cut):
    learner = in_gymnasium(mode, cut)
    seen, rows = learner._positions.observations, learner._replay._rows
    points, roll = seen[:, :5] @ np.arange(1, 6), seen[:, 5:].argmax(axis=1) + 2
    over = rows["next"] == OVER
    masks = learner._positions.masks(rows["position"])
    assert masks[np.arange(len(rows)), rows["action"]].all()
    assert (rows["reward"][~over] == 0).all()
    left = np.where(over, -rows["reward"], points[rows["next"]])
    assert (points[rows["position"]] - left == roll[rows["position"]]).all()
    assert 0 < over.mean() < 1
    assert learner._replay.counts.sum() >= 0.98 * learner.num_timesteps * (1 if mode == "SameStep" else 0.6)
    assert (points[rows["position"]] == 2).any() != cut  # no single roll leaves 2 of 15 points


@pytest.mark.parametrize("changes", [{}, {"double": True}, {"quantiles": 8}, {"pooled": False}, {"batch_size": 32}])
def test_every_variant_learns_what_moves_are_worth(changes):
    game, learner = ShutTheBox(tiles=5), dqn(**changes)
    learner.learn_until(4000)
    tables, optimum = compile_game(game), solve(game)
    expected = learner.values(tables.observation[tables.decisions], tables.legal[tables.decisions])
    assert regret(learner, game) < 0.4 < regret(dqn(), game) / 1.5  # near ties cost up to 0.25, whatever is learned
    assert np.abs(expected - optimum.node_utility[tables.decisions]).mean() < 1


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_it_learns_from_environments_of_gymnasium_in_every_mode(mode):
    assert regret(in_gymnasium(mode, False), ShutTheBox(tiles=5)) < 0.4


def test_double_targets_are_of_the_averaged_weights_at_the_learned_choice():
    learner = dqn(double=True)
    learner.learn_until(1200)
    before = {name: array.copy() for name, array in learner.weights().items()}
    drawn = learner._positions.decisions
    seen, masks = learner._positions.observations, learner._positions.masks(np.arange(len(learner._positions)))
    learned, averaged = (learner._estimates(each, seen[drawn]) for each in (learner._network, learner._average))
    assert (best(learned, masks[drawn]) != best(averaged, masks[drawn])).any()
    learner._value(drawn, learned)
    for position, choice, estimates in zip(drawn, best(learned, masks[drawn]), averaged, strict=True):
        assert learner._worth[position] == estimates[choice]
    assert all((learner.weights()[name] == before[name]).all() for name in before)


@pytest.mark.parametrize("value_new", [False, True])
def test_a_new_position_is_worth_nothing_or_what_the_network_expects(value_new):
    learner = dqn(value_new=value_new, warm_up=200)
    learner.learn_until(500)
    known = len(learner._positions)
    while len(learner._positions) == known:
        learner._play()
    learner._value_new()
    learner._value_new()  # of no position
    new = np.arange(known, len(learner._positions))
    expected = learner._estimates(learner._network, learner._positions.observations[new])
    masks = learner._positions.masks(new)
    for position, estimates, mask in zip(new, expected, masks, strict=True):
        worth = estimates[best(estimates[None], mask[None])[0]] if value_new and mask.any() else 0
        assert learner._worth[position] == worth
    assert learner._worth[new].any() == value_new


def test_every_position_is_drawn_about_as_often():
    learner = dqn()
    learner.learn_until(1000)
    positions = learner._positions
    drawn = np.concatenate(list(positions.draws(40, 7, np.random.default_rng(0))))
    decisions, times = positions.decisions, np.bincount(drawn, minlength=len(positions))
    assert times.sum() == 280
    assert not np.delete(times, decisions).any()
    assert np.ptp(times[decisions]) <= 2


@pytest.mark.parametrize("changes", [{"double": True}, {"quantiles": 4}])
def test_it_goes_on_from_a_file_bit_by_bit(changes, tmp_path):
    one = dqn(**changes)
    one.learn_until(800)
    save_snapshot(tmp_path / "snapshot", one.snapshot())
    one.learn_until(1200)
    other = dqn(seed=1, **changes)
    other.restore(load_snapshot(tmp_path / "snapshot"))
    other.learn_until(1200)
    for name, array in one.weights().items():
        assert (array == other.weights()[name]).all()
    assert one.figures == other.figures


def test_any_vector_environment_will_do_also_without_masks_or_a_snapshot():
    def cartpole():
        return DQN(gym.make_vec("CartPole-v1", 8), replace(SETTINGS, warm_up=100, gradient_steps=1), 0)

    learner = cartpole()
    learner.learn_until(300)
    other = cartpole()
    other.restore(learner.snapshot())
    other.learn_until(600)
    assert other.num_timesteps == 600
    assert np.isfinite(other.figures["loss"])
    assert len(other._positions) > 300


def test_settings_without_a_meaning_are_refused():
    for name, words in (("averaging", "must be from 0 to 1"), ("exploration", "must be below 1")):
        with pytest.raises(ValueError, match=f"{name} {words}.* not 1.5"):
            DQN(make(), replace(SETTINGS, **{name: 1.5}))
    assert SETTINGS.first_update == 512  # the first multiple of 64 environments
    assert replace(SETTINGS, warm_up=0).first_update == 64


def test_a_random_action_is_legal_even_if_its_random_number_is_0():
    learner = dqn()
    learner._random = SimpleNamespace(random=lambda shape, dtype: np.zeros(shape, dtype))
    here = learner._here
    assert learner._positions.masks(here)[np.arange(64), learner._choose(here)].all()
