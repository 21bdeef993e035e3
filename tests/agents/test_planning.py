"""Test tree search and one-step rollouts: what they find, what they approach, and what they may not know."""

import gymnasium as gym
import numpy as np
import pytest

from agents.baselines import greedy_step
from agents.planning import Rollouts, TreeSearch
from stb_gym import RegretMeter, Threes, evaluate
from stb_gym.solver import compile_game
from tests.agents import BOX, THREES, seen


def regret_of(planner_class, simulations, env=THREES, **rules):
    envs = gym.make_vec(env, 64, **rules)
    return RegretMeter(envs)(planner_class(envs, simulations).act, deterministic=False).regret


@pytest.mark.parametrize(("env", "rules"), [(BOX, {"tiles": 4}), (THREES, {"dice": 2})])
def test_tree_search_finds_perfect_play(env, rules):
    assert regret_of(TreeSearch, 300, env, **rules) < 0.02 < regret_of(TreeSearch, 3, env, **rules)


@pytest.mark.nightly
def test_tree_search_finds_perfect_play_where_rollouts_do_not():
    assert regret_of(TreeSearch, 2000, dice=3) < 0.03


@pytest.mark.nightly
def test_rollouts_approach_the_greedy_step_on_the_values_of_random_play():
    game = Threes(dice=3)
    limit = evaluate(game, greedy_step(game)).regret
    assert limit > 0.1
    assert regret_of(Rollouts, 300, dice=3) == pytest.approx(limit, abs=0.01)


def test_every_simulation_throws_its_own_dice():
    planner = TreeSearch(gym.make_vec(THREES, 1, dice=2), simulations=40)
    thrown, step = [], planner._envs.step

    def recorded(actions):
        result = step(actions)
        thrown.append(planner._envs.snapshot()["throw"].item())
        return result

    planner._envs.step = recorded
    tables = planner._stepper.tables
    [state, *_] = tables.decisions[tables.dice[tables.state_origin[tables.decisions]] == 1]  # the move ends the turn
    planner._search(np.array([state]))
    assert len({*thrown}) > 1


def test_the_answer_is_the_same_for_a_seed_and_follows_it():
    observations, masks = seen(compile_game(Threes(dice=3)))
    envs = gym.make_vec(THREES, 64, dice=3)
    first, again, other = (TreeSearch(envs, 3, seed=seed).act(observations, masks).tolist() for seed in (0, 0, 1))
    assert first == again != other


def test_mistakes_are_refused_in_one_line():
    with pytest.raises(ValueError, match="simulations must be an integer from 1"):
        TreeSearch(gym.make_vec(BOX, 2, tiles=4), 0)
    with pytest.raises(ValueError, match="exploration must be a number from 0"):
        TreeSearch(gym.make_vec(BOX, 2, tiles=4), exploration=float("nan"))
    with pytest.raises(TypeError, match="vector environment of single turns"):
        TreeSearch(gym.make(BOX))
