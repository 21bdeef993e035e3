"""Many turns of a game at once as a Gymnasium vector environment: a step is a few operations on arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray
from stb_gym.checks import check_choice, check_integer, integers
from stb_gym.envs.base import LARGEST_SEED, GameEnv, LastStep, MakeRenderer, MakeStepper, Threshold, options_of
from stb_gym.envs.env import warn_of_no_render_mode
from stb_gym.envs.table_stepper import table_stepper
from stb_gym.games import Game
from stb_gym.solver import Goal

Step = tuple[NDArray[Any], FloatArray, BoolArray, BoolArray, dict[str, Any]]

UNLIMITED = 2**62  # steps
LARGEST_REUSED = 31 << 20  # bytes, just below the most that glibc keeps for reuse (32 MiB)


class TurnVectorEnv(GameEnv, gym.vector.VectorEnv[NDArray[Any], IntArray, NDArray[Any]]):
    """A Gymnasium vector environment for `num_envs` turns of a game.

    Infos hold arrays over the games, with a mask `_key` for each key, as in Gymnasium's own vector environments:
    `action_mask` [B, A] int8, and in steps that end a game `final_score` [B] and `illegal_action` [B]. The autoreset
    modes are Gymnasium's:

    - NEXT_STEP: the step after the end begins a new turn and ignores the action, so the mask is all 1 there;
    - SAME_STEP: the step that ends a turn begins a new one. `final_obs` [B, O] and `final_info` hold the end: the
      observation before the new turn, and the score. For a game that continues, `final_obs` is the observation that the
      step returns. If no turn was truncated, the `action_mask` of `final_info` is read-only;
    - DISABLED: `reset(options={"reset_mask": mask})` begins the finished games anew; until then a step raises. The
      infos of that reset hold the masks of all games.

    Args:
        game: the name of a game, or a rules object.
        num_envs: number of games B.
        objective, illegal, observation_dtype, reward_scale, stepper, renderer, threshold: see `TurnEnv`.
        render_mode: "ansi", "rgb_array" or None.
        autoreset_mode: what happens when a turn is over.
        max_episode_steps: truncate turns after so many steps, as `gymnasium.wrappers.TimeLimit` does.
        **rules: fields of the rules that differ from the standard ones.

    Attributes:
        game: the rules object.
        objective: the `Objective`.
        reward_scale: the factor of rewards.
        illegal: what an illegal action does, "end" or "raise".
        stepper: the `Stepper`.
        last_step: the `LastStep`; None before the first step and after `restore`.
        captions: [B] words that `render` puts first for each game, or None.
        before_turns: a function that is called before the first throw of turns with the numbers [K] of their games, or
            None.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/Threes-v0", num_envs=1000)
        >>> _ = envs.reset(seed=0)
        >>> observations, rewards, *_ = envs.step(envs.legal_sample())
        >>> observations.shape, rewards.shape
        ((1000, 7), (1000,))
    """

    def __init__(
        self,
        game: Game | str,
        num_envs: int = 1,
        objective: Goal = "score",
        illegal: str = "end",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        *,
        observation_dtype: Any = "float32",
        reward_scale: float = 1.0,
        stepper: MakeStepper = table_stepper,
        renderer: MakeRenderer | None = None,
        threshold: Threshold | None = None,
        max_episode_steps: int | None = None,
        **rules: Any,
    ):
        check_integer("num_envs", num_envs, 1, 2**24)
        if max_episode_steps is not None:
            check_integer("max_episode_steps", max_episode_steps, 1, 2**31)
        check_choice("render mode", render_mode, [None, "ansi", "rgb_array"])  # there is no window for many games
        super().__init__(
            game, objective, illegal, render_mode, observation_dtype, reward_scale, stepper, renderer, threshold, rules
        )
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        check_choice("autoreset mode", mode, [each.value for each in AutoresetMode])
        # glibc keeps freed blocks up to the size of the largest it ever mapped and freed. Without this, it returns the
        # arrays of a step to the system, and the page faults of the next step can take longer than the step itself.
        np.empty(LARGEST_REUSED, np.uint8)
        self.num_envs = num_envs
        self.autoreset_mode = AutoresetMode(mode)
        self.metadata = {**self.metadata, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._single_space
        self.single_action_space = gym.spaces.Discrete(self.stepper.num_actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.last_step: LastStep | None = None
        self.captions: Sequence[str] | None = None
        self.before_turns: Callable[[IntArray], None] | None = None
        self._max_episode_steps = max_episode_steps
        self._limit = max_episode_steps or UNLIMITED
        self._final_scores_at = self.stepper.at_ends(self.stepper.scores, int(self.stepper.scores[-1]))
        self._states: IntArray = np.full(num_envs, self.stepper.illegal_state)
        self._throws: IntArray = np.zeros(num_envs, np.int64)
        self._steps: IntArray = np.zeros(num_envs, np.int64)  # of each turn so far, if there is a limit
        self._over = np.ones(num_envs, np.bool_)
        self._moved = np.zeros(num_envs, np.bool_)  # whether the last step was a move of the turn; pictures need it

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Begin turns with the first throw.

        Args:
            seed: an integer, or a list of one for each game, which seeds the one generator that throws the dice of all
                games. Single environments with the same seeds throw other dice.
            options: where to begin, as `TurnEnv.reset` takes it, and the games to begin: "reset_mask" [B], bool.

        Returns:
            The observations [B, O] and the infos.

        Raises:
            ValueError: if `options` names no position of the game, or one without a legal move; if the mask chooses no
                game; or if there is not one seed per game.
        """
        where = options_of(options)
        chosen = where.pop("reset_mask", np.ones(self.num_envs, np.bool_))
        is_mask = isinstance(chosen, np.ndarray) and chosen.dtype == np.bool_ and chosen.shape == (self.num_envs,)
        if not (is_mask and chosen.any()):
            raise ValueError(f"reset_mask must be an array of {self.num_envs} booleans, of which one or more are True")
        beginning = self.stepper.beginnings(where) if where else self._start
        if isinstance(seed, int | np.integer):
            check_integer("seed", seed, 0, LARGEST_SEED)
            super().reset(seed=int(seed))
        elif seed is not None:
            seeds = integers("seeds", seed, 0, LARGEST_SEED)
            if len(seeds) != self.num_envs:
                raise ValueError(f"seed must be an integer or a list of {self.num_envs}, not of {len(seeds)}")
            self.np_random = np.random.default_rng(seeds)
        self._states = self._states.copy()  # `last_step` keeps the others
        self._begin_turns(chosen.nonzero()[0], *beginning)
        self.chose_throws = len(beginning[1]) < self.stepper.num_throws
        self._begun = True
        infos = {"action_mask": self.stepper.masks(self._states), "_action_mask": chosen.copy()}
        return self.stepper.observe(self._states), infos

    def step(self, actions: Any) -> Step:
        """Make a move in every game and throw again.

        Args:
            actions: [B] integers.

        Returns:
            Observations [B, O], rewards [B], whether each turn is over [B], whether it is truncated [B], and infos.

        Raises:
            ValueError: if an action is outside the action space, or is illegal and `illegal` is "raise".
            RuntimeError: before the first reset, or if a game is over and the autoreset mode is DISABLED.
        """
        self._check_begun()
        if self.autoreset_mode == AutoresetMode.DISABLED and self._over.any():
            raise RuntimeError('a game is over: call reset(options={"reset_mask": mask}), True where games are over')
        stepper, actions = self.stepper, self._checked(actions)
        acted = ~self._over
        afterstates = stepper.after_actions(self._states, actions)
        afterstates[self._over.nonzero()] = stepper.start  # turns that begin instead, in NEXT_STEP mode
        if self.illegal == "raise" and (afterstates == stepper.illegal_afterstate).any():
            game = int((afterstates == stepper.illegal_afterstate).argmax())
            where = stepper.describe(int(self._states[game]))
            raise ValueError(f"action {actions[game]} of game {game} is illegal at {where}")
        throws = self.np_random.integers(stepper.num_throws, size=self.num_envs)
        reached = stepper.after_throws(afterstates, throws)
        self.last_step = LastStep(self._states, self._throws, actions, acted, afterstates, reached)
        self._states = reached
        self._throws = throws
        terminated = stepper.is_over(reached)
        if self._max_episode_steps is None:
            truncated = np.zeros(self.num_envs, np.bool_)
            self._over = terminated.copy()
        else:
            self._steps = np.where(acted, self._steps + 1, 0)
            truncated = self._steps == self._limit
            self._over = terminated | truncated
        if self.render_mode is not None:
            self.last_step = self.last_step._replace(actions=actions.copy())  # the caller may change them
            self._moved = acted.copy()
        infos: dict[str, Any] = {}
        if np.count_nonzero(terminated):
            infos["final_score"] = self._final_scores_at(reached, terminated)
            infos["_final_score"] = terminated.copy()
            infos["illegal_action"] = reached == stepper.illegal_state
            infos["_illegal_action"] = terminated.copy()
        if self.autoreset_mode == AutoresetMode.SAME_STEP and np.count_nonzero(self._over):
            infos = self._final_infos(infos, reached, truncated)
            self._states = reached.copy()
            self._begin_turns(self._over.nonzero()[0], *self._start)
        infos["action_mask"] = stepper.masks(self._states)
        infos["_action_mask"] = ~np.zeros(self.num_envs, np.bool_)  # faster than `np.ones`
        return stepper.observe(self._states), self.rewards_at(reached, terminated), terminated, truncated, infos

    @property
    def max_episode_steps(self) -> int | None:
        """After how many steps a turn is truncated; None if it never is."""
        return self._max_episode_steps

    @property
    def states(self) -> IntArray:
        """[B] the states of the last observations, as the stepper numbers them."""
        return self._states.copy()

    def legal_sample(self) -> IntArray:
        """Return [B] a random legal action for each game, all with the same probability; 0 where the game is over.

        The choices have a generator of their own, which `reset(seed=...)` seeds too: they change no throw.

        Raises:
            RuntimeError: before the first reset.
        """
        return self._legal_sample()

    def action_masks(self) -> BoolArray:
        """Return the action masks [B, A] of the last infos as booleans. The name is that of sb3-contrib."""
        return self.stepper.masks(self._states).view(np.bool_)

    def snapshot(self) -> dict[str, Any]:
        """Return the turns and the state of the random numbers, as arrays [B] and what JSON can hold; see `restore`.

        The entries are those of `TurnEnv.snapshot`, and "steps", how many the turns have had if they are limited.

        Raises:
            RuntimeError: before the first reset.
        """
        return {**self._snapshot(self._states, self._throws.copy()), "steps": self._steps.copy()}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Continue from a snapshot: the same actions then lead to the same steps.

        Args:
            snapshot: from an environment with the same rules and as many games; arrays may be lists.

        Raises:
            ValueError: if the snapshot is not of as many games with these rules.
        """
        numbers = self._restore(snapshot, (self.num_envs,), steps=range(min(self._limit, self.stepper.longest) + 1))
        self._states = numbers["state"]
        self._throws = numbers["throw"]
        self._steps = numbers["steps"]
        self._over = self.stepper.is_over(self._states) | (self._steps == self._limit)
        self._moved[:] = False
        self.last_step = None
        self._begun = True

    def render(self) -> tuple[Any, ...] | None:
        """Draw every game.

        Returns:
            A text ("ansi") or a picture [H, W, 3] uint8 ("rgb_array") for each game; None, with a warning, without a
            render mode.

        Raises:
            RuntimeError: before the first reset.
        """
        self._check_begun()
        if self._renderer is None:
            warn_of_no_render_mode()
            return None
        drawn = []
        for game, (state, throw) in enumerate(zip(self._states.tolist(), self._throws.tolist(), strict=True)):
            move = None
            if self._moved[game] and self.last_step is not None:
                states, throws, actions, *_ = self.last_step
                move = int(states[game]), int(throws[game]), int(actions[game])
            caption = "" if self.captions is None else self.captions[game]
            drawn.append(self._renderer.draw(state, throw, move, caption))
        return tuple(drawn)

    def _checked(self, given: Any) -> NDArray[np.int64]:
        """Return actions [B] as integers of one type."""
        actions = np.asarray(given)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise ValueError(
                f"actions must be {self.num_envs} integers, not shape {actions.shape} of type {actions.dtype}"
            )
        indices = actions.astype(np.int64, copy=False)
        outside = indices.view(np.uint64) >= self.stepper.num_actions  # as unsigned, a negative number is large
        if np.count_nonzero(outside):  # several times faster than `any`
            raise ValueError(f"actions must be from 0 to {self.stepper.num_actions - 1}, not {actions[outside][0]}")
        return indices

    def _final_infos(self, ends: dict[str, Any], reached: IntArray, truncated: BoolArray) -> dict[str, Any]:
        """Return the infos of turns that end and begin anew in the same step.

        Args:
            ends: the infos of the turns that are over.
            reached: [B] the states that the step reached.
            truncated: [B] True where a turn is truncated.
        """
        ended = self._over
        if np.count_nonzero(truncated):
            masks = self.stepper.masks(reached) * ended[:, None]
        else:
            # Rows of ones where turns ended, as a view: fresh arrays could take longer than all the rest of a step.
            masks = np.ndarray((self.num_envs, self.stepper.num_actions), np.int8, ended.tobytes(), strides=(1, 0))
        return {
            "final_obs": self.stepper.observe(reached),
            "_final_obs": ended.copy(),
            "final_info": {**ends, "action_mask": masks, "_action_mask": ended.copy()},
            "_final_info": ended.copy(),
        }

    def _begin_turns(self, games: IntArray, afterstate: int, throws: IntArray) -> None:
        """Begin turns of some games at an afterstate, with one of some throws."""
        if self.before_turns is not None:
            self.before_turns(games)
        drawn = throws.take(self.np_random.integers(len(throws), size=len(games)))
        self._throws[games] = drawn
        self._states[games] = self.stepper.after_throws(afterstate, drawn)
        self._over[games] = False
        if self._max_episode_steps is not None:
            self._steps[games] = 0
        if self.render_mode is not None:
            self._moved[games] = False
