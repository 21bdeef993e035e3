"""What the environment of one turn and the one of many turns share: arguments, rewards, lookups and snapshots."""

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray, freeze
from stb_gym.checks import check_choice, listed
from stb_gym.envs.table_stepper import Stepper, TableStepper
from stb_gym.games import Game, game_of, observation_high, rules_class_of
from stb_gym.games.game import LARGEST_PROGRESS
from stb_gym.messages import LONGEST_MESSAGE, quoted
from stb_gym.solver import ILLEGAL, Goal, Objective, is_named, objective_of

Observation = NDArray[Any]
LARGEST_SEED = 2**64 - 1


class LastStep(NamedTuple):
    """What the last step did. Every entry is an integer, or an array [B] in a vector environment.

    Attributes:
        states: the states in which actions were taken.
        throws: the throws that had led there.
        actions: the actions.
        acted: whether an action was taken; False where the step began a new turn instead.
        afterstates: the afterstates that the actions led to.
        reached: the states that the next throws led to, before turns that ended began anew.
    """

    states: Any
    throws: Any
    actions: Any
    acted: Any
    afterstates: Any
    reached: Any


MakeStepper = Callable[[Game, str], Stepper]
MakeRenderer = Callable[[Stepper, str, int], Any]  # makes a `TurnRenderer`; this module cannot import it
Threshold = Callable[["GameEnv", EnvSpec], float | None]


class GameEnv:
    """Base of `TurnEnv` and `TurnVectorEnv`, which document the arguments.

    Attributes:
        stepper: the `Stepper`.
        rewards_at: a function from the states [B] that a step reached to its rewards [B].
        chose_throws: whether the options of the last reset left out some throws, so that their dice were not random.
        afterstate_space: the space of the afterstate of one move.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human", "rgb_array"], "render_fps": 1}  # noqa: RUF012
    np_random: np.random.Generator
    _spec: EnvSpec | None = None

    def __init__(
        self,
        game: Game | str,
        objective: Goal,
        illegal: str,
        render_mode: str | None,
        observation_dtype: Any,
        reward_scale: float,
        stepper: MakeStepper,
        renderer: MakeRenderer | None,
        threshold: Threshold | None,
        rules: Mapping[str, Any],
    ):
        check_choice("treatment of illegal actions", illegal, ILLEGAL)
        check_choice("render mode", render_mode, [None, *self.metadata["render_modes"]])
        largest = 2**1000 if isinstance(reward_scale, int) else math.inf  # larger integers become no float
        if not (isinstance(reward_scale, float | int | np.number) and 0 < reward_scale < largest):
            raise ValueError(f"reward_scale must be a finite number above 0, not {quoted(reward_scale)}")
        self._game = game_for(type(self), game, rules)
        self._objective = objective_of(self.game, objective)
        self._illegal = illegal
        self._reward_scale = float(reward_scale)
        self.render_mode = render_mode
        self._single_space = observation_space(observation_high(self.game), observation_dtype)
        self.afterstate_space = space_of_afterstates(self._single_space, self.game)
        self.stepper = stepper(self.game, self._single_space.dtype.name)
        utilities = np.array([*self.objective.utilities(self.stepper.scores)], float)
        self._rewards = freeze(utilities * self.reward_scale)
        self._illegal_reward = self.objective.illegal_utility(self.stepper.scores) * self.reward_scale
        self.rewards_at = self.stepper.at_ends(self.rewards, self.illegal_reward)
        self._renderer: Any = None
        if render_mode is not None:
            if renderer is None:
                raise ValueError("a render_mode needs a renderer, which gym.make supplies")
            self._renderer = renderer(self.stepper, render_mode, self.metadata["render_fps"])
        self._threshold = threshold
        self._rules = repr(self.game)
        self._start = self.stepper.beginnings({})
        self.chose_throws = False
        self._begun = False
        self._spawned: tuple[np.random.Generator, np.random.Generator] | None = None  # the dice's and its child

    # These cannot be set: the tables of rewards and moves are made with the environment.

    @property
    def game(self) -> Game:
        """The rules object."""
        return self._game

    @property
    def objective(self) -> Objective:
        """The objective, as an `Objective`."""
        return self._objective

    @property
    def illegal(self) -> str:
        """What an illegal action does: it ends the turn ("end"), or raises an error ("raise")."""
        return self._illegal

    @property
    def reward_scale(self) -> float:
        """The factor of rewards."""
        return self._reward_scale

    @property
    def rewards(self) -> FloatArray:
        """[F] the reward of each final score; see `Stepper.scores`."""
        return self._rewards

    @property
    def illegal_reward(self) -> float:
        """The reward of an illegal action that ends the turn."""
        return self._illegal_reward

    @property
    def objective_name(self) -> str | None:
        """The name of the objective if another process can make it by that name, else None."""
        return self.objective.name if is_named(self.game, self.objective) else None

    @property
    def spec(self) -> EnvSpec | None:
        """The specification from which Gymnasium makes the environment again."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None and self._threshold is not None:
            spec = replace(spec, reward_threshold=self._threshold(self, spec))
        self._spec = spec

    @property
    def transitions(self) -> TableStepper:
        """The tables that the environment steps through.

        Raises:
            ValueError: if it steps through boards.
        """
        if isinstance(self.stepper, TableStepper):
            return self.stepper
        raise ValueError(f'this needs tables, but the environment of {self.game} has the stepper "boards"')

    @property
    def states(self) -> IntArray:
        """[B] the states of the last observations, as the stepper numbers them."""
        raise NotImplementedError

    @checked
    def find_states(self, observation: Observation) -> Any:
        """Return the state of an observation [O], or the states [B] of observations [B, O], by the stepper's numbers.

        Raises:
            ValueError: if the game never shows such an observation.
        """
        return self.stepper.find_states(np.asarray(observation))

    @checked
    def afterstates(self, observations: Observation | None = None) -> tuple[IntArray, IntArray, Observation]:
        """Return what every legal move leads to, before the dice are thrown.

        Args:
            observations: [B, O]; by default the current ones of the environment.

        Returns:
            For M moves, ordered by observation and action: [M] the index of the observation, by default the number of
            the environment; [M] the action; and [M, O + 1] the afterstate: an observation without a roll, and last
            how many dice are thrown next, 0 where the turn ends.

        Raises:
            ValueError: if the game never shows such an observation.

        Example:
            >>> import gymnasium as gym, stb_gym
            >>> env = gym.make("stb_gym/Threes-v0").unwrapped
            >>> _ = env.reset(seed=0, options={"points": 4, "roll": [1, 3, 6]})
            >>> env.afterstates()[2].astype(int).tolist()
            [[4, 0, 0, 0, 0, 0, 0, 2], [5, 0, 0, 0, 0, 0, 0, 1], [11, 0, 0, 0, 0, 0, 0, 0]]
        """
        states = self.states if observations is None else np.atleast_1d(self.find_states(observations))
        index, action = self.stepper.legal_moves(states)
        return index, action, self.stepper.observe_afterstates(self.stepper.after_actions(states.take(index), action))

    def _legal_sample(self) -> IntArray:
        """Return [B] random legal actions by a child of the generator of the dice."""
        self._check_begun()
        if self._spawned is None or self._spawned[0] is not self.np_random:  # a seed has made another one
            [child] = self.np_random.spawn(1)
            self._spawned = self.np_random, child
        states = self.states
        return self.stepper.choose(states, self._spawned[1].random(len(states)))

    def _check_begun(self) -> None:
        if not self._begun:
            raise RuntimeError("no turn has begun: call reset()")

    def _snapshot(self, states: Any, throws: Any) -> dict[str, Any]:
        """Return the snapshot of turns: their rules, positions and throws, and the state of the random numbers."""
        self._check_begun()
        progress, dice = self._positions(states)
        random = self.np_random.bit_generator.state
        return {"of": self._rules, "progress": progress, "dice": dice, "throw": throws, "random": random}

    def _positions(self, states: Any) -> tuple[Any, Any]:
        """Return the progress at states and how many dice were thrown, -1 after an illegal action."""
        progress, dice = self.stepper.position(self.stepper.origin_of(states))
        dice = np.where(states == self.stepper.illegal_state, -1, dice)
        return (int(progress), int(dice)) if isinstance(states, int) else (progress, dice)

    def _restore(self, snapshot: Mapping[str, Any], shape: tuple[int, ...], **ranges: range) -> dict[str, Any]:
        """Read the state, the throw and other numbers of a snapshot, and restore its random numbers.

        Raises:
            ValueError: if anything in the snapshot is wrong; then the random numbers stay as they are.
        """
        stepper, game = self.stepper, self.game
        ranges |= {"dice": range(-1, game.dice + 1), "throw": range(stepper.num_throws)}
        ranges["progress"] = range(1 - LARGEST_PROGRESS, LARGEST_PROGRESS)
        numbers = numbers_of(snapshot, self._rules, shape, ranges)
        progress, dice = np.atleast_1d(numbers["progress"], numbers["dice"])
        afterstates = np.full(dice.shape, stepper.illegal_afterstate)
        is_legal = dice >= 0
        try:
            afterstates[is_legal] = stepper.find_afterstate(progress[is_legal], dice[is_legal])
            states = stepper.after_throws(afterstates, numbers["throw"])
            known = np.array_equal(self._positions(states), (progress, dice))
        except ValueError:
            known = False
        if not known:
            raise ValueError(f"the snapshot has a position that no turn of {game} comes to")
        bits: Any = self.np_random.bit_generator
        before, random = bits.state, snapshot.get("random")
        try:
            bits.state = random
            is_random = bits.state == random
        except (ValueError, TypeError, KeyError, OverflowError):
            is_random = False
        if not is_random:
            bits.state = before
            raise ValueError(f"the snapshot's state of random numbers is not a state of {type(bits).__name__}")
        return {**numbers, "state": states if shape else int(states[0])}


def options_of(options: Any) -> dict[str, Any]:
    """Return a copy of the options of a reset; raise TypeError if they are no dictionary."""
    if not isinstance(options, Mapping | None):
        raise TypeError(f"options of reset must be a dictionary, such as {{'roll': 5}}, not {quoted(options)}")
    return dict(options or {})


def observation_space(high: Sequence[int], observation_dtype: Any) -> gym.spaces.Box:
    """Return the space of observations from 0 to `high`.

    Raises:
        ValueError: if `observation_dtype` is not a NumPy type of integers or floats, or too small for them.
    """
    try:
        dtype = np.dtype(observation_dtype)
    except Exception:  # NumPy raises several kinds
        dtype = np.dtype(object)
    if dtype.kind not in "iuf":
        raise ValueError(
            f"observation_dtype must be a NumPy type of integers or floats, not {quoted(observation_dtype)}"
        )
    typed = np.array(high).astype(dtype)
    if (typed != high).any():
        raise ValueError(f"observation_dtype must hold 0 to {max(high)}, but {dtype} does not")
    return gym.spaces.Box(0, typed, dtype=dtype.type)


def space_of_afterstates(observations: gym.spaces.Box, game: Game) -> gym.spaces.Box:
    """Return the space of observations followed by a number of dice."""
    dtype = observations.dtype.type
    return gym.spaces.Box(0, np.append(observations.high, dtype(game.dice)), dtype=dtype)


def game_for(kind: type[Any], game: Game | str, rules: Mapping[str, Any]) -> Game:
    """Return the game of an environment.

    Args:
        kind: the class of the environment.
        game: the rules, or the name of a game.
        rules: fields of the rules.

    Raises:
        TypeError: like Python's own for an unknown keyword, because some libraries then leave theirs out.
        ValueError: if there is no such game, or a field has a value that is not allowed.
    """
    allowed = [rule.name for rule in fields(rules_class_of(game))]  # type: ignore[arg-type]
    for name in rules:
        if name not in allowed:
            own = [name for name in inspect.signature(kind).parameters if name not in ("game", "rules")]
            unexpected = f"{kind.__name__}() got an unexpected keyword argument {quoted(name)}: allowed are "
            raise TypeError(unexpected + listed([*allowed, *own], LONGEST_MESSAGE - len(unexpected)))
    return game_of(game, rules)


def numbers_of(
    snapshot: Mapping[str, Any], made_of: str, shape: tuple[int, ...], ranges: Mapping[str, range]
) -> dict[str, Any]:
    """Read numbers of a snapshot.

    Args:
        snapshot: what `snapshot()` returned, perhaps read from JSON.
        made_of: the rules that the snapshot must name.
        shape: () for integers, or the shape of arrays.
        ranges: the allowed integers by the name of each number.

    Returns:
        The numbers by name: integers, or new arrays of int64.

    Raises:
        ValueError: if the snapshot is not of these rules and this shape.
    """
    numbers: dict[str, Any] = {}
    try:
        fits = isinstance(snapshot["of"], str) and snapshot["of"] == made_of
        for name, allowed in ranges.items():
            given = np.array(snapshot[name])
            fits &= given.shape == shape and given.dtype.kind in "iu"
            fits &= bool(((given >= allowed.start) & (given < allowed.stop)).all())
            numbers[name] = given.astype(np.int64) if shape else int(given)
    except (KeyError, IndexError, TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        turns = f"{shape[0]} turns" if shape else "one turn"
        raise ValueError(f"the snapshot must be of {turns} of {made_of}, and taken by this version")
    return numbers
