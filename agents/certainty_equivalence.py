"""Certainty equivalence: estimate the dice from the rolls seen so far, and play optimally for that estimate.

    probability(roll | state) = times it was rolled / rolls at the state
    value(node)  = max over legal actions of value(next state), or the reward if there is none
    value(state) = sum over rolls of probability(roll | state) x value(node of the roll)

Every roll counts once before it was ever seen (Laplace's rule of succession). See Kumar and Varaiya, "Stochastic
systems: estimation, identification and adaptive control", 1986. The learner uses the rules of moves and the rewards,
but not the true probabilities of the dice.

It estimates the rolls of each state separately. It does not use that the dice are the same everywhere: the same rolls,
pooled over all states, would give nearly perfect play.
"""

import numpy as np
from pydantic import PositiveInt
from pydantic.dataclasses import dataclass

from agents.common import (
    Array,
    BoolArray,
    Callback,
    Episodes,
    Exploration,
    Learner,
    State,
)
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import IntArray

ROLLOUT = 16  # steps in every environment between two solutions of the estimated game


@dataclass(frozen=True)
class CertaintyEquivalenceSettings:
    """Settings of certainty equivalence."""

    num_envs: PositiveInt = 1024
    """Environments that are stepped at once."""
    exploration: Exploration = 0.1
    """Probability of a random legal action."""


class CertaintyEquivalence(Learner):
    """Estimates the dice from the rolls it has seen and plays optimally for that estimate.

    Args:
        envs: the vector environment, in SAME_STEP mode.
        settings: the settings.
        seed: seeds the dice and the exploration.
        device: not used, as there is no network.

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

    WEIGHTS = ("_counts",)
    STATE = ("num_steps", "_counts", "_random", "_episodes")

    def __init__(self, envs: TurnVectorEnv, settings: CertaintyEquivalenceSettings, seed: int = 0, device: str = "cpu"):
        self._envs, self._settings = envs, settings
        self._tables = tables = envs.transitions.tables
        self._counts = np.ones(tables.nodes, np.int64)  # of the node's roll at its state
        self._random = np.random.default_rng([seed, 1])
        self._episodes = Episodes(envs, seed)
        self.num_steps = 0
        self.figures: dict[str, float] = {}
        self._count(envs.nodes)
        self._solve()

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """Play, count the rolls, and solve the estimated game after every rollout; see `Learner`."""
        tables = self._tables
        while self.num_steps < total_steps:
            callback()
            for _ in range(ROLLOUT):
                nodes = self._envs.nodes
                explores, fraction = self._random.random((2, len(nodes)))
                edges = tables.edge_start[nodes] + (fraction * tables.choices[nodes]).astype(np.int64)
                random_actions, greedy = tables.edge_action[edges], self._greedy[nodes]
                actions = np.where(explores < self._settings.exploration, random_actions, greedy)
                _, terminated, truncated, next_observation, _ = self._episodes.step(actions)
                self._count(tables.find_nodes(next_observation[terminated | truncated]))
                self._count(self._envs.nodes)  # where a turn is over, of the first roll of the next one
            self._solve()
            self.num_steps += ROLLOUT * self._envs.num_envs

    def _count(self, nodes: IntArray) -> None:
        """Count the rolls at nodes [K]."""
        self._counts += np.bincount(nodes, minlength=len(self._counts))

    def _solve(self) -> None:
        """Solve the estimated game: value iteration is exact after as many sweeps as a turn has rolls."""
        tables, counts = self._tables, self._counts
        probability = counts / np.bincount(tables.node_state, counts)[tables.node_state]
        node_value = self._envs.rewards[self._envs.transitions.endings[:-1]]
        after = np.zeros(len(tables.edge_next))
        for _ in range(self._envs.transitions.longest + 1):
            node_value[tables.decisions] = tables.reduce(np.maximum, after)
            state_value = np.bincount(tables.node_state, probability * node_value)
            after = tables.after_edges(state_value)
        self._greedy = tables.greedy(after)
        self.figures = {"estimated_value": float(state_value[tables.start])}

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        return self._greedy[self._tables.find_nodes(observations)]

    def load_state_dict(self, state: State) -> None:
        """See `Stored`."""
        super().load_state_dict(state)
        self._solve()
