"""What the single and the vector environment share: their arguments, spec, snapshots, afterstates and drawing."""

import inspect
import math
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import fields, replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.envs.large_stepper import large_stepper
from stb_gym.envs.registration import environment_of, game_of_environment
from stb_gym.envs.rendering import Window, draw
from stb_gym.envs.table_stepper import Stepper, TableStepper, fits_tables, table_stepper
from stb_gym.games import ILLEGAL, Game, IntArray, check_choice, game_of, rules_class_of
from stb_gym.solver import Goal, is_named, objective_of

STEPPERS = {"tables": table_stepper, "boards": large_stepper}


class StepperEnv:
    """An environment that steps through a game.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        reward_scale: the factor of rewards.
        illegal: "end" if an illegal action ends the turn, "raise" if it raises an error.
        stepper: the `Stepper`.
        rewards: [F + 2] the reward of every ending; see `Stepper.scores`.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human", "rgb_array"], "render_fps": 1}  # noqa: RUF012
    max_episode_steps: int | None = None
    np_random: np.random.Generator
    _spec: EnvSpec | None = None
    _node: Any  # an integer, or [B]
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
        self.game = game_for(type(self), game, rules)
        self.objective = objective_of(self.game, objective)
        self.illegal = illegal
        self.render_mode = render_mode
        self.reward_scale = _checked_scale(reward_scale)
        self._observation_dtype = _dtype_for(max(self.game.observation_high), observation_dtype)
        self.stepper = stepper_of(self.game, self._observation_dtype, stepper)
        scores = self.stepper.scores[1:-1]
        utilities = self.objective.utilities(scores)
        self.rewards = np.array([0, *utilities, self.objective.illegal_utility(scores)], float) * self.reward_scale
        self._begun = False
        self._window = Window(self.metadata["render_fps"], self.game.name) if render_mode == "human" else None

    def _space(self, high: Sequence[int]) -> gym.spaces.Box:
        """Return the space of numbers from 0 to `high`, of the type of observations."""
        return gym.spaces.Box(0, np.array(high, self._observation_dtype), dtype=np.dtype(self._observation_dtype).type)

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
        # Gymnasium truncates what it makes of a spec at the limit. One step more than the longest turn truncates none.
        if spec is not None:
            limit = spec.max_episode_steps or self.max_episode_steps or self.stepper.longest + 1
            spec = replace(spec, reward_threshold=self._threshold_of(spec), max_episode_steps=limit)
        self._spec = spec

    def _threshold_of(self, spec: EnvSpec) -> float | None:
        """Return the mean reward of perfect play; None if the id of the spec is of other rules or another objective."""
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
        return self.stepper.masks(self._node).view(np.bool_)

    @property
    def transitions(self) -> TableStepper:
        """The tables that the environment steps through.

        Raises:
            ValueError: if it steps through boards.
        """
        if isinstance(self.stepper, TableStepper):
            return self.stepper
        raise ValueError(f"this needs the tables of a game, and the environment of {self.game} steps through boards")

    def node(self, observation: NDArray[Any]) -> Any:
        """Return the node of an observation [O], or the nodes [B] of observations [B, O], as the stepper numbers them.

        Raises:
            ValueError: if the game never shows such an observation.
        """
        return self.stepper.find(np.asarray(observation))

    @property
    def afterstate_space(self) -> gym.spaces.Box:
        """The space of the afterstates of one move."""
        return self._space([*self.game.observation_high, self.game.dice])

    def afterstates(self, observations: NDArray[Any] | None = None) -> tuple[IntArray, IntArray, NDArray[Any]]:
        """Return what every legal move leads to, before the dice are thrown.

        Args:
            observations: [B, O]; by default those of the environment now.

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
            >>> env.afterstates()[2].tolist()
            [[4, 0, 0, 0, 0, 0, 0, 2], [5, 0, 0, 0, 0, 0, 0, 1], [11, 0, 0, 0, 0, 0, 0, 0]]
        """
        nodes = np.atleast_1d(self._node if observations is None else self.node(observations))
        _, _, place, action = self.stepper.legal_moves(nodes)
        return place, action, self.stepper.unthrown(self.stepper.after(nodes.take(place), action))

    @property
    def _played(self) -> str:
        """The rules, as snapshots name them."""
        return repr(self.game)

    def snapshot(self) -> dict[str, Any]:
        """Return the turns and the random numbers to come; see `restore`.

        Returns:
            Integers and strings for JSON; integer arrays [B] in a vector environment.
        """
        return {
            "of": self._played,
            "node": copy(self._node),
            "throw": copy(self._throw),
            "begun": self._begun,
            "random": self.np_random.bit_generator.state,
        }

    def _read(self, snapshot: Mapping[str, Any], shape: tuple[int, ...], **limits: int) -> list[IntArray]:
        """Read the nodes, the throws and other numbers of a snapshot, and restore its random numbers.

        Args:
            snapshot: as `snapshot` returns it.
            shape: the shape of each array.
            **limits: the names of the other numbers, each with a limit that it is below.

        Raises:
            ValueError: if anything in the snapshot is wrong; then the random numbers stay as they are.
        """
        limits = {"throw": self.stepper.throws, **limits}
        try:
            given = [np.array(snapshot[name]) for name in ("node", *limits)]
            are_integers = all(numbers.shape == shape and numbers.dtype.kind in "iu" for numbers in given)
            is_alike = isinstance(snapshot["of"], str) and snapshot["of"] == self._played
            if are_integers and is_alike and isinstance(snapshot["begun"], bool):
                node, throw, *others = (numbers.astype(np.int64) for numbers in given)
                in_range = all(
                    ((numbers >= 0) & (numbers < limit)).all()
                    for numbers, limit in zip([throw, *others], limits.values(), strict=True)
                )
                if in_range and np.array_equal(self.stepper.nodes(self.stepper.state_of(node), throw), node):
                    restore_generator(self.np_random, snapshot["random"])
                    return [node, throw, *others]
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            pass
        raise ValueError(f"the snapshot is not of {f'{shape[0]} turns' if shape else 'one turn'} of {self._played}")

    def _draw(self, node: int, throw: int, last: tuple[int, int, int] | None, beside: str) -> Any:
        """Draw a position in the render mode; see `draw`."""
        mode = "rgb_array" if self.render_mode == "human" else self.render_mode
        return draw(self.stepper, node, throw, last, mode, beside)

    def _beside(self, game: int) -> str:
        """Return words to show beside the position of a game."""
        return ""


def stepper_of(game: Game, observation_dtype: str = "uint8", kind: str | None = None) -> Stepper:
    """Return the stepper of a game, from a cache.

    Args:
        game: the rules.
        observation_dtype: the type of observations, by its NumPy name.
        kind: "tables" or "boards"; by default tables if they are not too large. Both step alike.

    Raises:
        ValueError: if these rules have no such stepper.

    Example:
        >>> import stb_gym
        >>> from stb_gym.envs import stepper_of
        >>> stepper_of(stb_gym.ShutTheBox.preset("the-300")).actions
        757
    """
    check_choice("stepper", kind, [None, *STEPPERS])
    if kind is None:
        kind = "tables"
        if not fits_tables(game):
            try:
                return large_stepper(game, observation_dtype)
            except ValueError:
                pass  # the error about tables says how large they may be
    return STEPPERS[kind](game, observation_dtype)


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
            raise TypeError(
                f"{kind.__name__}() got an unexpected keyword argument {name!r}: allowed are the rules "
                f"{', '.join(known)} and the arguments {', '.join(own)}"
            )
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
        raise ValueError(f"the state of random numbers is none of {type(bits).__name__}") from None
    generator.bit_generator.state = state


def _dtype_for(high: int, named: Any) -> str:
    """Return the NumPy name of a type of observations that holds the integers from 0 to `high`."""
    try:
        dtype: np.dtype[Any] = np.dtype(named)
    except TypeError:
        dtype = np.dtype(np.void)
    holds = dtype.kind == "f" or (dtype.kind in "iu" and np.iinfo(dtype).max >= high)
    if holds and named is not None:  # NumPy reads None as float64
        return dtype.name
    raise ValueError(
        f'observation_dtype must be a type of integers or floats that holds 0 to {high}, such as "uint8" or "float32", '
        f"not {named!r}"
    )


def _checked_scale(scale: Any) -> float:
    if isinstance(scale, int | float | np.integer | np.floating) and 0 < scale < math.inf and scale is not True:
        return float(scale)
    raise ValueError(f"reward_scale must be a finite number above 0, not {scale!r}")
