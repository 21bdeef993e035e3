"""Perfect play of boxes too large for tables: the utility of every board, a row of boards at a time.

    u(board, dice) = sum over rolls of P(roll) max over moves of u(board without their tiles)
    u(board)       = max over the numbers of dice that may be thrown there of u(board, dice)

Boards are in rows and columns, in the places of `stb_gym.large.values`: some tiles are bits of the row, the others bits
of the column. A move may shut tiles of both. Values of boards are an array [rows, columns]; where a player may throw
one die instead of all, there is one such array for every number of dice.

Rows are solved in ascending order, so the boards that a move leads to are solved before they are needed. In each row
the moves that shut row tiles are worked out first, for all columns at once; then those that shut column tiles alone,
columns with few open tiles first. The moves that complete the same column tiles act on long runs of columns, so a row
takes few steps.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, rolls
from stb_gym.large.boards import Boards, boards_of, subset_sums
from stb_gym.large.values import BoardValues, places_of
from stb_gym.solver import Goal, Objective, legal_moves, objective_of

COLUMN_TILES = 12  # 4096 columns: the arrays of a row fit the cache, and few are so short that calls cost more

PROGRESS_CALLS = 64  # in a sweep, at most about twice as many

FloatArray = NDArray[np.float64]
RowSets = tuple[int, ...]
MoveSets = dict[int, dict[int, RowSets]]  # column tiles -> roll -> the sets of row tiles that make a move with them


def solve_boards(
    game: Game, objective: Goal = "score", progress: Callable[[int, int], None] | None = None, *, worst: bool = False
) -> BoardValues:
    """Solve a turn for every board; it takes little more memory than a float a board (three if dice are chosen).

    Args:
        game: rules of Shut the Box.
        objective: what is maximised, see `stb_gym.solve`.
        progress: called now and then with the number of rows solved so far, and of all rows.
        worst: minimise instead: the worst play.

    Raises:
        ValueError: if there is no such objective, or the game is not Shut the Box.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.large.solve_boards(stb_gym.ShutTheBox(tiles=12)).value, 6)
        35.081421
    """
    goal = objective_of(game, objective)
    goal = goal.opposite if worst else goal
    rows = board_rows(game)
    utility = sweep_boards(rows, goal, progress=progress)
    values = BoardValues(game, goal, utility.reshape(-1, rows.columns))
    utility[0, -1, -1] = _first_throw(values)
    return values


def count_ways(game: Game) -> BoardValues:
    """Return in how many ways a turn reaches the perfect score from every board, all numbers of throws together.

    Every throw of the dice and every legal move counts as one way. Exact below 2**53.
    """
    rows, shut = board_rows(game, counted=True), objective_of(game, "shut")
    return BoardValues(game, shut, sweep_boards(rows, shut, np.add).reshape(-1, rows.columns))


@lru_cache(maxsize=64)  # several evaluations of one box ask for it, and it takes seconds for The 300
def random_value(game: Game, goal: Objective) -> float:
    """Return the value of a turn of uniformly random legal play, in the objective's unit."""
    rows = board_rows(game)
    utility = np.empty((len(rows.throws), rows.rows, rows.columns))
    before_dice = rows.before_dice(utility)
    sums, within = RowMoves(rows, before_dice, np.add, within=False), MovesWithin(rows, np.add)
    counts = RowMoves(rows, rows.allowed.sum(axis=0, dtype=np.int32), np.add)
    for row in range(rows.rows):
        by_roll, count = sums.reduce(row), counts.reduce(row)
        end = goal.utilities(rows.final_score(row)).astype(float)
        ended = np.where(count > 0, by_roll, end)
        utility[:, row], before_dice[row] = within.add(row, by_roll, ended, 1 / np.maximum(count, 1))
    values = BoardValues(game, goal, utility.reshape(-1, rows.columns))
    return goal.sign * _first_throw(values, np.mean) + 0.0


def sweep_boards(
    rows: "BoardRows",
    goal: Objective,
    operation: np.ufunc = np.maximum,
    progress: Callable[[int, int], None] | None = None,
) -> FloatArray:
    """Run backward induction over boards.

    Args:
        rows: the boards.
        goal: the objective, which gives the utility of a turn that ends.
        operation: over what the moves of a node and the dice that may be thrown lead to: the maximum, or the sum.
        progress: called now and then with the number of rows done so far, and of all rows.

    Returns:
        [D, rows, columns] for every board before a throw of every number of dice.
    """
    utility = np.empty((len(rows.throws), rows.rows, rows.columns))
    before_dice = rows.before_dice(utility)
    moves_out, moves_within = RowMoves(rows, before_dice, operation, within=False), MovesWithin(rows, operation)
    for row in range(rows.rows):
        end = goal.utilities(rows.final_score(row)).astype(float)
        by_roll = moves_out.reduce(row)
        ended = np.where(by_roll == moves_out.neutral, end, by_roll)
        utility[:, row], before_dice[row] = moves_within.add(row, by_roll, ended)
        rows.report(progress, row + 1)
    return utility


def _first_throw(values: BoardValues, choose: Callable[[FloatArray], Any] = np.max) -> float:
    """Return the utility of a turn before its first throw, whose moves may be others."""
    game = values.game
    held, dice = game.start()
    known = rolls(game, dice)
    utilities = []
    for roll in known.shown:
        moves = legal_moves(game, held, dice, roll)
        left = np.array([(move.held, move.dice) for move in moves] or [(held, 0)]).T
        utilities.append(choose(values.utilities_at(*left)))
    return float(np.array(utilities) @ known.counts / known.counts.sum())


@dataclass(frozen=True, eq=False, repr=False)
class BoardRows:
    """The boards of a game in rows and columns; D numbers of dice may be thrown, and their rolls are R in all.

    Attributes:
        boards: the boards and their moves.
        columns: how many columns there are, a power of two.
        counted: weight a roll by the number of throws that give it, instead of its probability.
    """

    boards: Boards
    columns: int
    counted: bool = False

    @property
    def game(self) -> Game:
        """The rules."""
        return self.boards.game

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
        """[R] the index in `throws` of the dice of each roll."""
        return np.repeat(np.arange(len(self.throws)), [rolls.stop - rolls.start for rolls in self.throws])

    @cached_property
    def probability(self) -> FloatArray:
        """[R] the probability of each roll among those of its dice."""
        counts = [rolls(self.game, dice).counts for dice in self.boards.throws]
        return np.concatenate([count / (1 if self.counted else count.sum()) for count in counts])

    def expected(self, by_roll: FloatArray) -> FloatArray:
        """Return [D, columns] the expectation for each number of dice of values by roll [R, columns]."""
        return np.stack([self.probability[rolls] @ by_roll[rolls] for rolls in self.throws])

    def by_roll(self, values: FloatArray) -> FloatArray:
        """Return [R, columns] the values [D, columns] of every number of dice, times the probability of each roll."""
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
        """Return an array [rows, columns] for values before dice are chosen; `values` itself if they never are."""
        return values[0] if len(values) == 1 else np.zeros(values.shape[1:])

    def report(self, progress: Callable[[int, int], None] | None, done: int) -> None:
        """Call `progress` now and then with the number of rows done so far, and of all rows."""
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
        """Return [columns] the boards of a row as bit masks."""
        of_row, of_column = self._subsets
        return of_row[row] | of_column

    def final_score(self, row: int) -> IntArray:
        """Return [columns] the points of a turn that ends at the boards of a row."""
        return self.boards.final_scores(self.held(row))

    @cached_property
    def sets(self) -> MoveSets:
        """The moves as sets of row tiles, by the column tiles that they are shut with and the roll."""
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
    """Return the rows in which a game is solved; see `BoardRows`."""
    boards = boards_of(game)
    return BoardRows(boards, 2 ** min(COLUMN_TILES, len(boards.things)), counted)


def over_throws(operation: np.ufunc, values: NDArray[Any], allowed: NDArray[np.bool_]) -> NDArray[Any]:
    """Return [...] an operation over values [D, ...] of the numbers of dice that are allowed [D, ...]."""
    if len(values) == 1:
        return values[0]
    return np.asarray(operation.reduce(np.where(allowed, values, _neutral(operation, values.dtype)), axis=0))


def _neutral(operation: np.ufunc, dtype: np.dtype[Any]) -> float:
    """Return the value that changes nothing in a sum, or in a maximum of utilities or of ranks (0 or more)."""
    if operation is np.add:
        return 0
    return -1 if dtype.kind == "i" else -np.inf


class RowMoves:
    """The values of the boards that the moves of a row lead to, combined by roll.

    The sets of row tiles that complete a move are the same for many pairs of column tiles and roll: a family. The
    values that a family leads to are combined once.

    Args:
        rows: the boards.
        values: [rows, columns] the value of every board.
        operation: how values are combined, `np.maximum` or `np.add`.
        within: whether to include the moves that shut column tiles alone.

    Attributes:
        neutral: the combined value where there is no move.
    """

    def __init__(self, rows: BoardRows, values: NDArray[Any], operation: np.ufunc = np.maximum, *, within: bool = True):
        families = _families(rows, within)
        self._operation, self.neutral = operation, _neutral(operation, values.dtype)
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

    def reduce(self, row: int) -> NDArray[Any]:
        """Return [R, columns] the combined values of all boards that the moves of a row lead to.

        The next call writes into the same array.
        """
        operation = self._operation
        self._by_family.fill(self.neutral)
        for family, after in self._after(row):
            operation(self._by_family[family], self._rows[after], out=self._by_family[family])
        self._by_roll.fill(self.neutral)
        for of_rolls, of_families in self._joins:
            operation(of_rolls, of_families, out=of_rolls)
        return self._by_roll

    def spread(self, row: int, by_roll: FloatArray) -> None:
        """Add values by roll [R, columns] to the values of all boards that the moves of a row lead to."""
        self._by_roll[:] = by_roll
        self._by_family.fill(0)
        for of_rolls, of_families in self._joins:
            of_families += of_rolls
        for family, after in self._after(row):
            self._rows[after] += self._by_family[family]

    def _after(self, row: int) -> Iterator[tuple[int, int]]:
        """Yield the family of every set of row tiles that is open in a row, and the row without them."""
        fits = np.flatnonzero(row & self._takes == self._takes)
        return zip(self._family[fits].tolist(), (row & ~self._takes[fits]).tolist(), strict=True)


def _families(rows: BoardRows, within: bool) -> list[RowSets]:
    """Return all families, ordered so that growing rolls with the same column tiles mostly have one after the other."""
    families = {sets for by_roll in rows.sets.values() for sets in by_roll.values() if within or sets != (0,)}

    def size_and_sum(sets: RowSets) -> tuple[int, int]:
        tiles = (bit + 1 for place, bit in enumerate(rows.boards.things) if sets[0] >> place & 1)
        return max(map(int.bit_count, sets)), sum(tiles)

    return sorted(families, key=size_and_sum)


def _runs(by_roll: dict[int, RowSets], families: list[RowSets]) -> Iterator[tuple[int, int, int]]:
    """Yield (first roll, its family, length) of the runs of rolls that have one family after the other."""
    number = {family: place for place, family in enumerate(families)}
    pairs = [(roll, number[rows]) for roll, rows in sorted(by_roll.items()) if rows in number]
    for _, run in groupby(enumerate(pairs), lambda item: (item[1][0] - item[0], item[1][1] - item[0])):
        run_pairs = [pair for _, pair in run]
        yield *run_pairs[0], len(run_pairs)


def _columns(values: NDArray[Any], taken: int, is_open: int) -> NDArray[Any]:
    """Return a view of values [V, columns] at the columns where the tiles taken are open (1), or shut (0)."""
    bits = reversed(range(values.shape[1].bit_length() - 1))
    index = [is_open if taken >> bit & 1 else slice(None) for bit in bits]
    return values.reshape(-1, *[2] * len(index))[:, *index]


class _Level(NamedTuple):
    """Moves within a row from columns with the same number of open tiles, sorted by column, then roll.

    Attributes:
        states: [C] the (dice, column) that have such moves, as places in the flat array [D, columns] in order.
        first_pair: [C] the first (column, roll) of each.
        pairs: [P] these pairs as places in the flat array [R, columns].
        probability: [P] of the roll of each pair.
        first_move: [P] the first move of each pair.
        after: [M] the place of the column that each move leads to.
    """

    states: IntArray
    first_pair: IntArray
    pairs: IntArray
    probability: FloatArray
    first_move: IntArray
    after: IntArray


class MovesWithin:
    """The moves that shut column tiles alone, and what they add to the utility, or to the visits, of a row's boards.

    Inside, columns are sorted by their number of open tiles.
    """

    def __init__(self, rows: BoardRows, operation: np.ufunc = np.maximum):
        self._rows, self._operation = rows, operation
        open_tiles = np.bitwise_count(np.arange(rows.columns))
        self._order = np.argsort(open_tiles, kind="stable")
        self._place = np.argsort(self._order)
        moves = [(roll, taken) for taken, by_roll in rows.sets.items() for roll in by_roll if by_roll[roll] == (0,)]
        roll, taken = np.array(sorted(moves), np.int64).reshape(-1, 2).T
        levels = (
            self._level(np.flatnonzero(open_tiles == count), roll, taken)
            for count in range(1, rows.columns.bit_length())
        )
        self._levels = [level for level in levels if len(level.after)]

    def _level(self, columns: IntArray, roll: IntArray, taken: IntArray) -> _Level:
        at, move = np.nonzero(columns[:, None] & taken == taken)
        column, roll, taken = columns[at], roll[move], taken[move]
        throw = self._rows.throw[roll]
        first_move = _first_of_runs(column * len(self._rows.probability) + roll)
        state = (throw * len(self._order) + self._place[column])[first_move]
        first_pair = _first_of_runs(state)
        return _Level(
            states=state[first_pair],
            first_pair=first_pair,
            pairs=(roll * len(self._order) + column)[first_move],
            probability=self._rows.probability[roll[first_move]],
            first_move=first_move,
            after=self._place[column & ~taken],
        )

    def add(
        self, row: int, by_roll: FloatArray, ended: FloatArray, share: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Return the utility of a row's boards.

        Args:
            row: the row.
            by_roll: [R, columns] what the other moves lead to.
            ended: [R, columns] the same or, where there are none, the utility of a turn that ends.
            share: [R, columns] a factor of both, by roll; by default 1.

        Returns:
            [D, columns] their utility by the number of dice, and [columns] before the dice are chosen.
        """
        ordered = self._rows.expected(ended if share is None else ended * share).take(self._order, axis=1)
        allowed = self._rows.allowed[:, row].take(self._order, axis=1)
        if row == 0:
            ordered[:, 0] = ended[0, 0]  # the end of a turn, and no sum over rolls
        for level in self._levels:
            after = over_throws(self._operation, ordered, allowed).take(level.after)
            if len(level.first_move) < len(after):
                after = self._operation.reduceat(after, level.first_move)
            gain = self._operation(after, by_roll.take(level.pairs)) - ended.take(level.pairs)
            weight = level.probability if share is None else level.probability * share.take(level.pairs)
            ordered.reshape(-1)[level.states] += np.add.reduceat(gain * weight, level.first_pair)
        before_dice = over_throws(self._operation, ordered, allowed)
        return ordered.take(self._place, axis=1), before_dice.take(self._place)

    def spread(self, row: int, visits: FloatArray, share: FloatArray) -> None:
        """Add to the visits of a row's boards those that come from these moves.

        Args:
            row: the row.
            visits: [D, columns] by the number of dice, which are added to.
            share: [R, columns] the share of a visit that goes with each roll to each state that a move leads to.
        """
        ordered = visits.take(self._order, axis=1)
        allowed = self._rows.allowed[:, row].take(self._order, axis=1)
        for level in reversed(self._levels):
            at_pairs = np.repeat(ordered.reshape(-1)[level.states], np.diff(level.first_pair, append=len(level.pairs)))
            moved = at_pairs * share.take(level.pairs)
            moved = np.repeat(moved, np.diff(level.first_move, append=len(level.after)))
            ordered += np.bincount(level.after, moved, len(self._order)) * allowed
        visits[:] = ordered.take(self._place, axis=1)


def _first_of_runs(values: IntArray) -> IntArray:
    """Return where runs of equal values begin."""
    return np.flatnonzero(np.diff(values, prepend=-1))
