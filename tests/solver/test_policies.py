"""Policies: their forms, and what is refused."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.solver import StateScorePolicy, UniformRandom, compile_game, edge_weights, policy_array

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
BEST, RANDOM = solve(GAME).policy, strategy(GAME, "random")
NODE = int(TABLES.decisions[20])
ILLEGAL = int(TABLES.legal[NODE].argmin())


def changed(policy, node, entry):
    policy = policy.copy()
    policy[node] = entry
    return policy


@pytest.mark.parametrize(
    ("policy", "key_word"),
    [
        (changed(BEST, NODE, ILLEGAL), "illegal action"),
        (changed(BEST, NODE, TABLES.actions), "not one of 0 to"),
        (changed(BEST, NODE, -1), "not one of 0 to"),
        (changed(RANDOM, [NODE, NODE + 50], 1 / TABLES.actions), "illegal action"),
        (changed(RANDOM, NODE, RANDOM[NODE] / 2), "sum to 1"),
        (changed(RANDOM, NODE, -RANDOM[NODE]), "negative"),
        (changed(RANDOM, NODE, np.nan), "not a number"),
    ],
)
def test_a_policy_that_breaks_the_rules_is_refused_naming_the_first_node(policy, key_word):
    with pytest.raises(ValueError, match=f"{key_word}.* at {TABLES.describe_node(NODE)}$"):
        evaluate(GAME, policy)


@pytest.mark.parametrize("policy", [np.zeros(3, int), np.zeros((TABLES.nodes, 2)), BEST / 1, [1, 2], "random", max])
def test_other_arrays_names_and_agents_are_refused(policy):
    with pytest.raises(ValueError, match=f"an array of {TABLES.nodes} integers"):
        evaluate(GAME, policy)


def test_a_name_is_pointed_to_its_strategy():
    with pytest.raises(ValueError, match=r"not 'random': stb_gym\.strategy\(game, name\)"):
        evaluate(GAME, "random")


@pytest.mark.parametrize(
    "policy", [changed(BEST, TABLES.choices == 0, 99), changed(RANDOM, TABLES.choices == 0, np.nan)]
)
def test_entries_of_nodes_without_a_move_are_ignored(policy):
    weights, illegal = edge_weights(TABLES, policy)
    assert TABLES.sum_at_nodes(weights) == pytest.approx(np.sign(TABLES.choices))
    assert not illegal.any()


def test_probabilities_are_scaled_to_one_and_illegal_ones_may_be_allowed():
    policy = changed(RANDOM, NODE, np.eye(TABLES.actions)[ILLEGAL] / 4 + RANDOM[NODE] * 3 / 4) * (1 + 5e-6)
    weights, illegal = edge_weights(TABLES, policy, "end")
    assert TABLES.sum_at_nodes(weights) + illegal == pytest.approx(np.sign(TABLES.choices), rel=1e-14)
    assert illegal.sum() == illegal[NODE] == pytest.approx(0.25)
    with pytest.raises(ValueError, match="illegal"):
        edge_weights(TABLES, policy, "ignore")


def test_rules_are_the_arrays_that_play_the_same():
    assert (policy_array(TABLES, UniformRandom()) == RANDOM).all()
    assert (RANDOM[TABLES.edge_node, TABLES.edge_action] == TABLES.uniform).all()
    biggest_first = StateScorePolicy(lambda boards, dice: -boards)
    assert (policy_array(TABLES, biggest_first) == strategy(GAME, "biggest-first")).all()
    threes = solve(Threes())
    assert threes.evaluate(StateScorePolicy(threes.utilities_at)).regret == 0


@pytest.mark.parametrize("score", [lambda held, dice: 1, lambda held, dice: np.where(held, held, np.nan)])
def test_scores_must_be_a_finite_number_for_each_state(score):
    with pytest.raises(ValueError, match="score must give a finite number"):
        evaluate(GAME, StateScorePolicy(score))
