"""Equal rows of a batch, so that what depends on a row alone is computed once for all that are equal.

Many turns at once are often in the same position: of the 131,072 rows of a batch only some thousand are distinct.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray

WORD = np.dtype(np.int64)
ODD = 0x1E3779B97F4A7C15


def distinct(*columns: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Which rows stand for all.

    Rows are equal if all their bytes are. They are told apart by random sums of their words, which are compared with
    the rows themselves: if two different rows have the same sum, the bits of words are mixed and others are drawn.

    Args:
        columns: [B, ...] arrays that side by side make the rows.

    Returns:
        Numbers [U] of rows that differ from each other, and for each of the B rows which of these U it is equal to:
        `row[first][place]` is `row`.

    Example:
        >>> import numpy as np
        >>> first, place = distinct(np.array([[3, 0], [1, 1], [3, 0]]))
        >>> len(first), place[0] == place[2]
        (2, np.True_)
    """
    words = mixed = _words(columns)
    random = np.random.default_rng(0)
    while True:
        sums = mixed @ random.integers(2**63, size=words.shape[1])  # modulo 2 ** 64
        order = sums.argsort()
        begins = np.diff(sums[order], prepend=~sums[order[:1]]) != 0
        first, place = order[begins], np.empty_like(order)
        place[order] = begins.cumsum() - 1
        if (words[first].take(place, axis=0) == words).all():
            return first, place
        # Words that differ in their high bits alone, such as small floats, have few sums modulo 2 ** 64.
        mixed = (mixed ^ (mixed.view(np.uint64) >> np.uint64(32)).view(WORD)) * ODD


def _words(columns: tuple[NDArray[Any], ...]) -> IntArray:
    """[B, W] the bytes of rows, and zeros to the end of the last word."""
    parts = [_bytes(column.reshape(len(column), -1)) for column in columns]
    size = sum(part.shape[1] for part in parts)
    parts.append(np.zeros((len(parts[0]), -size % WORD.itemsize), np.uint8))
    return np.concatenate(parts, axis=1).view(WORD)


def _bytes(column: NDArray[Any]) -> NDArray[np.uint8]:
    """[B, ...] the bytes of rows, eight truth values in each."""
    return np.packbits(column, axis=1) if column.dtype == np.bool_ else np.ascontiguousarray(column).view(np.uint8)
