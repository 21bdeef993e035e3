"""Boards of a box in rows and columns, so that a move is worked out for all columns of a row at once.

The *place* of a board is a number with a bit for every tile that is open at the start, lowest tile highest. A move
leads to a lower place, and of the boards that a roll may lead to, the lowest action leads to the lowest place. The last
COLUMN_TILES bits of a place are its column, the others its row. So the low tiles, which are in most moves, are bits of
the row, and a move from one row to another acts on long runs of columns.

Example with three tiles and COLUMN_TILES = 1: in a place, tile 1 counts 4, tile 2 counts 2, and tile 3 counts 1. So
tile 3 determines the column, and tiles 1 and 2 determine the row. Each cell has the open tiles and the place:

    row   column 0   column 1
    0     none: 0    3: 1
    1     2: 2       2,3: 3
    2     1: 4       1,3: 5
    3     1,2: 6     1,2,3: 7

A roll of 3 may shut 1 and 2, which takes 3 off the row, or 3, which takes 1 off the column. The first move leads from
row 3 to row 0, in both columns at once. The second leads from column 1 to column 0 of the same row.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.games import Game, rolls
from stb_gym.large.box import box_of, subset_sums

COLUMN_TILES = 13  # 8192 columns: more would not fit the cache, fewer would need more calls of NumPy


class ColumnGroup(NamedTuple):
    """Columns with the same number of open tiles, and the moves from these to columns of the same row.

    Attributes:
        columns: [C] the columns.
        states: [M] the roll and the column of each move, as an index into a flattened array [R, columns].
        after: [M] the column that each leads to.
    """

    columns: IntArray
    states: IntArray
    after: IntArray


class Grid:
    """The boards of a box in rows and columns: R rolls of D numbers of dice.

    Attributes:
        box: the box.
        rows, columns: how many rows and columns there are.
        thrown: [R] the number of dice and the roll.
        chances: [D, R] the probability of every roll when so many dice are thrown.
        moves: for every roll and set of tiles that it may shut: the roll, and the bits of the set in the row and in the
            column.
        levels: the columns by their number of open tiles, fewest first.
        allowed: [D, rows, columns] whether so many dice may be thrown at a board after the first throw. The board
            without open tiles, at which the turn is over, counts as one before a throw of all dice.
    """

    def __init__(self, game: Game):
        self.box = box_of(game)
        rules = self.box.game
        bits = self.box.bits
        column_bits = min(COLUMN_TILES, len(bits))
        self._in_row = subset_sums(bits[column_bits:])
        self._in_column = subset_sums(bits[:column_bits])
        self.rows = len(self._in_row)
        self.columns = len(self._in_column)
        self.thrown = list(rules.matches)
        dice_of = np.array([dice for dice, _ in self.thrown])
        self.chances = np.zeros((len(rules.throws), len(self.thrown)))
        for throw, dice in enumerate(rules.throws):
            counts = rolls(game, dice).counts
            self.chances[throw, dice_of == dice] = counts / counts.sum()
        self.moves = [
            (roll, *divmod(int(self.box.places(taken)), self.columns))
            for roll, sets in enumerate(rules.masked_moves.values())
            for taken, _, _ in sets
        ]
        within = [(roll, in_column) for roll, in_row, in_column in self.moves if in_row == 0]
        roll, taken = np.array(within, np.int64).reshape(-1, 2).T
        open_tiles = np.bitwise_count(np.arange(self.columns))
        self.levels = []
        for count in range(column_bits + 1):
            columns = np.flatnonzero(open_tiles == count)
            at, move = np.nonzero(columns[:, None] & taken == taken)
            states = roll[move] * self.columns + columns[at]
            self.levels.append(ColumnGroup(columns, states, columns[at] & ~taken[move]))
        self.allowed = np.empty((len(rules.throws), self.rows, self.columns), np.bool_)
        for row in range(self.rows):
            boards = self.boards_in(row)
            self.allowed[:, row] = [self.box.may_throw(boards, dice) for dice in rules.throws]
        self.allowed[0, 0, 0] = True

    def boards_in(self, row: int) -> IntArray:
        """Return [columns] the boards of a row as bit masks."""
        return self._in_row[row] | self._in_column

    def final_scores(self, row: int) -> IntArray:
        """Return [columns] the points of turns that end at the boards of a row."""
        return self.box.final_scores(self.boards_in(row))


class RowMoves:
    """Combines the values of the boards that the moves of a row lead to, by roll.

    Args:
        grid: the boards.
        values: [rows, columns] the value of every board.
        operation: how the values that the moves of a state lead to are combined: `np.maximum` or `np.add`.
        neutral: the combined value where there is no move.
        within: whether to include the moves to other columns of the same row.
    """

    def __init__(self, grid: Grid, values: NDArray[Any], operation: np.ufunc, neutral: float, *, within: bool = True):
        self._operation = operation
        self._neutral = neutral
        self._by_roll = np.empty((len(grid.thrown), grid.columns), values.dtype)
        moves = [move for move in grid.moves if within or move[1] > 0]
        self._in_row = np.array([in_row for _, in_row, _ in moves], np.int64)
        self._from = [_columns(self._by_roll[roll], in_column, 1) for roll, _, in_column in moves]
        self._to = [_columns(values, in_column, 0) for _, _, in_column in moves]

    def reduce(self, row: int) -> NDArray[Any]:
        """Return [R, columns] the combined values of all boards that the moves of a row lead to.

        The next call writes into the same array.
        """
        self._by_roll.fill(self._neutral)
        for before, after in self._open(row):
            self._operation(before, after, out=before)
        return self._by_roll

    def spread(self, row: int, by_roll: NDArray[Any]) -> None:
        """Add [R, columns] values by roll to each board that a move of the row leads to after that roll."""
        self._by_roll[:] = by_roll
        for before, after in self._open(row):
            after += before

    def _open(self, row: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield, for every move that the row allows, the values at the columns before it and after it."""
        fits = np.flatnonzero(row & self._in_row == self._in_row)
        for move, left in zip(fits.tolist(), (row & ~self._in_row[fits]).tolist(), strict=True):
            yield self._from[move], self._to[move][left]


def _columns(values: NDArray[Any], taken: int, is_open: int) -> NDArray[Any]:
    """Return a view of values [..., columns] at the columns where the tiles taken are open (1), or shut (0)."""
    bits = reversed(range(values.shape[-1].bit_length() - 1))
    index = [slice(is_open, is_open + 1) if taken >> bit & 1 else slice(None) for bit in bits]
    return values.reshape(*values.shape[:-1], *[2] * len(index))[..., *index]
