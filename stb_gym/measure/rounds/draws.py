"""Drawing from many distributions at once, fast: most numbers fall where a table knows the outcome."""

import numpy as np
from numpy.typing import NDArray

Chances = NDArray[np.float64]
IntArray = NDArray[np.int64]


class Draws:
    """Draws from R distributions over K outcomes by numbers from 0 to 1, as exactly as these are.

    The numbers are sorted into buckets. Where all of a bucket mean one outcome, the table has it; else it has -1.

    Args:
        chances: [R, K] what the outcomes are as likely as; each row sums to more than 0.
        buckets: how many the numbers are sorted into, a power of two, so that no number is rounded into another one.

    Attributes:
        sums: [R, K] the running sums, which end at 1 exactly: a number below 1 never meets what has no chance.
    """

    def __init__(self, chances: Chances, buckets: int):
        self.sums = chances.cumsum(axis=1)
        self.sums /= self.sums[:, -1:]
        self._buckets = buckets
        least, most = (self._below(edge(self.sums * buckets)) for edge in (np.ceil, np.floor))
        self._table = np.where(least == most, least, -1).ravel()

    def _below(self, bucket: Chances) -> IntArray:
        """[R, buckets] in how many outcomes the sums come before the numbers of each bucket."""
        place = np.arange(len(bucket))[:, None] * (self._buckets + 1) + bucket.astype(np.int64)
        counts = np.bincount(place.ravel(), minlength=len(bucket) * (self._buckets + 1))
        return counts.reshape(len(bucket), -1)[:, :-1].cumsum(axis=1)

    def __call__(self, numbers: Chances, rows: IntArray | int = 0) -> IntArray:
        """[B] the outcomes of numbers [B] from 0 to 1, in a row or in rows [B]."""
        found = self._table.take(rows * self._buckets + (numbers * self._buckets).astype(np.int64))
        (unsure,) = (found < 0).nonzero()
        if len(unsure):
            if len(self.sums) == 1:
                found[unsure] = self.sums[0].searchsorted(numbers[unsure], side="right")
            else:
                found[unsure] = (self.sums[np.asarray(rows)[unsure]] <= numbers[unsure, None]).sum(axis=1)
        return found
