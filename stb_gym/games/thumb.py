"""Rules of thumb: how people choose a move without a table, as a preference among the moves of a position."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.game import Game, IntArray


class Moves(NamedTuple):
    """Legal moves of states with the same number of dice, as a rule of thumb sees them.

    Attributes:
        held: [M] what the player holds before the move.
        roll: [M, k] what the rules see of the throw.
        action: [M] the move.
        next_held, next_dice: [M] the state it leads to.
    """

    held: IntArray
    roll: NDArray[np.uint8]
    action: IntArray
    next_held: IntArray
    next_dice: IntArray


# Tells of moves [M] how little each is wanted, [M] numbers: the least is played, the lowest action among equals. The
# first line of its docstring says how it plays.
RuleOfThumb = Callable[[Any, Moves], NDArray[Any]]


def ranked(game: Game, moves: Moves, key: Callable[[Any], Iterable[int]]) -> IntArray:
    """[M] the places of moves in the order of a key of what they do, which depends on nothing else."""
    order = sorted(range(len(game.moves)), key=lambda action: list(key(game.moves[action])))
    return np.argsort(order)[moves.action]
