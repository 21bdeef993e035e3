"""The utility of every board of a box.

The array is [rows, columns]. The lowest tiles of the start are the bits of the row, lowest tile lowest; the others are
the bits of the column, lowest tile highest: low tiles are in most moves, which so act on long runs of columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray
from stb_gym.large.boards import Boards, BoardSums, boards_of
from stb_gym.solver import Objective, is_as_good, is_named


@dataclass(frozen=True, eq=False, repr=False)
class BoardValues:
    """Perfect play of a box too large for tables: the utility of every board.

    Attributes:
        game: the rules.
        objective: what is maximised.
        utility: [rows, columns] expected utility of every board before its throw, at the place that `places_of` gives.
            Where one die may be thrown instead of all, the rows of boards before one die follow those before all dice.
    """

    game: Game
    objective: Objective
    utility: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {self.value:.6g} {self.objective.unit}>"

    @property
    def value(self) -> float:
        """The value of a turn in the objective's unit."""
        return self.value_of(self.game.start()[0])

    def value_of(self, board: int) -> float:
        """Return the value of a board before a throw of all dice, in the objective's unit.

        Raises:
            ValueError: if a tile is open that is shut at the start.
        """
        return (
            float(self.objective.sign * self.utilities_at(np.array([index(board)]), self.game.dice)[0]) + 0.0
        )  # never -0.0

    def utilities_at(self, held: IntArray, dice: IntArray | int) -> NDArray[np.float64]:
        """Return the expected utilities of boards before a throw, or of turns that end there.

        Args:
            held: [B] boards.
            dice: [B] the dice of the next throw, 0 where the turn ends; or one number for all.

        Returns:
            [B] expected utilities.

        Raises:
            ValueError: if a tile is open that is shut at the start.
        """
        held = np.asarray(held)
        held = held.astype(np.int64, copy=False) if held.dtype.kind in "iu" else held  # short ones would overflow
        if (unknown := np.asarray(held & ~self.game.start()[0] != 0)).any():
            start = list(self._boards.game.start_tiles)
            raise ValueError(f"a board of this game has open tiles out of {start}, not mask {held[unknown][0]}")
        utilities, over = self.utility.reshape(-1).take(self.places(held, dice)), np.broadcast_to(dice, held.shape) == 0
        utilities[over] = self.objective.utilities(self._boards.final_scores(held[over]))
        return utilities

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> NDArray[np.bool_]:
        """Return [E] True where moves of utility `after` [E] are as good as the best ones, of utility `best` [E]."""
        return is_as_good(after, best, best if is_named(self.game, self.objective) else self._extremes)

    @cached_property
    def _extremes(self) -> NDArray[np.float64]:
        """The least and the greatest utility. Objectives that have a name have utilities of one sign."""
        return np.array([self.utility.min(), self.utility.max()])

    def places(self, held: IntArray, dice: IntArray | int) -> IntArray:
        """Return [B] the places of boards in the flat array, before a throw of so many dice (0 counts as all)."""
        place = self._places.of(held)
        for number, fewer in enumerate(self._boards.throws[1:], 1):
            place += (np.asarray(dice) == fewer) * number * 2 ** len(self._boards.things)
        return place

    @cached_property
    def _boards(self) -> Boards:
        return boards_of(self.game)

    @cached_property
    def _places(self) -> BoardSums:
        """The places of boards, as sums over their bits."""
        places = places_of(self._boards.things, self.utility.shape[1])
        return BoardSums(np.array([places.get(bit, 0) for bit in range(self.game.start()[0].bit_length())]))


def places_of(things: Sequence[int], columns: int) -> dict[int, int]:
    """Return what every bit of a board adds to its place in the flat array.

    Args:
        things: the bits of the start, in ascending order.
        columns: a power of two, at most 2**len(things).
    """
    in_column = columns.bit_length() - 1
    places = [*range(in_column, len(things)), *reversed(range(in_column))]
    return {bit: 1 << place for bit, place in zip(things, places, strict=True)}
