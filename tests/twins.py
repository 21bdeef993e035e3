"""Games of the package beside their twins in `tests.reference`, the translation between the two, and random rules."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from stb_gym.games import GAMES, Game, ShutTheBox, Threes
from stb_gym.solver import TurnTables
from stb_gym.solver.objectives import Utility
from tests import golden, reference


@dataclass(frozen=True, repr=False)
class MostThrees(Threes):
    """Threes in which the most points are best; it is not registered."""

    name: ClassVar[str] = "most-threes"
    more_is_better: ClassVar[bool] = True


@dataclass(frozen=True)
class Mirrored(reference.Threes):
    """Its twin, which counts the points missing to the most and in which the fewest are best."""

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


@st.composite
def boxes(draw: Callable[[Any], Any], most_tiles: int = 6) -> ShutTheBox:
    """Draw rules of Shut the Box."""
    tiles = draw(st.integers(1, most_tiles))
    dice = draw(st.integers(1, 3))
    faces = draw(st.integers(2, 6 if dice < 3 else 4))
    opened = draw(st.sets(st.integers(1, tiles), min_size=1))
    one_die = draw(st.sampled_from(["never", "low-sum", "high-shut", "any-time"]))
    fewest_dice = dice if one_die == "never" else 1
    return ShutTheBox(
        tiles=tiles,
        dice=dice,
        faces=faces,
        score=draw(st.sampled_from(["sum", "count", "digits"])),
        open=tuple(opened),
        one_die=one_die,
        one_die_forced=one_die != "never" and draw(st.booleans()),
        match=draw(st.sampled_from(["sum", "sum", "one-tile", "two-at-most", "faces-or-sum"])),
        first_move=draw(st.none() | st.sampled_from(sorted(opened))),
        ending_roll=draw(st.none() | st.integers(fewest_dice, dice * faces)),
    )


def games() -> st.SearchStrategy[Game]:
    """Draw rules of either game."""
    threes = [
        st.builds(rules, st.integers(1, 3), st.integers(2, 5), st.integers(0, 5)) for rules in (Threes, MostThrees)
    ]
    moons = st.builds(Threes, st.integers(1, 3), st.integers(2, 5), moon=st.just(True))
    return st.one_of(boxes(), boxes(), *threes, moons)


def squares(points: NDArray[Any]) -> NDArray[Any]:
    return -(points.astype(np.int64) ** 2)


def around_four(points: NDArray[Any]) -> NDArray[Any]:
    """Return utilities of both signs, whose expectations cancel."""
    return np.clip(4 - points.astype(np.int64), -9, 4) ** 3


def halves(points: NDArray[Any]) -> NDArray[Any]:
    return 0.5 ** points.astype(float)


def thirds(points: NDArray[Any]) -> NDArray[Any]:
    """Return fractions that no float equals."""
    return np.array([Fraction(7, 3) - Fraction(int(p), 3) for p in points], object)


def is_even(points: NDArray[Any]) -> NDArray[Any]:
    return points % 2 == 0


UTILITIES = [squares, around_four, halves, thirds, is_even]
GOALS: list[Any] = ["score", "shut", *UTILITIES]


def our_score(game: Game, score: int) -> int:
    """Return a score of the twin as ours."""
    return game.dice * game.faces - score if isinstance(game, MostThrees) else score


def their_utility(game: Game, goal: str | Utility) -> Callable[[int], Fraction]:
    """Return "score", "shut" or a function of our scores [S] as a utility of one score of the twin."""

    def utility(score: int) -> Fraction:
        points = our_score(game, score)
        if isinstance(goal, str):
            return Fraction({"score": points if game.more_is_better else -points, "shut": score <= 0}[goal])
        return Fraction(goal(np.array([points])).tolist()[0])

    return utility


def position(game: Game, held: int, dice: int) -> Any:
    if isinstance(game, Threes):
        return held, dice
    return frozenset(tile for tile in range(1, game.tiles + 1) if held >> (tile - 1) & 1), dice


def roll_at(tables: TurnTables, node: int) -> Any:
    shown = tables.node_roll(node)
    by_sum = isinstance(tables.game, ShutTheBox) and tables.game.match in ("sum", "two-at-most")
    return shown[0] if by_sum else tuple(sorted(shown))


def throwing_states(tables: TurnTables) -> Iterator[tuple[int, Any]]:
    """Yield every state with dice, and its twin's position."""
    for state in range(tables.states):
        if tables.dice[state] > 0:
            yield state, position(tables.game, int(tables.held[state]), int(tables.dice[state]))


def nodes_of(tables: TurnTables, state: int) -> range:
    return tables.nodes_of(state)


def throwing_nodes(tables: TurnTables) -> Iterator[tuple[int, Any, Any]]:
    """Yield every node with dice, and its twin's position and roll."""
    for state, where in throwing_states(tables):
        for node in tables.nodes_of(state):
            yield node, where, roll_at(tables, node)


def moves_at(tables: TurnTables, node: int) -> dict[Any, int]:
    """Return the next state of each move in the twin's words, without "no move", which the twin does not know."""
    moves = {move_of(tables, edge): int(tables.edge_next[edge]) for edge in tables.edges_of(node)}
    return {move: state for move, state in moves.items() if move != ((), 0)}


def choice(tables: TurnTables, node: int, policy: NDArray[Any]) -> dict[Any, float]:
    """Return a policy's probabilities at a node in the twin's words; the twin does not know its illegal actions."""
    moves = {int(tables.edge_action[edge]): move_of(tables, edge) for edge in tables.edges_of(node)}
    shares: dict[int, Any] = (
        {int(policy[node]): 1} if policy.ndim == 1 else {a: float(policy[node, a]) for a in range(tables.actions)}
    )
    return {moves.get(action, ("illegal", action)): share for action, share in shares.items() if share}


def in_our_words(tables: TurnTables, plays: Callable[[Any, Any], dict[Any, Any]]) -> NDArray[np.float64]:
    """Return the twin's policy as ours [N, A]: the inverse of `choice`."""
    policy = np.zeros((tables.nodes, tables.actions))
    for node, where, roll in throwing_nodes(tables):
        moves = {move_of(tables, edge): int(tables.edge_action[edge]) for edge in tables.edges_of(node)}
        shares = plays(where, roll) if set(moves) - {((), 0)} else dict.fromkeys(moves, 1)
        for move, share in shares.items():
            policy[node, moves[move]] = share
    return policy


def in_their_words(tables: TurnTables, policy: NDArray[Any]) -> Callable[[Any, Any], dict[Any, float]]:
    """Return our policy as the twin's, see `choice`."""
    answers = {(where, roll): choice(tables, node, policy) for node, where, roll in throwing_nodes(tables)}
    return lambda where, roll: answers[where, roll]


def move_of(tables: TurnTables, edge: int) -> Any:
    """Return the move of an edge in the twin's words."""
    move = tables.game.actions[tables.edge_action[edge]]
    return move if isinstance(tables.game, Threes) else (move, int(tables.dice[tables.edge_next[edge]]))
