"""Strategies of a round: how a seat plays, given the scores so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.measure import is_policy, load_policy
from stb_gym.messages import quoted
from stb_gym.rounds.scores_so_far import ScoresSoFar, ScoresSoFarTable
from stb_gym.solver import Policy, TurnTables, approximation, pair_weights, policy_array, table_strategy

RoundFunction = Callable[[TurnTables, ScoresSoFar], Policy]
RoundStrategy = str | Path | Policy | RoundFunction


@dataclass(frozen=True, eq=False)
class AdaptiveStrategy:
    """A strategy that depends on the scores so far.

    Attributes:
        table: the scores so far of the round.
        function: returns the policy of a turn, given the arrays of the game and the scores so far.
    """

    table: ScoresSoFarTable
    function: RoundFunction

    def policy(self, scores_so_far: ScoresSoFar) -> Policy:
        """Return the policy of a turn."""
        return policy_array(self.table.tables, self.function(self.table.tables, scores_so_far))

    def weights(self, rows: IntArray, after: int) -> FloatArray:
        """Return [E, B] the probability of every pair at rows [B], with `after` players to come later.

        Raises:
            ValueError: if the function returns anything but a policy of the game.
        """
        weights = []
        for row in rows.tolist():
            scores_so_far = self.table.at_row(row, after)
            try:
                weights.append(pair_weights(self.table.tables, self.policy(scores_so_far))[0])
            except (TypeError, ValueError) as error:
                raise ValueError(f"the strategy at {scores_so_far}: {error}") from error
        return np.stack(weights, axis=1)


class FixedStrategy(AdaptiveStrategy):
    """A strategy that plays one policy at all scores so far."""

    def __init__(self, table: ScoresSoFarTable, policy: Policy):
        super().__init__(table, lambda tables, scores_so_far: policy)

    def weights(self, rows: IntArray, after: int) -> FloatArray:
        """Return [E, 1] the probability of every pair."""
        return self._weights

    @cached_property
    def _weights(self) -> FloatArray:
        return pair_weights(self.table.tables, self.policy(ScoresSoFar()))[0][:, None]


def strategy_of(table: ScoresSoFarTable, given: RoundStrategy) -> AdaptiveStrategy:
    """Return a strategy other than the equilibrium, in any of the forms of `Round.evaluate`.

    Raises:
        ValueError: if a name is unknown, or a file does not fit the game.
    """
    game = table.tables.game
    if isinstance(given, Path) or (isinstance(given, str) and is_policy(given)):
        return FixedStrategy(table, load_policy(given, game))
    if isinstance(given, str) and given != "approximation":
        return FixedStrategy(table, table_strategy(game, given))
    if isinstance(given, str):
        return AdaptiveStrategy(table, lambda tables, seen: approximation(tables, seen.lead, seen.after))
    return AdaptiveStrategy(table, given) if callable(given) else FixedStrategy(table, given)


def check_strategies(contest: str, strategies: Any, players: int | None = None) -> None:
    """Raise a ValueError unless there is one strategy per player, if the number of players is known."""
    if isinstance(strategies, str) or not isinstance(strategies, Sequence):
        raise ValueError(f"a {contest} takes a list of strategies, not {quoted(strategies)}")
    if players is not None and len(strategies) != players:
        raise ValueError(f"a {contest} of {players} players needs {players} strategies, not {len(strategies)}")
