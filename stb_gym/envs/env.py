"""One turn of a game as a Gymnasium environment, and what it shares with the vector environment."""

import inspect
import math
import operator
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray
from stb_gym.checks import check_choice, check_integer, listed
from stb_gym.envs.large_stepper import large_stepper
from stb_gym.envs.registration import environment_of, game_of_environment
from stb_gym.envs.rendering import Window, draw
from stb_gym.envs.table_stepper import Stepper, TableStepper, fits_tables, table_stepper
from stb_gym.games import Game, ShutTheBox, game_of, rules_class_of
from stb_gym.messages import LONGEST_MESSAGE, quoted
from stb_gym.solver import ILLEGAL, Goal, is_named, objective_of

Observation = NDArray[Any]
LARGEST_SEED = 2**64 - 1


class StepperEnv:
    """Base of the environments that step through a game: arguments, spec, snapshots and afterstates.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        reward_scale: the factor of rewards.
        illegal: "end" if an illegal action ends the turn, "raise" if it raises an error.
        stepper: the `Stepper`.
        rewards: [F + 2] the reward of every ending; see `Stepper.ending_scores`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human", "rgb_array"], "render_fps": 1}  # noqa: RUF012
    np_random: np.random.Generator
    _spec: EnvSpec | None = None
    _state: Any  # an integer, or [B]
    _throw: Any

    def __init__(
        self,
        game: Game | str,
        rules: Mapping[str, Any],
        objective: Goal,
        illegal: str,
        render_mode: str | None,
        observation_dtype: Any,
        reward_scale: float,
        stepper: str | None,
    ):
        check_choice("treatment of illegal actions", illegal, ILLEGAL)
        check_choice("render mode", render_mode, [None, *self.metadata["render_modes"]])
        largest = 2**1000 if isinstance(reward_scale, int) else math.inf  # larger integers become no float
        if not (isinstance(reward_scale, float | int | np.number) and 0 < reward_scale < largest):
            raise ValueError(f"reward_scale must be a finite number above 0, not {quoted(reward_scale)}")
        self.game = game_for(type(self), game, rules)
        self.objective = objective_of(self.game, objective)
        self.illegal = illegal
        self.render_mode = render_mode
        self.reward_scale = float(reward_scale)
        self._single_space = observation_space(self.game.observation_high, observation_dtype)
        self.stepper = stepper_of(self.game, self._single_space.dtype.name, stepper)
        scores = self.stepper.ending_scores[1:-1]
        utilities = self.objective.utilities(scores)
        self.rewards = np.array([0, *utilities, self.objective.illegal_utility(scores)], float) * self.reward_scale
        self._begun = False
        self._window = Window(self.metadata["render_fps"], self.game.name) if render_mode == "human" else None

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
        self._spec = spec and replace(spec, reward_threshold=self._threshold_of(spec))

    def _threshold_of(self, spec: EnvSpec) -> float | None:
        """Return the mean reward of perfect play; None if the rules or the objective are not those of the id."""
        try:
            of_id = environment_of(spec.id)
        except ValueError:
            return spec.reward_threshold
        goal = objective_of(self.game, of_id.arguments.get("objective", "score"))
        threshold = gym.spec(spec.id).reward_threshold
        if threshold is None or game_of_environment(spec.id) != self.game or goal != self.objective:
            return None
        return threshold * self.reward_scale

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the action mask of the last info as booleans, [A] or [B, A]. The name is that of sb3-contrib."""
        return self.stepper.masks(self._state).view(np.bool_)

    @property
    def transitions(self) -> TableStepper:
        """The tables that the environment steps through.

        Raises:
            ValueError: if it steps through boards.
        """
        if isinstance(self.stepper, TableStepper):
            return self.stepper
        raise ValueError(f"this needs the tables of a game, and the environment of {self.game} steps through boards")

    @checked
    def find_states(self, observation: Observation) -> Any:
        """Return the state of an observation [O], or the states [B] of observations [B, O], by the stepper's numbers.

        Raises:
            ValueError: if the game never shows such an observation.
        """
        return self.stepper.find_states(np.asarray(observation))

    @property
    def afterstate_space(self) -> gym.spaces.Box:
        """The space of the afterstate of one move."""
        space = self._single_space
        return gym.spaces.Box(0, np.append(space.high, space.dtype.type(self.game.dice)), dtype=space.dtype.type)

    @checked
    def afterstates(self, observations: Observation | None = None) -> tuple[IntArray, IntArray, Observation]:
        """Return what every legal move leads to, before the dice are thrown.

        Args:
            observations: [B, O]; by default the current ones of the environment.

        Returns:
            For E moves, ordered by observation and action: [E] the index of the observation, by default the number of
            the environment; [E] the action; and [E, O + 1] the afterstate: an observation without a roll, and last
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
        states = np.atleast_1d(self._state if observations is None else self.find_states(observations))
        index, action = self.stepper.legal_moves(states)
        return index, action, self.stepper.observe_afterstates(self.stepper.afterstates(states.take(index), action))

    @property
    def _played(self) -> str:
        """The rules, as snapshots name them."""
        return repr(self.game)

    def snapshot(self) -> dict[str, Any]:
        """Return the turns and the state of the random numbers; see `restore`.

        Returns:
            Integers and strings for JSON; integer arrays [B] in a vector environment.

        Raises:
            RuntimeError: before the first reset.
        """
        self._check_begun()
        return {
            "of": self._played,
            "state": copy(self._state),
            "throw": copy(self._throw),
            "random": self.np_random.bit_generator.state,
        }

    def _limits(self) -> dict[str, int]:
        """Return the names of the numbers in a snapshot, each with an integer that it is below."""
        return {"state": self.stepper.illegal_state + 1, "throw": self.stepper.num_throws}

    def _read(self, snapshot: Mapping[str, Any], shape: tuple[int, ...]) -> dict[str, IntArray]:
        """Read the numbers of a snapshot, arrays of a shape, and restore its random numbers.

        Raises:
            ValueError: if anything in the snapshot is wrong; then the random numbers stay as they are.
        """
        limits = self._limits()
        try:
            is_alike = isinstance(snapshot["of"], str) and snapshot["of"] == self._played
            given = [np.array(snapshot[name]) for name in limits]
            if is_alike and all(
                numbers.shape == shape and numbers.dtype.kind in "iu" and ((numbers >= 0) & (numbers < limit)).all()
                for numbers, limit in zip(given, limits.values(), strict=True)
            ):
                found: dict[str, IntArray] = {
                    name: numbers.astype(np.int64) for name, numbers in zip(limits, given, strict=True)
                }
                state, throw = found["state"], found["throw"]
                if np.array_equal(self.stepper.states(self.stepper.origin_of(state), throw), state):
                    restore_generator(self.np_random, snapshot["random"])
                    return found
        except (KeyError, IndexError, TypeError, ValueError):
            pass
        raise ValueError(f"the snapshot is not of {f'{shape[0]} turns' if shape else 'one turn'} of {self._played}")

    def _check_begun(self) -> None:
        if not self._begun:
            raise RuntimeError("no turn has begun: call reset()")

    def _beside(self, game: int) -> str:
        """Return words to show beside the position of a game."""
        return ""


class TurnEnv(StepperEnv, gym.Env[Observation, np.int64]):
    """A Gymnasium environment for one turn of a game.

    The rules, spaces, rewards and infos of each game are on its own page in `docs/environments`.

    Args:
        game: the name of a game, or a rules object.
        objective: what is rewarded at the end: "score" or another name that `stb_gym.solve` takes, an `Objective`, or a
            function from final scores [T] to utilities [T].
        illegal: an illegal action ends the turn with the worst score and reward there is ("end"), or raises ("raise").
        render_mode: "ansi" for text, "rgb_array" for a picture, "human" for a window, or None.
        observation_dtype: a NumPy type of integers or floats for observations. The default suits networks that do not
            convert their input; "uint8" saves memory and time where many games are stepped.
        reward_scale: a finite number above 0; the reward at the end is the utility times this. Learners that do not
            normalise rewards learn better with rewards near 1: use 1 / 45 for the points of nine tiles.
        stepper: "tables" to look moves up, or "boards" to work them out, for Shut the Box only. The default is tables
            unless they are too large. Both step alike.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        reward_scale: the factor of rewards.
        illegal: what an illegal action does, "end" or "raise".
        stepper: the `Stepper`.

    Raises:
        ValueError: if an argument is not allowed, or the game is too large for tables.
        TypeError: if a keyword is neither an argument nor a field of the rules.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = gym.make("stb_gym/ShutTheBox-v0", tiles=6)
        >>> observation, info = env.reset(seed=0)
        >>> observation.shape, int(info["action_mask"].sum())
        ((17,), 4)
    """

    def __init__(
        self,
        game: Game | str,
        objective: Goal = "score",
        illegal: str = "end",
        render_mode: str | None = None,
        *,
        observation_dtype: Any = "float32",
        reward_scale: float = 1.0,
        stepper: str | None = None,
        **rules: Any,
    ):
        super().__init__(game, rules, objective, illegal, render_mode, observation_dtype, reward_scale, stepper)
        self.observation_space = self._single_space
        self.action_space = gym.spaces.Discrete(self.stepper.num_actions)
        self._first = self.stepper.beginnings({})
        self._state = self.stepper.illegal_state
        self._throw = 0
        self._over = True
        self._last: tuple[int, int, int] | None = None  # the state, throw and action before, for pictures
        self._reached = self._state  # by the last step

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a turn with the first throw.

        Args:
            seed: seeds the dice; None to go on with the same random numbers.
            options: where to begin, in the words of the game, such as {"open": [1, 4], "roll": 5}.

        Returns:
            The observation [O] and the info, whose "action_mask" [A] is 1 where an action is legal; see `step`.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move.
        """
        if seed is not None:
            check_integer("seed", seed, 0, LARGEST_SEED)
            super().reset(seed=int(seed))
        afterstate, throws = self.stepper.beginnings(options_of(options)) if options else self._first
        self._throw = int(throws[self.np_random.bit_generator.random_raw() % len(throws)])
        self._state = int(self.stepper.states(afterstate, self._throw))
        self._last = None
        self._begun = True
        self._over = False
        if self._window is not None:
            self.render()
        return self.stepper.observe(self._state), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again.

        Returns:
            The observation, the reward, whether the turn is over, False, and the info: "action_mask", "final_score",
            which is -1 until the turn is over, and "illegal_action", whether an illegal action ended it.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is not an integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        stepper = self.stepper
        if self._over:
            raise RuntimeError("the turn is over, or none has begun: call reset()")
        try:
            action = operator.index(action)
        except TypeError:
            raise TypeError(
                f"action must be an integer from 0 to {stepper.num_actions - 1}, not {quoted(action)}"
            ) from None
        if not 0 <= action < stepper.num_actions:
            raise ValueError(f"action must be from 0 to {stepper.num_actions - 1}, not {quoted(action)}")
        afterstate = int(stepper.afterstates(self._state, action))
        if self.illegal == "raise" and afterstate == stepper.illegal_afterstate:
            raise ValueError(f"action {action} is illegal at {stepper.describe(self._state)}")
        self._last = self._state, self._throw, action
        # Of 64 random bits, the remainder favours low throws by less than throws / 2**64.
        self._throw = self.np_random.bit_generator.random_raw() % stepper.num_throws
        self._state = self._reached = int(stepper.states(afterstate, self._throw))
        if self._window is not None:
            self.render()
        ending = stepper.ending(self._state)
        if ending == 0:
            return stepper.observe(self._state), 0.0, False, False, self._info()
        self._over = True
        info = self._info(int(stepper.ending_scores[ending]), self._state == stepper.illegal_state)
        return stepper.observe(self._state), float(self.rewards[ending]), True, False, info

    def _info(self, final_score: int = -1, illegal_action: bool = False) -> dict[str, Any]:
        """Return the info of a step or a reset: the same keys in all of them, as recorders of play need."""
        mask = self.stepper.masks(self._state)
        return {"action_mask": mask, "final_score": final_score, "illegal_action": illegal_action}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot: the same actions then lead to the same steps.

        Wrappers are not restored: a TimeLimit continues counting.

        Args:
            snapshot: from an environment with the same rules.

        Raises:
            ValueError: if the snapshot is not of one turn with these rules.
        """
        self._go_on(self._read(snapshot, ()))

    def _go_on(self, numbers: Mapping[str, IntArray]) -> None:
        """Go on from the numbers of a snapshot."""
        self._state = int(numbers["state"])
        self._throw = int(numbers["throw"])
        self._over = bool(self.stepper.ending(self._state))
        self._last = None
        self._begun = True

    def render(self) -> Any:
        """Draw the position and, in a picture, the last move. A window is drawn after every reset and step anyway.

        Returns:
            A text ("ansi"), a picture [H, W, 3] uint8 ("rgb_array"), or None ("human"). Without a render mode
            there is a warning, and None.

        Raises:
            ImportError: if the library that draws or shows pictures is not installed, with the command to install it.
            RuntimeError: before the first reset.
        """
        self._check_begun()
        drawn = draw(self.stepper, self._state, self._throw, self._last, self.render_mode, self._beside(0))
        if self._window is None:
            return drawn
        self._window.show(drawn)

    def close(self) -> None:
        """Close the window if there is one."""
        if self._window is not None:
            self._window.close()


def options_of(options: Any) -> dict[str, Any]:
    """Return a copy of the options of a reset; raise TypeError if they are no dictionary."""
    if not isinstance(options, Mapping | None):
        raise TypeError(f"options of reset must be a dictionary, such as {{'roll': 5}}, not {quoted(options)}")
    return dict(options or {})


def stepper_of(game: Game, observation_dtype: str = "uint8", kind: str | None = None) -> Stepper:
    """Return the stepper of a game, from a cache.

    Args:
        game: the rules.
        observation_dtype: the type of observations, by its NumPy name.
        kind: "tables" or "boards"; by default boards only for Shut the Box too large for tables. Both step alike.

    Raises:
        ValueError: if these rules have no such stepper.

    Example:
        >>> import stb_gym
        >>> from stb_gym.envs import stepper_of
        >>> stepper_of(stb_gym.ShutTheBox.preset("the-300")).num_actions
        757
    """
    check_choice("stepper", kind, [None, "tables", "boards"])
    if kind is None:
        kind = "boards" if isinstance(game, ShutTheBox) and not fits_tables(game) else "tables"
    return (table_stepper if kind == "tables" else large_stepper)(game, observation_dtype)


def observation_space(high: Sequence[int], observation_dtype: Any) -> gym.spaces.Box:
    """Return the space of observations from 0 to `high`.

    Raises:
        ValueError: if `observation_dtype` is no NumPy type of integers or floats, or cannot hold them.
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
        raise ValueError(f"observation_dtype must hold 0 to {max(high)}, and {dtype} does not")
    return gym.spaces.Box(0, typed, dtype=dtype.type)


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
    known = [rule.name for rule in fields(rules_class_of(game))]  # type: ignore[arg-type]
    for name in rules:
        if name not in known:
            own = [name for name in inspect.signature(kind).parameters if name not in ("game", "rules")]
            unexpected = f"{kind.__name__}() got an unexpected keyword argument {quoted(name)}: allowed are "
            raise TypeError(unexpected + listed([*known, *own], LONGEST_MESSAGE - len(unexpected)))
    return game_of(game, rules)


def restore_generator(generator: np.random.Generator, state: Any) -> None:
    """Set the state of a generator.

    Raises:
        ValueError: if it is no state of this kind of generator, which then stays as it is.
    """
    bits: Any = type(generator.bit_generator)()
    try:
        bits.state = state
        if repr(bits.state) != repr(state) or state.get("has_uint32", 0) not in (0, 1):
            raise ValueError
    except (ValueError, TypeError, KeyError, OverflowError):
        raise ValueError(f"the state of random numbers is not a state of {type(bits).__name__}") from None
    generator.bit_generator.state = state
