"""One turn of a game as a Gymnasium environment."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from stb_gym.arrays import BoolArray, IntArray
from stb_gym.checks import action_index, check_integer
from stb_gym.envs.base import (
    LARGEST_SEED,
    GameEnv,
    LastStep,
    MakeRenderer,
    MakeStepper,
    Observation,
    Threshold,
    options_of,
)  # fmt: skip
from stb_gym.envs.table_stepper import table_stepper
from stb_gym.games import Game
from stb_gym.solver import Goal


class TurnEnv(GameEnv, gym.Env[Observation, np.int64]):
    """A Gymnasium environment for one turn of a game.

    The rules, spaces, rewards and infos of each game are on its own page in `docs/environments`. `gym.make` and
    `stb_gym.envs.make_turn` supply the stepper and the renderer.

    Args:
        game: the name of a game, or a rules object.
        objective: the goal rewarded at the end: "score" or another name that `stb_gym.solve` takes, an `Objective`, or
            a function from final scores [T] to utilities [T].
        illegal: an illegal action ends the turn with the worst score and reward there is ("end"), or raises ("raise").
        render_mode: "ansi" for text, "rgb_array" for a picture, "human" for a window, or None.
        observation_dtype: a NumPy type of integers or floats for observations. The default suits networks that do not
            convert their input; "uint8" saves memory and time where many games are stepped.
        reward_scale: a finite number above 0; the reward at the end is the utility times this. Learners that do not
            normalise rewards learn better with rewards near 1: use 1 / 45 for the points of nine tiles.
        stepper: a function that returns the `Stepper` of the rules and of a type of observations, which is given by
            its NumPy name; by default `table_stepper`.
        renderer: a function that returns the `Renderer` of a stepper, a render mode, and a number of pictures per
            second.
        threshold: a function that returns the `reward_threshold` of this environment and the specification from which
            Gymnasium made it; by default the one of the specification.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        reward_scale: the factor of rewards.
        illegal: what an illegal action does, "end" or "raise".
        stepper: the `Stepper`.
        state: the state of the last observation, as the stepper numbers it.
        throw: the throw that led to it.
        num_steps: how many steps the turn has had.
        caption: words that `render` puts first.

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
        stepper: MakeStepper = table_stepper,
        renderer: MakeRenderer | None = None,
        threshold: Threshold | None = None,
        **rules: Any,
    ):
        super().__init__(
            game, objective, illegal, render_mode, observation_dtype, reward_scale, stepper, renderer, threshold, rules
        )
        self.observation_space = self._single_space
        self.action_space = gym.spaces.Discrete(self.stepper.num_actions)
        self.state = self.stepper.illegal_state
        self.throw = 0
        self.num_steps = 0
        self.caption = ""
        self._over = True
        self._last: tuple[int, ...] | None = None  # the entries of `last_step`

    @property
    def states(self) -> IntArray:
        """[1] the state of the last observation, as the stepper numbers it."""
        return np.array([self.state])

    @property
    def last_step(self) -> LastStep | None:
        """What the last step did, also after a reset; None before the first step and after `restore`."""
        return None if self._last is None else LastStep(*self._last)

    def legal_sample(self) -> int:
        """Return a random legal action, all with the same probability; 0 when the turn is over.

        It is several times faster than `action_space.sample(mask)`. The choices have a generator of their own, which
        `reset(seed=...)` seeds too: they change no throw.

        Raises:
            RuntimeError: before the first reset.
        """
        return int(self._legal_sample()[0])

    def action_masks(self) -> BoolArray:
        """Return the action mask [A] of the last info as booleans. The name is that of sb3-contrib."""
        return self.stepper.masks(self.state).view(np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a turn with the first throw.

        Args:
            seed: seeds the dice; None to go on with the same random numbers.
            options: where to begin, in the words of the game, such as {"open": [1, 4], "roll": 5}.

        Returns:
            The observation [O] and the info; see `step`.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move.
        """
        if seed is not None:
            check_integer("seed", seed, 0, LARGEST_SEED)
            super().reset(seed=int(seed))
        afterstate, throws = self.stepper.beginnings(options_of(options)) if options else self._start
        self.chose_throws = len(throws) < self.stepper.num_throws
        self.throw = throws.item(self.np_random.bit_generator.random_raw() % len(throws))
        self.state = self.stepper.after_throws(afterstate, self.throw)
        self.num_steps = 0
        self._begun = True
        self._over = False
        if self.render_mode == "human":
            self.render()
        info = {"action_mask": self.stepper.masks(self.state), "final_score": -1, "illegal_action": False}
        return self.stepper.observe(self.state), info

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a move and throw again.

        Returns:
            The observation, the reward, whether the turn is over, False, and the info: "action_mask" [A], 1 where an
            action is legal, and all 1 when the turn is over; "final_score", which counts only then, and is -1 before;
            and "illegal_action", whether an illegal action ended the turn.

        Raises:
            ValueError: if the action is outside the action space, or is illegal and `illegal` is "raise".
            TypeError: if the action is not an integer.
            RuntimeError: before the first reset, or if the turn is over.
        """
        stepper = self.stepper
        if self._over:
            raise RuntimeError("the turn is over, or none has begun: call reset()")
        action = action_index(action, stepper.num_actions)
        state = self.state
        afterstate = stepper.after_actions(state, action)
        if self._illegal == "raise" and afterstate == stepper.illegal_afterstate:
            raise ValueError(f"action {action} is illegal at {stepper.describe(state)}")
        # The remainder of 64 random bits makes low throws more likely, by less than throws / 2**64.
        throw = self.np_random.bit_generator.random_raw() % stepper.num_throws
        reached = stepper.after_throws(afterstate, throw)
        self._last = state, self.throw, action, True, afterstate, reached
        self.throw = throw
        self.state = reached
        self.num_steps += 1
        if self.render_mode == "human":
            self.render()
        # Infos always have the same keys, because recorders of play need that.
        info = {"action_mask": stepper.masks(reached), "final_score": -1, "illegal_action": False}
        if not stepper.is_over(reached):
            return stepper.observe(reached), 0.0, False, False, info
        self._over = True
        score = stepper.score_index(reached)
        info["final_score"] = stepper.scores.item(score)
        info["illegal_action"] = reached == stepper.illegal_state
        reward = self._illegal_reward if info["illegal_action"] else self._rewards.item(score)
        return stepper.observe(reached), reward, True, False, info

    def snapshot(self) -> dict[str, Any]:
        """Return the turn and the state of the random numbers, as integers and strings for JSON; see `restore`.

        Returns:
            The rules ("of"), "progress", "dice" (how many were thrown, -1 after an illegal action), the number of the
            "throw", the "steps" of the turn so far, and the state of the generator ("random").

        Raises:
            RuntimeError: before the first reset.
        """
        return {**self._snapshot(self.state, self.throw), "steps": self.num_steps}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot: the same actions then lead to the same steps.

        Wrappers are not restored: a TimeLimit continues counting.

        Args:
            snapshot: from an environment with the same rules, which may look moves up or work them out from boards.

        Raises:
            ValueError: if the snapshot is not of one turn with these rules.
        """
        numbers = self._restore(snapshot, (), steps=range(self.stepper.longest + 1))
        self.state = numbers["state"]
        self.throw = numbers["throw"]
        self.num_steps = numbers["steps"]
        self._last = None
        self._begun = True
        self._over = bool(self.stepper.is_over(self.state))

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
        if self._renderer is None:
            warn_of_no_render_mode()
            return None
        last = self.last_step
        move = None if last is None or self.num_steps == 0 else (last.states, last.throws, last.actions)
        return self._renderer.draw(self.state, self.throw, move, self.caption)

    def close(self) -> None:
        """Close the window if there is one."""
        if self._renderer is not None:
            self._renderer.close()


def warn_of_no_render_mode() -> None:
    """Warn that an environment without a render mode draws nothing."""
    gym.logger.warn('render() draws nothing: make the environment with render_mode="ansi", "rgb_array" or "human"')
