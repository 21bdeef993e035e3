"""Policies: their forms, and what is refused."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.solver import AfterstateScorePolicy, UniformRandom, compile_game, pair_weights, policy_array

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
BEST, RANDOM = solve(GAME).policy, strategy(GAME, "random")
STATE = int(TABLES.decisions[20])
ILLEGAL = int(TABLES.legal[STATE].argmin())


def changed(policy, state, entry):
    policy = policy.copy()
    policy[state] = entry
    return policy


@pytest.mark.parametrize(
    ("policy", "key_word"),
    [
        (changed(BEST, STATE, ILLEGAL), "illegal action"),
        (changed(BEST, STATE, TABLES.num_actions), "not one of 0 to"),
        (changed(BEST, STATE, -1), "not one of 0 to"),
        (changed(RANDOM, [STATE, STATE + 50], 1 / TABLES.num_actions), "illegal action"),
        (changed(RANDOM, STATE, RANDOM[STATE] / 2), "sum to 1"),
        (changed(RANDOM, STATE, -RANDOM[STATE]), "negative"),
        (changed(RANDOM, STATE, np.nan), "not a number"),
    ],
)
def test_a_policy_that_breaks_the_rules_is_refused_naming_the_first_state(policy, key_word):
    with pytest.raises(ValueError, match=f"{key_word}.* at {TABLES.describe_state(STATE)}$"):
        evaluate(GAME, policy)


@pytest.mark.parametrize(
    "policy", [np.zeros(3, int), np.zeros((TABLES.num_states, 2)), BEST / 1, [1, 2], "random", max]
)
def test_other_arrays_names_and_agents_are_refused(policy):
    hint = r".*not 'random': stb_gym\.strategy\(game, name\)" if isinstance(policy, str) else ""
    with pytest.raises(ValueError, match=f"an array of {TABLES.num_states} integers{hint}"):
        evaluate(GAME, policy)


@pytest.mark.parametrize(
    "policy", [changed(BEST, TABLES.choices == 0, 99), changed(RANDOM, TABLES.choices == 0, np.nan)]
)
def test_entries_of_states_without_a_move_are_ignored(policy):
    weights, illegal = pair_weights(TABLES, policy)
    assert TABLES.sum_at_states(weights) == pytest.approx(np.sign(TABLES.choices))
    assert not illegal.any()


def test_probabilities_are_scaled_to_one_and_illegal_ones_may_be_allowed():
    policy = changed(RANDOM, STATE, np.eye(TABLES.num_actions)[ILLEGAL] / 4 + RANDOM[STATE] * 3 / 4) * (1 + 5e-6)
    weights, illegal = pair_weights(TABLES, policy, "end")
    assert TABLES.sum_at_states(weights) + illegal == pytest.approx(np.sign(TABLES.choices), rel=1e-14)
    assert illegal.sum() == illegal[STATE] == pytest.approx(0.25)
    with pytest.raises(ValueError, match="illegal"):
        pair_weights(TABLES, policy, "ignore")


def test_rules_are_the_arrays_that_play_the_same():
    assert (policy_array(TABLES, UniformRandom()) == RANDOM).all()
    assert (RANDOM[TABLES.pair_state, TABLES.pair_action] == TABLES.uniform).all()
    biggest_first = AfterstateScorePolicy(lambda boards, dice: -boards)
    assert (policy_array(TABLES, biggest_first) == strategy(GAME, "biggest-first")).all()
    threes = solve(Threes())
    assert threes.evaluate(AfterstateScorePolicy(threes.utilities_at)).regret == 0


@pytest.mark.parametrize(
    "score", [lambda progress, dice: 1, lambda progress, dice: np.where(progress, progress, np.nan)]
)
def test_scores_must_be_a_finite_number_for_each_state(score):
    with pytest.raises(ValueError, match="score must give a finite number"):
        evaluate(GAME, AfterstateScorePolicy(score))
