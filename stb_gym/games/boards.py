"""Games in which every move takes things off a board, such as tiles: what they say of themselves without arrays."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.integer[Any]]
LOW_BITS = 12  # of a board that are looked up at once


class Boards(NamedTuple):
    """A game in which every move takes things off a board: every roll with every move it may lead to, [M] of them.

    A board is what is held, bits 0 to 27; the turn ends when nothing is left of it, and with a move that takes nothing.
    In an observation every thing and every roll has a number of its own, 1 if it is there, else 0.

    Attributes:
        things: the bits of the start, lowest first.
        throws: the numbers of dice that are thrown in a turn, all of them first.
        additive: True if the final score of a board is the sum of those of its parts.
        dice, roll: how many dice were thrown, and the place of the roll among those of so many.
        action, taken: the move, and what it takes as a bit mask, always the same: it is legal where all of it is there.
        first, later: whether it may be made on the first throw of a turn, which is with the board of the start, and
            whether on a later one.
        may_throw: tells of boards [B] that a move led to whether a number of dice may be thrown there.
        next_dice: from boards [E] after moves [E], how many dice are thrown next, 0 where the turn ends, and -1 where
            the move may not be made because of the dice it chooses; None if it is always as many as in the first.
    """

    things: Sequence[int]
    throws: Sequence[int]
    additive: bool
    dice: IntArray
    roll: IntArray
    action: IntArray
    taken: IntArray
    first: NDArray[np.bool_]
    later: NDArray[np.bool_]
    may_throw: Callable[[IntArray, int], NDArray[np.bool_]]
    next_dice: Callable[[IntArray, IntArray], IntArray] | None


class BoardSums:
    """Sums over the things on boards, each read from two tables: of the lowest bits, and of the others.

    Args:
        things: [N, ...] what is added for every thing, lowest bit first.
    """

    def __init__(self, things: NDArray[Any]):
        self._low, self._high = subset_sums(things[:LOW_BITS]), subset_sums(things[LOW_BITS:])

    def of(self, boards: Any) -> NDArray[Any]:
        """[*B, ...] the sums of boards [*B]."""
        sums: NDArray[Any] = self._low.take(boards & (1 << LOW_BITS) - 1, axis=0)
        return sums + self._high.take(boards >> LOW_BITS, axis=0)


def subset_sums(parts: NDArray[Any]) -> NDArray[Any]:
    """[2**N, ...] the sums of the subsets of parts [N, ...], in the order of the numbers of which they are the bits."""
    sums = np.zeros((1, *parts.shape[1:]), parts.dtype)
    for part in parts:
        sums = np.concatenate((sums, sums + part))
    return sums


def board_scores(boards: Boards, final_score: Callable[[IntArray], IntArray]) -> IntArray:
    """[T] every final score that a board has, in ascending order.

    Args:
        boards: what the rules say of their boards.
        final_score: what they say of turns that end at boards, `Game.final_score`.
    """
    bits = 1 << np.array(boards.things)
    if not boards.additive:
        return np.unique(final_score(subset_sums(bits)))
    scores = np.zeros(1, np.int64)
    for points in final_score(bits):
        scores = np.union1d(scores, scores + points)
    return scores
