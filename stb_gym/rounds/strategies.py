"""Strategies of a round: how a seat plays, given the scores so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.measure import is_policy, load_policy
from stb_gym.messages import quoted
from stb_gym.rounds.scores_so_far import ScoresSoFar, ScoresSoFarTable
from stb_gym.solver import Policy, TurnTables, approximation, pair_weights, table_strategy

RoundFunction = Callable[[TurnTables, ScoresSoFar], Policy]
RoundStrategy = str | Path | Policy | RoundFunction


class SeatStrategy(Protocol):
    """How a seat plays."""

    def policy(self, scores_so_far: ScoresSoFar) -> Policy:
        """Return the policy of a turn, given the scores so far."""

    def weights(self, rows: IntArray, after: int) -> FloatArray:
        """Return [E, B] the probability of every pair at rows [B], or [E, 1] for all; `after` players come later."""


@dataclass(frozen=True, eq=False)
class FixedStrategy:
    """Play one policy, whatever the scores so far.

    Attributes:
        tables: the arrays of the game.
        fixed: the policy.
    """

    tables: TurnTables
    fixed: Policy

    def policy(self, scores_so_far: ScoresSoFar) -> Policy:
        """Return the policy."""
        return np.asarray(self.fixed)

    def weights(self, rows: IntArray, after: int) -> FloatArray:
        """Return [E, 1] the probability of every pair."""
        return pair_weights(self.tables, self.fixed)[0][:, None]


@dataclass(frozen=True, eq=False)
class AdaptiveStrategy:
    """Play by a function of the scores so far.

    Attributes:
        scores_so_far: the Z scores so far of the round.
        function: returns a policy, given the arrays of the game and the scores so far.
    """

    scores_so_far: ScoresSoFarTable
    function: RoundFunction

    def policy(self, scores_so_far: ScoresSoFar) -> Policy:
        """Return the policy of a turn, given the scores so far."""
        return np.asarray(self.function(self.scores_so_far.tables, scores_so_far))

    def weights(self, rows: IntArray, after: int) -> FloatArray:
        """Return [E, B] the probability of every pair at rows [B].

        Raises:
            ValueError: if the function returns something else than a policy of the game.
        """
        weights = []
        for row in rows.tolist():
            scores_so_far = self.scores_so_far.at_row(row, after)
            try:
                weights.append(pair_weights(self.scores_so_far.tables, self.policy(scores_so_far))[0])
            except (TypeError, ValueError) as error:
                raise ValueError(f"the strategy at {scores_so_far}: {error}") from error
        return np.stack(weights, axis=1)


def strategy_of(scores_so_far: ScoresSoFarTable, given: RoundStrategy) -> SeatStrategy:
    """Return a strategy other than the equilibrium, in any of the forms of `Round.evaluate`.

    Raises:
        ValueError: if a name is unknown, or a file does not fit the game.
    """
    tables = scores_so_far.tables
    if isinstance(given, str) and given == "approximation":
        return AdaptiveStrategy(scores_so_far, lambda _, seen: approximation(tables, seen.lead, seen.after))
    if isinstance(given, Path) or (isinstance(given, str) and is_policy(given)):
        return FixedStrategy(tables, load_policy(given, tables.game))
    if isinstance(given, str):
        return FixedStrategy(tables, table_strategy(tables.game, given))
    return AdaptiveStrategy(scores_so_far, given) if callable(given) else FixedStrategy(tables, given)


def check_strategies(contest: str, strategies: Any, players: int | None = None) -> None:
    """Raise a ValueError unless there is one strategy per player, if the number of players is known."""
    if isinstance(strategies, str) or not isinstance(strategies, Sequence):
        raise ValueError(f"a {contest} takes a list of strategies, not {quoted(strategies)}")
    if players is not None and len(strategies) != players:
        raise ValueError(f"a {contest} of {players} players needs {players} strategies, not {len(strategies)}")
