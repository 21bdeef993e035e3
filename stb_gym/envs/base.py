"""What the environment of one turn and that of many have in common: their arguments, stepper, afterstates and spec."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from numpy.typing import NDArray

from stb_gym.envs.asked import game_for, restore_generator
from stb_gym.envs.registration import reward_threshold
from stb_gym.envs.rendering import Last, Position, Window, draw
from stb_gym.envs.stepping import Stepper, Transitions, stepper_of
from stb_gym.games import ILLEGAL, Game, IntArray, check_choice, throw_faces
from stb_gym.solver import Goal, Objective, is_named, objective_of


class StepperEnv:
    """An environment that steps through a game.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        illegal: what an illegal action does: it ends the turn ("end"), or raises ("raise").
        stepper: what the environment steps through.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "human", "rgb_array"], "render_fps": 1}  # noqa: RUF012
    game: Game
    objective: Objective
    illegal: str
    render_mode: str | None
    stepper: Stepper
    max_episode_steps: int | None = None
    _spec: EnvSpec | None = None
    _node: Any
    np_random: np.random.Generator

    def _take(
        self,
        game: Game | str,
        rules: Mapping[str, Any],
        objective: Goal,
        illegal: str,
        render_mode: str | None,
        observation_dtype: Any,
        reward_scale: float,
        stepper: str | None,
    ) -> gym.spaces.Box:
        """Take over the arguments of an environment, and tell the space of its observations."""
        check_choice("treatment of illegal actions", illegal, ILLEGAL)
        check_choice("render mode", render_mode, [None, *self.metadata["render_modes"]])
        self.game = game_for(type(self), game, rules)
        self.objective = objective_of(self.game, objective)
        self.illegal, self.render_mode = illegal, render_mode
        high = self._observation_high()
        dtype = _dtype_for(int(high.max()), observation_dtype)
        self._observation_dtype = dtype
        self.stepper = self._stepper_of(dtype, _checked_scale(reward_scale), stepper)
        return gym.spaces.Box(0, high.astype(dtype), dtype=np.dtype(dtype).type)

    def _observation_high(self) -> IntArray:
        """[O] the greatest numbers of an observation, once the rules are known."""
        return self.game.observation_high

    def _stepper_of(self, dtype: str, scale: float, kind: str | None) -> Stepper:
        """What the environment steps through, once the rules are known."""
        return stepper_of(self.game, self.objective, dtype, scale, kind)

    @property
    def objective_name(self) -> str | None:
        """The name of the objective, which says all of it to another process; None of an objective of one's own."""
        return self.objective.name if is_named(self.game, self.objective) else None

    @property
    def spec(self) -> EnvSpec | None:
        """What the environment was made of, as Gymnasium says it."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        # Turns are bounded without a limit. What is made of this spec gets one nevertheless, which truncates a turn at
        # its last step: one step more than the longest turn has lets it end as it does here, terminated alone.
        if spec is not None:
            known = self._threshold_of(spec)
            limit = spec.max_episode_steps or self.max_episode_steps or self.stepper.longest + 1
            spec = replace(spec, reward_threshold=known, max_episode_steps=limit)
        self._spec = spec

    def _threshold_of(self, spec: EnvSpec) -> float | None:
        """The mean reward of perfect play, as far as it is known."""
        return reward_threshold(spec, self.game, self.objective, self.stepper.reward_scale)

    @property
    def _played(self) -> str:
        """What is played, as snapshots say it."""
        return repr(self.game)

    def _read(self, snapshot: Mapping[str, Any], shape: tuple[int, ...], **counts: int) -> list[IntArray]:
        """The nodes of a snapshot and other numbers, each of this shape and less than its count; else a ValueError.

        Only if all of the snapshot is sound do the random numbers go on from its state.
        """
        try:
            read = [np.array(snapshot[name]) for name in ("node", *counts)]
            if all(numbers.shape == shape and numbers.dtype.kind in "iu" for numbers in read):
                node, *others = read = [numbers.astype(np.int64) for numbers in read]
                below = zip(others, counts.values(), strict=True)
                sound = self.stepper.are_nodes(node).all() and all(((n >= 0) & (n < most)).all() for n, most in below)
                alike = isinstance(snapshot["of"], str) and snapshot["of"] == self._played
                if sound and alike and isinstance(snapshot["begun"], bool):
                    restore_generator(self.np_random, snapshot["random"])
                    return read
        except (KeyError, IndexError, TypeError, ValueError):
            pass
        raise ValueError(f"the snapshot is not of {f'{shape[0]} turns' if shape else 'one turn'} of {self._played}")

    def _draw(self, node: int, throw: int, last: Last | None, beside: str = "") -> Any:
        """A node, reached by a throw after the last move, and words beside it, as the render mode wants them."""
        mode = "rgb_array" if self.render_mode == "human" else self.render_mode
        return draw(self.game, self._position(node, throw), last, mode, beside)

    def _beside(self, game: int) -> str:
        """What is to be told beside the position of a game."""
        return ""

    def _move(self, node: int, throw: int, action: int) -> Last:
        """A move that was made at a node, reached by a throw."""
        return Last(self._position(node, throw), action)

    def _opened(self) -> Window | None:
        """The window of an environment that has one."""
        return Window(self.metadata["render_fps"], self.game.name) if self.render_mode == "human" else None

    def _position(self, node: int, throw: int) -> Position:
        """The position at a node that was reached by a throw."""
        held, dice = (int(number) for number in self.stepper.position(self.stepper.state_of(node)))
        forfeit = bool(node == self.stepper.forfeit)
        return Position(held, dice, () if forfeit else throw_faces(throw, dice, self.game.faces), forfeit)

    @property
    def afterstate_space(self) -> gym.spaces.Box:
        """The space of the afterstates of one move."""
        high = np.append(self._observation_high(), self.game.dice).astype(self._observation_dtype)
        return gym.spaces.Box(0, high, dtype=np.dtype(self._observation_dtype).type)

    def afterstates(self, observations: NDArray[Any] | None = None) -> tuple[IntArray, IntArray, NDArray[Any]]:
        """What every legal move leads to, before the dice are thrown: all that a learner of afterstates needs of rules.

        Args:
            observations: [B, O] where; by default where the environment is.

        Returns:
            For E moves, ordered by place and action: [E] the place, by default the number of the environment; [E] the
            action; and [E, O + 1] the afterstate, which is what is seen whatever the throw, so without a roll, and last
            how many dice are thrown next, 0 where the turn ends.

        Raises:
            ValueError: if an observation is none of this game.

        Example:
            >>> import gymnasium as gym, stb_gym
            >>> env = gym.make("stb_gym/Threes-v0").unwrapped
            >>> _ = env.reset(seed=0, options={"points": 4, "roll": [1, 3, 6]})
            >>> env.afterstates()[2].tolist()
            [[4, 0, 0, 0, 0, 0, 0, 2], [5, 0, 0, 0, 0, 0, 0, 1], [11, 0, 0, 0, 0, 0, 0, 0]]
        """
        nodes = np.atleast_1d(self._node if observations is None else self.node(observations))
        moves = self.stepper.legal_moves(nodes)
        return moves.place, moves.action, self.stepper.unthrown(moves.after)

    def node(self, observation: NDArray[Any]) -> Any:
        """The node of an observation [O], or the nodes [B] of a batch [B, O], as the stepper numbers them."""
        return self.stepper.find(np.asarray(observation))

    @property
    def transitions(self) -> Transitions:
        """The tables that the environment steps through.

        Raises:
            ValueError: if it steps through boards.
        """
        if isinstance(self.stepper, Transitions):
            return self.stepper
        raise ValueError(f"this needs the tables of a game, and the environment of {self.game} steps through boards")


def _dtype_for(high: int, named: Any) -> str:
    """The name of the type of observations, if it can hold the integers from 0 to `high`."""
    try:
        dtype: np.dtype[Any] = np.dtype(np.void if named is None else named)
    except TypeError:
        dtype = np.dtype(np.void)
    if dtype.kind == "f" or (dtype.kind in "iu" and np.iinfo(dtype).max >= high):
        return dtype.name
    raise ValueError(
        f'observation_dtype must be a type of integers or floats that holds 0 to {high}, such as "uint8" or "float32", '
        f"not {named!r}"
    )


def _checked_scale(scale: Any) -> float:
    if isinstance(scale, int | float | np.integer | np.floating) and 0 < scale < math.inf and scale is not True:
        return float(scale)
    raise ValueError(f"reward_scale must be a finite number above 0, not {scale!r}")
