"""Perfect play of boxes of tiles too large for stored edges: the utility of every board, a row of boards at a time.

    u(board) = sum over rolls of P(roll) max(utility(board), max over moves of u(board without their tiles))

No utility grows with the open tiles, so that to stop never beats a move: this is the recursion of `solve`.

Boards are in rows and columns (`stb_gym.exact.board_values`); a move may take tiles of both. Rows are solved in
ascending order, so that the boards a move leads to are solved before it is needed. In each row the moves that take row
tiles are worked out first, for all columns at once; then those that take column tiles alone, fewest open ones first.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact.board_values import BoardValues, places_of
from stb_gym.exact.objectives import Goal, Objective, objective_of
from stb_gym.games import Boards, Game, IntArray, rolls

COLUMN_TILES = 12  # 4096 columns: the arrays of a row fit the cache, and hardly any is so short that calls cost more
PROGRESS_CALLS = 64

FloatArray = NDArray[np.float64]
RowSets = tuple[int, ...]
MoveSets = dict[int, dict[int, RowSets]]  # column tiles -> roll -> the sets of row tiles that make a move with them


def solve_boards(
    game: Game, objective: Goal = "score", progress: Callable[[int, int], None] | None = None
) -> BoardValues:
    """Solve a turn for every board; it takes little more memory than a float a board.

    Args:
        game: rules that have `boards`: Shut the Box with all dice in every throw, and sums of tiles that match theirs.
        objective: "score", "shut" or "at-most:T".
        progress: called now and then with the number of rows that are solved, and of all rows.

    Raises:
        ValueError: if there is no such objective, or the rules are others.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.solve_boards(stb_gym.ShutTheBox(tiles=12)).value, 6)
        35.081421
    """
    goal = objective_of(game, objective)
    if not _is_named(game, goal):
        raise ValueError(f"boards are solved for score, shut and at-most:T, not for a utility such as {goal.name}")
    boards = game.boards()
    counts = rolls(game, game.dice).counts
    probability = counts / counts.sum()
    columns = 2 ** min(COLUMN_TILES, len(boards.things))
    utility = np.empty((2 ** len(boards.things) // columns, columns))
    sets = _move_sets(game, boards, columns)
    moves_out = _MovesOut(sets, boards.things, utility, len(counts))
    moves_within = _MovesWithin(sets, columns, probability)
    stopping = _stopping(game, boards, goal, columns)
    for row in range(len(utility)):
        by_roll = moves_out.best(row, stopping(row))
        utility[row] = moves_within.add(probability @ by_roll, by_roll)
        if progress and (row + 1) % max(1, len(utility) // PROGRESS_CALLS) == 0:
            progress(row + 1, len(utility))
    utility[0, 0] = stopping(0)[0]  # the end of a turn, and no sum of rounded probabilities
    return BoardValues(game, goal, utility)


def _is_named(game: Game, goal: Objective) -> bool:
    """Whether an objective is one that has a name, and none of one's own, even under such a name."""
    try:
        return goal == objective_of(game, goal.name)
    except ValueError:
        return False


def _move_sets(game: Game, boards: Boards, columns: int) -> MoveSets:
    places = places_of(boards.things, columns)
    sets: MoveSets = {}
    for roll, taken in boards.moves:
        in_row, in_column = divmod(sum(place for bit, place in places.items() if taken >> bit & 1), columns)
        by_roll = sets.setdefault(in_column, {})
        by_roll[roll - game.dice] = (*by_roll.get(roll - game.dice, ()), in_row)
    return sets


def _stopping(game: Game, boards: Boards, goal: Objective, columns: int) -> Callable[[int], FloatArray]:
    """A function of a row that gives the utility [columns] of a turn that ends at its boards."""
    places = places_of(boards.things, columns)
    by_place = sorted(places, key=places.__getitem__)
    in_column = columns.bit_length() - 1
    of_column, of_row = _subsets(by_place[:in_column]), _subsets(by_place[in_column:])
    if not boards.additive:
        return lambda row: goal.utilities(game.final_score(of_row[row] | of_column)).astype(float)
    row_score, column_score = game.final_score(of_row), game.final_score(of_column)
    return lambda row: goal.utilities(row_score[row] + column_score).astype(float)


def _subsets(bits: Sequence[int]) -> IntArray:
    """Every board of these bits, in the order of the binary numbers of which they are the digits, lowest first."""
    boards = np.zeros(1, np.int64)
    for bit in bits:
        boards = np.append(boards, boards | 1 << bit)
    return boards


class _MovesOut:
    """The best of the moves that take row tiles.

    The sets of row tiles that complete a move are the same for many pairs of column tiles and roll: a family. The best
    board that a family leads to is found once.
    """

    def __init__(self, sets: MoveSets, things: Sequence[int], utility: FloatArray, roll_count: int):
        families = _families(sets, things)
        self._rows = list(utility)
        self._by_family = np.empty((len(families), utility.shape[1]))
        self._by_roll = np.empty((roll_count, utility.shape[1]))
        self._takes = np.array([takes for family in families for takes in family], np.int64)
        self._family = np.repeat(np.arange(len(families)), [len(family) for family in families])
        self._joins = [
            (_columns(self._by_roll[roll : roll + count], taken, 1), _columns(self._by_family[f : f + count], taken, 0))
            for taken, by_roll in sets.items()
            for roll, f, count in _runs(by_roll, families)
        ]

    def best(self, row: int, stopping: FloatArray) -> FloatArray:
        """[R, columns] the utility of every roll at a row's boards, if only these moves and stopping were allowed."""
        self._by_family.fill(-np.inf)
        fits = np.flatnonzero(row & self._takes == self._takes)
        for family, after in zip(self._family[fits].tolist(), (row & ~self._takes[fits]).tolist(), strict=True):
            np.maximum(self._by_family[family], self._rows[after], out=self._by_family[family])
        self._by_roll[:] = stopping
        for of_rolls, of_families in self._joins:
            np.maximum(of_rolls, of_families, out=of_rolls)
        return self._by_roll


def _families(sets: MoveSets, things: Sequence[int]) -> list[RowSets]:
    """All families, ordered so that growing rolls with the same column tiles mostly have one after the other."""
    families = {rows for by_roll in sets.values() for rows in by_roll.values() if rows != (0,)}

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


def _columns(values: FloatArray, taken: int, is_open: int) -> FloatArray:
    """A view of values [V, columns] at the columns where the tiles taken are open (1), or shut (0)."""
    bits = reversed(range(values.shape[1].bit_length() - 1))
    index = [is_open if taken >> bit & 1 else slice(None) for bit in bits]
    return values.reshape(-1, *[2] * len(index))[:, *index]


class _Level(NamedTuple):
    """Moves within a row from the columns with one number of open tiles, by column, then roll.

    Attributes:
        columns: [C] the columns that have such moves, as places in the order of `_MovesWithin`.
        first_pair: [C] the first (column, roll) of each.
        pairs: [P] these pairs as places in the flat array [R, columns].
        probability: [P] of the roll of each pair.
        first_move: [P] the first move of each pair.
        after: [M] the place of the column that each move leads to.
    """

    columns: IntArray
    first_pair: IntArray
    pairs: IntArray
    probability: FloatArray
    first_move: IntArray
    after: IntArray


class _MovesWithin:
    """The moves that take column tiles alone: what they add to the utility of a row's boards."""

    def __init__(self, sets: MoveSets, columns: int, probability: FloatArray):
        open_tiles = np.bitwise_count(np.arange(columns))
        self._order = np.argsort(open_tiles, kind="stable")
        self._place = np.argsort(self._order)
        moves = sorted((roll, taken) for taken, by_roll in sets.items() for roll in by_roll if by_roll[roll] == (0,))
        roll, taken = np.array(moves, np.int64).reshape(-1, 2).T
        levels = (
            self._level(np.flatnonzero(open_tiles == count), roll, taken, probability)
            for count in range(1, columns.bit_length())
        )
        self._levels = [level for level in levels if len(level.after)]

    def _level(self, columns: IntArray, roll: IntArray, taken: IntArray, probability: FloatArray) -> _Level:
        at, move = np.nonzero(columns[:, None] & taken == taken)
        column, roll = columns[at], roll[move]
        first_move = _first_of_runs(column * len(probability) + roll)
        first_pair = _first_of_runs(column[first_move])
        return _Level(
            columns=self._place[column[first_move][first_pair]],
            first_pair=first_pair,
            pairs=roll[first_move] * len(self._order) + column[first_move],
            probability=probability[roll[first_move]],
            first_move=first_move,
            after=self._place[column & ~taken[move]],
        )

    def add(self, utility: FloatArray, by_roll: FloatArray) -> FloatArray:
        """The utility [columns] of a row's boards, from that of all other moves, by board and by roll and board."""
        if not self._levels:
            return utility
        ordered = utility[self._order]
        for level in self._levels:
            after = ordered.take(level.after)
            if len(level.first_move) < len(after):
                after = np.maximum.reduceat(after, level.first_move)
            without = by_roll.take(level.pairs)
            gain = np.maximum(after, without) - without
            ordered[level.columns] += np.add.reduceat(gain * level.probability, level.first_pair)
        return ordered[self._place]


def _first_of_runs(values: IntArray) -> IntArray:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.diff(values, prepend=-1))
