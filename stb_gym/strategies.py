"""Strategies that people play, by name, as policies.

The first line of each function says how it plays; where it calls several moves equal, it plays the lowest action.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Game, check_choice
from stb_gym.policy import Policy, at_decisions
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.solve import lowest_edges, optimal_edges, optimise, solve
from stb_gym.standings import Standing
from stb_gym.tables import TurnTables, compile_game
from stb_gym.threes import Threes

FIRST_OF_TWO = Standing(after=1)
TARGETS_AT_ONCE = 64


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


def nine_eight_seven(tables: TurnTables) -> Policy:
    """Shut the highest tile of the box, else the second, else the third (9, 8, 7) if possible, else the smallest."""
    top = tables.game.tiles  # type: ignore[attr-defined]
    return _prefer(tables, lambda tiles: [*(tile not in tiles for tile in (top, top - 1, top - 2)), *tiles])


def lowest_first(tables: TurnTables) -> Policy:
    """Shut the lowest tile that can be shut; of the moves that do, the next lowest, and so on."""
    return _prefer(tables, lambda tiles: tiles)


def one_to_four_first(tables: TurnTables) -> Policy:
    """Shut as many of the tiles 1 to 4 as possible."""
    return _prefer(tables, lambda tiles: [-sum(tile <= 4 for tile in tiles)])


def most_ways(tables: TurnTables) -> Policy:
    """Leave the board from which there are the most ways to shut the box, all numbers of throws together."""
    ways = ways_to_shut(tables).sum(axis=1)[tables.edge_next]
    most = np.maximum.reduceat(ways, tables.edge_start[tables.decisions])
    marked = ways == np.repeat(most, np.diff(tables.edge_start)[tables.decisions])
    return _lowest(tables, marked)


def ways_to_shut(tables: TurnTables) -> NDArray[np.float64]:
    """[S, K] in how many ways a turn at the state reaches score 0 in exactly 0, 1, 2 ... K - 1 throws.

    Every throw of the dice and every legal move counts as one way of its own. Exact below 2**53.
    """
    longest = len(tables.levels)  # every throw leads to a lower level
    ways = np.zeros((tables.states, longest + 1))
    ways[:, 0] = (tables.dice == 0) & (tables.final_score == 0)
    for level in tables.levels:
        counts = level.rolls.counts
        at_nodes = np.zeros((level.nodes.stop - level.nodes.start, longest))
        if level.live.size:
            at_nodes[level.live] = np.add.reduceat(ways[tables.edge_next[level.edges], :-1], level.first_edge)
        ways[level.states, 1:] = np.tensordot(at_nodes.reshape(-1, len(counts), longest), counts, (1, 0))
    return ways


def optimal_score(tables: TurnTables) -> Policy:
    """Perfect play for the fewest points."""
    return solve(tables.game, "score").policy


def optimal_shut(tables: TurnTables) -> Policy:
    """Perfect play for the chance of score 0."""
    return solve(tables.game, "shut").policy


def worst(tables: TurnTables) -> Policy:
    """The play that makes the expected points as many as possible."""
    return solve(tables.game, "score", worst=True).policy


def optimal(tables: TurnTables) -> Policy:
    """Perfect play: in a round, its equilibrium; alone, for the fewest points."""
    return optimal_score(tables)


def approximation(tables: TurnTables, standing: Standing = FIRST_OF_TWO) -> Policy:
    """Tie or beat the lead, as if all players after just tried to get below; alone: as the first of two players.

    Maximises the expectation of (1 - P(beat t))**after over final scores t up to the lead, where P(beat t) is the
    greatest chance of a final score strictly below t.
    """
    utility = (1 - chance_to_beat(tables)[tables.start]) ** standing.after
    if standing.lead is not None:
        utility[tables.scores > standing.lead] = 0
    return _lowest(tables, optimal_edges(tables, *optimise(tables, utility[tables.score_index])))


@lru_cache(maxsize=4)
def chance_to_beat(tables: TurnTables) -> NDArray[np.float64]:
    """[S, T] the greatest chance, at every state, of a final score strictly below each that there is."""
    chances = np.empty((tables.states, len(tables.scores)))
    for first in range(0, len(tables.scores), TARGETS_AT_ONCE):
        below = tables.final_score[:, None] < tables.scores[first : first + TARGETS_AT_ONCE]
        chances[:, first : first + TARGETS_AT_ONCE] = optimise(tables, below.astype(float))[0]
    chances.flags.writeable = False  # it is kept
    return chances


def _prefer(tables: TurnTables, key: Callable[[Any], Iterable[int]]) -> Policy:
    """At every node the legal move of least key, the lowest action among equals."""
    moves = tables.game.moves
    by_preference = np.array(sorted(range(len(moves)), key=lambda action: list(key(moves[action]))))
    rank = np.argsort(by_preference)
    best = np.minimum.reduceat(rank[tables.edge_action], tables.edge_start[tables.decisions])
    return at_decisions(tables, by_preference[best])


def threes_only(tables: TurnTables) -> Policy:
    """Keep the threes (the dice worth nothing) and nothing else; without any, the one lowest die."""
    game = tables.game
    assert isinstance(game, Threes)
    free = [game.free_face] if 1 <= game.free_face <= game.faces else []
    threes = tables.observation[tables.decisions][:, free].sum(axis=1).astype(int)
    fewest = tables.edge_action[tables.edge_start[tables.decisions]]  # all of them if they are the moon
    return at_decisions(tables, np.maximum(threes - 1, fewest))


def take_all(tables: TurnTables) -> Policy:
    """Keep all dice of every throw."""
    return at_decisions(tables, tables.edge_action[tables.edge_start[tables.decisions + 1] - 1])


def _lowest(tables: TurnTables, marked: NDArray[np.bool_]) -> Policy:
    """At every node the lowest action among the marked edges [E]."""
    return at_decisions(tables, tables.edge_action[lowest_edges(tables, marked)])


STRATEGIES: dict[str, dict[str, Callable[[TurnTables], Policy]]] = {
    ShutTheBox.name: {
        "random": random,
        "biggest-first": biggest_first,
        "fewest-then-biggest": fewest_then_biggest,
        "most-first": most_first,
        "nine-eight-seven": nine_eight_seven,
        "lowest-first": lowest_first,
        "one-to-four-first": one_to_four_first,
        "most-ways": most_ways,
        "optimal-score": optimal_score,
        "optimal-shut": optimal_shut,
        "worst": worst,
        "approximation": approximation,
        "optimal": optimal,
    },
    Threes.name: {
        "random": random,
        "threes-only": threes_only,
        "take-all": take_all,
        "record-setter": optimal_score,
        "worst": worst,
        "approximation": approximation,
        "optimal": optimal,
    },
}

# Strategies of every game that look at the standing when they are played in a round.
ROUND_STRATEGIES: dict[str, Callable[[TurnTables, Standing], Policy]] = {"approximation": approximation}


def in_words(game_name: str) -> dict[str, str]:
    """What every strategy of a game does, in a line each."""
    return {name: (plays.__doc__ or "").partition("\n")[0] for name, plays in STRATEGIES[game_name].items()}


def strategy(game: Game, name: str) -> Policy:
    """The policy of a named strategy.

    Raises:
        ValueError: if this game has no such strategy.
    """
    known = STRATEGIES.get(game.name, {})
    check_choice(f"strategy of {game.name}", name, list(known))
    return known[name](compile_game(game))
