"""Drawing from many distributions at once, fast: most numbers fall where a table knows the outcome."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_BITS, LARGEST_TABLE = 18, 2**20  # entries
Chances = NDArray[np.float64]
IntArray = NDArray[np.integer[Any]]


class Draws:
    """Draws from R distributions over K outcomes by 64 random bits each, as exactly as the 53 of a float can be.

    The numbers that the bits say, from 0 to 1, are sorted into buckets by the first of them. Where all of a bucket mean
    one outcome, the table has it; else it has -1.

    Args:
        chances: [R, K] what the outcomes are as likely as; each row sums to more than 0.

    Attributes:
        sums: [R, K] the running sums, which end at 1 exactly: a number below 1 never meets what has no chance.
        begins: [R] where the rows begin in the table, by which calls name them.
    """

    def __init__(self, chances: Chances):
        self.sums = chances.cumsum(axis=1)
        self.sums /= self.sums[:, -1:]
        bits = min(MOST_BITS, max(1, (LARGEST_TABLE // len(chances)).bit_length() - 1))
        self._buckets, self._shift = 2**bits, np.uint64(64 - bits)
        self.begins = np.arange(len(chances)) * self._buckets
        least, most = (self._below(edge(self.sums * self._buckets)) for edge in (np.ceil, np.floor))
        kind = np.min_scalar_type(-chances.shape[1])  # small tables stay where the processor finds them at once
        self._table = np.where(least == most, least, -1).astype(kind).ravel()

    def _below(self, bucket: Chances) -> IntArray:
        """[R, buckets] in how many outcomes the sums come before the numbers of each bucket."""
        place = np.arange(len(bucket))[:, None] * (self._buckets + 1) + bucket.astype(np.int64)
        counts = np.bincount(place.ravel(), minlength=len(bucket) * (self._buckets + 1))
        return counts.reshape(len(bucket), -1)[:, :-1].cumsum(axis=1)

    def bounds(self, row: int) -> list[int]:
        """The least random bits of what comes after each outcome of a row, for a bisection: it suits a single draw."""
        return [int(edge * 2**64) for edge in self.sums[row].tolist()]

    def __call__(self, random: NDArray[np.uint64], begins: IntArray | None = None) -> IntArray:
        """[B] the outcomes of random bits [B] in the rows that begin there [B]; by default in the first row."""
        place = (random >> self._shift).view(np.int64)
        if begins is not None:
            place += begins
        found = self._table.take(place)
        (unsure,) = (found < 0).nonzero()
        if len(unsure):
            numbers = (random[unsure] >> np.uint64(11)) * 2.0**-53
            rows = place[unsure] // self._buckets
            found[unsure] = (self.sums[rows] <= numbers[:, None]).argmin(axis=1)
        return found


class OneEnd(dict[tuple[int, float], list[int]]):
    """The bounds of fates that were met, for a bisection: faster than arrays of one; scores come as rewards do."""

    def __init__(self, left: IntArray, last: Draws):
        super().__init__()
        self._left, self._last = left, last

    def __missing__(self, met: tuple[int, float]) -> list[int]:
        place, score = met
        self[met] = self._last.bounds(self._left[place, int(score)])
        return self[met]
