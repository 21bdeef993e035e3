"""Games of the package beside their twins in `tests.reference`, and the translation between the two."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from numpy.typing import NDArray

from stb_gym import GAMES, Game, ShutTheBox, Threes, TurnTables
from tests import reference

SMALL = [
    ShutTheBox(tiles=1, dice=1),
    ShutTheBox(tiles=3),
    ShutTheBox(tiles=4, dice=1, faces=4),
    ShutTheBox(tiles=5, dice=2, faces=3),
    ShutTheBox(tiles=5, score="count"),
    ShutTheBox(tiles=6, dice=3, faces=2),
    ShutTheBox(tiles=6),
    ShutTheBox(tiles=5, faces=4, one_die="low-sum", first_move=3),
    ShutTheBox(tiles=4, faces=3, one_die="any-time", score="digits", open="even", ending_roll=4),
    ShutTheBox(tiles=5, faces=4, match="faces-or-sum", one_die="high-shut", one_die_forced=True),
    Threes(dice=1),
    Threes(dice=2, faces=2),
    Threes(dice=2, faces=8),
    Threes(dice=3),
    Threes(dice=2, faces=4, free_face=1, moon=True),
]
STANDARD = [game() for game in GAMES.values()]


def twin(game: Game) -> reference.Game:
    return {ShutTheBox: reference.ShutTheBox, Threes: reference.Threes}[type(game)](**asdict(game))


def position(game: Game, held: int, dice: int) -> Any:
    if isinstance(game, Threes):
        return held, dice
    return frozenset(tile for tile in range(1, game.tiles + 1) if held >> (tile - 1) & 1), dice


def roll_at(tables: TurnTables, node: int) -> Any:
    shown = tuple(int(number) for number in tables.node_roll(node))
    by_sum = isinstance(tables.game, ShutTheBox) and tables.game.match in ("sum", "two-at-most")
    return shown[0] if by_sum else tuple(sorted(shown))


def throwing_states(tables: TurnTables) -> Iterator[tuple[int, Any]]:
    """Every state with dice, and its twin's position."""
    for state in range(tables.states):
        if tables.dice[state] > 0:
            yield state, position(tables.game, int(tables.held[state]), int(tables.dice[state]))


def nodes_of(tables: TurnTables, state: int) -> range:
    return range(tables.node_start[state], tables.node_start[state + 1])


def moves_at(tables: TurnTables, node: int) -> dict[Any, int]:
    """Next state by move, in the twin's words; without "no move", which the twin does not know."""
    edges = range(tables.edge_start[node], tables.edge_start[node + 1])
    moves = {move_of(tables, edge): int(tables.edge_next[edge]) for edge in edges}
    return {move: state for move, state in moves.items() if move != ((), 0)}


def choice(tables: TurnTables, node: int, policy: NDArray[Any]) -> dict[Any, float]:
    """What a policy does at a node, in the twin's words; illegal actions are moves that the twin does not know."""
    edges = range(tables.edge_start[node], tables.edge_start[node + 1])
    moves = {int(tables.edge_action[edge]): move_of(tables, edge) for edge in edges}
    shares: dict[int, Any] = (
        {int(policy[node]): 1} if policy.ndim == 1 else {a: float(policy[node, a]) for a in range(tables.actions)}
    )
    return {moves.get(action, ("illegal", action)): share for action, share in shares.items() if share}


def move_of(tables: TurnTables, edge: int) -> Any:
    """The move of an edge in the twin's words."""
    move = tables.game.moves[tables.edge_action[edge]]
    return move if isinstance(tables.game, Threes) else (move, int(tables.dice[tables.edge_next[edge]]))
