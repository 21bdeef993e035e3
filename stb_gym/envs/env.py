"""One turn as a Gymnasium environment."""

from collections.abc import Mapping
from operator import index
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.base import StepperEnv
from stb_gym.games import Game
from stb_gym.solver import Goal

Observation = NDArray[Any]


class TurnEnv(StepperEnv, gym.Env[Observation, np.int64]):
    """One turn of a game, as `gym.make` makes it.

    The rules, spaces, rewards and infos of each game are on its own page, the docstring of
    `stb_gym.games.shut_the_box.environment` and of `stb_gym.games.threes.environment`.

    Args:
        game: the name of a game, or a rules object.
        objective: what is rewarded at the end: see `stb_gym.solve`; "score", an `Objective`, or a function from final
            scores [S] to utilities [S].
        illegal: an illegal action ends the turn with the worst score and reward there is ("end"), or raises ("raise").
        render_mode: "ansi" for text, "rgb_array" for a picture, "human" for a window, or None.
        observation_dtype: the type of observations, as NumPy names it: integers or floats that can hold them. Networks
            that take an observation as it is want "float32".
        reward_scale: the reward at the end is the utility times this, a finite number above 0. Learners that take
            rewards as they are learn better with some near 1: 1 / 45 for the points of nine tiles.
        stepper: "tables" of every position, or "boards", from which moves are worked out, where the game has boards. By
            default tables if they are not too large. The same throws and moves lead to the same with both.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        illegal: what an illegal action does, "end" or "raise".
        stepper: what the environment steps through, a `Stepper`.

    Raises:
        ValueError: if an argument is not allowed, or the game is too large for tables, saying what is allowed.
        TypeError: if a keyword is neither an argument nor a field of the rules, naming those that are.

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
        self.observation_space = self._take(
            game, rules, objective, illegal, render_mode, observation_dtype, reward_scale, stepper
        )
        self.action_space = gym.spaces.Discrete(self.stepper.actions)
        self._node, self._throw, self._begun = self.stepper.forfeit, 0, False
        self._last: Any = None  # known only where somebody looks on
        self._window = self._opened()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a turn with the first throw, or where `options` says.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move.
        """
        if seed is not None:
            super().reset(seed=seed)
        stepper = self.stepper
        state, first_throws = stepper.first
        if options:
            state, fitting = stepper.beginnings(options)
            first_throws = fitting.tolist()
        number = (self._np_random or self.np_random).bit_generator.random_raw()
        throw = first_throws[number % len(first_throws)]
        throws, node_of_throw, nodes = stepper.single
        node = node_of_throw[state * throws + throw]
        self._node, self._throw, self._begun = node, throw, True
        if self.render_mode is not None:
            self._go(node, throw, None)
        observation, action_mask, _, _ = nodes[node]
        return observation(), {"action_mask": action_mask()}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is no integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        throws, node_of_throw, nodes = self.stepper.single
        _, _, end, places = nodes[self._node]
        if end is not None:
            raise RuntimeError(f"{'the turn is over' if self._begun else 'no turn has begun'}: call reset()")
        try:  # any type of integer will do
            if action < 0:
                raise IndexError
            place = places[action]
        except (IndexError, TypeError, ValueError):
            raise self._refused(action) from None
        if place is None and self.illegal == "raise":
            raise ValueError(f"action {action} is illegal at {self.stepper.describe(self._node)}")
        # Of 64 random bits the lower throws get more, but for less than throws / 2**64 of the draws.
        throw = self._np_random.bit_generator.random_raw() % throws  # type: ignore[union-attr]
        node = self.stepper.forfeit if place is None else node_of_throw[place + throw]
        if self.render_mode is None:
            self._node, self._throw = node, throw
        else:
            self._go(node, throw, self._move(self._node, self._throw, int(action)))
        observation, action_mask, end, _ = nodes[node]
        if end is None:
            return observation(), 0.0, False, False, {"action_mask": action_mask()}
        reward, final_score, illegal = end
        info = {"action_mask": action_mask(), "final_score": final_score, "illegal_action": illegal}
        return observation(), reward, True, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] True = legal: the mask of the last info, as sb3-contrib asks for it."""
        return np.asarray(self.stepper.action_mask.take(self._node, axis=0), np.bool_)

    def snapshot(self) -> dict[str, Any]:
        """The turn as it stands and the dice to come, as what JSON can hold; see `restore`."""
        random = self.np_random.bit_generator.state
        return {"of": self._played, "node": self._node, "throw": self._throw, "begun": self._begun, "random": random}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of an environment made alike: the same actions then lead to the same.

        What wrappers remember is not in it: a TimeLimit goes on counting steps.

        Raises:
            ValueError: if the snapshot is not of one turn, or of other rules.
        """
        node, throw = self._read(snapshot, (), throw=self.stepper.throws)
        self._begun = snapshot["begun"]
        self._go(int(node), int(throw), None)

    def render(self) -> Any:
        """The position as text ("ansi") or as a picture [H, W, 3] uint8 ("rgb_array"), or shown in a window ("human").

        A picture tells the last move, too. The window shows by itself every position that `reset` and `step` lead to.

        Raises:
            ImportError: if the library that draws or shows pictures is not installed, saying how it is.
            RuntimeError: before the first reset.
        """
        if not self._begun:
            raise RuntimeError("no turn has begun: call reset()")
        drawn = self._draw(self._node, self._throw, self._last, self._beside(0))
        if self._window is None:
            return drawn
        self._window.show(drawn)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()

    def _go(self, node: int, throw: int, last: Any) -> None:
        """Be at a node, and show it if there is a window."""
        self._node, self._throw, self._last = node, throw, last
        if self._window is not None:
            self.render()

    def _refused(self, action: Any) -> Exception:
        """What is wrong with an action that is none."""
        try:
            index(action)
        except TypeError:
            return TypeError(f"action must be an integer from 0 to {self.stepper.actions - 1}, not {action!r}")
        return ValueError(f"action must be from 0 to {self.stepper.actions - 1}, not {action}")
