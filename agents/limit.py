"""The limit: certainty equivalence, which counts the rolls it sees and plays the counted game perfectly.

    chance(roll) = times it was thrown / throws,  every roll counted once before it was ever seen
    worth(node)  = max over legal actions of worth(next state), or the reward if there is none: the turn ends
    worth(state) = sum over rolls of chance(roll) worth(node)

Kumar and Varaiya, "Stochastic systems", 1986; the count of one is Laplace's rule of succession. The limit is given the
rules of moves, as the learner of afterstates is, and the rewards, but not the chances of the dice. No learner that saw
the same rolls can be expected to do much better: what it loses beyond the limit is due to its algorithm, the rest to
the data.

There are two such limits. Rolls are counted state by state, which is all there is to know for who does not see that all
states throw the same dice; or together for all states that throw as many dice, the most that could be found out.
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

ROLLOUT = 16  # steps in every environment between two solutions of the counted game


@dataclass(frozen=True)
class LimitSettings:
    """Settings of the limit."""

    num_envs: int
    """Environments that are stepped at once."""
    exploration: float
    """Probability of a random legal move."""
    shared_dice: bool
    """Count rolls together for all states that throw as many dice, not state by state."""
    masks: ClassVar[bool] = True
    first_update: ClassVar[int] = 0

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_exploration(self.exploration)


class Limit:
    """Counts rolls, and plays what is best if their chances are as counted.

    Args:
        envs: the vector environment, in SAME_STEP mode.
        settings: its settings.
        seed: of the dice and the exploration.
    """

    def __init__(self, envs: TurnVectorEnv, settings: LimitSettings, seed: int):
        self._envs, self._settings, self._tables = envs, settings, envs.transitions.tables
        self._worth = envs.rewards.take(envs.transitions.endings[:-1])  # [N] in reward units
        self._best = np.full(self._tables.nodes, -1)
        self._kind = self._kinds()
        self._counts = np.ones(self._kind.max() + 1, np.int64)
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        self._solve(self._counts)
        self.num_timesteps, self.figures = 0, dict[str, float]()
        self._nodes = self._thrown(envs.reset(seed=seed)[0])

    def _kinds(self) -> IntArray:
        """[N] which rolls are counted together: equal numbers, from 0."""
        tables = self._tables
        if not self._settings.shared_dice:
            return np.arange(tables.nodes)
        roll = np.arange(tables.nodes) - tables.node_start[tables.node_state]
        dice = tables.dice[tables.node_state]
        return np.unique(np.stack([dice, roll]), axis=1, return_inverse=True)[1].ravel()

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """See `Learner`."""
        while self.num_timesteps < steps:
            before_rollout()
            for _ in range(ROLLOUT):
                self._step()
            self._solve(self._counts)
            self.num_timesteps += ROLLOUT * self._envs.num_envs

    def _step(self) -> None:
        """Make a move in every environment and count what is thrown after it, and at the beginning of new turns."""
        tables, nodes = self._tables, self._nodes
        explores, which = self._random.random((2, len(nodes)))
        edges = tables.edge_start[nodes] + (which * tables.choices[nodes]).astype(np.int64)
        actions = np.where(explores < self._settings.exploration, tables.edge_action[edges], self._best[nodes])
        observation, _, over, _, infos = self._envs.step(actions)
        self._nodes = self._thrown(observation)
        if over.any():
            self._thrown(infos["final_obs"][over])

    def _thrown(self, observation: NDArray[Any]) -> IntArray:
        """[B] the nodes of observations [B, O], whose rolls are counted."""
        nodes = self._tables.find_nodes(observation)
        self._counts += np.bincount(self._kind[nodes], minlength=len(self._counts))
        return nodes

    def _solve(self, counts: IntArray) -> None:
        """Solve the counted game: after as many rounds of value iteration as a turn has throws nothing changes."""
        tables, counts = self._tables, counts[self._kind]
        chance = counts / np.bincount(tables.node_state, counts)[tables.node_state]
        worth, after = self._worth, np.zeros(len(tables.edge_next))
        for _ in range(self._envs.transitions.longest + 1):
            worth[tables.decisions] = tables.reduce(np.maximum, after)
            value = np.bincount(tables.node_state, chance * worth)
            after = tables.after_edges(value)
        self._best = tables.lowest_actions(after == tables.at_edges(worth))
        self.figures = {"value": float(value[tables.start])}

    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`."""
        nodes = self._tables.find_nodes(observations)
        return explored(masks, self._best[nodes], self._settings.exploration)

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return np.asarray(self._worth[self._tables.find_nodes(observations)])

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return {"counts": self._counts}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        if (weights["counts"] < 1).any():
            raise ValueError("every roll is counted once before it is seen")
        self._counts[:] = weights["counts"]
        self._solve(self._counts)

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "num_timesteps": self.num_timesteps,
            "random": self._random.bit_generator.state,
            **named("weights", self.weights()),
            **named("envs", self._envs.snapshot()),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        take_up(self, snapshot, self._random, {"weights": self.load_weights, "envs": self._envs.restore})
        self.num_timesteps, self._nodes = snapshot["num_timesteps"], self._envs.nodes
        if not self.num_timesteps:
            self._solve(np.ones_like(self._counts))  # the first throws are counted, and not yet made use of
