"""Strategies by name for boxes too large for tables, as policies that look at the afterstates that moves lead to."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.checks import check_choice
from stb_gym.games import Game, entry_of
from stb_gym.large.solution import LargeSolution, solve_large
from stb_gym.solver import AfterstateScorePolicy, RulePolicy, UniformRandom, table_strategies

TIE_BITS = 33  # utilities equal in so many bits count as equal: about the tolerance `TIE` of `stb_gym.solver`


class NextAfterstates(NamedTuple):
    """The fields of `stb_gym.games.Moves` that are known without tables; no heuristic of Shut the Box needs others."""

    next_progress: IntArray
    next_dice: IntArray


# The strategies that are solved for, each with the arguments of `solve_large`.
SOLVED: dict[str, dict[str, Any]] = {
    "optimal-score": {},
    "optimal-shut": {"objective": "shut"},
    "worst": {"worst": True},
    "optimal": {},
}


def large_strategies(game: Game) -> dict[str, str]:
    """Return the strategies that need no tables, by name, with a line on how each plays."""
    known = {"random", *SOLVED, *entry_of(game).heuristics}
    return {name: line for name, line in table_strategies(game).items() if name in known}


def large_strategy(game: Game, name: str) -> RulePolicy:
    """Return the policy of a named strategy.

    Args:
        game: rules of Shut the Box.
        name: one of `large_strategies(game)`.

    Raises:
        ValueError: if there is no such strategy without tables.
    """
    check_choice(f"strategy of {game.name} without tables", name, list(large_strategies(game)))
    heuristic = entry_of(game).heuristics.get(name)
    if heuristic is None:
        return UniformRandom() if name == "random" else _optimal(solve_large(game, **SOLVED[name]))
    return AfterstateScorePolicy(lambda boards, dice: 0.0 - heuristic(game, NextAfterstates(boards, dice)))  # type: ignore[arg-type]


def _optimal(values: LargeSolution) -> AfterstateScorePolicy:
    """Return the policy of greatest utility, rounded to TIE_BITS bits so that equally good moves have equal scores."""

    def score(boards: IntArray, dice: IntArray) -> NDArray[Any]:
        mantissa, exponent = np.frexp(values.utilities_at(boards, dice))
        return np.ldexp(np.round(mantissa * 2.0**TIE_BITS), exponent)

    return AfterstateScorePolicy(score)
