"""A game as arrays of its states, nodes and edges.

States are sorted by level and every edge leads to a strictly lower level, so one pass over the levels, lowest first,
is backward induction:

    u(node)  = choose over legal actions of u(next state), or utility(state) if there is none: the turn ends
    u(state) = sum over rolls of P(roll) u(node)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import guarded
from stb_gym.games import FloatArray, Game, IntArray, Roll, Rolls, State, cached_arrays, freeze, rolls, walk, words_of
from stb_gym.output import tracked

Policy = NDArray[Any]  # [N] actions or [N, A] probabilities: see `stb_gym.solver.policies`


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

    def reduce(self, operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Return [L, *K]: an operation such as `np.maximum` over the level's edges [e, *K] of every live node."""
        return operation.reduceat(values, self.first_edge)


@guarded
@dataclass(frozen=True, eq=False, repr=False)
class TurnTables:
    """The arrays of a game with S states, N nodes (D of them decisions, with a legal action), A actions and E edges.

    Attributes:
        game: the rules.
        levels: the levels, lowest first.
        index: the index of each state (held, dice), in ascending order.
        start: the state that a turn begins with.
        held, dice: [S] the states.
        final_score: [S] points of a turn that ends at the state.
        node_start: [S + 1] first node of each state; its nodes follow in the order of its rolls.
        node_state: [N] the state of each node.
        node_probability: [N] the probability of the node's roll.
        edge_start: [N + 1] first edge of each node; its edges follow in the order of their actions.
        edge_node, edge_action, edge_next: [E] node, action and next state of each edge.
    """

    game: Game
    levels: tuple[Level, ...]
    index: dict[State, int]
    start: int
    held: IntArray
    dice: IntArray
    final_score: IntArray
    node_start: IntArray
    node_state: IntArray
    node_probability: FloatArray
    edge_start: IntArray
    edge_node: IntArray
    edge_action: IntArray
    edge_next: IntArray

    def __repr__(self) -> str:
        return f"<{self.game}: {self.states:,} states, {self.nodes:,} nodes, {len(self.edge_next):,} edges>"

    @property
    def states(self) -> int:
        """The number of states, S."""
        return len(self.held)

    @property
    def nodes(self) -> int:
        """The number of nodes, N."""
        return len(self.node_state)

    @property
    def actions(self) -> int:
        """The number of actions, A."""
        return len(self.game.actions)

    @cached_arrays
    def choices(self) -> IntArray:
        """[N] the number of legal actions."""
        return np.diff(self.edge_start)

    @cached_arrays
    def decisions(self) -> IntArray:
        """[D] the nodes that have a legal action."""
        return np.flatnonzero(self.choices)

    @cached_arrays
    def scores(self) -> IntArray:
        """[T] every final score, best first."""
        return np.unique(self.final_score)[:: -self.game.sign]

    @cached_arrays
    def score_index(self) -> IntArray:
        """[S] the index in `scores` of the final score of each state."""
        return self.place_of(self.final_score)

    def place_of(self, score: IntArray | int) -> Any:
        """Return the index in `scores` of final scores, or where they would be inserted."""
        return np.searchsorted(-self.game.sign * self.scores, -self.game.sign * score)

    @cached_arrays
    def observation(self) -> NDArray[np.uint8]:
        """[N, O] what an agent sees at each node."""
        rows = [self.game.observe(state, roll) for state in self.index for roll in rolls(self.game, state[1]).shown]
        return np.array(rows, np.uint8)

    @cached_property
    def _node_of(self) -> dict[bytes, int]:
        """The node of every observation."""
        return {row: node for node, row in enumerate(_as_bytes(self.observation))}

    @np.errstate(invalid="ignore")  # casting to uint8 may change a number, which then is not found
    def find_nodes(self, observation: NDArray[Any]) -> IntArray:
        """Return the nodes [...] of observations [..., O].

        Raises:
            ValueError: if an observation is not one of this game.
        """
        width = self.observation.shape[1]
        if observation.shape[-1:] != (width,):
            raise ValueError(f"an observation of {self.game} has {width} numbers, not shape {observation.shape}")
        rows = observation.reshape(-1, width)
        known = (self._node_of.get(row, -1) for row in _as_bytes(rows.astype(np.uint8)))
        nodes = np.fromiter(known, np.int64, len(rows))
        unknown = (self.observation[nodes] != rows).any(axis=1)
        if unknown.any():
            raise ValueError(f"{rows[unknown.argmax()].tolist()} is no observation of {self.game}")
        return nodes.reshape(observation.shape[:-1])

    @cached_arrays
    def uniform(self) -> FloatArray:
        """[E] the probability of each edge under uniformly random play."""
        return 1 / self.at_edges(self.choices)

    @cached_arrays
    def legal(self) -> NDArray[np.bool_]:
        """[N, A] True where the action is legal."""
        legal = np.zeros((self.nodes, self.actions), np.bool_)
        legal[self.edge_node, self.edge_action] = True
        return legal

    def nodes_of(self, state: int) -> range:
        """Return the nodes of a state, one for each of its rolls."""
        return range(self.node_start[state], self.node_start[state + 1])

    def edges_of(self, node: int) -> range:
        """Return the edges of a node, one for each of its legal actions."""
        return range(self.edge_start[node], self.edge_start[node + 1])

    def at_edges(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return [E, *K]: at every edge the value [N, *K] of its node."""
        return values.take(self.edge_node, axis=0)

    def after_edges(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return [E, *K]: at every edge the value [S, *K] of the state it leads to."""
        return values.take(self.edge_next, axis=0)

    def reduce(self, operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """Return [D, *K]: an operation such as `np.maximum` over the edges [E, *K] of every node with a move."""
        return operation.reduceat(values, self.edge_start[self.decisions])

    def sum_at_nodes(self, values: NDArray[Any]) -> FloatArray:
        """Return [N]: the sum over the edges [E] of every node, 0 where there are none."""
        return np.asarray(np.bincount(self.edge_node, values, self.nodes), np.float64)

    def lowest(self, marked: NDArray[np.bool_]) -> IntArray:
        """Return [D, *K]: the marked edge [E, *K] of lowest action at every node with a legal action."""
        place = np.arange(len(marked)).reshape(-1, *[1] * (marked.ndim - 1))
        return self.reduce(np.minimum, np.where(marked, place, len(marked)))

    def policy(self, answers: NDArray[Any]) -> Policy:
        """Return a policy from actions [D] or probabilities [D, A] at the decisions; other nodes get -1, or 0."""
        policy = np.full((self.nodes, *answers.shape[1:]), -1 if answers.ndim == 1 else 0, answers.dtype)
        policy[self.decisions] = answers
        return policy

    def lowest_actions(self, marked: NDArray[np.bool_]) -> Policy:
        """Return the policy [N] of the lowest action among the marked edges [E] of every node."""
        return self.policy(self.edge_action[self.lowest(marked)])

    def greedy(self, value: NDArray[Any], best: np.ufunc = np.maximum) -> Policy:
        """Return the policy [N] of greatest value [E] at each node (`np.minimum`: of least); the lowest of equals."""
        at_best = self.reduce(best, value).repeat(self.choices[self.decisions], axis=0)
        return self.lowest_actions(value == at_best)

    def find_states(self, held: IntArray, dice: IntArray) -> IntArray:
        """Return the indices of states of any shape, -1 where there is no such state."""
        states = zip(held.ravel().tolist(), dice.ravel().tolist(), strict=True)
        return np.array([self.index.get(state, -1) for state in states], np.int64).reshape(held.shape)

    def find_node(self, held: int, dice: int, roll: Roll) -> int:
        """Return the node of a state and a roll of its dice."""
        return int(self.node_start[self.index[held, dice]]) + rolls(self.game, dice).shown.index(roll)

    def node_roll(self, node: int) -> Roll:
        """Return the roll at a node."""
        state = self.node_state[node]
        return rolls(self.game, int(self.dice[state])).shown[node - self.node_start[state]]

    def describe_node(self, node: int) -> str:
        """Return a node in words."""
        state = self.node_state[node]
        return words_of(self.game).node(int(self.held[state]), int(self.dice[state]), self.node_roll(node))

    def move_in_words(self, edge: int, roll: Roll | None = None) -> str:
        """Return the move of an edge in words, such as "keep 2 (3 1)"; without the dice if no roll is given."""
        words, goes_on = words_of(self.game), bool(self.dice[self.edge_next[edge]] > 0)
        return words.move_in_words(words.move(int(self.edge_action[edge]), goes_on), roll)

    def moves_in_words(self, marked: NDArray[np.bool_]) -> list[str]:
        """Return the marked moves of every node that has a move, such as "shut 3,5 or shut 8".

        Args:
            marked: [E] True for the moves to name.

        Returns:
            [D] strings, "" where no move is marked.
        """
        moves = map(self.move_in_words, np.flatnonzero(marked).tolist())
        counts = self.reduce(np.add, marked.astype(int)).tolist()
        return [" or ".join(islice(moves, count)) for count in counts]

    def positions(self, states: IntArray) -> dict[str, list[Any]]:
        """Return the positions of states as columns.

        Args:
            states: [M] indices of states; one may come more than once.

        Returns:
            Columns of M rows: "state" in words, and in Shut the Box "open" and "dice", in Threes "points" and "dice".
        """
        words = words_of(self.game)
        positions = zip(self.held[states].tolist(), self.dice[states].tolist(), strict=True)
        rows = [{"state": words.state(*position), **words.where(*position)} for position in positions]
        return {name: [row[name] for row in rows] for name in ("state", *words.where(*self.game.start()))}

    def sweep(
        self, utility: NDArray[Any], choose: Callable[[NDArray[Any], Level], NDArray[Any]]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Run backward induction.

        Args:
            utility: [S, *K] the utility of a turn that ends at the state; any dtype, objects such as fractions too.
            choose: given the values [e, *K] of a level's edges and the level, returns the values [L, *K] of its
                live nodes.

        Returns:
            The expected utility [S, *K] of every state before its throw, and [N, *K] of every node.
        """
        value = np.empty_like(utility)
        node_value = utility.take(self.node_state, axis=0)
        for level in tracked(self.levels, "levels of positions solved", "levels", len(self.levels)):
            at_nodes, counts = node_value[level.nodes], level.rolls.counts
            at_nodes[level.live] = choose(value.take(self.edge_next[level.edges], axis=0), level)
            # Whole counts, divided last, keep what is certain at exactly 1, and fractions exact.
            by_roll = at_nodes.reshape(-1, len(counts), *utility.shape[1:])
            weighted = by_roll @ counts if by_roll.ndim == 2 else np.moveaxis(by_roll, 1, -1) @ counts
            value[level.states] = weighted / len(level.rolls.of_throw)
        return value, node_value


def _as_bytes(rows: NDArray[np.uint8]) -> list[bytes]:
    return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel().tolist()


@lru_cache(maxsize=32)
def compile_game(game: Game) -> TurnTables:
    """Return the arrays of a game.

    Args:
        game: the rules.

    Raises:
        ValueError: if the game is too large for tables, or its rules break their contract; see `stb_gym.games.walk`.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import compile_game
        >>> tables = compile_game(stb_gym.ShutTheBox(tiles=9))
        >>> tables.states, tables.nodes, tables.actions
        (512, 5622, 62)
    """
    moves_of = walk(game)
    level_of: dict[State, int] = {}
    for state, by_roll in moves_of.items():  # every move leads to a state that comes earlier
        level_of[state] = max((level_of[after] + 1 for moves in by_roll for after in moves.values()), default=0)
    states = sorted(moves_of, key=lambda state: (level_of[state], state[1], state[0]))
    index = {state: place for place, state in enumerate(states)}
    held, dice = np.array(states, np.int64).T
    at_nodes = [sorted(moves.items()) for state in states for moves in moves_of[state]]
    choices = [len(moves) for moves in at_nodes]

    rolls_at = [len(moves_of[state]) for state in states]
    node_start = np.append(0, np.cumsum(rolls_at))
    edge_start = np.append(0, np.cumsum(choices))

    levels = []
    for (_, number), block in groupby(states, key=lambda state: (level_of[state], state[1])):
        members = [index[state] for state in block]
        of_states = slice(members[0], members[-1] + 1)
        of_nodes = slice(int(node_start[of_states.start]), int(node_start[of_states.stop]))
        starts = edge_start[of_nodes.start : of_nodes.stop + 1]
        of_edges = slice(int(starts[0]), int(starts[-1]))
        live = np.flatnonzero(np.diff(starts))
        levels.append(Level(of_states, of_nodes, of_edges, rolls(game, number), live, starts[live] - starts[0]))

    chances = {number: rolls(game, number).counts / game.faces**number for number in {*dice.tolist()}}
    tables = TurnTables(
        game=game,
        levels=tuple(levels),
        index=index,
        start=index[game.start()],
        held=held,
        dice=dice,
        final_score=np.array([game.final_score(held) for held, _ in states], np.int64),
        node_start=node_start,
        node_state=np.repeat(np.arange(len(states)), rolls_at),
        node_probability=np.concatenate([chances[number] for number in dice.tolist()]),
        edge_start=edge_start,
        edge_node=np.repeat(np.arange(len(choices)), choices),
        edge_action=np.array([action for moves in at_nodes for action, _ in moves], np.int64),
        edge_next=np.array([index[after] for moves in at_nodes for _, after in moves], np.int64),
    )
    freeze(vars(tables))
    return tables
