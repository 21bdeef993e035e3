"""Games of the package beside their twins in `tests.reference`, and the translation between the two."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym import Game, ShutTheBox, Threes
from stb_gym.games import GAMES
from stb_gym.solver import TurnTables
from tests import golden, reference


@dataclass(frozen=True, repr=False)
class MostThrees(Threes):
    """Threes in which the most points are best. Nobody registered it."""

    name: ClassVar[str] = "most-threes"
    more_is_better: ClassVar[bool] = True

    @property
    def perfect_score(self) -> int:
        return self.dice * self.faces


@dataclass(frozen=True)
class Mirrored(reference.Threes):
    """Its twin, in which the points that lack of the most are counted, and the fewest are best."""

    def final_score(self, position: tuple[int, int]) -> int:
        return self.dice * self.faces - position[0]


OURS = {reference.ShutTheBox: ShutTheBox, reference.Threes: Threes, Mirrored: MostThrees}
THEIRS = {ours: theirs for theirs, ours in OURS.items()}


def ours(other: reference.Game) -> Game:
    return OURS[type(other)](**asdict(other))


def twin(game: Game) -> reference.Game:
    return THEIRS[type(game)](**asdict(game))


SMALL = [ours(other) for other in golden.SMALL]
STANDARD = [game() for game in GAMES.values()]


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


def in_our_words(tables: TurnTables, plays: Callable[[Any, Any], dict[Any, Any]]) -> NDArray[np.float64]:
    """The twin's policy as ours [N, A]: the other way round than `choice`."""
    policy = np.zeros((tables.nodes, tables.actions))
    for state, where in throwing_states(tables):
        for node in nodes_of(tables, state):
            edges = range(tables.edge_start[node], tables.edge_start[node + 1])
            moves = {move_of(tables, edge): int(tables.edge_action[edge]) for edge in edges}
            shares = plays(where, roll_at(tables, node)) if set(moves) - {((), 0)} else dict.fromkeys(moves, 1)
            for move, share in shares.items():
                policy[node, moves[move]] = share
    return policy


def move_of(tables: TurnTables, edge: int) -> Any:
    """The move of an edge in the twin's words."""
    move = tables.game.actions[tables.edge_action[edge]]
    return move if isinstance(tables.game, Threes) else (move, int(tables.dice[tables.edge_next[edge]]))
