"""Test values and optimal moves against the reference in fractions, and the methods of a solution."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stb_gym import ShutTheBox, Threes, solve, strategy
from tests import every, reference
from tests.solver import as_lines
from tests.twins import (
    GOALS,
    STANDARD,
    UTILITIES,
    games,
    move_of,
    their_utility,
    throwing_afterstates,
    throwing_states,
    twin,
)

NINE, TEN = ShutTheBox(), ShutTheBox(tiles=10, score="count")
SHOWN = [ShutTheBox(tiles=3, faces=3, one_die="any-time"), Threes(dice=2, faces=3, moon=True)]


@given(games(), st.sampled_from(GOALS), st.booleans())
def test_every_value_and_optimal_move_is_that_of_the_reference(game, goal, worst):
    exact, floats = (solve(game, goal, worst=worst, exact=exact) for exact in (True, False))
    tables, other, utility = exact.tables, twin(game), their_utility(game, goal)
    best, sign = (min, -1) if worst else (max, 1)
    for afterstate, where in throwing_afterstates(tables):
        assert sign * exact.afterstate_utilities[afterstate] == reference.value(other, where, utility, best)
    for state, where, roll in throwing_states(tables):
        values = reference.move_values(other, where, roll, utility, best)
        assert sign * exact.state_utilities[state] == reference.rolled_value(other, where, roll, utility, best)
        if values:
            optimal = [pair for pair in tables.pairs_of(state) if exact.optimal[pair]]
            assert {move_of(tables, pair) for pair in optimal} == {
                move for move, value in values.items() if value == best(values.values())
            }
            assert exact.policy[state] == tables.pair_action[optimal[0]]
    assert set(np.delete(exact.policy, tables.decisions)) <= {-1}
    check_floats(floats, exact)


def check_floats(floats, exact):
    assert (floats.optimal == exact.optimal).all()
    assert (floats.policy == exact.policy).all()
    for name in ("afterstate_utilities", "state_utilities"):
        expected = getattr(exact, name).astype(float)
        np.testing.assert_allclose(getattr(floats, name), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "goal"),
    every(5, product([*STANDARD, TEN], ["score", "shut", "at-most:8", *UTILITIES])),
    ids=lambda value: getattr(value, "__name__", str(value)),  # without the address of a function
)
def test_floats_find_the_same_optimal_moves_as_fractions(game, goal):
    check_floats(solve(game, goal), solve(game, goal, exact=True))


@pytest.mark.parametrize(
    ("utilities", "others", "equal"),
    [
        # 0.1 + 0.2 - 0.3 is not 0 in floats: keeping 1 of 1,1 is worth as much as keeping both.
        ({2: Fraction(0), 3: Fraction(1, 10), 4: Fraction(2, 10), 5: Fraction(-3, 10)}, -1, 2),
        ({2: 2e-12, 3: 1e-12, 4: 1e-12, 5: 1e-12, 6: 1, 7: 1, 8: 1}, 0, 1),
    ],
    ids=["both signs", "one sign"],
)
def test_equality_is_relative_to_the_best_move_unless_utilities_may_cancel(utilities, others, equal):
    def goal(points):
        return np.array([utilities.get(score, others) for score in points.tolist()], object)

    for exact in (True, False):
        known = solve(Threes(dice=2, faces=4, free_face=0), goal, exact=exact).moves(roll=[1, 1])
        assert known["loss"].count(0) == equal


def test_utilities_of_states_and_of_ends(solved):
    best = solved(ShutTheBox(tiles=8, one_die="any-time"))
    progress, dice = best.tables.progress, best.tables.dice
    assert (best.utilities_at(progress.astype(np.uint8), dice.astype(np.uint8)) == best.afterstate_utilities).all()
    assert (best.utilities_at(progress.tolist(), 0) == -best.tables.final_score).all()
    for wrong in ((1 << 9, 2), (1, 3), (1, -1)):
        with pytest.raises(ValueError, match="afterstate"):
            best.utilities_at(np.array(wrong[:1]), wrong[1])


def test_a_solution_in_fractions_measures_policies(solved):
    exact = solve(NINE, exact=True)
    for policy in (exact.policy, strategy(NINE, "random")):
        assert exact.evaluate(policy).regret == pytest.approx(solved(NINE).evaluate(policy).regret, abs=1e-12)


def test_moves_need_a_roll_and_there_are_none_where_the_turn_ends(solved):
    with pytest.raises(ValueError, match="roll"):
        solved(NINE).moves(open=[8])
    assert solved(NINE).moves(open=[1], roll=5) == {"move": [], "leaves": [], "value": [], "loss": []}


@pytest.mark.parametrize("game", SHOWN, ids=str)
def test_solutions_are_shown(solved, game, snapshot):
    best = solved(game)
    shown = [repr(best), repr(best.tables), as_lines(best.afterstates()), as_lines(best.decisions())]
    assert "\n\n".join(shown) == snapshot
