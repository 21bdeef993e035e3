"""One turn of a game as a Gymnasium environment."""

import operator
from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.base import StepperEnv
from stb_gym.games import Game
from stb_gym.solver import Goal

Observation = NDArray[Any]


class TurnEnv(StepperEnv, gym.Env[Observation, np.int64]):
    """A Gymnasium environment for one turn of a game.

    The rules, spaces, rewards and infos of each game are on its own page in `docs/environments`.

    Args:
        game: the name of a game, or a rules object.
        objective: what is rewarded at the end: "score" or another name that `stb_gym.solve` takes, an `Objective`, or a
            function from final scores [S] to utilities [S].
        illegal: an illegal action ends the turn with the worst score and reward there is ("end"), or raises ("raise").
        render_mode: "ansi" for text, "rgb_array" for a picture, "human" for a window, or None.
        observation_dtype: a NumPy type of integers or floats for observations. Networks without an input layer that
            converts want "float32".
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
        observation_dtype: Any = "uint8",
        reward_scale: float = 1.0,
        stepper: str | None = None,
        **rules: Any,
    ):
        super().__init__(game, rules, objective, illegal, render_mode, observation_dtype, reward_scale, stepper)
        self.observation_space = self._space(self.game.observation_high)
        self.action_space = gym.spaces.Discrete(self.stepper.actions)
        self._node = self.stepper.forfeit
        self._throw = 0
        self._over = True
        self._last: tuple[int, int, int] | None = None  # the node, throw and action before, for pictures

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a turn with the first throw.

        Args:
            seed: seeds the dice; None to go on with the same random numbers.
            options: where to begin, in the words of the game, such as {"open": [1, 4], "roll": 5}.

        Returns:
            The observation and the info.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move.
        """
        if seed is not None:
            super().reset(seed=seed)
        state, throws = self.stepper.beginnings(options) if options else self.stepper.first
        self._throw = int(throws[self.np_random.bit_generator.random_raw() % len(throws)])
        self._node = int(self.stepper.nodes(state, self._throw))
        self._last = None
        self._begun = True
        self._over = False
        if self._window is not None:
            self.render()
        return self.stepper.observe(self._node), {"action_mask": self.stepper.masks(self._node)}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again.

        Returns:
            The observation, the reward, whether the turn is over, False, and the info.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is not an integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        stepper = self.stepper
        if self._over:
            raise RuntimeError(f"{'the turn is over' if self._begun else 'no turn has begun'}: call reset()")
        try:
            action = operator.index(action)
        except TypeError:
            raise TypeError(f"action must be an integer from 0 to {stepper.actions - 1}, not {action!r}") from None
        if not 0 <= action < stepper.actions:
            raise ValueError(f"action must be from 0 to {stepper.actions - 1}, not {action}")
        state = int(stepper.after(self._node, action))
        if self.illegal == "raise" and state == stepper.forfeit_state:
            raise ValueError(f"action {action} is illegal at {stepper.describe(self._node)}")
        self._last = self._node, self._throw, action
        # Of 64 random bits, the remainder favours low throws by less than throws / 2**64.
        self._throw = self.np_random.bit_generator.random_raw() % stepper.throws
        self._node = int(stepper.nodes(state, self._throw))
        if self._window is not None:
            self.render()
        info: dict[str, Any] = {"action_mask": stepper.masks(self._node)}
        ending = stepper.ending(self._node)
        if ending == 0:
            return stepper.observe(self._node), 0.0, False, False, info
        self._over = True
        info["final_score"] = int(stepper.scores[ending])
        info["illegal_action"] = self._node == stepper.forfeit
        return stepper.observe(self._node), float(self.rewards[ending]), True, False, info

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot: the same actions then lead to the same steps.

        Wrappers are not restored: a TimeLimit goes on counting.

        Args:
            snapshot: from an environment with the same rules.

        Raises:
            ValueError: if the snapshot is not of one turn with these rules.
        """
        node, throw = self._read(snapshot, ())
        self._node = int(node)
        self._throw = int(throw)
        self._over = bool(self.stepper.ending(node))
        self._last = None
        self._begun = snapshot["begun"]

    def render(self) -> Any:
        """Draw the position and, in a picture, the last move. A window shows every position without being asked.

        Returns:
            A text ("ansi"), a picture [H, W, 3] uint8 ("rgb_array"), or None ("human", or no render mode).

        Raises:
            ImportError: if the library that draws or shows pictures is not installed, with the command to install it.
            RuntimeError: before the first reset.
        """
        if not self._begun:
            raise RuntimeError("no turn has begun: call reset()")
        drawn = self._draw(self._node, self._throw, self._last, self._beside(0))
        if self._window is None:
            return drawn
        self._window.show(drawn)

    def close(self) -> None:
        """Close the window if there is one."""
        if self._window is not None:
            self._window.close()
