"""What every roll lets a player do: rows of bit masks, from which the legal moves of boards are worked out.

    legal = the takes of the roll of which everything is on the board: board & taken == taken

A *case* is a roll of a number of dice, on the first throw of a turn or on a later one.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, rolls

NOTHING_HAS = np.int32(1 << 30)  # a thing that is on no board


class Case(NamedTuple):
    """What a roll allows.

    Attributes:
        dice, roll: how many dice were thrown, and the place of the roll among those of so many.
        actions: where its moves lie in a mask. By most rules they are neighbours there.
        taken: [K] what each of these actions takes, NOTHING_HAS if it is no move of the roll.
    """

    dice: int
    roll: int
    actions: slice
    taken: NDArray[np.int32]


class Cases:
    """The cases of a game in which moves take things off a board, numbered from 0.

    Args:
        game: the rules.

    Attributes:
        all: the cases: later throws by number of dice, all of them first, and by roll; then the first throws by roll.
        first: the number of the first of the first throws.

    Raises:
        ValueError: if moves of this game do not take things off a board.
    """

    def __init__(self, game: Game):
        takes = game.takes()
        self.all: list[Case] = []
        for dice, may in [*((dice, takes.later) for dice in takes.throws), (game.dice, takes.first)]:
            self.first = len(self.all)
            for roll in range(len(rolls(game, dice).counts)):
                here = may & (takes.dice == dice) & (takes.roll == roll)
                self.all.append(_case(dice, roll, takes.action[here], takes.taken[here]))
        self._next_dice = takes.next_dice

    def fits(self, case: int, boards: IntArray) -> NDArray[np.bool_]:
        """[K, B] whether everything that a move of the case takes is on the boards [B]."""
        taken = self.all[case].taken[:, None]
        return np.asarray(boards & taken == taken)

    def legal(self, case: int, boards: IntArray) -> NDArray[np.bool_]:
        """[K, B] whether the moves of a case are legal at boards [B]."""
        fits, chosen = self.fits(case, boards), self.all[case]
        if self._next_dice is not None:  # what may be taken can be taken with some choice of the next dice, not any
            move, board = fits.nonzero()
            left = boards[board] & ~chosen.taken[move]
            fits[move, board] = self._next_dice(left, move + chosen.actions.start) >= 0
        return fits

    def together(self, cases: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Every case among those [B] that is none beyond the last, and the places where it is."""
        counts = np.bincount(cases, minlength=len(self.all))
        order = cases.astype(np.min_scalar_type(len(counts))).argsort(kind="stable")  # by radix, if so small
        last = counts.cumsum()
        for case in counts[: len(self.all)].nonzero()[0].tolist():
            yield case, order[last[case] - counts[case] : last[case]]


def _case(dice: int, roll: int, action: IntArray, taken: IntArray) -> Case:
    start, stop = (int(action.min()), int(action.max()) + 1) if action.size else (0, 0)
    takes = np.full(stop - start, NOTHING_HAS)
    takes[action - start] = taken
    return Case(dice, roll, slice(start, stop), takes)
