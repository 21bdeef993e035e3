"""Strategies by name as policies that look at what a move leads to, for games too large for arrays."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, RuleOfThumb, entry_of
from stb_gym.large.solving import count_ways, solve_boards
from stb_gym.solver.preferences import AnyMove, BoardPolicy, Preference

TIE_BITS = 33  # of the utilities that perfect play compares: about as many as `TIE` does


class After(NamedTuple):
    """What a rule of thumb sees of moves [M] here: the states that they lead to; see `stb_gym.Moves`."""

    next_held: IntArray
    next_dice: IntArray


def board_strategy(game: Game, name: str) -> BoardPolicy:
    """The policy of a named strategy of a game that has boards.

    Args:
        game: the rules.
        name: one of `board_strategies(game)`.

    Raises:
        ValueError: if there is no such strategy without arrays of the whole game.
    """
    if rule := entry_of(game).rules_of_thumb.get(name):
        return Preference(partial(_by_thumb, game, rule))
    if name not in BY_BOARDS:
        known = ", ".join(board_strategies(game))
        raise ValueError(f"strategy {name} is for games that fit into arrays; without them there are {known}")
    return BY_BOARDS[name](game)


def board_strategies(game: Game) -> list[str]:
    """The names of the strategies that a game has without arrays."""
    first, *others = BY_BOARDS
    return [first, *entry_of(game).rules_of_thumb, *others]


def _by_thumb(game: Game, rule: RuleOfThumb, held: IntArray, dice: IntArray) -> NDArray[Any]:
    try:
        return -rule(game, After(held, dice))  # type: ignore[arg-type]
    except AttributeError as error:
        raise ValueError(f"a rule of thumb that looks at more than what moves lead to needs arrays: {error}") from error


def _optimal(goal: str, game: Game) -> Preference:
    """Perfect play for an objective."""
    return Preference(partial(_rounded, solve_boards(game, goal).worths))


def _worst(game: Game) -> Preference:
    """The play that makes the expected points as bad as possible."""
    return Preference(partial(_rounded, solve_boards(game, worst=True).worths))


def _rounded(worths: Callable[..., NDArray[np.float64]], held: IntArray, dice: IntArray) -> NDArray[np.float64]:
    """Utilities to TIE_BITS bits, so that those of equally good moves are equal."""
    mantissa, exponent = np.frexp(worths(held, dice))
    return np.ldexp(np.round(mantissa * 2.0**TIE_BITS), exponent)


# How the strategies of every game play is said in `stb_gym.solver.scripted`, under the same names.
BY_BOARDS: dict[str, Callable[[Game], BoardPolicy]] = {
    "random": lambda game: AnyMove(),
    "most-ways": lambda game: Preference(count_ways(game).worths),
    "optimal-score": partial(_optimal, "score"),
    "optimal-shut": partial(_optimal, "shut"),
    "worst": _worst,
    "optimal": partial(_optimal, "score"),
}
