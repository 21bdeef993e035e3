"""What chance shows after moves, by how many dice are thrown: the luck of a throw is how it differs from the mean."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Luck:
    """The means of what all throws so far have shown.

    Args:
        most: the most dice there are in a throw.
        size: how many numbers a throw shows.

    Example:
        >>> import numpy as np
        >>> luck = Luck(most=1, size=2)
        >>> one_die = np.ones(4, np.int64)
        >>> luck.of(one_die, np.array([[1, 0], [1, 0], [1, 0], [0, 1]]))[[0, 3]].tolist()
        [[0.25, -0.25], [-0.75, 0.75]]
    """

    def __init__(self, most: int, size: int):
        self._throws = np.zeros(most + 1)
        self._sums = np.zeros((most + 1, size))

    def of(self, dice: NDArray[Any], shown: NDArray[Any]) -> NDArray[np.float32]:
        """[B, O] the luck of new throws, which count for the means.

        Args:
            dice: [B] how many dice were thrown.
            shown: [B, O] what they showed.
        """
        of_dice = dice == np.arange(len(self._throws))[:, None]
        self._throws += of_dice.sum(axis=1)
        self._sums += of_dice @ shown.astype(np.float64)
        mean = self._sums / self._throws.clip(min=1)[:, None]
        return (shown - mean[dice.astype(np.intp)]).astype(np.float32)

    def snapshot(self) -> dict[str, Any]:
        """What was counted."""
        return {"throws": self._throws, "sums": self._sums}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from what was counted."""
        self._throws, self._sums = snapshot["throws"].copy(), snapshot["sums"].copy()
