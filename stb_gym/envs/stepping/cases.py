"""What every roll lets a player do: rows of bit masks, from which the legal moves of boards are worked out.

    legal = the takes of the roll of which everything is on the board: board & taken == taken

A *case* is a roll of so many dice, on the first throw of a turn or on a later one; without dice, an end of the turn.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Boards, Game, IntArray, rolls

NOTHING_HAS = np.int32(1 << 30)  # a thing that is on no board


class Case(NamedTuple):
    """What a roll allows.

    Attributes:
        kind: how many dice were thrown, or one of the kinds of throws beyond them; see `Cases`.
        dice, roll: how many dice were thrown, and the place of the roll among those of so many.
        actions: where its moves lie in a mask. By most rules they are neighbours there.
        taken: [K] what each of these actions takes, NOTHING_HAS if it is no move of the roll.
    """

    kind: int
    dice: int
    roll: int
    actions: slice
    taken: NDArray[np.int32]


class Cases:
    """The cases of a game in which moves take things off a board, C of them.

    Args:
        game: the rules.
        boards: what `Game.boards` says of them.

    Attributes:
        all: the cases by number: those of later throws, by number of dice, all of them first, and by roll; those of
            first throws by roll; that without a throw, where a turn has ended; and that of the forfeit.
        later: how many are of later throws, and come before the others.
        end: the number of the one where a turn has ended.
        first_throw, forfeit: kinds of throws that are no number of dice.
    """

    def __init__(self, game: Game, boards: Boards):
        self.first_throw, self.forfeit = game.dice + 1, game.dice + 2
        later = [case for dice in boards.throws for case in _cases(game, boards, dice, dice, boards.later)]
        first = _cases(game, boards, self.first_throw, game.dice, boards.first)
        ends = [_case(kind, 0, 0, np.zeros(0, np.int64), np.zeros(0, np.int64)) for kind in (0, self.forfeit)]
        self.all, self.later, self.end = [*later, *first, *ends], len(later), len(later) + len(first)
        self._next_dice = boards.next_dice

    def fits(self, case: int, boards: IntArray) -> NDArray[np.bool_]:
        """[K, B] whether everything that an action of the case takes is on the boards [B]."""
        taken = self.all[case].taken[:, None]
        return np.asarray(boards & taken == taken)

    def legal(self, case: int, boards: IntArray) -> NDArray[np.bool_]:
        """[K, B] whether the actions of a case are legal at boards [B]."""
        fits, chosen = self.fits(case, boards), self.all[case]
        if self._next_dice is not None:  # what may be taken may be so with some choice of the next dice, not with any
            move, board = fits.nonzero()
            left = boards[board] & ~chosen.taken[move]
            fits[move, board] = self._next_dice(left, move + chosen.actions.start) >= 0
        return fits

    def together(self, cases: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Every case that is among those [B], and the places where it is."""
        counts = np.bincount(cases, minlength=len(self.all))
        order = cases.astype(np.min_scalar_type(len(counts))).argsort(kind="stable")  # by radix, if so small
        last = counts.cumsum()
        for case in counts.nonzero()[0].tolist():
            yield case, order[last[case] - counts[case] : last[case]]


def _cases(game: Game, boards: Boards, kind: int, dice: int, may: NDArray[np.bool_]) -> list[Case]:
    """The cases of all rolls of so many dice, where moves may be made that are marked [M]."""
    here = [may & (boards.dice == dice) & (boards.roll == roll) for roll in range(len(rolls(game, dice).counts))]
    return [_case(kind, dice, roll, boards.action[at], boards.taken[at]) for roll, at in enumerate(here)]


def _case(kind: int, dice: int, roll: int, action: IntArray, taken: IntArray) -> Case:
    start, stop = (int(action.min()), int(action.max()) + 1) if action.size else (0, 0)
    takes = np.full(stop - start, NOTHING_HAS)
    takes[action - start] = taken
    return Case(kind, dice, roll, slice(start, stop), takes)
