"""Whoever plays without a person: how strategies and policies choose at a position, in boxes of any size."""

import numpy as np

from stb_gym.exact import Policy, compile_game, edge_weights, fits, strategies, strategy
from stb_gym.games import Game, Move, Moves, RuleOfThumb, check_choice, entry_of
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
    game = coach.game
    if not isinstance(plays, str):
        return by_policy(game, plays, random)
    check_choice(f"strategy of {game.name}", plays, list(strategies(game)))
    if plays == "optimal":
        return lambda position: next(iter(coach.choice(position).best), None)
    if rule := entry_of(game).rules_of_thumb.get(plays):
        return lambda position: _by_thumb(game, rule, position)
    if not fits(game):
        raise ValueError(f"{game} is too large for {plays}: allowed are optimal and rules of thumb")
    return by_policy(game, strategy(game, plays), random)


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


def _by_thumb(game: Game, rule: RuleOfThumb, position: Position) -> Move | None:
    """The move that a rule of thumb wants most, the lowest action among equals."""
    if not position.moves:
        return None
    action, held, dice = np.array(position.moves).T
    before, roll = np.full(len(action), position.held), np.repeat(position.roll[None], len(action), axis=0)
    return position.moves[int(np.argmin(rule(game, Moves(before, roll, action, held, dice))))]
