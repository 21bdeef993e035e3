"""The expected visits of a policy to the boards of a box, passed on from row to row, and sums over the states.

    flow(state) = visits(board, dice) x P(roll), which goes on to where the policy's move leads

Example with three tiles and one die of three faces, where the policy shuts as few tiles as possible. The board 1,2,3
has one visit, so each of its three rolls has a flow of 1/3. Rolls of 1, 2 and 3 pass it on to the boards 2,3 and 1,3
and 1,2. The board 2,3 then has 1/3 visit. A roll of 1 leaves no move there, so 1/9 of the turns end with 5 points.
"""

import numpy as np

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.large.grid import Grid, RowMoves
from stb_gym.solver import AfterstateScorePolicy

MISTAKES_STORED = 100


class TurnSums:
    """Sums over the states of a turn.

    Attributes:
        scores: [T] every final score that can occur, in ascending order.
        chances: [T] the probability of each.
        throws: expected number of throws.
        choices: expected number of states that have a legal action.
        departures: expected number of these states at which the action is not optimal.
        regret: the sum of visits times loss.
        mistakes: [at most MISTAKES_STORED, 3] state, visits and loss of the costliest mistakes, costliest first.
    """

    def __init__(self, scores: IntArray):
        self.scores = scores
        self.chances = np.zeros(len(scores))
        self.throws = 0.0
        self.choices = 0.0
        self.departures = 0.0
        self.regret = 0.0
        self.mistakes = np.empty((0, 3))
        self._least_cost = 0.0  # a mistake must cost more to be stored

    def end(self, score: IntArray, visits: FloatArray) -> None:
        """Add turns [B] that end with scores [B]."""
        self.chances += np.bincount(np.searchsorted(self.scores, score), visits, len(self.scores))

    def choose(self, state: IntArray, visits: FloatArray, loss: FloatArray) -> None:
        """Add choices: the states' numbers, their expected visits, and the policy's loss there, of one shape."""
        self.choices += float(visits.sum())
        self.departures += float(visits[loss > 0].sum())
        cost = visits * loss
        self.regret += float(cost.sum())
        costly = cost > self._least_cost
        found = np.column_stack([state[costly], visits[costly], loss[costly]])
        mistakes = np.concatenate([self.mistakes, found])
        order = np.argsort(-mistakes[:, 1] * mistakes[:, 2], kind="stable")
        self.mistakes = mistakes[order[:MISTAKES_STORED]]
        if len(order) >= MISTAKES_STORED:
            self._least_cost = float(self.mistakes[-1, 1:].prod())


class GreedyFlow:
    """The flow of a deterministic policy, which goes from every state to one afterstate.

    Args:
        grid: the boards.
        utility: [D, rows, columns] the optimal utility of every afterstate.
        policy: the policy.

    Attributes:
        visits: [D, rows, columns] of all afterstates; a row is complete once all later rows were passed on.
    """

    def __init__(self, grid: Grid, utility: FloatArray, policy: AfterstateScorePolicy):
        self._grid = grid
        self._utility = utility.reshape(-1)
        rows = [grid.boards_in(row) for row in range(grid.rows)]
        scores = np.array(
            [[policy.scores(boards, np.where(boards > 0, dice, 0)) for boards in rows] for dice in grid.box.game.throws]
        )
        # Rank the afterstates by score. Of equal scores the one ranks higher to which the lower action leads: that of
        # the lower place, or of fewer dice at the same place. So a stable sort begins with the highest place.
        places = np.arange(scores.size, dtype=np.int32).reshape(len(scores), -1)[:, ::-1].T.ravel()
        by_rank = places[np.argsort(scores.reshape(-1)[places], kind="stable")]
        rank = np.empty_like(by_rank)
        rank[by_rank] = np.arange(len(by_rank), dtype=np.int32)
        top = np.maximum.reduce(rank.reshape(scores.shape), where=grid.allowed, initial=-1)
        self._tops = RowMoves(grid, top, np.maximum, -1)
        self._places = np.append(by_rank, np.int32(by_rank.size))  # the last entry: no move
        self._all_visits = np.zeros(by_rank.size + 1)
        self.visits = self._all_visits[:-1].reshape(scores.shape)

    def through(self, row: int) -> FloatArray:
        """Add the visits of a row to the afterstates that the policy's moves lead to.

        Returns:
            [R, columns] the optimal utility of what the policy's move leads to; any number where there is no move.
        """
        after = self._places.take(self._tops.reduce(row))
        visits = self.visits[:, row]
        for columns, _, _ in reversed(self._grid.levels):
            reached = columns[visits[:, columns].any(axis=0)]
            flow = self._grid.chances.T @ visits[:, reached]
            np.add.at(self._all_visits, after[:, reached].ravel(), flow.ravel())
        return self._utility.take(after, mode="clip")


class UniformFlow:
    """The flow of random play, which goes from every state to the afterstates of all moves; see `GreedyFlow`."""

    def __init__(self, grid: Grid, utility: FloatArray):
        self._grid = grid
        self.visits = np.zeros(utility.shape)
        self._reached = np.zeros(utility.shape[1:])  # visits from later rows with each number of dice that is allowed
        self._choices = RowMoves(grid, grid.allowed.sum(axis=0, dtype=np.int32), np.add, 0)
        self._sums = RowMoves(grid, np.add.reduce(utility, where=grid.allowed), np.add, 0)
        self._out = RowMoves(grid, self._reached, np.add, 0, within=False)

    def through(self, row: int) -> FloatArray:
        """Add the visits of a row to the afterstates after its moves, and return [R, columns] their mean utility."""
        choices = np.maximum(self._choices.reduce(row), 1)
        allowed = self._grid.allowed[:, row]
        visits = self.visits[:, row]
        visits += self._reached[row] * allowed
        flow = np.empty(choices.shape)
        for columns, states, after in reversed(self._grid.levels):
            flow[:, columns] = self._grid.chances.T @ visits[:, columns] / choices[:, columns]
            visits += np.bincount(after, flow.take(states), self._grid.columns) * allowed
        self._out.spread(row, flow)
        return self._sums.reduce(row) / choices
