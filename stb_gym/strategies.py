"""Strategies that people play, by name, as policies."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from stb_gym.game import Game, IntArray, check_choice
from stb_gym.policy import Policy
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.tables import TurnTables, compile_game
from stb_gym.threes import FREE_FACE, Threes


def random(tables: TurnTables) -> Policy:
    """Every legal move with the same probability."""
    policy = np.zeros((tables.nodes, tables.actions))
    policy[tables.edge_node, tables.edge_action] = tables.uniform
    return policy


def biggest_first(tables: TurnTables) -> Policy:
    """Shut the biggest tile that can be shut; of the moves that do, the next biggest, and so on."""
    return _prefer(tables, lambda tiles: [-tile for tile in reversed(tiles)])


def fewest_then_biggest(tables: TurnTables) -> Policy:
    """Shut as few tiles as possible; of the moves that do, the biggest tiles."""
    return _prefer(tables, lambda tiles: [len(tiles), *(-tile for tile in reversed(tiles))])


def most_first(tables: TurnTables) -> Policy:
    """Shut as many tiles as possible; of the moves that do, the one of lowest index (the lowest tiles)."""
    return _prefer(tables, lambda tiles: [-len(tiles)])


def _prefer(tables: TurnTables, key: Callable[[Any], Iterable[int]]) -> Policy:
    """At every node the legal move of least key, the lowest action among equals."""
    moves = tables.game.moves
    by_preference = np.array(sorted(range(len(moves)), key=lambda action: list(key(moves[action]))))
    rank = np.argsort(by_preference)
    best = np.minimum.reduceat(rank[tables.edge_action], tables.edge_start[tables.decisions])
    return _at_decisions(tables, by_preference[best])


def threes_only(tables: TurnTables) -> Policy:
    """Keep the threes and nothing else; without any, the one lowest die."""
    threes = tables.observation[tables.decisions, FREE_FACE : FREE_FACE + 1].sum(axis=1)  # none if dice have no 3
    return _at_decisions(tables, np.maximum(threes, 1).astype(int) - 1)


def take_all(tables: TurnTables) -> Policy:
    """Keep all dice of every throw."""
    return _at_decisions(tables, tables.edge_action[tables.edge_start[tables.decisions + 1] - 1])


def _at_decisions(tables: TurnTables, actions: IntArray) -> Policy:
    policy = np.full(tables.nodes, -1)
    policy[tables.decisions] = actions
    return policy


STRATEGIES: dict[str, dict[str, Callable[[TurnTables], Policy]]] = {
    ShutTheBox.name: {
        "random": random,
        "biggest-first": biggest_first,
        "fewest-then-biggest": fewest_then_biggest,
        "most-first": most_first,
    },
    Threes.name: {"random": random, "threes-only": threes_only, "take-all": take_all},
}


def strategy(game: Game, name: str) -> Policy:
    """The policy of a named strategy.

    Raises:
        ValueError: if this game has no such strategy.
    """
    known = STRATEGIES.get(game.name, {})
    check_choice(f"strategy of {game.name}", name, list(known))
    return known[name](compile_game(game))
