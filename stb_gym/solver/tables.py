"""The arrays of a game, which the solver, the evaluator, the environments and the agents all read.

States are sorted by level and every edge leads to a strictly lower level, so one pass over the levels, lowest first,
is backward induction:

    u(node)  = choose over legal actions of u(next state), or utility(state) if there is none: the turn ends
    u(state) = sum over rolls of P(roll) u(node)
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, Rolls, rolls, states_in_words, words_of
from stb_gym.solver.row_index import RowIndex, StateIndex

Policy = NDArray[Any]  # what `stb_gym.solver.policies` says of it


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
        """[L, *K] an operation such as `np.maximum` over the level's edges [e, *K] of every live node."""
        return operation.reduceat(values, self.first_edge)


@dataclass(frozen=True, eq=False, repr=False)
class TurnTables:
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

    def __repr__(self) -> str:
        return f"<{self.game}: {self.states:,} states, {self.nodes:,} nodes, {len(self.edge_next):,} edges>"

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

    @property
    def node_place(self) -> IntArray:
        """[N] the place of each node's roll among those of its dice."""
        return np.arange(self.nodes) - self.node_start[self.node_state]

    @cached_property
    def choices(self) -> IntArray:
        """[N] how many legal actions each node has."""
        return np.diff(self.edge_start)

    @cached_property
    def decisions(self) -> IntArray:
        """[D] the nodes that have a legal action."""
        return np.flatnonzero(self.choices)

    @cached_property
    def scores(self) -> IntArray:
        """[T] every final score there is, the best first."""
        return np.unique(self.final_score)[:: -self.game.sign]

    @cached_property
    def score_index(self) -> IntArray:
        """[S] where in `scores` the final score of each state is."""
        return self.place_of(self.final_score)

    def place_of(self, score: Any) -> Any:
        """Where in `scores` final scores are, or would have to be."""
        return np.searchsorted(-self.game.sign * self.scores, -self.game.sign * score)

    @cached_property
    def observation(self) -> NDArray[np.uint8]:
        """[N, O] what the player sees at each node; a ValueError if the rules show something else than they promise."""
        seen = [self.game.observe(self.held[at.states], int(self.dice[at.states.start])) for at in self.levels]
        high = np.asarray(self.game.observation_high)
        rows = np.concatenate([np.asarray(block).reshape(-1, np.shape(block)[-1]) for block in seen])
        if rows.dtype != np.uint8 or rows.shape != (self.nodes, *high.shape) or (rows > high).any():
            raise ValueError(f"observations of {self.game} must be uint8 [B, R, {len(high)}], at most observation_high")
        return rows

    @cached_property
    def observation_index(self) -> RowIndex:
        """Finds the node of an observation."""
        return RowIndex(self.observation)

    @cached_property
    def uniform(self) -> NDArray[np.float64]:
        """[E] the probability of each edge if every legal move at its node has the same."""
        return 1 / self.at_edges(self.choices)

    def legal(self, nodes: IntArray | slice = slice(None)) -> NDArray[np.bool_]:
        """[M, A] True where the action is legal, for the given nodes (all of them by default)."""
        chosen = np.arange(self.nodes)[nodes]
        mask, count = np.zeros((len(chosen), self.actions), np.bool_), self.choices[chosen]
        row = np.repeat(np.arange(len(chosen)), count)
        edge = np.arange(len(row)) + np.repeat(self.edge_start[chosen] - np.cumsum(count) + count, count)
        mask[row, self.edge_action[edge]] = True
        return mask

    def nodes_of(self, state: int) -> range:
        """The nodes of a state, one for each of its rolls."""
        return range(self.node_start[state], self.node_start[state + 1])

    def edges_of(self, node: int) -> range:
        """The edges of a node, one for each of its legal actions."""
        return range(self.edge_start[node], self.edge_start[node + 1])

    def at_edges(self, values: NDArray[Any]) -> NDArray[Any]:
        """[E, *K] at every edge the value [N, *K] of its node."""
        return values.take(self.edge_node, axis=0)

    def after_edges(self, values: NDArray[Any]) -> NDArray[Any]:
        """[E, *K] at every edge the value [S, *K] of the state it leads to."""
        return values.take(self.edge_next, axis=0)

    def spread(self, values: NDArray[Any]) -> NDArray[Any]:
        """[E, *K] at every edge the value [D, *K] of its node, given those of the nodes that have a legal action."""
        return values.repeat(self.choices[self.decisions], axis=0)

    def reduce(self, operation: np.ufunc, values: NDArray[Any]) -> NDArray[Any]:
        """[D, *K] an operation such as `np.maximum` over the edges [E, *K] of every node that has a legal action."""
        return operation.reduceat(values, self.edge_start[self.decisions])

    def sum_at_nodes(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """[N] the sum over the edges [E] of every node, 0 where there is none."""
        return np.asarray(np.bincount(self.edge_node, values, self.nodes), np.float64)

    def lowest(self, marked: NDArray[np.bool_]) -> IntArray:
        """[D, *K] the edge of lowest action among the marked ones [E, *K] of every node that has one; one is marked."""
        place = np.arange(len(marked)).reshape(-1, *[1] * (marked.ndim - 1))
        return self.reduce(np.minimum, np.where(marked, place, len(marked)))

    def policy(self, answers: NDArray[Any]) -> NDArray[Any]:
        """The policy of actions [D] or probabilities [D, A] at the nodes that have a legal action; else -1, or 0."""
        policy = np.full((self.nodes, *answers.shape[1:]), -1 if answers.ndim == 1 else 0, answers.dtype)
        policy[self.decisions] = answers
        return policy

    def lowest_actions(self, marked: NDArray[np.bool_]) -> NDArray[Any]:
        """[N] the lowest action among the marked edges [E] of every node, -1 where there is none: a policy."""
        return self.policy(self.edge_action[self.lowest(marked)])

    @cached_property
    def state_index(self) -> StateIndex:
        """Finds states."""
        return StateIndex(self.held, self.dice)

    def greedy(self, worth: NDArray[Any], best: np.ufunc = np.maximum) -> NDArray[Any]:
        """[N] the action of the greatest (or, by `np.minimum`, the least) worth [E], the lowest of equals: a policy."""
        return self.lowest_actions(worth == self.spread(self.reduce(best, worth)))

    def find_state(self, held: int, dice: int) -> int:
        """The state (held, dice); the caller has checked that it is one."""
        return int(self.state_index.find(np.array(held), np.array(dice)))

    def find_node(self, state: int, roll: NDArray[np.uint8]) -> int:
        """The node (state, roll); the caller has checked that it is one."""
        shown = rolls(self.game, int(self.dice[state])).shown
        return int(self.node_start[state] + np.flatnonzero((shown == roll).all(axis=1))[0])

    def node_roll(self, node: int) -> NDArray[np.uint8]:
        """What the rules see of the roll at a node."""
        state = self.node_state[node]
        return rolls(self.game, int(self.dice[state])).shown[node - self.node_start[state]]

    def describe_node(self, node: int) -> str:
        """A node in words."""
        state = self.node_state[node]
        return words_of(self.game).node(int(self.held[state]), int(self.dice[state]), self.node_roll(node))

    def move_in_words(self, edge: int, roll: NDArray[np.uint8]) -> str:
        """Return the move of an edge in words, given the roll it is made at, such as "keep 2 (3 1)"."""
        words, goes_on = words_of(self.game), bool(self.dice[self.edge_next[edge]] > 0)
        return words.move_in_words(words.move(int(self.edge_action[edge]), goes_on), roll)

    def moves_in_words(self, marked: NDArray[np.bool_]) -> list[str]:
        """Return the marked moves of every node that has a move, such as "shut 3,5 or shut 8".

        Args:
            marked: [E] True for the moves to name.

        Returns:
            [D] strings, "" where no move is marked.
        """
        words = words_of(self.game)
        names = [
            [words.move_in_words(words.move(action, goes_on)) for goes_on in (False, True)]
            for action in range(self.actions)
        ]
        goes_on = self.dice[self.edge_next[marked]] > 0
        moves = zip(self.edge_action[marked].tolist(), goes_on.tolist(), strict=True)
        counts = self.reduce(np.add, marked.astype(int)).tolist()
        return [" or ".join(names[action][on] for action, on in islice(moves, count)) for count in counts]

    def positions(self, states: IntArray) -> dict[str, list[Any]]:
        """Return the positions of states as columns: "state" in words, then the words that name it.

        Args:
            states: [M] indices of states; one may come more than once.

        Returns:
            Columns of M rows: "state", and in Shut the Box "open" and "dice", in Threes "points" and "dice".
        """
        words = words_of(self.game)
        named, places = np.unique(states, return_inverse=True)
        held, dice = self.held[named], self.dice[named]
        rows = []
        for state, *at in zip(states_in_words(words, held, dice), held.tolist(), dice.tolist(), strict=True):
            where = words.where(*at)
            rows.append({"state": state} | {k: tuple(v) if isinstance(v, list) else v for k, v in where.items()})
        columns = ("state", *words.where(*self.game.start()))
        return {name: [rows[place][name] for place in places.tolist()] for name in columns}

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
            at_nodes[level.live] = choose(value.take(self.edge_next[level.edges], axis=0), level)
            # Whole counts, divided last, keep what is certain at exactly 1, and fractions exact.
            by_roll = at_nodes.reshape(-1, len(counts), *utility.shape[1:])
            weighted = by_roll @ counts if by_roll.ndim == 2 else np.moveaxis(by_roll, 1, -1) @ counts
            value[level.states] = weighted / len(level.rolls.of_throw)
        return value, node_value
