"""The protocol of a learner: what a training calls, whatever the algorithm."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray

VectorEnv = gym.vector.VectorEnv[Any, Any, Any]
Weights = Mapping[str, NDArray[Any]]
Snapshot = Mapping[str, Any]


class Learner(Protocol):
    """Learns a game by playing it, and sees observations [B, ...] and masks [B, A] of legal actions.

    Learners of afterstates, and the limit, are also told where moves lead; nothing else is told to any.
    """

    @property
    def num_timesteps(self) -> int:
        """How many steps it has made, in all environments together."""

    @property
    def figures(self) -> Mapping[str, float]:
        """What a log tells of the last update, such as losses and the learning rate; empty before the first."""

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """Play and learn until `num_timesteps` is `steps` or, as a rollout is made whole, a little more.

        Args:
            steps: when to end. What falls over a training, as the learning rate does, has reached its end then.
            before_rollout: called before every rollout, which is a number of steps of play between two updates.
        """

    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """[B, A] the probability of each action while exploring; the greedy action has the highest.

        Args:
            observations: [B, ...] what is seen.
            masks: [B, A] True where an action is legal, at least one in every row.
        """

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """[B] the sum of rewards it expects from each position to the end of the episode."""

    def weights(self) -> dict[str, NDArray[Any]]:
        """What it has learned: arrays by name."""

    def load_weights(self, weights: Weights) -> None:
        """Replace what it has learned by weights of the same names and shapes."""

    def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on from here: weights, the state of the environments and all random numbers.

        Entries are arrays or what JSON can hold. Arrays may be views, which are valid until the learner goes on.
        """

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a learner of the same configuration exactly as that one would have, bit by bit."""


def check_finite(learner: Learner) -> None:
    """Raise a ValueError if learning has diverged: what was learned is infinite or not a number."""
    if not all(np.isfinite(array).all() for array in learner.weights().values()):
        raise ValueError(f"learning has diverged: after {learner.num_timesteps:,} steps weights are not finite")


def check_positive(settings: Any, *names: str) -> None:
    """Raise a ValueError unless these settings are numbers above 0."""
    for name in names:
        if not 0 < getattr(settings, name) < np.inf:
            raise ValueError(f"{name} must be a number above 0, not {getattr(settings, name)}")


def check_shares(settings: Any, *names: str) -> None:
    """Raise a ValueError unless these settings are numbers from 0 to 1."""
    for name in names:
        if not 0 <= getattr(settings, name) <= 1:
            raise ValueError(f"{name} must be from 0 to 1, not {getattr(settings, name)}")


def check_exploration(exploration: float) -> None:
    """Raise a ValueError unless something greedy is left beside a probability of random actions."""
    if not 0 <= exploration < 1:
        raise ValueError(f"exploration must be below 1, or nothing greedy is left, not {exploration}")


def explored(legal: NDArray[np.bool_], greedy: IntArray, exploration: float) -> NDArray[np.float32]:
    """[B, A] the probabilities of actions chosen greedily, but sometimes at random.

    Args:
        legal: [B, A] True where an action is legal.
        greedy: [B] the greedy actions.
        exploration: the probability of choosing a legal action at random instead.
    """
    probability = exploration * legal / legal.sum(axis=1, keepdims=True)
    probability[np.arange(len(greedy)), greedy] += 1 - exploration
    return probability.astype(np.float32)
