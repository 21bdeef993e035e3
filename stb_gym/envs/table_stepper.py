"""The contract of all steppers, and the stepper that looks moves up in tables with a row for every node."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import FloatArray, Game, IntArray, Roll, fits, freeze, rolls, throw_faces, words_of
from stb_gym.output import quoted
from stb_gym.solver import TurnTables, compile_game

LARGEST_DENSE_TABLE = 2**27  # entries: half a gigabyte for `next_state` alone


class Stepper(ABC):
    """States, throws, nodes and actions of a game, as numbers.

    A throw at a state leads to a node, and an action at a node leads to the next state. All T throws are equally
    likely. Only the stepper knows what the numbers of states and nodes mean. Where no shape is given, methods accept
    integers and arrays of any shape. An illegal action leads to the forfeit: the turn ends with the worst score, and
    the observation is all zeros. Where the turn is over, every action is illegal.

    Attributes:
        game: the rules.
        throws, actions: T and A.
        start: the state at the beginning of a turn.
        forfeit, forfeit_state: the node and the state that an illegal action leads to.
        ending_scores: [F + 2] the points at each ending: 0 while the turn goes on, the final scores, the best first,
            and the worst of them again for the forfeit.
    """

    game: Game
    throws: int
    actions: int
    start: int
    forfeit: int
    forfeit_state: int
    ending_scores: IntArray

    @abstractmethod
    def nodes(self, states: Any, throws: Any) -> Any:
        """Return the nodes that throws lead to."""

    @abstractmethod
    def after(self, nodes: Any, actions: Any) -> Any:
        """Return the states that actions lead to."""

    @abstractmethod
    def ending(self, nodes: Any) -> Any:
        """Return indices in `ending_scores`: 0 while the turn goes on."""

    @abstractmethod
    def observe(self, nodes: Any) -> NDArray[Any]:
        """Return new arrays [..., O] of observations."""

    @abstractmethod
    def masks(self, nodes: Any) -> NDArray[np.int8]:
        """Return new arrays [..., A] of action masks, 1 = legal, all 0 where the turn is over."""

    @abstractmethod
    def state_of(self, nodes: Any) -> Any:
        """Return the states at which the throws were made that led to nodes."""

    @abstractmethod
    def position(self, states: Any) -> tuple[Any, Any]:
        """Return (held, dice) of states, as the rules know them. The forfeit has the worst score and no dice."""

    @abstractmethod
    def find_state(self, held: Any, dice: Any) -> Any:
        """Return the states of positions.

        Raises:
            ValueError: if there is no such state. Without tables, some states that no turn comes to are found.
        """

    @abstractmethod
    def find(self, observations: NDArray[Any]) -> Any:
        """Return the node of an observation [O], or the nodes [B] of observations [B, O].

        Raises:
            ValueError: if the game never shows such an observation.
        """

    @abstractmethod
    def unthrown(self, states: IntArray) -> NDArray[Any]:
        """Return [B, O + 1] the observations of states [B] without a roll, then the dice thrown next, 0 at the end."""

    @property
    @abstractmethod
    def longest(self) -> int:
        """A number of moves that no turn exceeds, wherever it begins."""

    def locate(self, node: int) -> tuple[int, int, Roll]:
        """Return what the player holds at a node, how many dice were thrown, and the roll."""
        state = self.state_of(node)
        held, dice = (int(number) for number in self.position(state))
        throw = int((self.nodes(state, np.arange(self.throws)) == node).argmax())
        return held, dice, self.game.roll_of(throw_faces(throw, dice, self.game.faces))

    def describe(self, node: int) -> str:
        """Return a node in words."""
        return words_of(self.game).node(*self.locate(node))

    def legal_moves(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the E legal moves at nodes [B], ordered by node and action.

        Returns:
            [E] the index among the B nodes, and [E] the action.
        """
        move = np.flatnonzero(self.masks(nodes).view(np.bool_))
        return move // self.actions, move % self.actions

    def choose(self, nodes: IntArray, fractions: FloatArray) -> IntArray:
        """Return [B] the legal action at each node of index floor(fraction * count); 0 where the turn is over."""
        index, action = self.legal_moves(nodes)
        counts = np.bincount(index, minlength=len(nodes))
        move = np.cumsum(counts) - counts + (fractions * counts).astype(np.intp)
        return np.where(counts > 0, np.append(action, 0).take(move), 0)

    def beginnings(self, where: Mapping[str, Any]) -> tuple[int, IntArray]:
        """Find where a turn can begin.

        Args:
            where: a position in the words of the game, such as {"open": [1, 4], "roll": 5}; {} for the start.

        Returns:
            The state, and the throws there that show the given roll and leave a legal move.

        Raises:
            ValueError: if there is no such position, or none with a legal move.
        """
        held, dice, roll = words_of(self.game).locate(where) if where else (*self.game.start(), None)
        state = self.find_state(held, dice)
        throws = np.arange(self.throws)
        fitting = self.ending(self.nodes(state, throws)) == 0
        if roll is not None:
            shown, _, of_throw = rolls(self.game, dice)
            is_roll = np.array([each == roll for each in shown])
            fitting &= np.resize(is_roll[of_throw], self.throws)
        if not fitting.any():
            words = words_of(self.game)
            named = words.state(held, dice) if roll is None else words.node(held, dice, roll)
            raise ValueError(f"there is no legal move at {named}")
        return state, throws[fitting]


@dataclass(eq=False, repr=False)
class TableStepper(Stepper):
    """A stepper that looks everything up. Row S of the states and row N of the nodes are the forfeit.

    Attributes:
        tables: the game as arrays.
        node_of_throw: [S + 1, T] the node each throw leads to. Fewer dice than `game.dice` are the last ones thrown.
        next_state: [N + 1, A] the state each action leads to.
        endings: [N + 1] indices in `ending_scores`.
        observation: [N + 1, O] observations.
        action_mask: [N + 1, A] action masks.
    """

    tables: TurnTables
    node_of_throw: NDArray[np.int64]
    next_state: NDArray[np.int32]
    endings: IntArray
    observation: NDArray[Any]
    action_mask: NDArray[np.int8]

    def __post_init__(self) -> None:
        tables = self.tables
        self.game = tables.game
        self.throws = self.node_of_throw.shape[1]
        self.actions = tables.actions
        self.start = tables.start
        self.forfeit = tables.nodes
        self.forfeit_state = tables.states
        self.ending_scores = np.concatenate(([0], tables.scores, tables.scores[-1:]))
        # Not of vars(self): an object whose dictionary was asked for finds its attributes more slowly.
        freeze((self.node_of_throw, self.next_state, self.endings, self.ending_scores))
        freeze((self.observation, self.action_mask))
        # A lookup in one dimension takes half as long as in two, and `item` half as long as brackets.
        self._nodes = self.node_of_throw.ravel()
        self._states = self.next_state.ravel()
        self._choices = np.append(tables.choices, 0)
        self._edge_start = np.append(np.where(tables.choices, tables.edge_start[:-1], -1), -1)  # of the last action, 0
        self._edge_action = np.append(tables.edge_action, 0)
        self._node_state = np.append(tables.node_state, tables.states)
        self._held = np.append(tables.held, tables.held[tables.score_index.argmax()])  # held at a worst score
        self._dice = np.append(tables.dice, 0)
        common = np.minimum.reduceat(self.observation[:-1], tables.node_start[:-1])  # to all rolls of a state
        self._unthrown = np.column_stack((common, tables.dice.astype(common.dtype)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of an environment share the tables of their process instead of carrying them."""
        return table_stepper, (self.game, self.observation.dtype.name)

    def nodes(self, states: Any, throws: Any) -> Any:
        place = states * self.throws + throws
        return self._nodes.item(place) if isinstance(place, int) else self._nodes.take(place)

    def after(self, nodes: Any, actions: Any) -> Any:
        place = nodes * self.actions + actions
        return self._states.item(place) if isinstance(place, int) else self._states.take(place)

    def ending(self, nodes: Any) -> Any:
        return self.endings.item(nodes) if isinstance(nodes, int) else self.endings.take(nodes)

    def observe(self, nodes: Any) -> NDArray[Any]:
        # Of one row and of many, each is several times faster than the other.
        return self.observation[nodes].copy() if isinstance(nodes, int) else self.observation.take(nodes, axis=0)

    def masks(self, nodes: Any) -> NDArray[np.int8]:
        return self.action_mask[nodes].copy() if isinstance(nodes, int) else self.action_mask.take(nodes, axis=0)

    def choose(self, nodes: IntArray, fractions: FloatArray) -> IntArray:
        place = (fractions * self._choices.take(nodes)).astype(np.intp)
        return self._edge_action[self._edge_start.take(nodes) + place]

    def state_of(self, nodes: Any) -> Any:
        return self._node_state.take(nodes)

    def position(self, states: Any) -> tuple[Any, Any]:
        return self._held.take(states), self._dice.take(states)

    def locate(self, node: int) -> tuple[int, int, Roll]:
        held, dice = self.position(self.state_of(node))
        return int(held), int(dice), self.tables.node_roll(int(node)) if dice else self.game.roll_of(())

    def find_state(self, held: Any, dice: Any) -> Any:
        states = self.tables.find_states(np.asarray(held), np.asarray(dice))
        if (states < 0).any():
            raise ValueError(f"a turn of {self.game} never comes to {quoted((held, dice))}")
        return states[()]

    def find(self, observations: NDArray[Any]) -> Any:
        return self.tables.find_nodes(observations)

    def unthrown(self, states: IntArray) -> NDArray[Any]:
        return self._unthrown.take(states, axis=0)

    @property
    def longest(self) -> int:
        tables = self.tables
        moves = np.zeros(tables.states, np.int64)
        for level in tables.levels:
            most = level.reduce(np.maximum, moves[tables.edge_next[level.edges]])
            np.maximum.at(moves, tables.node_state[level.nodes][level.live], most + 1)
        return int(moves.max())


@lru_cache(maxsize=16, typed=True)
def table_stepper(game: Game, observation_dtype: str) -> TableStepper:
    """Return the tables of a game, from a cache.

    Args:
        game: the rules.
        observation_dtype: the type of observations, by its NumPy name.

    Raises:
        ValueError: if the tables would have more entries than LARGEST_DENSE_TABLE.
    """
    if observation_dtype != "uint8":
        plain = table_stepper(game, "uint8")
        return replace(plain, observation=plain.observation.astype(observation_dtype))
    if not fits_tables(game):
        raise ValueError(
            f"{game} is too large for the tables of an environment, which hold at most {LARGEST_DENSE_TABLE:,} entries"
        )
    tables = compile_game(game)
    throws = game.faces**game.dice
    node_of_throw = np.full((tables.states + 1, throws), tables.nodes)
    for level in tables.levels:
        first_node = tables.node_start[level.states][:, None]
        node_of_throw[level.states] = first_node + np.resize(level.rolls.of_throw, throws)
    over = tables.choices == 0
    next_state = np.full((tables.nodes + 1, tables.actions), tables.states, np.int32)
    next_state[tables.edge_node, tables.edge_action] = tables.edge_next
    action_mask = np.zeros(next_state.shape, np.int8)
    action_mask[tables.edge_node, tables.edge_action] = 1
    endings = np.append((tables.score_index[tables.node_state] + 1) * over, len(tables.scores) + 1)
    observation = np.pad(tables.observation, ((0, 1), (0, 0)))
    return TableStepper(tables, node_of_throw, next_state, endings, observation, action_mask)


def fits_tables(game: Game) -> bool:
    """Return whether the tables of a game have at most LARGEST_DENSE_TABLE entries."""
    if not fits(game):
        return False
    tables = compile_game(game)
    return max(tables.states * game.faces**game.dice, tables.nodes * tables.actions) <= LARGEST_DENSE_TABLE
