"""The boards of a game in rows and columns, and what the moves of a whole row of boards lead to.

Boards are in the places of `stb_gym.large.values`; a move may take tiles of the row and of the column. What is
known of the boards that a move leads to is an array [rows, columns]. The moves that complete the same column tiles act
on long runs of columns, so that a row takes few steps.

Where a player may throw one die instead of all, there is a block of rows for every number of dice.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Boards, Game, IntArray, board_scores, rolls, subset_sums
from stb_gym.large.values import places_of

COLUMN_TILES = 12  # 4096 columns: the arrays of a row fit the cache, and hardly any is so short that calls cost more

PROGRESS_CALLS = 64

FloatArray = NDArray[np.float64]
RowSets = tuple[int, ...]
MoveSets = dict[int, dict[int, RowSets]]  # column tiles -> roll -> the sets of row tiles that make a move with them


@dataclass(frozen=True, eq=False, repr=False)
class BoardRows:
    """The boards of a game in rows and columns; D numbers of dice may be thrown, and their rolls are R in all.

    Attributes:
        game: rules that have boards.
        columns: how many columns there are, a power of two.
        counted: take for the chance of a roll how many throws give it.
    """

    game: Game
    columns: int
    counted: bool = False

    @cached_property
    def boards(self) -> Boards:
        """The boards and their moves."""
        return self.game.boards()

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return 2 ** len(self.boards.things) // self.columns

    @cached_property
    def throws(self) -> list[slice]:
        """[D] the rolls of each number of dice, among all rolls."""
        ends = np.cumsum([0, *(len(rolls(self.game, dice).counts) for dice in self.boards.throws)]).tolist()
        return [slice(first, last) for first, last in pairwise(ends)]

    @cached_property
    def throw(self) -> IntArray:
        """[R] the place in `throws` of the dice that each roll is of."""
        return np.repeat(np.arange(len(self.throws)), [rolls.stop - rolls.start for rolls in self.throws])

    @cached_property
    def probability(self) -> FloatArray:
        """[R] the chance of each roll among those of its dice."""
        counts = [rolls(self.game, dice).counts for dice in self.boards.throws]
        return np.concatenate([count / (1 if self.counted else count.sum()) for count in counts])

    def expected(self, by_roll: FloatArray) -> FloatArray:
        """[D, columns] what is expected of each number of dice, given what it is by roll [R, columns]."""
        return np.stack([self.probability[rolls] @ by_roll[rolls] for rolls in self.throws])

    def by_roll(self, values: FloatArray) -> FloatArray:
        """[R, columns] values [D, columns] of every number of dice, each times the chance of its rolls."""
        return self.probability[:, None] * (values if len(values) == 1 else values[self.throw])

    @cached_property
    def allowed(self) -> NDArray[np.bool_]:
        """[D, rows, columns] whether so many dice may be thrown at a board that a move led to; none are, at the end."""
        allowed = np.ones((len(self.throws), self.rows, self.columns), np.bool_)
        if len(self.throws) > 1:
            for row in range(self.rows):
                held = self.held(row)
                allowed[:, row] = [self.boards.may_throw(held, dice) for dice in self.boards.throws]
            allowed[0, 0, 0] = True  # the end counts as a board before all dice
        return allowed

    def before_dice(self, values: FloatArray) -> FloatArray:
        """[rows, columns] room for what is known before dice are chosen: where they are not, the values themselves."""
        return values[0] if len(values) == 1 else np.zeros(values.shape[1:])

    def tell(self, progress: Callable[[int, int], None] | None, done: int) -> None:
        """Tell now and then how many rows are done, and how many there are."""
        if progress and done % max(1, self.rows // PROGRESS_CALLS) == 0:
            progress(done, self.rows)

    @cached_property
    def _subsets(self) -> tuple[IntArray, IntArray]:
        """The boards of the row tiles alone, and of the column tiles alone."""
        places = places_of(self.boards.things, self.columns)
        by_place = sorted(places, key=places.__getitem__)
        in_column = self.columns.bit_length() - 1
        bits = 1 << np.array(by_place)
        return subset_sums(bits[in_column:]), subset_sums(bits[:in_column])

    def held(self, row: int) -> IntArray:
        """[columns] the boards of a row as bit masks."""
        of_row, of_column = self._subsets
        return of_row[row] | of_column

    @cached_property
    def _scores(self) -> tuple[IntArray, IntArray]:
        of_row, of_column = self._subsets
        return self.game.final_score(of_row), self.game.final_score(of_column)

    @cached_property
    def scores(self) -> IntArray:
        """[T] every final score that a board has, in ascending order."""
        return board_scores(self.boards, self.game.final_score)

    def final_score(self, row: int) -> IntArray:
        """[columns] the points of a turn that ends at the boards of a row."""
        if not self.boards.additive:
            return self.game.final_score(self.held(row))
        of_row, of_column = self._scores
        return of_row[row] + of_column

    @cached_property
    def sets(self) -> MoveSets:
        """The moves as sets of row tiles, by the column tiles that they are taken with and the roll."""
        places = places_of(self.boards.things, self.columns)
        first = dict(zip(self.boards.throws, (rolls.start for rolls in self.throws), strict=True))
        sets: MoveSets = {}
        moves = np.stack((self.boards.dice, self.boards.roll, self.boards.taken))[:, self.boards.later]
        for dice, roll, taken in dict.fromkeys(zip(*moves.tolist(), strict=True)):  # once, not for every choice of dice
            in_row, in_column = divmod(sum(place for bit, place in places.items() if taken >> bit & 1), self.columns)
            by_roll = sets.setdefault(in_column, {})
            by_roll[first[dice] + roll] = (*by_roll.get(first[dice] + roll, ()), in_row)
        return sets


def board_rows(game: Game, *, counted: bool = False) -> BoardRows:
    """The rows in which a game is solved; see `BoardRows`."""
    return BoardRows(game, 2 ** min(COLUMN_TILES, len(game.boards().things)), counted)


def over_throws(operation: np.ufunc, values: NDArray[Any], allowed: NDArray[np.bool_]) -> NDArray[Any]:
    """[...] an operation over values [D, ...] of the numbers of dice that are allowed [D, ...]."""
    if len(values) == 1:
        return values[0]
    return np.asarray(operation.reduce(np.where(allowed, values, _nothing(operation, values.dtype)), axis=0))


def _nothing(operation: np.ufunc, dtype: np.dtype[Any]) -> float:
    """What changes nothing in an operation: in a sum, or in a maximum of utilities or of ranks, which are integers."""
    if operation is np.add:
        return 0
    return -1 if dtype.kind == "i" else -np.inf


class RowMoves:
    """What is known of the boards that the moves of a row lead to, put together by roll.

    The sets of row tiles that complete a move are the same for many pairs of column tiles and roll: a family. What a
    family leads to is put together once.

    Args:
        rows: the boards.
        values: [rows, columns] what is known of every board.
        operation: how it is put together, `np.maximum` or `np.add`.
        within: whether the moves that take column tiles alone are among them.
    """

    def __init__(self, rows: BoardRows, values: NDArray[Any], operation: np.ufunc = np.maximum, *, within: bool = True):
        families = _families(rows.sets, rows.boards.things, within)
        self._operation, self._nothing = operation, _nothing(operation, values.dtype)
        self._rows = list(values)
        self._by_family = np.empty((len(families), rows.columns), values.dtype)
        self._by_roll = np.empty((len(rows.probability), rows.columns), values.dtype)
        self._takes = np.array([takes for family in families for takes in family], np.int64)
        self._family = np.repeat(np.arange(len(families)), [len(family) for family in families])
        self._joins = [
            (_columns(self._by_roll[roll : roll + count], taken, 1), _columns(self._by_family[f : f + count], taken, 0))
            for taken, by_roll in rows.sets.items()
            for roll, f, count in _runs(by_roll, families)
        ]

    def reduce(self, row: int, initial: FloatArray | None = None) -> NDArray[Any]:
        """[R, columns] the operation over the values of all boards that the moves of a row lead to.

        Args:
            row: the row.
            initial: [columns] another value for every roll, which is all there is where there is no move.

        Returns:
            An array that the next call writes into.
        """
        operation = self._operation
        self._by_family.fill(self._nothing)
        for family, after in self._after(row):
            operation(self._by_family[family], self._rows[after], out=self._by_family[family])
        self._by_roll[:] = self._nothing if initial is None else initial
        for of_rolls, of_families in self._joins:
            operation(of_rolls, of_families, out=of_rolls)
        return self._by_roll

    def spread(self, row: int, by_roll: FloatArray) -> None:
        """Add to every value, once for each move of a row that leads there, what there is by roll [R, columns]."""
        self._by_roll[:] = by_roll
        self._by_family.fill(0)
        for of_rolls, of_families in self._joins:
            of_families += of_rolls
        for family, after in self._after(row):
            self._rows[after] += self._by_family[family]

    def _after(self, row: int) -> Iterator[tuple[int, int]]:
        """The family of every set of row tiles that is open in a row, and the row without them."""
        fits = np.flatnonzero(row & self._takes == self._takes)
        return zip(self._family[fits].tolist(), (row & ~self._takes[fits]).tolist(), strict=True)


def _families(sets: MoveSets, things: Sequence[int], within: bool) -> list[RowSets]:
    """All families, ordered so that growing rolls with the same column tiles mostly have one after the other."""
    families = {rows for by_roll in sets.values() for rows in by_roll.values() if within or rows != (0,)}

    def size_and_sum(rows: RowSets) -> tuple[int, int]:
        return max(map(int.bit_count, rows)), sum(thing + 1 for bit, thing in enumerate(things) if rows[0] >> bit & 1)

    return sorted(families, key=size_and_sum)


def _runs(by_roll: dict[int, RowSets], families: list[RowSets]) -> Iterator[tuple[int, int, int]]:
    """(first roll, its family, length) of the runs of rolls that have one family after the other."""
    number = {family: place for place, family in enumerate(families)}
    pairs = [(roll, number[rows]) for roll, rows in sorted(by_roll.items()) if rows in number]
    for _, run in groupby(enumerate(pairs), lambda item: (item[1][0] - item[0], item[1][1] - item[0])):
        run_pairs = [pair for _, pair in run]
        yield *run_pairs[0], len(run_pairs)


def _columns(values: NDArray[Any], taken: int, is_open: int) -> NDArray[Any]:
    """A view of values [V, columns] at the columns where the tiles taken are open (1), or shut (0)."""
    bits = reversed(range(values.shape[1].bit_length() - 1))
    index = [is_open if taken >> bit & 1 else slice(None) for bit in bits]
    return values.reshape(-1, *[2] * len(index))[:, *index]
