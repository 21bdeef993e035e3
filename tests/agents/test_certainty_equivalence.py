"""Certainty equivalence counts every roll, and plays optimally for the dice that it has estimated."""

from dataclasses import replace

import numpy as np
import pytest

from agents.certainty_equivalence import CertaintyEquivalence, CertaintyEquivalenceSettings
from stb_gym import ShutTheBox, solve
from stb_gym.solver import compile_game
from tests.agents import BOX, make, seen

FIVE = {"tiles": 5}


def learner_of(steps=0, rules=FIVE, num_envs=64, seed=0, **settings):
    learner = CertaintyEquivalence(
        make(BOX, num_envs, **rules), CertaintyEquivalenceSettings(num_envs=num_envs, **settings), seed
    )
    learner.learn(steps)
    return learner


def optimal_values(tables, probability):
    """Return [N] optimal values by plain recursion, if each node's roll has `probability` [N] at its state."""
    found = {}

    def state_value(state):
        if state not in found:
            found[state] = sum(probability[node] * node_value(node) for node in tables.nodes_of(state))
        return found[state]

    def node_value(node):
        after = [state_value(tables.edge_next[edge]) for edge in tables.edges_of(node)]
        return max(after, default=-float(tables.final_score[tables.node_state[node]]))

    return np.array([node_value(node) for node in range(tables.nodes)])


def test_every_roll_is_counted_once():
    learner, turns = learner_of(), []
    before, step = learner._counts.sum(), learner._envs.step
    assert before == len(learner._counts) + 64  # every roll once, and those that the first turns begin with
    learner._envs.step = lambda actions: turns.append(step(actions)) or turns[-1]
    learner.learn(10_000)
    ended = sum(turn[2].sum() for turn in turns)
    assert ended > 1000
    assert learner._counts.sum() - before == learner.num_steps + ended


def test_it_plays_optimally_for_the_estimated_dice():
    learner, tables = learner_of(3000), compile_game(ShutTheBox(**FIVE))
    probability = learner._counts / np.bincount(tables.node_state, learner._counts)[tables.node_state]
    assert abs(probability - tables.node_probability).max() > 0.005
    values = optimal_values(tables, probability)
    state_value = np.bincount(tables.node_state, probability * values)
    greedy = tables.policy(learner.act(*seen(tables)))
    taken = tables.edge_action == tables.at_edges(greedy)
    assert state_value[tables.edge_next[taken]] == pytest.approx(values[tables.decisions], rel=1e-12)
    assert learner.figures == {"estimated_value": pytest.approx(state_value[tables.start])}


def test_it_estimates_the_dice_that_are_rolled_not_those_of_the_rules():
    learner, tables = learner_of(rules={"tiles": 5, "dice": 1}), compile_game(ShutTheBox(tiles=5, dice=1))
    loaded = np.array([0, 0, 0, 0, 1, 2])  # four of six faces show a one
    fair = learner._envs.transitions
    learner._envs.stepper = replace(fair, node_of_throw=fair.node_of_throw[:, loaded])
    learner.learn(50_000)
    probability = np.bincount(learner._envs.transitions.node_of_throw[:-1].ravel(), minlength=tables.nodes) / 6
    value = np.bincount(tables.node_state, probability * optimal_values(tables, probability))[tables.start]
    assert abs(value - solve(ShutTheBox(tiles=5, dice=1)).state_utility[tables.start]) > 1
    assert learner.figures["estimated_value"] == pytest.approx(value, abs=0.15)


def test_what_it_cannot_learn_from_is_refused():
    with pytest.raises(ValueError, match="needs the tables of a game"):
        learner_of(rules={"tiles": 18})
