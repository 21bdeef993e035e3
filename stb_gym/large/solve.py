"""Perfect play of boxes too large for tables: the utility of every board.

    u(board, dice) = sum over rolls of P(roll) max over moves of u(board without their tiles)
    u(board)       = max over the numbers of dice that may be thrown there of u(board, dice)

Rows of boards are solved in ascending order (see `stb_gym.large.grid`), so the boards that a move leads to are solved
before they are needed. In a row the moves to other rows are worked out first, for all columns at once; then those
within the row, columns with few open tiles first.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray, cached_arrays, freeze
from stb_gym.games import Game, rolls
from stb_gym.large.box import box_of
from stb_gym.large.grid import Grid, RowMoves
from stb_gym.solver import Goal, Objective, afterstate_arrays, is_as_good, objective_of
from stb_gym.tracking import tracked


@dataclass(frozen=True, eq=False, repr=False)
class LargeSolution:
    """Perfect play of a box too large for tables: the utility of every board.

    Attributes:
        game: the rules.
        objective: what is maximised.
        utility: the expected utility of every board, by its place (see `stb_gym.large.grid`): [1, places], or
            [3, places] where one die may be thrown instead of all: before a throw of all dice, before a throw of one,
            and before the number of dice is chosen.
    """

    game: Game
    objective: Objective
    utility: FloatArray

    def __post_init__(self) -> None:
        freeze(vars(self))

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {self.value:.6g} {self.objective.unit}>"

    @property
    def value(self) -> float:
        """The value of a turn in the objective's unit."""
        return float(self.objective.sign * self.utility[0, -1]) + 0.0  # never -0.0

    @checked
    def utilities_at(self, boards: IntArray, dice: IntArray | int) -> FloatArray:
        """Return the expected utilities of boards before a throw, or of turns that end there.

        Args:
            boards: [B] boards.
            dice: [B] the dice of the next throw, 0 where the turn ends; or one number for all.

        Returns:
            [B] expected utilities.

        Raises:
            ValueError: if a tile is open that is shut at the start.
        """
        box = box_of(self.game)
        boards, dice = afterstate_arrays(boards, dice)
        if (unknown := np.asarray(boards & ~self.game.start()[0] != 0)).any():
            start = list(box.game.start_tiles)
            raise ValueError(f"a board of this game has open tiles out of {start}, not mask {boards[unknown][0]}")
        utilities = self.utility.reshape(-1).take(self.places(boards, dice))
        over = dice == 0
        utilities[over] = self.objective.utilities(box.final_scores(boards[over]))
        return utilities

    def places(self, boards: IntArray, dice: IntArray | int) -> IntArray:
        """Return [B] where the flattened `utility` has boards before a throw of so many dice (0 counts as all)."""
        box = box_of(self.game)
        return box.places(boards) + np.isin(dice, box.game.throws[1:]) * self.utility.shape[1]

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> NDArray[np.bool_]:
        """Return [P] True where moves of utility `after` [P] are as good as the best ones, of utility `best` [P]."""
        return is_as_good(after, best, self._extremes)

    @cached_arrays
    def _extremes(self) -> FloatArray:
        """The least and the greatest utility."""
        return np.array([self.utility.min(), self.utility.max()])


@checked
def solve_large(game: Game, objective: Goal = "score", *, worst: bool = False) -> LargeSolution:
    """Solve a turn for every board; it takes little more memory than a float a board (three if dice are chosen).

    Args:
        game: rules of Shut the Box.
        objective: what is maximised, see `stb_gym.solve`.
        worst: minimise instead: the worst play.

    Raises:
        ValueError: if there is no such objective, or the game is not Shut the Box.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.large.solve_large(stb_gym.ShutTheBox(tiles=12)).value, 6)
        35.081421
    """
    goal = objective_of(game, objective)
    return _sweep(game, goal.opposite if worst else goal)


@lru_cache(maxsize=64)  # several evaluations of one box ask for it, and it takes seconds for The 300
def random_value(game: Game, goal: Objective) -> float:
    """Return the value of a turn of uniformly random legal play, in the objective's unit."""
    return values_of_random_play(game, goal).value


def values_of_random_play(game: Game, goal: Objective) -> LargeSolution:
    """Return the utility of every board under uniformly random legal play; see `solve_large`."""
    return _sweep(game, goal, uniform=True)


def _sweep(game: Game, goal: Objective, *, uniform: bool = False) -> LargeSolution:
    """Compute the utility of every board by backward induction: under perfect play, or under uniformly random play."""
    grid = Grid(game)
    throws = len(grid.chances)
    utility = np.empty((1 if throws == 1 else throws + 1, grid.rows, grid.columns))
    by_board = utility[-1]
    operation, neutral = (np.add, 0.0) if uniform else (np.maximum, -np.inf)
    moves = RowMoves(grid, by_board, operation, neutral, within=False)
    counts = RowMoves(grid, grid.allowed.sum(axis=0, dtype=np.int32), np.add, 0) if uniform else None
    utility[:, 0, 0] = goal.utilities(grid.final_scores(0)[:1])  # the turn is over, so there is no sum over rolls
    for row in tracked(range(grid.rows), "boards solved", "rows", grid.rows):
        by_roll = moves.reduce(row)
        end = goal.utilities(grid.final_scores(row)).astype(float)
        count = counts.reduce(row) if counts else None
        for columns, states, after in grid.levels if row else grid.levels[1:]:
            operation.at(by_roll.reshape(-1), states, by_board[row].take(after))
            at_states = by_roll.take(columns, axis=1)
            if count is None:
                at_states = np.where(at_states == neutral, end[columns], at_states)
            else:
                choices = count.take(columns, axis=1)
                at_states = np.where(choices == 0, end[columns], at_states / np.maximum(choices, 1))
            utility[:throws, row, columns] = grid.chances @ at_states
            if throws > 1:
                by_board[row, columns] = operation.reduce(
                    utility[:throws, row, columns], where=grid.allowed[:, row, columns], initial=neutral
                )
    values = LargeSolution(game, goal, utility.reshape(len(utility), -1))
    # The first throw may allow other moves.
    start = game.start()
    first = rolls(game, start[1])
    combine = np.mean if uniform else np.max
    next_afterstates = [np.array(list(game.moves(start, roll).values())).T for roll in first.shown]
    at_rolls = np.array([combine(values.utilities_at(boards, dice)) for boards, dice in next_afterstates])
    utility[0, -1, -1] = at_rolls @ first.counts / first.counts.sum()
    return values
