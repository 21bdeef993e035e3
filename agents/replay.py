"""What a learner has seen: every position once, and the transitions between them as rows of 16 bytes.

Positions are told apart by the bytes of their observation and mask, and numbered in the order in which they were first
seen. So a batch of transitions names its positions by their numbers, and what depends on a position alone is computed
once for all transitions that have it in common. Nothing of the game needs to be known for that.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray

OVER = 0  # the number that stands for the end of a turn; positions have the numbers from 1
TRANSITION = np.dtype([("position", np.int32), ("action", np.int32), ("reward", np.float32), ("next", np.int32)])


class Positions:
    """Every position that was seen.

    Args:
        observation: an array of the shape and type of one observation.
        actions: how many actions there are.
    """

    def __init__(self, observation: NDArray[Any], actions: int):
        self._number: dict[bytes, int] = {b"": OVER}
        self._observations = np.zeros((1024, *observation.shape), observation.dtype)
        self._masks = np.zeros((1024, actions), np.bool_)

    def __len__(self) -> int:
        return len(self._number)

    @property
    def observations(self) -> NDArray[Any]:
        """[P, O] by number; zeros for the end."""
        return self._observations[: len(self)]

    @property
    def masks(self) -> NDArray[np.bool_]:
        """[P, A] by number; False for the end."""
        return self._masks[: len(self)]

    def numbers(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int32]:
        """[B] the numbers of positions that observations [B, O] and masks [B, A] show; new ones get new numbers."""
        number, known, keys = self._number, len(self), _keys(observations, masks)
        found = np.fromiter((number.setdefault(key, len(number)) for key in keys), np.int32, len(keys))
        while len(self) > len(self._masks):
            self._observations = np.concatenate([self._observations, np.zeros_like(self._observations)])
            self._masks = np.concatenate([self._masks, np.zeros_like(self._masks)])
        new = found >= known
        self._observations[found[new]], self._masks[found[new]] = observations[new], masks[new]
        return found

    def find(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.int32]:
        """[B] the numbers of positions that were seen before, OVER for the others."""
        keys = _keys(observations, masks)
        return np.fromiter((self._number.get(key, OVER) for key in keys), np.int32, len(keys))


def _keys(observations: NDArray[Any], masks: NDArray[Any]) -> list[bytes]:
    """[B] the bytes of each row."""
    bytes_shown = np.ascontiguousarray(observations).reshape(len(masks), -1).view(np.uint8)
    rows = np.concatenate([bytes_shown, np.packbits(masks.astype(np.bool_), axis=1)], axis=1)
    return rows.view(f"V{rows.shape[1]}").ravel().tolist()


class Batch(NamedTuple):
    """Transitions [B]: at a position, an action gave a reward and led to the next position, or to OVER."""

    position: IntArray
    action: IntArray
    reward: NDArray[np.float32]
    next: IntArray


class Replay:
    """The last `size` transitions.

    Args:
        size: the most transitions it holds.
    """

    def __init__(self, size: int):
        self._rows = np.zeros(size, TRANSITION)
        self._added = 0

    def __len__(self) -> int:
        return min(self._added, len(self._rows))

    def add(self, position: IntArray, action: IntArray, reward: NDArray[Any], following: IntArray) -> None:
        """Add transitions [B], in place of the oldest ones if there is no room."""
        places = (self._added + np.arange(len(position))) % len(self._rows)
        for name, column in zip(TRANSITION.names or (), (position, action, reward, following), strict=True):
            self._rows[name][places] = column
        self._added += len(position)

    def sample(self, count: int, random: np.random.Generator) -> Batch:
        """Draw transitions uniformly, with replacement."""
        rows = self._rows[random.integers(len(self), size=count)]
        return Batch(*(np.ascontiguousarray(rows[name]) for name in TRANSITION.names or ()))

    def snapshot(self) -> dict[str, Any]:
        """What it holds; see `restore`."""
        return {"rows": self._rows[: len(self)].view(np.uint8), "added": self._added}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Hold what a replay of the same size held."""
        rows = snapshot["rows"].view(TRANSITION)
        self._rows[: len(rows)], self._added = rows, snapshot["added"]
