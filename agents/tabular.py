"""Learners that keep a table of action values: Q-learning, Q-learning over afterstates, and Monte Carlo of random play.

They use the rules of moves to number the entries of their table. They know neither the probabilities of the dice nor
the solver's values.
"""

from abc import abstractmethod
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field, PositiveInt
from pydantic.dataclasses import dataclass

from agents.common import (
    Array,
    BoolArray,
    Callback,
    Critic,
    Exploration,
    Learner,
)
from stb_gym.arrays import IntArray
from stb_gym.envs import TurnVectorEnv


@dataclass(frozen=True)
class QLearningSettings:
    """Settings of Q-learning, over actions or over afterstates."""

    num_envs: PositiveInt = 4096
    """Environments that are stepped at once."""
    num_steps: PositiveInt = 16
    """Steps in every environment between two measurements."""
    exploration: Exploration = 0.15
    """Probability of a random legal action."""
    horizon: Annotated[float, Field(ge=1)] = 10.0
    """The n-th update of an entry has the step size horizon / (horizon + n - 1): 1 for a plain mean of its targets."""


@dataclass(frozen=True)
class MonteCarloSettings:
    """Settings of Monte Carlo estimation of random play."""

    num_envs: PositiveInt = 1024
    """Environments that are stepped at once."""
    num_steps: PositiveInt = 16
    """Steps in every environment between two measurements."""


class TabularLearner(Learner):
    """A learner that uses the tables of a game: it plays rollouts of `num_steps` steps in every environment."""

    needs_tables = True

    def __init__(self, envs: TurnVectorEnv, settings: Any, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._envs: TurnVectorEnv = envs.unwrapped  # what records visits may be around it
        self._tables = self._envs.transitions.tables
        self._random = np.random.default_rng([seed, 1])

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`."""
        while self.num_steps < total_steps:
            callback()
            for _ in range(self.settings.num_steps):
                self._step()
            self.num_steps += self.rollout_steps(self.settings)
            self._finish_rollout()

    @abstractmethod
    def _step(self) -> None:
        """Act in every environment and learn from it."""

    def _finish_rollout(self) -> None:
        """Learn at the end of a rollout; do nothing by default."""


class QLearning(TabularLearner):
    """Q-learning with a table (Watkins and Dayan, "Q-learning", 1992).

    The table holds the value of each action at each state. After a step with a reward,

        table[entry] += step size x (reward + greatest value at the next state - table[entry])

    Several environments that meet the same entry at once move it towards the mean of their targets.

    Raises:
        ValueError: if the autoreset mode is not SAME_STEP, or the game is too large for tables.

    Example:
        >>> import gymnasium as gym
        >>> envs = gym.make_vec("stb_gym/ShutTheBox-v0", 64, autoreset_mode="SameStep", tiles=4)
        >>> learner = QLearning(envs, QLearningSettings(num_envs=64))
        >>> learner.learn(10_000)
        >>> learner.num_steps
        10240
    """

    settings_class: ClassVar[type[Any]] = QLearningSettings
    title = "tabular Q-learning"
    method = "Q-learning with a table"
    source = "Watkins and Dayan (1992)"
    WEIGHTS = ("_table",)
    SAVED: ClassVar[tuple[str, ...]] = ("num_steps", "_table", "_updates", "_random", "_episodes")

    def __init__(self, envs: TurnVectorEnv, settings: QLearningSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        tables = self._tables
        entries = self._entries_of_pairs()
        size = int(entries.max()) + 1
        # Pairs [S, K]: the legal actions of each state. Where a state has fewer than K, the row ends with a dummy.
        column = np.arange(tables.choices.max())
        pairs = np.where(column < tables.choices[:, None], tables.pair_start[:-1, None] + column, len(entries))
        self._actions = np.append(tables.pair_action, 0)[pairs]
        self._entries = np.append(entries, size)[pairs]
        self._table = np.append(np.zeros(size), np.finfo(np.float64).min)
        self._updates = np.zeros(size, np.int64)

    def _entries_of_pairs(self) -> IntArray:
        """Return [P] the entry of the table for each pair, which is a state with a legal action."""
        return np.arange(len(self._tables.pair_afterstate))

    def _step(self) -> None:
        states = self._envs.states
        entries = self._entries[states]
        column = self._table[entries].argmax(axis=1)
        explores = np.flatnonzero(self._random.random(len(states)) < self.settings.exploration)
        column[explores] = self._random.random(len(explores)) * self._tables.choices[states[explores]]
        reward, terminated, truncated, next_observation, _ = self._episodes.step(self._actions[states, column])
        following = self._envs.states
        following[truncated] = self._tables.find_states(next_observation[truncated])
        next_value = self._table[self._entries[following]].max(axis=1)
        target = reward + np.where(terminated, 0, next_value)
        self._update(entries[np.arange(len(states)), column], target)

    def _update(self, entries: IntArray, targets: Array) -> None:
        """Move entries [K], of which some may be equal, towards their targets [K]."""
        updated, group = np.unique(entries, return_inverse=True)
        count = np.bincount(group)
        mean = np.bincount(group, targets) / count
        self._updates[updated] += count
        # `count` updates at once have `count` times the step size of the last of them, at most 1.
        horizon = self.settings.horizon
        step_size = np.minimum(horizon * count / (horizon - 1 + self._updates[updated]), 1)
        self._table[updated] += step_size * (mean - self._table[updated])
        if len(updated):
            self.figures = {"step_size": step_size.mean().item()}

    @property
    def critic(self) -> Critic | None:
        """See `Learner`."""
        return lambda observations: self._table[self._entries[self._tables.find_states(observations)]].max(axis=1)

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        states = self._tables.find_states(observations)
        return self._actions[states, self._table[self._entries[states]].argmax(axis=1)]


class TabularAfterstates(QLearning):
    """Q-learning over afterstates (Sutton and Barto, "Reinforcement learning", 2018, 6.8).

    The table holds the value of the afterstate that an action leads to, before the dice are thrown again. Actions that
    lead to the same afterstate share an entry.
    """

    title = ""
    method = "the same over afterstates: moves to the same afterstate share an entry"
    source = "Sutton and Barto (2018, 6.8)"

    def _entries_of_pairs(self) -> IntArray:
        return self._tables.pair_afterstate


class MonteCarlo(QLearning):
    """Monte Carlo estimation of random play, then greedy play (Sutton and Barto, 2018, 5.2).

    It plays uniformly random legal actions. The estimated value of an action at a state is the mean return of the turns
    after every visit. The policy is greedy on these estimates, which is one step of policy iteration from random play.
    With more steps the regret approaches that of `agents.baselines.greedy_step`, not 0. An action that was never tried
    has the lowest reward as its estimate. A turn that a step limit truncates counts as one that ended. Only the last
    reward of a turn may differ from 0.
    """

    settings_class = MonteCarloSettings
    title = ""
    method = "average returns of random play, then play greedily"
    source = "Sutton and Barto (2018, 5.2)"
    SAVED = (*QLearning.SAVED, "_visited", "_length")

    def __init__(self, envs: TurnVectorEnv, settings: MonteCarloSettings, seed: int = 0, device: str = "cpu"):
        plain = QLearningSettings(settings.num_envs, settings.num_steps, exploration=0.0, horizon=1.0)
        super().__init__(envs, plain, seed)
        self._table[:-1] = envs.rewards.min()
        # The entries of the running turns: a column for each environment and a row for each of its steps so far.
        self._visited = np.zeros((envs.transitions.longest, envs.num_envs), np.int64)
        self._length = np.zeros(envs.num_envs, np.int64)

    @property
    def critic(self) -> None:
        """None, as its values are those of random play."""

    def _step(self) -> None:
        states = self._envs.states
        column = (self._random.random(len(states)) * self._tables.choices[states]).astype(np.int64)
        self._visited[self._length, np.arange(len(states))] = self._entries[states, column]
        self._length += 1
        reward, terminated, truncated, _, _ = self._episodes.step(self._actions[states, column])
        ended = np.flatnonzero(terminated | truncated)
        row, column = np.nonzero(np.arange(len(self._visited))[:, None] < self._length[ended])
        self._update(self._visited[row, ended[column]], reward[ended[column]])
        self._length[ended] = 0
