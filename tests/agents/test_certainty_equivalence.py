"""Test that certainty equivalence counts every roll and plays optimally for the dice that it has estimated."""

from dataclasses import replace

import numpy as np
import pytest

from agents.certainty_equivalence import CertaintyEquivalence, CertaintyEquivalenceSettings
from stb_gym import ShutTheBox, solve
from stb_gym.solver import compile_game
from tests.agents import make, record, seen

FIVE = {"tiles": 5}


def learner_of(steps=0, rules=FIVE):
    learner = CertaintyEquivalence(make(**rules), CertaintyEquivalenceSettings(num_envs=64), seed=0)
    learner.learn(steps)
    return learner


def optimal_values(tables, probability):
    """Return [N] optimal values by plain recursion, if each state's roll has `probability` [N] at its afterstate."""
    found = {}

    def afterstate_values(afterstate):
        if afterstate not in found:
            found[afterstate] = sum(probability[state] * state_values(state) for state in tables.states_of(afterstate))
        return found[afterstate]

    def state_values(state):
        after = [afterstate_values(tables.pair_afterstate[pair]) for pair in tables.pairs_of(state)]
        return max(after, default=-float(tables.final_score[tables.state_origin[state]]))

    return np.array([state_values(state) for state in range(tables.num_states)])


@pytest.mark.parametrize("limit", [None, 2])
def test_every_roll_is_counted_once(limit):
    learner = learner_of(rules={**FIVE, "max_episode_steps": limit})
    before, turns = learner._counts.sum(), record(learner._envs, "step")
    assert before == len(learner._counts) + 64  # every roll once, and those that the first turns begin with
    learner.learn(10_000)
    ended = sum((turn[2] | turn[3]).sum() for turn in turns)
    assert ended > 1000
    assert any(turn[3].any() for turn in turns) == (limit is not None)
    assert learner._counts.sum() - before == learner.num_steps + ended


def test_it_plays_optimally_for_the_estimated_dice():
    learner, tables = learner_of(3000), compile_game(ShutTheBox(**FIVE))
    probability = learner._counts / np.bincount(tables.state_origin, learner._counts)[tables.state_origin]
    assert abs(probability - tables.state_probability).max() > 0.005
    values = optimal_values(tables, probability)
    afterstate_values = np.bincount(tables.state_origin, probability * values)
    greedy = tables.policy(learner.act(*seen(tables)))
    taken = tables.pair_action == tables.at_pairs(greedy)
    assert afterstate_values[tables.pair_afterstate[taken]] == pytest.approx(values[tables.decisions], rel=1e-12)
    assert learner.figures == {"estimated_value": pytest.approx(afterstate_values[tables.start])}


def test_it_estimates_the_dice_that_are_rolled_not_those_of_the_rules():
    learner, tables = learner_of(rules={"tiles": 5, "dice": 1}), compile_game(ShutTheBox(tiles=5, dice=1))
    loaded = np.array([0, 0, 0, 0, 1, 2])  # four of six faces show a one
    fair = learner._envs.transitions
    learner._envs.stepper = replace(fair, state_of_throw=fair.state_of_throw[:, loaded])
    learner.learn(50_000)
    probability = np.bincount(learner._envs.transitions.state_of_throw[:-1].ravel(), minlength=tables.num_states) / 6
    value = np.bincount(tables.state_origin, probability * optimal_values(tables, probability))[tables.start]
    assert abs(value - solve(ShutTheBox(tiles=5, dice=1)).afterstate_utilities[tables.start]) > 1
    assert learner.figures["estimated_value"] == pytest.approx(value, abs=0.15)
