"""How turns flow over the boards of a game, a row at a time, under a policy that looks at what moves lead to.

    visits(board, dice) = what flows there from the boards before
    flow(node)          = visits(board, dice) x P(roll), which goes on to where the policy's move leads

Rows are worked through in descending order, as no move leads to a later one; in a row the columns with most open tiles
come first.
"""

from typing import Protocol

import numpy as np

from stb_gym.large.ranks import rank_states
from stb_gym.large.rows import BoardRows, FloatArray, RowMoves, over_throws
from stb_gym.large.solving import MovesWithin
from stb_gym.solver.preferences import AnyMove, BoardPolicy, Preference


class Flow(Protocol):
    """Visits of a game's states that are made row by row, all of a row's before the next."""

    visits: FloatArray  # [D, rows, columns], of which only the rows that come later are still to be completed

    def through(self, row: int) -> FloatArray:
        """Let flow on what comes to a row.

        Returns:
            [R, columns] the expected utility of what the policy's move leads to, under perfect play from there; any
            number where there is no move.
        """


def flow_of(policy: BoardPolicy, rows: BoardRows, utility: FloatArray) -> Flow:
    """The flow of a policy, with no visits yet, given the optimal utility [D, rows, columns] of every state."""
    return _Uniform(rows, utility) if isinstance(policy, AnyMove) else _Preferring(policy, rows, utility)


class _Preferring:
    """A deterministic flow: of every node to one state."""

    def __init__(self, policy: Preference, rows: BoardRows, utility: FloatArray):
        ranks = rank_states(rows, policy)
        self._tops = RowMoves(rows, over_throws(np.maximum, ranks.rank, rows.allowed))
        self._places = np.append(ranks.place, np.int32(ranks.place.size))  # where there is no move: nowhere
        self._utility = utility.reshape(-1)
        self._rows = rows
        open_tiles = np.bitwise_count(np.arange(rows.columns))
        self._levels = [np.flatnonzero(open_tiles == count) for count in range(open_tiles.max(), -1, -1)]
        self._all_visits = np.zeros(utility.size + 1)
        self.visits = self._all_visits[:-1].reshape(utility.shape)

    def through(self, row: int) -> FloatArray:
        after = self._places.take(self._tops.reduce(row))
        here = self.visits[:, row]
        for columns in self._levels:
            reached = columns[here[:, columns].any(axis=0)]
            flow = self._rows.by_roll(here[:, reached])
            np.add.at(self._all_visits, after[:, reached].ravel(), flow.ravel())
        return self._utility.take(after, mode="clip")


class _Uniform:
    """The flow of random play: of every node to all states alike that its moves lead to."""

    def __init__(self, rows: BoardRows, utility: FloatArray):
        self._rows = rows
        self.visits = np.zeros(utility.shape)
        self._reached = rows.before_dice(self.visits)
        choices = rows.allowed.sum(axis=0, dtype=np.int32)
        self._choices = RowMoves(rows, choices, np.add)
        self._sums = RowMoves(rows, over_throws(np.add, utility, rows.allowed), np.add)
        self._out = RowMoves(rows, self._reached, within=False)
        self._within = MovesWithin(rows)

    def through(self, row: int) -> FloatArray:
        rows, here = self._rows, self.visits[:, row]
        choices = np.maximum(self._choices.reduce(row), 1)
        if len(here) > 1:
            here += self._reached[row] * rows.allowed[:, row]
        self._within.spread(row, here, rows.probability[:, None] / choices)
        self._out.spread(row, rows.by_roll(here) / choices)
        return self._sums.reduce(row) / choices
