"""Whoever plays without a person: how strategies and policies choose at a position, in boxes of any size."""

import numpy as np

from stb_gym.games import Game, Move
from stb_gym.solver import AnyMove, BoardPolicy, Policy, compile_game, edge_weights, strategy
from stb_gym.terminal.coach import Coach
from stb_gym.terminal.turns import Choose, Position


def chooser(coach: Coach, plays: str | Policy, random: np.random.Generator) -> Choose:
    """How somebody chooses who plays a turn alone.

    Args:
        coach: knows perfect play.
        plays: a policy, or the name of a strategy, of which "optimal" plays as the coach does.
        random: for the choices of a policy that makes some at random.

    Raises:
        ValueError: if there is no such strategy, the policy does not fit, or the game is too large for it.
    """
    if isinstance(plays, str) and plays == "optimal":
        return lambda position: next(iter(coach.choice(position).best), None)
    policy = strategy(coach.game, plays) if isinstance(plays, str) else plays
    if isinstance(policy, BoardPolicy):
        return lambda position: _preferred(policy, position, random)
    return by_policy(coach.game, policy, random)


def by_policy(game: Game, policy: Policy, random: np.random.Generator) -> Choose:
    """How a policy chooses.

    Raises:
        ValueError: if the policy does not fit the game, or takes an illegal action.
    """
    tables = compile_game(game)
    weights = edge_weights(tables, policy)

    def choose(position: Position) -> Move | None:
        if not position.moves:
            return None
        edges = tables.edges_of(tables.find_node(tables.find_state(position.held, position.dice), position.roll))
        return position.moves[int(random.choice(len(edges), p=weights[edges.start : edges.stop]))]

    return choose


def _preferred(policy: BoardPolicy, position: Position, random: np.random.Generator) -> Move | None:
    """The move of a policy that looks at what moves lead to."""
    if not position.moves:
        return None
    if isinstance(policy, AnyMove):
        return position.moves[int(random.integers(len(position.moves)))]
    _, held, dice = np.array(position.moves).T
    return position.moves[int(policy.of(held, dice).argmax())]
