"""What a learner has seen: every position once, and every transition between them once, with how often it was seen.

Of the tens of millions of transitions of a training on nine tiles 49,000 are distinct, from 7,000 moves. So the mean
over all that ever followed a move, which an update of DQN is after, need not be guessed from samples: it is there.
"""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.learner import Snapshot
from agents.rows import distinct
from agents.snapshots import check_like
from stb_gym.games import IntArray

OVER = 0  # the number that stands for the end of an episode; positions have the numbers from 1
TRANSITION = np.dtype([("position", np.int32), ("action", np.int32), ("next", np.int32), ("reward", np.float32)])
GROWTH = 0.02  # of all transitions, how many may wait to be counted


class Positions:
    """Every position that was seen, told apart by its observation and mask, and numbered batch by batch.

    Of a large game there are millions: their masks are kept as bits, and they are looked up by 128 bits of a digest.

    Args:
        observation: an array of the shape and type of one observation.
        actions: how many actions there are.
    """

    def __init__(self, observation: NDArray[Any], actions: int):
        self._actions = actions
        self._number: dict[bytes, int] = {b"": OVER}
        self._observations = np.zeros((1024, *observation.shape), observation.dtype)
        self._bits = np.zeros((1024, -(-actions // 8)), np.uint8)
        self._is_decision = np.zeros(1024, np.bool_)

    def __len__(self) -> int:
        return len(self._number)

    @property
    def observations(self) -> NDArray[Any]:
        """[P, ...] by number; zeros for the end."""
        return self._observations[: len(self)]

    @property
    def decisions(self) -> IntArray:
        """The numbers of those with a legal action."""
        return np.flatnonzero(self._is_decision[: len(self)])

    def masks(self, numbers: IntArray) -> NDArray[np.bool_]:
        """[B, A] the masks of positions [B]; False for the end."""
        return np.unpackbits(self._bits[numbers], axis=1, count=self._actions).view(np.bool_)

    def numbers(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> IntArray:
        """[B] the numbers of positions that observations [B, ...] and masks [B, A] show; new ones get new numbers."""
        if not len(masks):
            return np.zeros(0, np.int64)
        first, place = distinct(observations, masks)
        ordered = first.argsort()
        first = first[ordered]
        return self._find(observations[first], np.packbits(masks[first], axis=1))[ordered.argsort()][place]

    def draws(self, times: int, size: int, random: np.random.Generator) -> Iterator[IntArray]:
        """Draw decisions [size], or all if there are no more, so many times; one again when all others had a turn."""
        decisions = self.decisions
        size, order = min(size, len(decisions)), decisions[:0]
        for _ in range(times):
            if len(order) < size:
                order = np.concatenate([order, random.permutation(decisions)])
            yield order[:size]
            order = order[size:]

    def snapshot(self) -> dict[str, Any]:
        """All of them by number; see `restore`."""
        return {"observations": self.observations[1:], "bits": self._bits[1 : len(self)]}

    def restore(self, snapshot: Snapshot) -> None:
        """Number positions as they were, if none was seen yet.

        Raises:
            ValueError: if it is of positions of other shapes.
        """
        own = self.snapshot()
        check_like(snapshot, own, growing=own)
        self._find(snapshot["observations"], snapshot["bits"])

    def _find(self, observations: NDArray[Any], bits: NDArray[np.uint8]) -> IntArray:
        """[U] the numbers of positions that differ from each other, given their masks as bits."""
        number, known = self._number, len(self)
        rows = np.ascontiguousarray(observations).view(np.uint8).reshape(len(bits), -1)
        digests = (blake2b(row.tobytes(), digest_size=16).digest() for row in np.concatenate([rows, bits], axis=1))
        found = np.array([number.setdefault(digest, len(number)) for digest in digests], np.int64)
        while len(self) > len(self._bits):
            self._observations = np.concatenate([self._observations, np.zeros_like(self._observations)])
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
            self._is_decision = np.concatenate([self._is_decision, np.zeros_like(self._is_decision)])
        new = found >= known
        self._observations[found[new]], self._bits[found[new]] = observations[new], bits[new]
        self._is_decision[found[new]] = bits[new].any(axis=1)
        return found


class Replay:
    """Every distinct transition, with how often it was seen. A move is an action at a position.

    Args:
        actions: how many actions there are.
        pooled: whether moves share what followed them if they ever led to the same position with the same reward. That
            is right where a move leads to an afterstate, and chance on from there: then moves to the same afterstate
            share it. It is wrong where different chances can lead to the same position, as on slippery ice.

    Attributes:
        moves: [M] the moves that were made: position * actions + action.
        counts: [M] how often each was.
    """

    def __init__(self, actions: int, pooled: bool):
        self._actions, self._pooled = actions, pooled
        self._rows: NDArray[Any] = np.zeros(0, TRANSITION)
        self._times: NDArray[Any] = np.zeros(0)
        self._waiting: list[NDArray[Any]] = []
        self._arrange()

    def add(self, position: IntArray, action: IntArray, following: IntArray, reward: NDArray[Any]) -> None:
        """Add transitions [B]: at a position, an action gave a reward and led to the next position, or to OVER."""
        rows = np.empty(len(position), TRANSITION)
        for name, column in zip(TRANSITION.names or (), (position, action, following, reward), strict=True):
            rows[name] = column
        self._waiting.append(rows)

    def count(self) -> None:
        """Count what was added, unless it is little compared with what is counted."""
        new = sum(map(len, self._waiting))
        if new <= GROWTH * self._times.sum():
            return
        rows = np.concatenate([self._rows, *self._waiting])
        times = np.concatenate([self._times, np.ones(new)])
        first, place = distinct(rows.view(np.uint8).reshape(-1, TRANSITION.itemsize))
        self._rows, self._times, self._waiting = rows[first], np.bincount(place, times), []
        self._arrange()

    def returns(self, values: NDArray[Any], scale: float, random: np.random.Generator) -> NDArray[np.float64]:
        """What followed each move: its reward, and the value of the next position.

        Args:
            values: [P, K] values of positions: their means, or K quantiles of them.
            scale: what rewards are divided by.
            random: random numbers, if K is more than 1.

        Returns:
            [M, 1] the mean over all that ever followed a move; or [M, K] as many samples of it, with one quantile each.
        """
        if values.shape[1] == 1:
            worth = self._times * (self._rows["reward"] / scale + values[self._rows["next"], 0])
            return (np.bincount(self._pool, worth) / self._seen)[self._pool_of, None]
        order = self._pool.argsort(kind="stable")
        end, seen = (array.astype(np.int64)[self._pool_of, None] for array in (self._seen.cumsum(), self._seen))
        drawn = end - random.integers(seen, size=(len(seen), values.shape[1])) - 1
        row = order[self._times[order].cumsum().searchsorted(drawn, side="right")]
        return self._rows["reward"][row] / scale + values[self._rows["next"][row], np.arange(values.shape[1])]

    def moves_at(self, positions: IntArray) -> tuple[IntArray, IntArray]:
        """The moves that were made at positions [B].

        Returns:
            For each such move the place of its position among the B, and its own place in `moves`.
        """
        first, end = (self.moves.searchsorted((positions + more) * self._actions) for more in (0, 1))
        count = end - first
        place = np.repeat(np.arange(len(positions)), count)
        return place, np.arange(len(place)) + (first - count.cumsum() + count)[place]

    def snapshot(self) -> dict[str, Any]:
        """What it holds; see `restore`."""
        waiting = np.concatenate([self._rows[:0], *self._waiting])
        return {"rows": self._rows.view(np.uint8), "times": self._times, "waiting": waiting.view(np.uint8)}

    @property
    def last_position(self) -> int:
        """The highest number of a position in it."""
        every = [self._rows, *self._waiting]
        return max(int(each[name].max(initial=OVER)) for each in every for name in ("position", "next"))

    def restore(self, snapshot: Snapshot) -> None:
        """Hold what a replay of the same actions held.

        Raises:
            ValueError: if it is of other actions, or none of a replay.
        """
        own = self.snapshot()
        check_like(snapshot, own, growing=own)
        rows, waiting = (snapshot[name].view(TRANSITION).copy() for name in ("rows", "waiting"))
        every = np.concatenate([rows, waiting])
        numbers = np.stack([every[name] for name in ("position", "action", "next")])
        if len(snapshot["times"]) != len(rows) or (snapshot["times"] <= 0).any() or (numbers < 0).any():
            raise ValueError("the transitions are none")
        if (every["action"] >= self._actions).any() or not np.isfinite(every["reward"]).all():
            raise ValueError("the transitions are of other actions, or of rewards that are no numbers")
        self._rows, self._times, self._waiting = rows, snapshot["times"].copy(), [waiting]
        self._arrange()

    def _arrange(self) -> None:
        """Find the moves, and which of them share what followed: `_pool` [T] by transition, `_pool_of` [M] by move."""
        move = self._rows["position"].astype(np.int64) * self._actions + self._rows["action"]
        self.moves, move = np.unique(move, return_inverse=True)
        self.counts = np.bincount(move, self._times)
        pools = np.arange(len(self.moves))
        on = self._rows["next"] != OVER
        if self._pooled and on.any():
            _, outcome = distinct(self._rows["next"][on], self._rows["reward"][on])
            _, pools = np.unique(linked(move[on], outcome, len(pools)), return_inverse=True)
        self._pool, self._pool_of = pools[move], pools
        self._seen = np.bincount(self._pool, self._times)


def linked(move: IntArray, outcome: IntArray, moves: int) -> IntArray:
    """The least of the moves that each is linked with: two are if they have an outcome in common, or are by others.

    Args:
        move: [T] moves below `moves`.
        outcome: [T] the number of what it led to.
        moves: M, how many there are.

    Returns:
        [M] moves.

    Example:
        >>> import numpy as np
        >>> linked(np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 2]), 5)
        array([0, 0, 0, 3, 4])
    """
    least = np.arange(moves)
    while True:
        of_outcome = np.full(outcome.max() + 1, moves)
        np.minimum.at(of_outcome, outcome, least[move])
        better = least.copy()
        np.minimum.at(better, move, of_outcome[outcome])
        if (better == least).all():
            return least
        least = better
