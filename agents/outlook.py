"""What the legal moves at positions lead to, and which of them is the best."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray


class Outlook(NamedTuple):
    """What the M legal moves at P positions lead to, position by position, and which is the best.

    Attributes:
        action: [M] the actions.
        afterstate: [M, O + 1] what they lead to.
        first: [P] where the moves of a position begin.
        choices: [P] how many there are.
        best: [P] the move of the greatest value, the first of those; where a position has none, 0.
        value: [P] the value of that move; where a position has none, 0.
    """

    action: IntArray
    afterstate: NDArray[Any]
    first: IntArray
    choices: IntArray
    best: IntArray
    value: NDArray[np.float32]


def outlook_of(
    positions: int, position: IntArray, action: IntArray, afterstate: NDArray[Any], value: NDArray[np.float32]
) -> Outlook:
    """The outlook at positions, given the values of their moves.

    Args:
        positions: P, how many there are.
        position: [M] of which position each move is, in their order.
        action: [M] the actions.
        afterstate: [M, O + 1] what they lead to.
        value: [M] what that is worth.

    Example:
        >>> import numpy as np
        >>> value = np.array([1, 3, 2], np.float32)
        >>> outlook = outlook_of(3, np.array([0, 0, 2]), np.array([4, 7, 1]), np.zeros((3, 2)), value)
        >>> outlook.best.tolist(), outlook.value.tolist(), outlook.choices.tolist()
        ([1, 0, 2], [3.0, 0.0, 2.0], [2, 0, 1])
    """
    count = np.bincount(position, minlength=positions)
    first, some = count.cumsum() - count, count > 0
    best, highest = np.zeros(positions, np.int64), np.zeros(positions, np.float32)
    if some.any():
        highest[some] = np.maximum.reduceat(value, first[some])
        as_good = np.flatnonzero(value == highest[position])[::-1]
        best[position[as_good]] = as_good  # the first of those that are as good, which is written last
    return Outlook(action, afterstate, first, count, best, highest)
