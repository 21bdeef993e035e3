"""Which state holds so much with so many dice, and which node shows an observation: found without going through all."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray


class StateIndex:
    """Finds states among those that hold `held` [S] with `dice` [S] to be thrown."""

    def __init__(self, held: IntArray, dice: IntArray):
        self._held, self._dice = held, dice
        self._order = np.lexsort((dice, held))
        self._base = int(dice.max()) + 1
        self._codes = held * self._base + dice

    def find(self, held: IntArray, dice: IntArray) -> IntArray:
        """[B] the states, or -1 where there is none."""
        place = np.searchsorted(self._codes, held * self._base + dice, sorter=self._order)
        found = self._order[np.minimum(place, len(self._order) - 1)]
        return np.where((self._held[found] == held) & (self._dice[found] == dice), found, -1)


class RowIndex:
    """Finds rows in a table [N, k] uint8, comparing them as byte strings of equal length.

    Raises:
        ValueError: if the rows of the table are not distinct.
    """

    def __init__(self, table: NDArray[np.uint8]):
        self.table = table
        self._keys = self._as_bytes(table)
        self._order = np.argsort(self._keys)
        if (self._keys[self._order][1:] == self._keys[self._order][:-1]).any():
            raise ValueError("rows must be distinct: what the player sees at two nodes is the same")

    @staticmethod
    def _as_bytes(rows: NDArray[np.uint8]) -> NDArray[Any]:
        return np.ascontiguousarray(rows).view(f"S{rows.shape[1]}").ravel()

    def find(self, rows: NDArray[Any]) -> IntArray:
        """[M] index in the table of each of `rows` [M, k], or -1 where it is not there."""
        place = np.searchsorted(self._keys, self._as_bytes(rows.astype(np.uint8)), sorter=self._order)
        found = self._order[np.minimum(place, len(self.table) - 1)]
        return np.where((self.table[found] == rows).all(axis=1), found, -1)
