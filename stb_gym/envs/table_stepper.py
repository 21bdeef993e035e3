"""The contract of all steppers, and the stepper that looks moves up in tables with a row for every state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray, freeze
from stb_gym.games import Game, Roll, fits, locate, rolls, throw_faces
from stb_gym.messages import quoted
from stb_gym.solver import TurnTables, compile_game

LARGEST_DENSE_TABLE = 2**27  # entries: half a gigabyte for `next_afterstate` alone


class Stepper(ABC):
    """Afterstates, throws, states and actions of a game, as numbers.

    A throw at an afterstate leads to a state, and an action at a state leads to the next afterstate. All T throws are
    equally likely. Only the stepper knows what the numbers of afterstates and states mean. Where no shape is given,
    methods accept integers and arrays of any shape; `after_throws`, `after_actions`, `is_over` and `score_index` return
    Python's integers for integers. An illegal action leads to the illegal state: the turn ends with the worst score,
    and the observation is all zeros. Where the turn is over, every action is illegal.

    Attributes:
        game: the rules.
        num_throws, num_actions: T and A.
        start: the afterstate at the beginning of a turn.
        illegal_state, illegal_afterstate: the state and the afterstate that an illegal action leads to.
        scores: [F] the final scores, the best first.
    """

    game: Game
    num_throws: int
    num_actions: int
    start: int
    illegal_state: int
    illegal_afterstate: int
    scores: IntArray

    @abstractmethod
    def after_throws(self, afterstates: Any, throws: Any) -> Any:
        """Return the states that throws lead to."""

    @abstractmethod
    def after_actions(self, states: Any, actions: Any) -> Any:
        """Return the afterstates that actions lead to."""

    @abstractmethod
    def is_over(self, states: Any) -> Any:
        """Return whether the turn is over at states."""

    @abstractmethod
    def score_index(self, states: Any) -> Any:
        """Return the index in `scores` of a turn that ends at states; the last, the worst, at the illegal state."""

    def at_ends(self, values: NDArray[Any], illegal: float) -> Callable[..., NDArray[Any]]:
        """Return a function from states [B] to values [B].

        It also accepts `is_over` of the states [B] as a second argument, which saves time if that is known.

        Args:
            values: [F] the value of each final score.
            illegal: the value of the illegal state. The value is 0 where the turn goes on.
        """
        return partial(self._at_ends, values, illegal)

    def _at_ends(
        self, values: NDArray[Any], illegal: float, states: IntArray, over: BoolArray | None = None
    ) -> NDArray[Any]:
        of_scores = np.where(states == self.illegal_state, illegal, values.take(self.score_index(states)))
        return np.where(self.is_over(states) if over is None else over, of_scores, 0).astype(values.dtype)

    @abstractmethod
    def observe(self, states: Any) -> NDArray[Any]:
        """Return new arrays [..., O] of observations."""

    @abstractmethod
    def masks(self, states: Any) -> NDArray[np.int8]:
        """Return new arrays [..., A] of action masks, 1 = legal, all 1 where the turn is over.

        No mask is empty, because agents draw an action at the end of a turn, too, where an autoreset ignores it.
        """

    @abstractmethod
    def origin_of(self, states: Any) -> Any:
        """Return the afterstates at which the throws were made that led to states."""

    @abstractmethod
    def position(self, afterstates: Any) -> tuple[Any, Any]:
        """Return (progress, dice) of afterstates. That of an illegal action has the worst score and no dice."""

    @abstractmethod
    def find_afterstate(self, progress: Any, dice: Any) -> Any:
        """Return the afterstates of positions.

        Raises:
            ValueError: if there is no such afterstate. A stepper without tables also finds some unreachable
                afterstates.
        """

    @abstractmethod
    def find_states(self, observations: NDArray[Any]) -> Any:
        """Return the state of an observation [O], or the states [B] of observations [B, O].

        Raises:
            ValueError: if the game never shows such an observation.
        """

    @abstractmethod
    def observe_afterstates(self, afterstates: IntArray) -> NDArray[Any]:
        """Return [B, O + 1] observations of afterstates [B], without a roll, and then how many dice are thrown next."""

    @property
    @abstractmethod
    def longest(self) -> int:
        """A number of moves that no turn exceeds, wherever it begins."""

    def faces_at(self, state: int, throw: int | None = None) -> tuple[int, int, tuple[int, ...]]:
        """Return the progress at a state, how many dice were thrown, and their faces.

        Args:
            state: the state.
            throw: the throw that led there; by default the first of those that do.
        """
        afterstate = self.origin_of(state)
        progress, dice = (int(number) for number in self.position(afterstate))
        if throw is None:
            throw = int((self.after_throws(afterstate, np.arange(self.num_throws)) == state).argmax())
        return progress, dice, throw_faces(throw, dice, self.game.faces)

    def locate(self, state: int) -> tuple[int, int, Roll]:
        """Return the progress at a state, how many dice were thrown, and the roll."""
        progress, dice, faces = self.faces_at(state)
        return progress, dice, self.game.roll_of(faces)

    def describe(self, state: int) -> str:
        """Return a state in words."""
        return self.game.describe_state(*self.locate(state))

    @abstractmethod
    def legal_moves(self, states: IntArray) -> tuple[IntArray, IntArray]:
        """Return the M legal moves at states [B], ordered by state and action; none where the turn is over.

        Returns:
            [M] the index among the B states, and [M] the action.
        """

    def choose(self, states: IntArray, fractions: FloatArray) -> IntArray:
        """Return [B] the legal action at each state of index floor(fraction * count); 0 where the turn is over."""
        index, action = self.legal_moves(states)
        counts = np.bincount(index, minlength=len(states))
        move = np.cumsum(counts) - counts + (fractions * counts).astype(np.intp)
        return np.where(counts > 0, np.append(action, 0).take(move), 0)

    def beginnings(self, where: Mapping[str, Any]) -> tuple[int, IntArray]:
        """Find where a turn can begin.

        Args:
            where: a position in the words of the game, such as {"open": [1, 4], "roll": 5}; {} for the start.

        Returns:
            The afterstate, and the throws there that show the given roll and leave a legal move.

        Raises:
            ValueError: if there is no such position, or none with a legal move.
        """
        progress, dice, roll = locate(self.game, where) if where else (*self.game.start(), None)
        afterstate = int(self.find_afterstate(progress, dice))
        throws = np.arange(self.num_throws)
        fitting = ~self.is_over(self.after_throws(afterstate, throws))
        if roll is not None:
            shown, _, of_throw = rolls(self.game, dice)
            is_roll = np.array([each == roll for each in shown])
            fitting &= np.resize(is_roll[of_throw], self.num_throws)
        if not fitting.any():
            game = self.game
            named = (
                game.describe_afterstate(progress, dice) if roll is None else game.describe_state(progress, dice, roll)
            )
            raise ValueError(f"there is no legal move at {named}")
        return afterstate, throws[fitting]


@dataclass(eq=False, repr=False)
class TableStepper(Stepper):
    """A stepper that looks everything up. Its last afterstate and state, rows Y and S, are illegal.

    Attributes:
        tables: the game as arrays.
        state_of_throw: [Y + 1, T] the state each throw leads to. Fewer dice than `game.dice` are the last ones thrown.
        next_afterstate: [S + 1, A] the afterstate each action leads to.
        observation: [S + 1, O] observations.
        action_mask: [S + 1, A] action masks, see `masks`.
    """

    tables: TurnTables
    state_of_throw: NDArray[np.int64]
    next_afterstate: NDArray[np.int32]
    observation: NDArray[Any]
    action_mask: NDArray[np.int8]

    def __post_init__(self) -> None:
        tables = self.tables
        self.game = tables.game
        self.num_throws = self.state_of_throw.shape[1]
        self.num_actions = tables.num_actions
        self.start = tables.start
        self.illegal_state = tables.num_states
        self.illegal_afterstate = tables.num_afterstates
        self.scores = tables.scores
        # Not vars(self): after a call of vars, attribute access on the object is slower.
        freeze((self.state_of_throw, self.next_afterstate, self.observation, self.action_mask))
        # A lookup in one dimension takes half as long as in two, and `item` half as long as brackets.
        self._states = self.state_of_throw.ravel()
        self._afterstates = self.next_afterstate.ravel()
        self._choices = np.append(tables.choices, 0)
        self._is_over = self._choices == 0
        self._score_index = np.append(tables.score_index[tables.state_origin], len(tables.scores) - 1)
        # Without a legal action, -1: the last entry of `_pair_action`, 0.
        self._pair_start = np.append(np.where(tables.choices, tables.pair_start[:-1], -1), -1)
        self._pair_action = np.append(tables.pair_action, 0)
        self._origin = np.append(tables.state_origin, tables.num_afterstates)
        self._progress = np.append(tables.progress, tables.progress[tables.score_index.argmax()])  # the worst score
        self._dice = np.append(tables.dice, 0)
        common = np.minimum.reduceat(self.observation[:-1], tables.state_start[:-1])  # to all rolls
        self._afterstate_observation = np.column_stack((common, tables.dice.astype(common.dtype)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles of an environment share the tables of their process instead of carrying them."""
        return table_stepper, (self.game, self.observation.dtype.name)

    def after_throws(self, afterstates: Any, throws: Any) -> Any:
        entry = afterstates * self.num_throws + throws
        return self._states.item(entry) if isinstance(entry, int) else self._states.take(entry)

    def after_actions(self, states: Any, actions: Any) -> Any:
        entry = states * self.num_actions + actions
        return self._afterstates.item(entry) if isinstance(entry, int) else self._afterstates.take(entry)

    def is_over(self, states: Any) -> Any:
        return self._is_over.item(states) if isinstance(states, int) else self._is_over.take(states)

    def score_index(self, states: Any) -> Any:
        return self._score_index.item(states) if isinstance(states, int) else self._score_index.take(states)

    def at_ends(self, values: NDArray[Any], illegal: float) -> Callable[..., NDArray[Any]]:
        return partial(_look_up, self._at_ends(values, illegal, np.arange(self.illegal_state + 1)))

    def observe(self, states: Any) -> NDArray[Any]:
        # Of one row and of many, each is several times faster than the other.
        return self.observation[states].copy() if isinstance(states, int) else self.observation.take(states, axis=0)

    def masks(self, states: Any) -> NDArray[np.int8]:
        return self.action_mask[states].copy() if isinstance(states, int) else self.action_mask.take(states, axis=0)

    def legal_moves(self, states: IntArray) -> tuple[IntArray, IntArray]:
        counts = self._choices.take(states)
        first = self._pair_start.take(states) - (np.cumsum(counts) - counts)
        return (
            np.arange(len(states)).repeat(counts),
            self._pair_action.take(first.repeat(counts) + np.arange(counts.sum())),
        )

    def choose(self, states: IntArray, fractions: FloatArray) -> IntArray:
        entry = (fractions * self._choices.take(states)).astype(np.intp)
        return self._pair_action[self._pair_start.take(states) + entry]

    def origin_of(self, states: Any) -> Any:
        return self._origin.take(states)

    def position(self, afterstates: Any) -> tuple[Any, Any]:
        return self._progress.take(afterstates), self._dice.take(afterstates)

    def find_afterstate(self, progress: Any, dice: Any) -> Any:
        afterstates = self.tables.find_afterstates(np.asarray(progress), np.asarray(dice))
        if (afterstates < 0).any():
            raise ValueError(f"a turn of {self.game} never comes to {quoted((progress, dice))}")
        return afterstates[()]

    def find_states(self, observations: NDArray[Any]) -> Any:
        return self.tables.find_states(observations)

    def observe_afterstates(self, afterstates: IntArray) -> NDArray[Any]:
        return self._afterstate_observation.take(afterstates, axis=0)

    @property
    def longest(self) -> int:
        return _longest_turn(self.tables)


def _look_up(values: NDArray[Any], states: IntArray, over: Any = None) -> NDArray[Any]:
    """Return the values [B] of states [B]; see `Stepper.at_ends`."""
    return values.take(states)


@lru_cache(maxsize=16)
def _longest_turn(tables: TurnTables) -> int:
    """Return the most moves of a turn, wherever it begins."""
    moves = np.zeros(tables.num_afterstates, np.int64)
    for level in tables.levels:
        longest = level.reduce(np.maximum, moves[tables.pair_afterstate[level.pairs]])
        np.maximum.at(moves, tables.state_origin[level.states][level.live], longest + 1)
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
    state_of_throw = np.full((tables.num_afterstates + 1, throws), tables.num_states)
    for level in tables.levels:
        first_state = tables.state_start[level.afterstates][:, None]
        state_of_throw[level.afterstates] = first_state + np.resize(level.rolls.of_throw, throws)
    next_afterstate = np.full((tables.num_states + 1, tables.num_actions), tables.num_afterstates, np.int32)
    next_afterstate[tables.pair_state, tables.pair_action] = tables.pair_afterstate
    action_mask = np.ones(next_afterstate.shape, np.int8)
    action_mask[tables.decisions] = 0
    action_mask[tables.pair_state, tables.pair_action] = 1
    observation = np.pad(tables.observation, ((0, 1), (0, 0)))
    return TableStepper(tables, state_of_throw, next_afterstate, observation, action_mask)


def fits_tables(game: Game) -> bool:
    """Return whether the tables of a game have at most LARGEST_DENSE_TABLE entries."""
    if not fits(game):
        return False
    tables = compile_game(game)
    return (
        max(tables.num_afterstates * game.faces**game.dice, tables.num_states * tables.num_actions)
        <= LARGEST_DENSE_TABLE
    )
