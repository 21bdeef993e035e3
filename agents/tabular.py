"""Tabular learners: Q-learning, and the same over afterstates.

    table[place] += step size x (reward + max over legal a of table[place of a at the next node] - table[place])

Watkins and Dayan, "Q-learning", 1992; Sutton and Barto, "Reinforcement learning", 2018, 6.5 and 6.8. In Q-learning a
place is a pair of node and action. Over afterstates it is the state that an action leads to, in which the dice are
thrown next; so actions that lead to the same state share what is learned. Like every learner of afterstates this one is
given the rules of moves. Neither is given the probabilities of the dice or the worth of anything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agents.learner import Snapshot, Weights, check_exploration, explored
from agents.snapshots import named, take_up
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import IntArray

ROLLOUT = 16  # steps in every environment between two calls of `before_rollout`


@dataclass(frozen=True)
class TabularSettings:
    """Settings of a tabular learner."""

    num_envs: int
    """Environments that are stepped at once."""
    exploration: float
    """Probability of a random legal move."""
    horizon: float
    """The n-th update of a place has the step size horizon / (horizon + n); several at once have that of the last times
    their number, at most 1."""
    masks: ClassVar[bool] = True
    first_update: ClassVar[int] = 0

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_exploration(self.exploration)
        if self.horizon < 1:
            raise ValueError(f"horizon must be 1 or more, not {self.horizon}")


class TabularLearner:
    """Learns a table of expected rewards.

    Args:
        envs: the vector environment, in SAME_STEP mode.
        places: [N, A] the place in the table of each node and action; the entries of illegal actions do not matter.
        settings: its settings.
        seed: of the dice and the exploration.
    """

    def __init__(self, envs: TurnVectorEnv, places: IntArray, settings: TabularSettings, seed: int):
        legal, size = envs.transitions.tables.legal, int(places.max()) + 1
        self._count = legal.sum(axis=1)  # of legal actions; they are few, so only they are looked up
        self._actions = np.argsort(~legal, axis=1, kind="stable")[:, : self._count.max()]
        self._places = np.take_along_axis(np.where(legal, places, size), self._actions, axis=1)
        self._table = np.append(np.zeros(size), -np.inf)  # the last entry fills the rows of nodes with fewer actions
        self._updates = np.zeros(size, np.int64)
        self._envs = envs
        self._find = envs.transitions.tables.find_nodes
        self._settings = settings
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        self.num_timesteps, self.figures = 0, dict[str, float]()
        self._nodes = self._find(envs.reset(seed=seed)[0])

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """See `Learner`."""
        while self.num_timesteps < steps:
            before_rollout()
            for _ in range(ROLLOUT):
                self._step()
            self.num_timesteps += ROLLOUT * self._envs.num_envs

    def _step(self) -> None:
        """Make a move in every environment and learn from it.

        A place that several environments met moves towards the mean of their targets.
        """
        nodes = self._nodes
        places = self._places[nodes]
        chosen = self._table[places].argmax(axis=1)
        explores = np.flatnonzero(self._random.random(len(nodes)) < self._settings.exploration)
        chosen[explores] = self._random.random(len(explores)) * self._count[nodes[explores]]
        observation, reward, over, _, _ = self._envs.step(self._actions[nodes, chosen])
        self._nodes = self._find(observation)
        following = self._table[self._places[self._nodes]].max(axis=1)
        target = reward + np.where(over, 0, following)
        met, of_env = np.unique(places[np.arange(len(nodes)), chosen], return_inverse=True)
        count = np.bincount(of_env)
        mean = np.bincount(of_env, target) / count
        self._updates[met] += count
        step_size = np.minimum(self._settings.horizon * count / (self._settings.horizon + self._updates[met]), 1)
        self._table[met] += step_size * (mean - self._table[met])

    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`."""
        nodes = self._find(observations)
        greedy = self._actions[nodes, self._table[self._places[nodes]].argmax(axis=1)]
        return explored(masks, greedy, self._settings.exploration)

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return np.asarray(self._table[self._places[self._find(observations)]].max(axis=1))

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return {"table": self._table[:-1]}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        self._table[:-1] = weights["table"]

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "num_timesteps": self.num_timesteps,
            "updates": self._updates,
            "random": self._random.bit_generator.state,
            **named("weights", self.weights()),
            **named("envs", self._envs.snapshot()),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        take_up(self, snapshot, self._random, {"envs": self._envs.restore, "weights": self.load_weights})
        self.num_timesteps, self._nodes = snapshot["num_timesteps"], self._envs.nodes
        self._updates[:] = snapshot["updates"]


def make_q_learning(envs: TurnVectorEnv, settings: TabularSettings, seed: int) -> TabularLearner:
    """Q-learning that has learned nothing yet."""
    shape = envs.transitions.tables.nodes, envs.transitions.actions
    return TabularLearner(envs, np.arange(shape[0] * shape[1]).reshape(shape), settings, seed)


def make_afterstates(envs: TurnVectorEnv, settings: TabularSettings, seed: int) -> TabularLearner:
    """Learning of afterstates that has learned nothing yet."""
    return TabularLearner(envs, envs.transitions.next_state[:-1], settings, seed)
