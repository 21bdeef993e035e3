"""Optimal play of one turn of a round, at any scores so far."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray, freeze
from stb_gym.rounds.scores_so_far import ScoresSoFar, ScoresSoFarTable, batches
from stb_gym.solver import (
    Level,
    Objective,
    Policy,
    Solution,
    TurnTables,
    optimal_pairs,
    optimise,
    solve_tables,
    sweep,
)  # fmt: skip


def best_values(tables: TurnTables, utility: FloatArray) -> FloatArray:
    """Return [B] the greatest expected utility of a turn, given B utilities [B, T] of its final scores."""
    values = np.zeros(len(utility))
    for batch in batches(tables, np.ones(len(utility), np.bool_)):
        afterstates, _ = optimise(tables, utility[batch].T[tables.score_index])
        values[batch] = afterstates[tables.start]
    return values


@dataclass(frozen=True, eq=False, repr=False)
class OptimalTurn:
    """Optimal play of a turn, given the value of the lead after it.

    Attributes:
        scores_so_far: the Z scores so far of the round.
        holder_value: [Z] the expected win of each holder of the lead after the turn.
        tie_breaker: [Z] what a holder of the lead minimises among equally good moves; None to take the lowest action.
    """

    scores_so_far: ScoresSoFarTable
    holder_value: FloatArray
    tie_breaker: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(vars(self))

    def _by_final_score(self, of_holder: FloatArray, rows: NDArray[Any]) -> FloatArray:
        """Return [B, T] the entry of `of_holder` [Z] after each final score; 0 where the player is beaten."""
        return self.scores_so_far.takes_lead[rows] * of_holder[self.scores_so_far.next_row[rows]]

    def utility(self, rows: NDArray[Any]) -> FloatArray:
        """Return [B, T] the player's expected win by final score at rows: a mask [Z] or indices [B]."""
        return self._by_final_score(self.holder_value, rows)

    def values(self, rows: NDArray[Any]) -> FloatArray:
        """Return [B] the player's expected win before the turn at rows: a mask [Z] or indices [B]."""
        return best_values(self.scores_so_far.tables, self.utility(rows))

    def weights(self, rows: IntArray) -> FloatArray:
        """Return [P, B] the probability (0 or 1) of every pair at rows [B]."""
        tables = self.scores_so_far.tables
        best = optimal_pairs(tables, *optimise(tables, self.utility(rows).T[tables.score_index]))
        preferred = best
        if self.tie_breaker is not None:

            def least(pair_value: FloatArray, level: Level) -> FloatArray:
                return level.reduce(np.minimum, np.where(best[level.pairs], pair_value, np.inf))

            to_minimise = self._by_final_score(self.tie_breaker, rows).T[tables.score_index]
            preferred = best & optimal_pairs(tables, *sweep(tables, to_minimise, least))
        weights = np.zeros(best.shape)
        weights[tables.lowest(preferred), np.arange(len(rows))] = 1
        return weights

    @checked
    def policy(self, scores_so_far: ScoresSoFar) -> Policy:
        """Compute the play of a turn.

        Args:
            scores_so_far: what the player sees of the others.

        Returns:
            [S] the actions.

        Raises:
            ValueError: if they cannot occur in this round.
        """
        weights = self.weights(np.array([self.scores_so_far.find(scores_so_far)]))
        return self.scores_so_far.tables.lowest_actions(weights[:, 0] > 0)

    @checked
    def at(self, scores_so_far: ScoresSoFar) -> Solution:
        """Solve a turn, given the scores so far.

        Args:
            scores_so_far: what the player sees of the others.

        Returns:
            Optimal play as a `Solution` whose values are the player's expected win.

        Raises:
            ValueError: if they cannot occur in this round.
        """
        tables = self.scores_so_far.tables
        [wins] = self.utility(np.array([self.scores_so_far.find(scores_so_far)]))
        name = "share of the win" if self.scores_so_far.ties == "split" else "chance to win"
        return solve_tables(tables.game, Objective(name, lambda score: wins[tables.place_of(score)], "probability"))
