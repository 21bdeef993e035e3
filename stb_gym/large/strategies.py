"""Strategies by name for boxes too large for tables, as policies that look at the states that moves lead to."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, check_choice, entry_of
from stb_gym.large.solve import BoardValues, solve_boards
from stb_gym.solver import RulePolicy, StateScorePolicy, UniformRandom, table_strategies

TIE_BITS = 33  # utilities equal in so many bits count as equal: about the tolerance `TIE` of `stb_gym.solver`


class NextStates(NamedTuple):
    """The fields of `stb_gym.games.Moves` that are known without tables; no heuristic of Shut the Box needs others."""

    next_held: IntArray
    next_dice: IntArray


# `stb_gym.solver.strategies` describes how these play, under the same names.
BY_BOARDS: dict[str, Callable[[Game], RulePolicy]] = {
    "random": lambda game: UniformRandom(),
    "optimal-score": lambda game: _optimal(solve_boards(game, "score")),
    "optimal-shut": lambda game: _optimal(solve_boards(game, "shut")),
    "worst": lambda game: _optimal(solve_boards(game, worst=True)),
    "optimal": lambda game: _optimal(solve_boards(game, "score")),
}


def board_strategies(game: Game) -> dict[str, str]:
    """Return the strategies that need no tables, by name, with a line on how each plays."""
    known = table_strategies(game)
    return {name: line for name, line in known.items() if name in BY_BOARDS or name in entry_of(game).heuristics}


def board_strategy(game: Game, name: str) -> RulePolicy:
    """Return the policy of a named strategy.

    Args:
        game: rules of Shut the Box.
        name: one of `board_strategies(game)`.

    Raises:
        ValueError: if there is no such strategy without tables.
    """
    check_choice(f"strategy of {game.name} without tables", name, list(board_strategies(game)))
    heuristic = entry_of(game).heuristics.get(name)
    if heuristic is None:
        return BY_BOARDS[name](game)
    return StateScorePolicy(lambda held, dice: -heuristic(game, NextStates(held, dice)))  # type: ignore[arg-type]


def _optimal(values: BoardValues) -> StateScorePolicy:
    """Return the policy of greatest utility, rounded to TIE_BITS bits so that equally good moves have equal scores."""

    def score(held: IntArray, dice: IntArray) -> NDArray[Any]:
        mantissa, exponent = np.frexp(values.utilities_at(held, dice))
        return np.ldexp(np.round(mantissa * 2.0**TIE_BITS), exponent)

    return StateScorePolicy(score)
