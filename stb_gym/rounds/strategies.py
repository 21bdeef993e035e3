"""Strategies of a round: how a seat plays, given the scores so far."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.games import Game
from stb_gym.measure import is_policy, load_policy
from stb_gym.messages import quoted
from stb_gym.rounds.scores_so_far import ScoresSoFar, ScoresSoFarTable
from stb_gym.solver import Policy, TurnTables, approximation, pair_weights, policy_array, table_strategy

RoundFunction = Callable[[TurnTables, ScoresSoFar], Policy]
RoundStrategy = str | Path | Policy | RoundFunction


def strategy_of(game: Game, given: RoundStrategy) -> Policy | RoundFunction:
    """Return a strategy other than the equilibrium, in any of the forms of `Round.evaluate`.

    Returns:
        Its policy if it ignores the scores so far, else its function.

    Raises:
        ValueError: if a name is unknown, or a file does not fit the game.
    """
    if isinstance(given, Path) or (isinstance(given, str) and is_policy(given)):
        return load_policy(given, game)
    if not isinstance(given, str):
        return given
    if given == "approximation":
        return lambda tables, seen: approximation(tables, seen.lead, seen.after)
    return table_strategy(game, given)


def policy_at(tables: TurnTables, plays: Policy | RoundFunction, scores_so_far: ScoresSoFar) -> Policy:
    """Return the policy of a turn, given what `strategy_of` returned."""
    return policy_array(tables, plays(tables, scores_so_far) if callable(plays) else plays)


def weights_at(table: ScoresSoFarTable, plays: Policy | RoundFunction, rows: IntArray, after: int) -> FloatArray:
    """Return [P, B] the probability of every pair at rows [B], or [P, 1] if it is the same at all.

    Args:
        table: the scores so far of the round.
        plays: what `strategy_of` returned.
        rows: [B] rows of the table.
        after: the number of players to come later.

    Raises:
        ValueError: if a function returns anything but a policy of the game.
    """
    if not callable(plays):
        return pair_weights(table.tables, policy_array(table.tables, plays))[0][:, None]
    weights = []
    for row in rows.tolist():
        scores_so_far = table.at_row(row, after)
        try:
            weights.append(pair_weights(table.tables, policy_at(table.tables, plays, scores_so_far))[0])
        except (TypeError, ValueError) as error:
            raise ValueError(f"the strategy at {scores_so_far}: {error}") from error
    return np.stack(weights, axis=1)


def check_strategies(contest: str, strategies: Any, players: int | None = None) -> None:
    """Raise a ValueError unless there is one strategy per player, if the number of players is known."""
    if isinstance(strategies, str) or not isinstance(strategies, Sequence):
        raise ValueError(f"a {contest} takes a list of strategies, not {quoted(strategies)}")
    if players is not None and len(strategies) != players:
        raise ValueError(f"a {contest} of {players} players needs {players} strategies, not {len(strategies)}")
