"""Wrappers that record the exact loss of every action while anything plays.

They need only what was played, so they also measure agents with memory or search, people, and programs in other
languages.
"""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.envs import TurnEnv, TurnVectorEnv
from stb_gym.measure.optimal_values import OptimalValues, values_of
from stb_gym.measure.steps import games_begun, last_step_of, last_steps_of, turn_of


class MeanRegret:
    """The mean regret of the episodes that have ended, which both wrappers compute.

    Attributes:
        episodes: how many episodes have ended.
    """

    env: Any
    episodes = 0
    _sum = 0.0
    _squares = 0.0

    @cached_property
    def _values(self) -> Callable[[], tuple[OptimalValues, Any]]:
        return values_of(self.env)

    def _add(self, regrets: FloatArray) -> None:
        """Add the regrets [K] of episodes."""
        self.episodes += len(regrets)
        self._sum += float(regrets.sum())
        self._squares += float(regrets @ regrets)

    @property
    def regret(self) -> float:
        """The mean regret of the episodes that have ended; NaN before."""
        return self._sum / self.episodes if self.episodes else math.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the mean regret; NaN before the second episode ended."""
        if self.episodes < 2:
            return math.nan
        return math.sqrt(max(self._squares - self._sum * self.regret, 0.0) / (self.episodes - 1) / self.episodes)


class RecordRegret(MeanRegret, gym.Wrapper[Any, Any, Any, Any], RecordConstructorArgs):
    """Record the exact loss of every action that is played.

    Infos of every step and reset hold three numbers in the unit of the objective:

    - `loss`: how much less perfect play expects after the last action than before it: 0 for an optimal action. An
      illegal action that ends the turn loses all that was to be won;
    - `regret`: the sum of the losses of the episode so far;
    - `luck`: the sum, over the throws of the episode so far, of the change of what perfect play expects. Positive is
      good for the player, even where fewer points are better.

    They stay there under any order of wrappers, because `info["episode"]`, which `RecordEpisodeStatistics` and
    stable-baselines3's Monitor write, is left alone. `Monitor(env, info_keywords=("regret", "luck"))` copies them
    there. Utility is the final score with the sign of the objective, so that more is better:

        final utility = value of perfect play + luck - regret

    In a round, perfect play is the best response to the opponents, given the scores so far that the player sees.

    Args:
        env: an environment of stb_gym, however wrapped, if each step of the wrappers is one step of the environment.

    Attributes:
        episodes: how many episodes have ended, also by a reset, as under a `TimeLimit` around this wrapper.
        regret: their mean regret, an unbiased estimate of the regret of what was played, exploration included.
        standard_error: its standard error.

    Raises:
        TypeError: if `env` is not a single environment of stb_gym.
        RuntimeError: in a step, if the wrappers inside take none or several, as `RepeatAction` does.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> env = stb_gym.RecordRegret(gym.make("stb_gym/ShutTheBox-v0"))
        >>> for seed in range(100):
        ...     (_, info), over = env.reset(seed=seed), False
        ...     while not over:
        ...         _, _, over, _, info = env.step(info["action_mask"].argmax())
        >>> round(env.regret, 2), round(env.standard_error, 2)  # exactly 12.99
        (12.76, 0.3)
    """

    @checked
    def __init__(self, env: gym.Env[Any, Any]):
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self._turn: TurnEnv = turn_of(env, TurnEnv, "RecordRegret needs an environment")
        self._start = self._regret = 0.0
        self._is_under_way = False  # whether the episode has had a step, and has not ended

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, info | self._begin(*self._values())

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action, and record its loss."""
        turn, before = self._turn, self._turn.state
        values, row = self._values()
        observation, reward, terminated, truncated, info = self.env.step(action)
        last = last_step_of(turn, before)
        if last is None:
            return observation, reward, terminated, truncated, info | self._begin(*self._values())
        loss = float(values.of_states(last.states, row) - values.of_afterstates(last.afterstates, row))
        self._regret += loss
        self._is_under_way = True
        luck = float(values.of_states(last.reached, row) - self._start) + self._regret
        info |= {"loss": loss, "regret": self._regret, "luck": luck}
        if terminated or truncated:
            self._end()
        if turn.num_steps == 0:  # a wrapper has begun another episode in the same step
            self._begin(*self._values())
        return observation, reward, terminated, truncated, info

    def _begin(self, values: OptimalValues, row: Any) -> dict[str, float]:
        """Begin an episode, and return the entries of its first info."""
        if self._is_under_way:  # a wrapper around this one has truncated it
            self._end()
        state = self._turn.state
        self._start = values.of_afterstates(int(self._turn.stepper.origin_of(state)), row)
        self._regret = 0.0
        return {"loss": 0.0, "regret": 0.0, "luck": float(values.of_states(state, row) - self._start)}

    def _end(self) -> None:
        self._is_under_way = False
        self._add(np.array([self._regret]))


class VectorRecordRegret(MeanRegret, gym.vector.VectorWrapper):
    """The vector version of `RecordRegret`, in every autoreset mode.

    Infos of every step and reset hold `loss` [B], with a mask `_loss` that is False where no action was taken: in a
    reset, and in NEXT_STEP mode where a new turn begins. In steps that end an episode, `regret` [B] and `luck` [B] are
    beside the final score: in the infos, or in SAME_STEP mode in `final_info`. `_regret` and `_luck` are True where an
    episode has ended.

    The mean is over the episodes that have ended. While others still run, short episodes are a little too frequent
    among them; with many episodes for each environment this does not matter.

    Args:
        envs: a vector environment of stb_gym, however wrapped. Of `SyncVectorEnv` and `AsyncVectorEnv`, wrap each
            environment in `RecordRegret` instead.

    Attributes:
        episodes: how many episodes have ended.
        regret: their mean regret.
        standard_error: its standard error.

    Raises:
        TypeError: if `envs` is not a vector environment of stb_gym; in a reset, if a wrapper has replaced the infos.
        RuntimeError: in a step, if the wrappers inside take none or several.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = stb_gym.VectorRecordRegret(gym.make_vec("stb_gym/ShutTheBox-v0", 1000))
        >>> _, infos = envs.reset(seed=0)
        >>> while envs.episodes < 20_000:
        ...     _, _, _, _, infos = envs.step(infos["action_mask"].argmax(axis=1))
        >>> round(envs.regret, 2), round(envs.standard_error, 2)  # exactly 12.99
        (13.02, 0.02)
    """

    @checked
    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any]):
        super().__init__(envs)
        hint = "; of environments side by side, wrap each in RecordRegret"
        self._turns: TurnVectorEnv = turn_of(envs, TurnVectorEnv, "VectorRecordRegret needs a vector environment", hint)
        self._start, self._regret = np.zeros((2, envs.num_envs))

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin all episodes, or those of `options["reset_mask"]`."""
        observations, infos = self.env.reset(seed=seed, options=options)
        games = games_begun(infos)
        self._begin(games, self._turns.stepper.origin_of(self._turns.states[games]))
        return observations, infos | {"loss": np.zeros(self.num_envs), "_loss": np.zeros(self.num_envs, np.bool_)}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in every environment, and record its loss."""
        turns = self._turns
        before = turns.states
        values, row = self._values()
        observations, rewards, terminated, truncated, infos = self.env.step(actions)
        last, states = last_steps_of(turns, before), turns.states
        loss = values.of_states(last.states, row)
        loss -= values.of_afterstates(last.afterstates, row)
        loss *= last.acted
        self._regret += loss
        infos |= {"loss": loss, "_loss": last.acted.copy()}
        is_new = states != last.reached  # another episode has begun in the same step
        ended = np.asarray(terminated) | np.asarray(truncated) | is_new  # a wrapper may make tensors of them
        (games,) = ended.nonzero()
        if len(games):
            regret = self._regret * ended
            luck = np.zeros(self.num_envs)
            row_of_games = row if np.ndim(row) == 0 else row[games]
            luck[games] = values.of_states(last.reached[games], row_of_games) - self._start[games] + regret[games]
            self._add(regret[games])
            of_episodes = {"regret": regret, "_regret": ended, "luck": luck, "_luck": ended.copy()}
            infos.get("final_info", infos).update(of_episodes)
        (games,) = (is_new | ~last.acted).nonzero()
        self._begin(games, turns.stepper.origin_of(states[games]))
        return observations, rewards, terminated, truncated, infos

    def _begin(self, games: IntArray, afterstates: IntArray) -> None:
        """Begin the episodes of games [K] at afterstates [K]."""
        values, row = self._values()
        self._start[games] = values.of_afterstates(afterstates, row if np.ndim(row) == 0 else row[games])
        self._regret[games] = 0.0
