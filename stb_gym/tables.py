"""A game compiled to arrays, which the solver, the evaluator, the environments and the agents all read.

States are sorted by level and every edge leads to a strictly lower level, so one pass over the levels, lowest first,
is backward induction:

    u(node)  = choose over legal actions of u(next state), or utility(state) if there is none: the turn ends
    u(state) = sum over rolls of P(roll) u(node)
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Game, IntArray, Rolls, RowIndex, rolls
from stb_gym.turn_arrays import TurnArrays

LARGEST_TABLE = 2**24  # nodes or edges: 128 MiB for each array of them
CHUNK = 2**22  # (state, action) pairs the rules look at in one call


class Level(NamedTuple):
    """States of one level that throw the same number of dice: contiguous, as are their nodes and edges.

    Attributes:
        states, nodes, edges: where they lie in the arrays of `TurnTables`. Each state has one node per roll.
        rolls: the rolls of these states.
        live: [L] nodes with a legal action, counted from the level's first node.
        first_edge: [L] the first edge of each live node, counted from the level's first edge.
    """

    states: slice
    nodes: slice
    edges: slice
    rolls: Rolls
    live: IntArray
    first_edge: IntArray


@dataclass(frozen=True, eq=False)
class TurnTables(TurnArrays):
    """The arrays of a game with S states, N nodes, A actions and E edges.

    Attributes:
        game: the rules.
        levels: the levels, lowest first.
        start: the state a turn begins with.
        held, dice: [S] the states.
        final_score: [S] points of a turn that ends at the state.
        node_start: [S + 1] first node of each state; its nodes follow in the order of its rolls.
        node_state: [N] the state of each node.
        node_probability: [N] the chance of the node's roll.
        edge_start: [N + 1] first edge of each node; its edges follow in the order of their actions.
        edge_node, edge_action, edge_next: [E] node, action and next state of each edge.
    """

    game: Game
    levels: tuple[Level, ...]
    start: int
    held: IntArray
    dice: IntArray
    final_score: IntArray
    node_start: IntArray
    node_state: IntArray
    node_probability: NDArray[np.float64]
    edge_start: IntArray
    edge_node: IntArray
    edge_action: IntArray
    edge_next: IntArray

    @property
    def states(self) -> int:
        """S."""
        return len(self.held)

    @property
    def nodes(self) -> int:
        """N."""
        return len(self.node_state)

    @property
    def actions(self) -> int:
        """A."""
        return len(self.game.moves)

    @cached_property
    def decisions(self) -> IntArray:
        """[D] the nodes that have a legal action."""
        return np.flatnonzero(np.diff(self.edge_start))

    @cached_property
    def scores(self) -> IntArray:
        """[T] every final score there is, ascending."""
        return np.unique(self.final_score)

    @cached_property
    def score_index(self) -> IntArray:
        """[S] where in `scores` the final score of each state is."""
        return np.searchsorted(self.scores, self.final_score)

    @cached_property
    def observation(self) -> NDArray[np.uint8]:
        """[N, O] what the player sees at each node; rows are distinct."""
        seen = [self.game.observe(self.held[at.states], int(self.dice[at.states.start])) for at in self.levels]
        return np.concatenate([block.reshape(-1, block.shape[-1]) for block in seen])

    @cached_property
    def observation_index(self) -> RowIndex:
        """Finds the node of an observation."""
        return RowIndex(self.observation)

    @cached_property
    def uniform(self) -> NDArray[np.float64]:
        """[E] the probability of each edge if every legal move at its node has the same."""
        return 1 / np.diff(self.edge_start)[self.edge_node]

    def legal(self, nodes: IntArray | slice = slice(None)) -> NDArray[np.bool_]:
        """[M, A] True where the action is legal, for the given nodes (all of them by default)."""
        chosen = np.arange(self.nodes)[nodes]
        mask = np.zeros((len(chosen), self.actions), np.bool_)
        count = self.edge_start[chosen + 1] - self.edge_start[chosen]
        row = np.repeat(np.arange(len(chosen)), count)
        edge = np.arange(len(row)) + np.repeat(self.edge_start[chosen] - np.cumsum(count) + count, count)
        mask[row, self.edge_action[edge]] = True
        return mask

    def edges_of(self, node: int) -> range:
        """The edges of a node."""
        return range(self.edge_start[node], self.edge_start[node + 1])

    def find_state(self, held: int, dice: int) -> int:
        """The state (held, dice); the caller has checked that it is one."""
        return int(np.flatnonzero((self.held == held) & (self.dice == dice))[0])

    def sweep(
        self, utility: NDArray[Any], choose: Callable[[NDArray[Any], Level], NDArray[Any]]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Backward induction.

        Args:
            utility: [S, *K] what a turn is worth that ends at the state; any dtype, objects such as fractions too.
            choose: given the values [e, *K] of a level's edges and the level, returns the values [L, *K] of its
                live nodes.

        Returns:
            The expected utility [S, *K] of every state before its throw, and [N, *K] of every node.
        """
        value = np.empty_like(utility)
        node_value = utility.take(self.node_state, axis=0)
        for level in self.levels:
            at_nodes, counts = node_value[level.nodes], level.rolls.counts
            if level.live.size:
                at_nodes[level.live] = choose(value.take(self.edge_next[level.edges], axis=0), level)
            # Whole counts, divided last, keep what is certain at exactly 1, and fractions exact.
            by_roll = at_nodes.reshape(-1, len(counts), *utility.shape[1:])
            weighted = by_roll @ counts if by_roll.ndim == 2 else np.moveaxis(by_roll, 1, -1) @ counts
            value[level.states] = weighted / len(level.rolls.of_throw)
        return value, node_value


@lru_cache(maxsize=16)
def compile_game(game: Game) -> TurnTables:
    """The arrays of a game; made once per game and process.

    Raises:
        ValueError: if the arrays would be larger than LARGEST_TABLE, or if the rules break their contract (moves out
            of order, a move to no state or to one that is not of a lower level), naming the first offender.
    """
    _check_size(game, "edges", game.most_edges())
    held, dice = game.states()
    level = game.level(held, dice)
    order = np.lexsort((held, dice, level))
    held, dice, level = held[order], dice[order], level[order]
    rolls_of = {d: rolls(game, d) for d in sorted(set(dice.tolist()))}
    rolls_at = np.array([len(rolls_of[d].counts) for d in dice.tolist()])
    node_start = np.append(0, np.cumsum(rolls_at))
    _check_size(game, "nodes", int(node_start[-1]))

    bounds = np.flatnonzero(np.diff(level, prepend=-1, append=-1) | np.diff(dice, prepend=-1, append=-1)).tolist()
    blocks = [slice(first, last) for first, last in itertools.pairwise(bounds)]
    edge_node, edge_action, next_held, next_dice = _edges(game, held, dice, blocks, node_start)
    edge_start = np.append(0, np.cumsum(np.bincount(edge_node, minlength=node_start[-1])))

    code = held * (game.dice + 1) + dice
    by_code = np.argsort(code)
    next_code = next_held * (game.dice + 1) + next_dice
    edge_next = by_code[np.minimum(np.searchsorted(code, next_code, sorter=by_code), len(code) - 1)]
    start_held, start_dice = game.start()
    tables = TurnTables(
        game=game,
        levels=tuple(_level(block, node_start, edge_start, rolls_of[int(dice[block.start])]) for block in blocks),
        start=int(np.flatnonzero((held == start_held) & (dice == start_dice))[0]),
        held=held,
        dice=dice,
        final_score=game.final_score(held),
        node_start=node_start,
        node_state=np.repeat(np.arange(len(held)), rolls_at),
        node_probability=np.concatenate([rolls_of[d].counts / game.faces**d for d in dice.tolist()]),
        edge_start=edge_start,
        edge_node=edge_node,
        edge_action=edge_action,
        edge_next=edge_next,
    )
    edge_state = tables.node_state[edge_node]
    place = edge_node * tables.actions + edge_action
    _check_edges(tables, "is not in order", np.diff(place, prepend=-1) <= 0)
    _check_edges(tables, "leads to no state", (held[edge_next] != next_held) | (dice[edge_next] != next_dice))
    _check_edges(tables, "leads to a state that is not of a lower level", level[edge_next] >= level[edge_state])
    return tables


def _edges(
    game: Game, held: IntArray, dice: IntArray, blocks: list[slice], node_start: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """[E] node, action, next held and next dice of every edge, asked of the rules a chunk of states at a time."""
    parts = []
    rows = max(1, CHUNK // len(game.moves))
    for block in blocks:
        for first in range(block.start, block.stop, rows):
            edges = game.edges(held[first : min(first + rows, block.stop)], int(dice[block.start]))
            parts.append((node_start[first + edges.state] + edges.roll, edges.action, edges.next_held, edges.next_dice))
    node, action, next_held, next_dice = (np.concatenate(column) for column in zip(*parts, strict=True))
    return node, action, next_held, next_dice


def _level(states: slice, node_start: IntArray, edge_start: IntArray, level_rolls: Rolls) -> Level:
    nodes = slice(int(node_start[states.start]), int(node_start[states.stop]))
    starts = edge_start[nodes.start : nodes.stop + 1]
    live = np.flatnonzero(np.diff(starts))
    edges = slice(int(starts[0]), int(starts[-1]))
    return Level(states, nodes, edges, level_rolls, live, starts[live] - starts[0])


def fits(game: Game) -> bool:
    """Whether there can be arrays of a game, as far as is known without counting its nodes."""
    return game.most_edges() <= LARGEST_TABLE


def _check_size(game: Game, kind: str, size: int) -> None:
    if size > LARGEST_TABLE:
        raise ValueError(f"{game} has {size:,} {kind}; arrays of at most {LARGEST_TABLE:,} fit")


def _check_edges(tables: TurnTables, fault: str, broken: NDArray[np.bool_]) -> None:
    if broken.any():
        edge = int(broken.argmax())
        move = tables.game.describe_move(int(tables.edge_action[edge]))
        raise ValueError(f"move {move} at {tables.describe_node(int(tables.edge_node[edge]))} {fault}")
