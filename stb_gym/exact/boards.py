"""Perfect play of boxes of tiles too large for stored edges: the utility of every board, a row of boards at a time.

    u(board, dice) = sum over rolls of P(roll) max(utility(board), max over moves of u(board without their tiles))
    u(board)       = max over the numbers of dice that may be thrown there of u(board, dice)

No utility grows with the open tiles, so that to stop never beats a move: this is the recursion of `solve`.

Boards are in rows and columns (`stb_gym.exact.board_rows`); a move may take tiles of both. Rows are solved in
ascending order, so that the boards a move leads to are solved before it is needed. In each row the moves that take row
tiles are worked out first, for all columns at once; then those that take column tiles alone, fewest open ones first.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stb_gym.exact.board_rows import BoardRows, FloatArray, RowMoves, best_throw
from stb_gym.exact.board_values import BoardValues
from stb_gym.exact.objectives import Goal, Objective, objective_of
from stb_gym.games import Game, IntArray, legal_moves, rolls

COLUMN_TILES = 12  # 4096 columns: the arrays of a row fit the cache, and hardly any is so short that calls cost more
PROGRESS_CALLS = 64


def solve_boards(
    game: Game, objective: Goal = "score", progress: Callable[[int, int], None] | None = None
) -> BoardValues:
    """Solve a turn for every board; it takes little more memory than a float a board (three if dice are chosen).

    Args:
        game: rules that have `boards`: Shut the Box with sums of tiles that match those of the dice.
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
    rows = BoardRows(game, 2 ** min(COLUMN_TILES, len(game.boards().things)))
    utility = np.empty((len(rows.throws), rows.rows, rows.columns))
    worth = utility[0] if len(utility) == 1 else np.empty(utility.shape[1:])  # under the best number of dice
    moves_out, moves_within = RowMoves(rows, worth, within=False), _MovesWithin(rows)
    for row in range(rows.rows):
        by_roll = moves_out.reduce(row, rows.stopping(goal, row))
        utility[:, row], worth[row] = moves_within.add(row, rows.expected(by_roll), by_roll)
        if row == 0:  # the end of a turn, and no sum of rounded probabilities
            utility[:, 0, 0] = worth[0, 0] = rows.stopping(goal, 0)[0]
        if progress and (row + 1) % max(1, rows.rows // PROGRESS_CALLS) == 0:
            progress(row + 1, rows.rows)
    values = BoardValues(game, goal, utility.reshape(-1, rows.columns))
    utility[0, -1, -1] = _first_throw(values)
    return values


def _first_throw(values: BoardValues) -> float:
    """The utility of a turn before its first throw, whose moves may be others."""
    game, (held, dice) = values.game, values.game.start()
    known, stopping, best = rolls(game, dice), values.worth(held, 0), []
    for roll in known.shown:
        moves = legal_moves(game, held, dice, roll)
        best.append(max((values.worth(move.held, move.dice) for move in moves), default=stopping))
    return float(np.array(best) @ known.counts / known.counts.sum())


def _is_named(game: Game, goal: Objective) -> bool:
    """Whether an objective is one that has a name, and none of one's own, even under such a name."""
    try:
        return goal == objective_of(game, goal.name)
    except ValueError:
        return False


class _Level(NamedTuple):
    """Moves within a row from the columns with one number of open tiles, by dice, column and roll.

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


class _MovesWithin:
    """The moves that take column tiles alone: what they add to the utility of a row's boards.

    Columns are in the order of their numbers of open tiles meanwhile.
    """

    def __init__(self, rows: BoardRows):
        self._rows = rows
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
        throw = self._rows.throw[roll[move]]
        by_state = np.lexsort((move, at, throw))
        column, roll, taken, throw = columns[at[by_state]], roll[move[by_state]], taken[move[by_state]], throw[by_state]
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

    def add(self, row: int, utility: FloatArray, by_roll: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What a row's boards are worth, from what they would be without these moves.

        Args:
            row: the row.
            utility: [D, columns] by the number of dice.
            by_roll: [R, columns] by roll.

        Returns:
            [D, columns] their utility by the number of dice, and [columns] under the best of those that are allowed.
        """
        ordered = utility.take(self._order, axis=1)
        allowed = self._rows.allowed[:, row].take(self._order, axis=1)
        for level in self._levels:
            after = best_throw(ordered, allowed).take(level.after)
            if len(level.first_move) < len(after):
                after = np.maximum.reduceat(after, level.first_move)
            without = by_roll.take(level.pairs)
            gain = np.maximum(after, without) - without
            ordered.reshape(-1)[level.states] += np.add.reduceat(gain * level.probability, level.first_pair)
        return ordered.take(self._place, axis=1), best_throw(ordered, allowed).take(self._place)


def _first_of_runs(values: IntArray) -> IntArray:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.diff(values, prepend=-1))
