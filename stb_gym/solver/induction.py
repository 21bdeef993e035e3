"""Backward induction and its mirror image: values from the ends of a turn to its start, and visits from start to ends.

    u(state)      = choose over legal actions of u(next afterstate), or utility(afterstate) if there is none
    u(afterstate) = sum over rolls of P(roll) u(state)

Every move leads to a strictly lower level of the tables, so one pass over the levels, lowest first, is enough.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray
from stb_gym.solver.tables import Level, TurnTables
from stb_gym.tracking import tracked

# Two actions are equally good if their utilities differ by no more than this share of them. Utilities of one sign are
# only added and multiplied, so rounding stays below 1e-13 of each; tests compare the sets of optimal actions with
# those found in exact fractions. Utilities of both signs may cancel: then the tolerance is a share of the largest.
TIE = 1e-10


def sweep(
    tables: TurnTables, utility: NDArray[Any], choose: Callable[[NDArray[Any], Level], NDArray[Any]]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Run backward induction.

    Args:
        tables: the arrays of the game.
        utility: [Y, *K] the utility of a turn that ends at the afterstate; any dtype, objects such as fractions
            too.
        choose: given the values [e, *K] of a level's pairs and the level, returns the values [L, *K] of its
            live states.

    Returns:
        The expected utility [Y, *K] of every afterstate before its throw, and [S, *K] of every state.
    """
    value = np.empty_like(utility)
    state_values = utility.take(tables.state_origin, axis=0)
    for level in tracked(tables.levels, "levels of positions solved", "levels", len(tables.levels)):
        at_states, counts = state_values[level.states], level.rolls.counts
        at_states[level.live] = choose(value.take(tables.pair_afterstate[level.pairs], axis=0), level)
        # Whole counts, divided last, keep what is certain at exactly 1, and fractions exact.
        by_roll = at_states.reshape(-1, len(counts), *utility.shape[1:])
        weighted = by_roll @ counts if by_roll.ndim == 2 else np.moveaxis(by_roll, 1, -1) @ counts
        value[level.afterstates] = weighted / len(level.rolls.of_throw)
    return value, state_values


def optimise(tables: TurnTables, utility: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the greatest expected utility of every afterstate [Y, *K] and state [S, *K].

    Args:
        tables: the arrays of the game.
        utility: [Y, *K] the utility of a turn that ends at the afterstate; K utilities are solved for at once.
    """
    return sweep(tables, utility, lambda after, level: level.reduce(np.maximum, after))


def optimal_pairs(tables: TurnTables, afterstate_utilities: NDArray[Any], state_utilities: NDArray[Any]) -> BoolArray:
    """Return [P, *K] True for every pair that is as good as the best of its state."""
    return is_as_good(tables.after_pairs(afterstate_utilities), tables.at_pairs(state_utilities), afterstate_utilities)


def is_as_good(after: NDArray[Any], best: NDArray[Any], utility: NDArray[Any]) -> BoolArray:
    """Return [P, *K] True where moves are as good as the best ones: equal fractions, or floats that differ by rounding.

    Args:
        after: [P, *K] the utility of each move.
        best: [P, *K] the utility of the best move of the same state.
        utility: [Y, *K] the utilities of all afterstates, which say how large rounding errors may be.
    """
    if utility.dtype == object:
        return np.asarray(after == best, np.bool_)
    both_signs = utility.min(initial=0) < 0 < utility.max(initial=0)
    return np.asarray(abs(after - best) <= TIE * (abs(utility).max() if both_signs else abs(best)), np.bool_)


def expected(
    tables: TurnTables,
    weights: FloatArray,
    utility: FloatArray,
    illegal: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the expected utility of every afterstate [Y] and state [S] under a policy.

    Args:
        tables: the arrays of the game.
        weights: [P] the probability of every pair at its state.
        utility: [Y] the utility of a turn that ends at the afterstate.
        illegal: [S] the utility of illegal actions times their probability; by default 0.
    """

    def choose(after: FloatArray, level: Level) -> FloatArray:
        legal = level.reduce(np.add, weights[level.pairs] * after)
        return legal if illegal is None else legal + illegal[level.states][level.live]

    return sweep(tables, utility, choose)


def expected_visits(tables: TurnTables, weights: FloatArray) -> FloatArray:
    """Return [S, *K] the expected visits of every state, if pairs are taken with probabilities `weights` [P, *K].

    The pass goes from the highest level to the lowest, opposite to `sweep`.
    """
    columns = weights[0].size
    column = np.arange(columns)
    reached = np.zeros((tables.num_afterstates, columns))
    reached[tables.start] = 1
    visited = np.empty((tables.num_states, columns))
    for level in reversed(tables.levels):
        at_states = np.repeat(reached[level.afterstates], len(level.rolls.counts), axis=0)
        at_states *= tables.state_probability[level.states, None]
        visited[level.states] = at_states
        first = level.states.start
        taken = at_states[tables.pair_state[level.pairs] - first] * weights[level.pairs].reshape(-1, columns)
        entry = tables.pair_afterstate[level.pairs, None] * columns + column
        lower = reached[: level.afterstates.start]  # the afterstates that the pairs lead to
        lower += np.bincount(entry.ravel(), taken.ravel(), lower.size).reshape(lower.shape)
    return visited.reshape(-1, *weights.shape[1:])


def score_chances(tables: TurnTables, visits: FloatArray) -> FloatArray:
    """Return [T, *K] the probability of every final score, best first, given the `visits` [S, *K] of the states."""
    ends = tables.choices == 0
    score = tables.score_index[tables.state_origin[ends]]
    chances = np.zeros((len(tables.scores), *visits.shape[1:]))
    np.add.at(chances, score, visits[ends])
    return chances
