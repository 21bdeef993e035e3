"""Wrappers that record the exact loss of every action while anything plays.

They need only what was played, so they also measure agents with memory or search, people, and programs in other
languages.
"""

import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.envs import LastStep, TableStepper, TurnEnv, TurnVectorEnv
from stb_gym.messages import quoted
from stb_gym.solver import Solution
from stb_gym.solving import perfect_play


class TableValues:
    """The expected utility of perfect play at the states and afterstates of an environment's stepper, from tables.

    In a round it depends on the scores so far, too: there is a row of values for each of these. A turn has one row.

    Args:
        states: [C, N] the utilities at states, in C rows.
        afterstates: [C, S] the utilities at afterstates.
        illegal: the utility of an illegal action.
    """

    def __init__(self, states: FloatArray, afterstates: FloatArray, illegal: float):
        self._row_of_states, self._row_of_afterstates = states.shape[1] + 1, afterstates.shape[1] + 1
        self._states, self._afterstates = (
            np.pad(values, ((0, 0), (0, 1)), constant_values=illegal).ravel() for values in (states, afterstates)
        )

    def of_states(self, states: Any, row: Any = 0) -> Any:
        """Return the utilities at states, before the choice of an action or at the end of a turn; a number or [B]."""
        return self._states.take(row * self._row_of_states + states)

    def of_afterstates(self, afterstates: Any, row: Any = 0) -> Any:
        """Return the utilities at afterstates, before a throw or after an illegal action; a number or [B]."""
        return self._afterstates.take(row * self._row_of_afterstates + afterstates)


class ComputedValues:
    """The same as `TableValues`, computed when it is needed, for turns of games too large for tables.

    Args:
        env: the environment, without wrappers.
    """

    def __init__(self, env: TurnEnv | TurnVectorEnv):
        self._env = env
        self._optimum = perfect_play(env.game, env.objective)

    def of_states(self, states: Any, row: Any = 0) -> Any:
        """Return the utilities at states."""
        env, many = self._env, np.atleast_1d(states)
        utilities = env.rewards_at(many) / env.reward_scale
        index, actions = env.stepper.legal_moves(many)
        if len(index):
            first = np.flatnonzero(np.diff(index, prepend=-1))
            after = self.of_afterstates(env.stepper.afterstates(many[index], actions))
            utilities[index[first]] = np.maximum.reduceat(after, first)
        return utilities if np.ndim(states) else utilities[0]

    def of_afterstates(self, afterstates: Any, row: Any = 0) -> Any:
        """Return the utilities at afterstates."""
        env, many = self._env, np.atleast_1d(afterstates)
        utilities = self._optimum.utilities_at(*env.stepper.position(many)).astype(np.float64)
        utilities[many == env.stepper.illegal_afterstate] = env.illegal_reward / env.reward_scale
        return utilities if np.ndim(afterstates) else utilities[0]


OptimalValues = TableValues | ComputedValues


def optimal_values(env: TurnEnv | TurnVectorEnv) -> OptimalValues:
    """Return the values of perfect play in an environment of turns without wrappers."""
    optimum = perfect_play(env.game, env.objective)
    if not (isinstance(optimum, Solution) and isinstance(env.stepper, TableStepper)):
        return ComputedValues(env)
    states, afterstates = (
        np.asarray(array, np.float64)[None] for array in (optimum.state_utilities, optimum.afterstate_utilities)
    )
    return TableValues(states, afterstates, env.illegal_reward / env.reward_scale)


def turn_of(env: Any, kind: type, needed: str, hint: str = "") -> Any:
    """Return an environment without wrappers; if it is one of rounds, the environment of turns that it holds.

    Raises:
        TypeError: if it is not of a kind. The error reads "`needed` of stb_gym, not ..." and ends with the hint.
        ValueError: if its actions are words.
    """
    if isinstance(env.action_space, gym.spaces.Text):
        raise ValueError("answers that name no action are no steps: the infos of TextEnv have their loss")
    turn = getattr(env.unwrapped, "turn", env.unwrapped)
    if not isinstance(turn, kind):
        raise TypeError(f"{needed} of stb_gym, not {quoted(env)}{hint}")
    return turn


def values_of(env: Any) -> Callable[[], tuple[OptimalValues, Any]]:
    """Return a function that returns the optimal values of an environment, and the row that counts now, or [B] rows.

    An environment of rounds has its own method `optimal_values`; the values change with the opponents.
    """
    base = env.unwrapped
    if hasattr(base, "optimal_values"):
        method: Callable[[], tuple[OptimalValues, Any]] = base.optimal_values
        return method
    values = optimal_values(base)
    return partial(_of_turns, values)


def _of_turns(values: OptimalValues) -> tuple[OptimalValues, Any]:
    """Return the values with the only row of turns."""
    return values, 0


NOT_ONE_STEP = "a wrapper took no step, or several at once, or restored a snapshot: put the recorder inside it"


def last_step_of(env: TurnEnv, before: int) -> LastStep | None:
    """Return the step that an environment has just made; None if a wrapper has begun another turn instead.

    Args:
        env: the environment without the wrappers around it.
        before: its state before the step.

    Raises:
        RuntimeError: if the wrappers did anything else.
    """
    last = env.last_step
    if last is not None and last.states == before:
        return last
    if env.num_steps == 0:
        return None
    raise RuntimeError(NOT_ONE_STEP)


def last_steps_of(envs: TurnVectorEnv, before: IntArray) -> LastStep:
    """Return the step that a vector environment has just made; see `last_step_of`."""
    last = envs.last_step
    if last is None or (last.states != before).any():
        raise RuntimeError(NOT_ONE_STEP)
    return last


def games_begun(infos: Any) -> IntArray:
    """Return the games that a reset has begun.

    Raises:
        TypeError: if its infos do not say it.
    """
    if not isinstance(infos, Mapping) or "_action_mask" not in infos:
        raise TypeError("a wrapper has replaced the infos of the environment: put the recorder inside it")
    return np.flatnonzero(infos["_action_mask"])


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
        TypeError: if it is no single environment of stb_gym.
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
        TypeError: if it is no vector environment of stb_gym; in a reset, if the infos are not those of it.
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
