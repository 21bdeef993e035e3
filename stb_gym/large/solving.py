"""Perfect play of boxes of tiles too large for stored edges: the utility of every board, a row of boards at a time.

    u(board, dice) = sum over rolls of P(roll) max over moves of u(board without their tiles)
    u(board)       = max over the numbers of dice that may be thrown there of u(board, dice)

Of the objectives that have a name no utility grows with the open tiles, so that to stop never beats a move; of others
a turn is stopped only where there is no move. So this is the recursion of `solve`.

Boards are in rows and columns (`stb_gym.large.rows`); a move may take tiles of both. Rows are solved in
ascending order, so that the boards a move leads to are solved before it is needed. In each row the moves that take row
tiles are worked out first, for all columns at once; then those that take column tiles alone, fewest open ones first.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from stb_gym.games import Game, IntArray, check_game, rolls
from stb_gym.large.rows import BoardRows, FloatArray, RowMoves, board_rows, over_throws
from stb_gym.large.values import BoardValues
from stb_gym.solver.objectives import Goal, Objective, is_named, objective_of


def solve_boards(
    game: Game, objective: Goal = "score", progress: Callable[[int, int], None] | None = None, *, worst: bool = False
) -> BoardValues:
    """Solve a turn for every board; it takes little more memory than a float a board (three if dice are chosen).

    Args:
        game: rules that have `boards`: those of Shut the Box.
        objective: what is wanted, see `stb_gym.solve`.
        progress: called now and then with the number of rows that are solved, and of all rows.
        worst: solve for the opposite instead.

    Raises:
        TypeError: if it is no game.
        ValueError: if there is no such objective, or the rules are others.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.solve_boards(stb_gym.ShutTheBox(tiles=12)).value, 6)
        35.081421
    """
    check_game(game)
    goal = objective_of(game, objective)
    goal = goal.opposite if worst else goal
    rows = board_rows(game)
    utility = sweep_boards(rows, goal, may_stop=is_named(game, goal), progress=progress)
    values = BoardValues(game, goal, utility.reshape(-1, rows.columns))
    utility[0, -1, -1] = _first_throw(values)
    return values


def sweep_boards(
    rows: BoardRows,
    goal: Objective,
    operation: np.ufunc = np.maximum,
    *,
    may_stop: bool,
    progress: Callable[[int, int], None] | None = None,
) -> FloatArray:
    """Backward induction over boards.

    Args:
        rows: the boards.
        goal: what a turn is worth that ends.
        operation: over what the moves of a node and the dice that may be thrown lead to: the greatest, or the sum.
        may_stop: whether nothing changes if a turn may also be stopped where there is a move, which takes less time.
        progress: called now and then with the number of rows that are done, and of all rows.

    Returns:
        [D, rows, columns] for every board before a throw of every number of dice.
    """
    utility = np.empty((len(rows.throws), rows.rows, rows.columns))
    worth = rows.before_dice(utility)
    moves_out, moves_within = RowMoves(rows, worth, operation, within=False), MovesWithin(rows, operation)
    for row in range(rows.rows):
        stopping = goal.utilities(rows.final_score(row)).astype(float)
        by_roll = moves_out.reduce(row, stopping if may_stop else None)
        ended = by_roll if may_stop else np.where(np.isfinite(by_roll), by_roll, stopping)
        utility[:, row], worth[row] = moves_within.add(row, by_roll, ended)
        rows.tell(progress, row + 1)
    return utility


def count_ways(game: Game) -> BoardValues:
    """In how many ways a turn reaches the perfect score from every board, all numbers of throws together.

    Every throw of the dice and every legal move counts as one way of its own. Exact below 2**53.
    """
    rows, shut = board_rows(game, counted=True), objective_of(game, "shut")
    return BoardValues(game, shut, sweep_boards(rows, shut, np.add, may_stop=True).reshape(-1, rows.columns))


@lru_cache(maxsize=64)  # several evaluations of one box ask for it, and of The 300 it takes seconds
def random_value(game: Game, goal: Objective) -> float:
    """The value of a turn in which every legal move has the same probability, in the objective's unit."""
    rows = board_rows(game)
    utility = np.empty((len(rows.throws), rows.rows, rows.columns))
    worth = rows.before_dice(utility)
    sums, within = RowMoves(rows, worth, np.add, within=False), MovesWithin(rows, np.add)
    counts = RowMoves(rows, rows.allowed.sum(axis=0, dtype=np.int32), np.add)
    for row in range(rows.rows):
        by_roll, count = sums.reduce(row), counts.reduce(row)
        stopping = goal.utilities(rows.final_score(row)).astype(float)
        ended = np.where(count > 0, by_roll, stopping)
        utility[:, row], worth[row] = within.add(row, by_roll, ended, 1 / np.maximum(count, 1))
    values = BoardValues(game, goal, utility.reshape(-1, rows.columns))
    return goal.sign * _first_throw(values, np.mean) + 0.0


def _first_throw(values: BoardValues, choose: Callable[[FloatArray], Any] = np.max) -> float:
    """The utility of a turn before its first throw, whose moves may be others."""
    game, (held, dice) = values.game, values.game.start()
    edges, counts = game.edges(np.array([held]), dice), rolls(game, dice).counts
    after = values.worths(edges.next_held, edges.next_dice)
    by_roll = (after[edges.roll == roll] for roll in range(len(counts)))
    utility = [choose(worths) if len(worths) else values.worth(held, 0) for worths in by_roll]
    return float(np.array(utility) @ counts / counts.sum())


class _Level(NamedTuple):
    """Moves within a row from the columns with one number of open tiles, by column, then roll.

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
    """The moves that take column tiles alone: what they add to the utility, or to the visits, of a row's boards.

    Columns are in the order of their numbers of open tiles meanwhile.
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
        """What a row's boards are worth.

        Args:
            row: the row.
            by_roll: [R, columns] what the other moves lead to.
            ended: [R, columns] the same or, where there are none, what a turn is worth that ends.
            share: [R, columns] what to take of all that, by roll; by default the whole.

        Returns:
            [D, columns] their worth by the number of dice, and [columns] before the dice are chosen.
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
        worth = over_throws(self._operation, ordered, allowed)
        return ordered.take(self._place, axis=1), worth.take(self._place)

    def spread(self, row: int, visits: FloatArray, share: FloatArray) -> None:
        """Add to the visits of a row's boards those that come of these moves.

        Args:
            row: the row.
            visits: [D, columns] by the number of dice, which are added to.
            share: [R, columns] of a visit, what goes with each roll to each state that a move leads to.
        """
        ordered = visits.take(self._order, axis=1)
        allowed = self._rows.allowed[:, row].take(self._order, axis=1)
        for level in reversed(self._levels):
            at_pairs = np.repeat(ordered.reshape(-1)[level.states], _lengths(level.first_pair, level.pairs))
            moved = np.repeat(at_pairs * share.take(level.pairs), _lengths(level.first_move, level.after))
            ordered += np.bincount(level.after, moved, len(self._order)) * allowed
        visits[:] = ordered.take(self._place, axis=1)


def _lengths(first: IntArray, values: IntArray) -> IntArray:
    """The lengths of runs of values, from where they begin."""
    return np.diff(first, append=len(values))


def _first_of_runs(values: IntArray) -> IntArray:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.diff(values, prepend=-1))
