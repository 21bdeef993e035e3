"""What a training asks of a learner, whatever its algorithm."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import IntArray

Weights = Mapping[str, NDArray[Any]]
Snapshot = Mapping[str, Any]


class Learner(Protocol):
    """Learns from play alone.

    Attributes:
        num_timesteps: steps of all games together that it has made.
    """

    num_timesteps: int

    def learn_until(self, steps: int, between: Callable[[], None]) -> None:
        """Play and learn until `steps` steps are made in all; `between` is called before every bout of play.

        Whatever is scheduled over a training is scheduled over `steps`.
        """

    def probabilities(self, nodes: IntArray) -> NDArray[np.float32]:
        """[B, A] how probable each action is while exploring; the greedy action is the most probable."""

    def values(self, nodes: IntArray) -> NDArray[np.float64]:
        """[B] the rewards it expects from each node on."""

    def weights(self) -> dict[str, NDArray[Any]]:
        """What it has learned, as arrays by name."""

    def load_weights(self, weights: Weights) -> None:
        """Take over weights of the same names and shapes."""

    def snapshot(self) -> dict[str, Any]:
        """All that it goes on from, weights and dice included: arrays, valid until it does, and what JSON can hold."""

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot of a learner of the same configuration, to the bit as that one would have."""


def explored(legal: NDArray[np.bool_], greedy: IntArray, exploration: float) -> NDArray[np.float32]:
    """[B, A] the greedy actions [B], but a legal one [B, A] at random with some probability."""
    probability = exploration * legal / legal.sum(axis=1, keepdims=True)
    probability[np.arange(len(greedy)), greedy] += 1 - exploration
    return probability.astype(np.float32)


def part(snapshot: Snapshot, name: str) -> dict[str, Any]:
    """The entries of a snapshot whose names begin with `name.`, without that."""
    return {key.removeprefix(f"{name}."): value for key, value in snapshot.items() if key.startswith(f"{name}.")}


def named(name: str, entries: Snapshot) -> dict[str, Any]:
    """Entries as the part of that name."""
    return {f"{name}.{key}": value for key, value in entries.items()}
