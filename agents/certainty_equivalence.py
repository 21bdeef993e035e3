"""Certainty equivalence: estimate the dice from the rolls seen so far, and play optimally for that estimate.

    probability(roll | afterstate) = times it was rolled / all rolls at the afterstate
    value(state)      = max over legal actions of value(their afterstates), or the reward if there is none
    value(afterstate) = sum over rolls of probability(roll | afterstate) x value(state of the roll)

Every roll counts once before it was ever seen (Laplace's rule of succession). See Kumar and Varaiya, "Stochastic
systems: estimation, identification and adaptive control", 1986. The learner uses the rules of moves and the rewards,
but not the true probabilities of the dice.

It estimates the rolls of each afterstate separately. It does not use that the dice are the same everywhere: the same
rolls, pooled over all afterstates, would give nearly perfect play.
"""

import numpy as np
from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from agents.common import Array, BoolArray, Critic, Exploration, State
from agents.tabular import TabularLearner
from stb_gym.arrays import IntArray
from stb_gym.envs import TurnVectorEnv


@dataclass(frozen=True)
class CertaintyEquivalenceSettings:
    """Settings of certainty equivalence."""

    num_envs: PositiveInt = 1024
    """Environments that are stepped at once."""
    num_steps: PositiveInt = 16
    """Steps in every environment between two solutions of the estimated game."""
    exploration: Exploration = 0.1
    """Probability of a random legal action."""


class CertaintyEquivalence(TabularLearner):
    """A learner that estimates the dice from its rolls and plays optimally for that estimate; see `Learner`.

    It solves the estimated game after every rollout.

    Raises:
        ValueError: if the autoreset mode is not SAME_STEP, or the game is too large for tables.

    Example:
        >>> import gymnasium as gym
        >>> envs = gym.make_vec("stb_gym/ShutTheBox-v0", 64, autoreset_mode="SameStep", tiles=4)
        >>> learner = CertaintyEquivalence(envs, CertaintyEquivalenceSettings(num_envs=64))
        >>> learner.learn(10_000)
        >>> learner.num_steps
        10240
    """

    settings_class = CertaintyEquivalenceSettings
    title = "certainty equivalence"
    method = "estimate the rolls of each afterstate, play optimally for the estimate"
    source = "Kumar and Varaiya (1986)"
    WEIGHTS = ("_counts",)
    SAVED = ("num_steps", "_counts", "_random", "_episodes")

    def __init__(self, envs: TurnVectorEnv, settings: CertaintyEquivalenceSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._counts = np.ones(self._tables.num_states, np.int64)  # [S] how often each state was thrown; 1 at first
        self._count(envs.states)
        self._finish_rollout()

    def _step(self) -> None:
        tables, states = self._tables, self._envs.states
        explores, fraction = self._random.random((2, len(states)))
        pairs = tables.pair_start[states] + (fraction * tables.choices[states]).astype(np.int64)
        random_actions, greedy = tables.pair_action[pairs], self._greedy[states]
        actions = np.where(explores < self.settings.exploration, random_actions, greedy)
        _, terminated, truncated, next_observation, _ = self._episodes.step(actions)
        self._count(tables.find_states(next_observation[terminated | truncated]))
        self._count(self._envs.states)  # after an end, the first throw of the next turn

    def _count(self, states: IntArray) -> None:
        """Count the rolls at states [K]."""
        self._counts += np.bincount(states, minlength=len(self._counts))

    def _finish_rollout(self) -> None:
        """Solve the estimated game: value iteration is exact after as many sweeps as a turn has rolls."""
        tables, counts = self._tables, self._counts
        probability = counts / np.bincount(tables.state_origin, counts)[tables.state_origin]
        state_values = self._envs.rewards_at(np.arange(tables.num_states))
        after = np.zeros(len(tables.pair_afterstate))
        for _ in range(self._envs.transitions.longest + 1):
            state_values[tables.decisions] = tables.reduce(np.maximum, after)
            afterstate_values = np.bincount(tables.state_origin, probability * state_values)
            after = tables.after_pairs(afterstate_values)
        self._state_values = state_values
        self._greedy = tables.greedy(after)
        self.figures = {"estimated_value": float(afterstate_values[tables.start])}

    @property
    def critic(self) -> Critic:
        """See `Learner`."""
        return lambda observations: self._state_values[self._tables.find_states(observations)]

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        return self._greedy[self._tables.find_states(observations)]

    def load_state_dict(self, state: State) -> None:
        """See `Stored`."""
        super().load_state_dict(state)
        self._finish_rollout()
