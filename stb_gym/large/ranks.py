"""The states of a game of boards by how much a policy wants them, from one number for each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.large.rows import BoardRows
from stb_gym.solver.preferences import Preference


class Ranks(NamedTuple):
    """States by how much they are wanted.

    Attributes:
        rank: [D, rows, columns] the rank of every state, the most wanted highest.
        place: [D * rows * columns] the place of the state of every rank in the flat array.
    """

    rank: NDArray[np.int32]
    place: NDArray[np.int32]


def rank_states(rows: BoardRows, policy: Preference) -> Ranks:
    """Rank every state of a game.

    Of equals the one ranks higher to which the lower action leads: of the states that a roll may lead to, the one with
    the lowest tile shut that is open in another; of the same board the one with fewer dice.
    """
    key = _as_integers(_by_action(_wanted(rows, policy)))
    key = (key - key.min() + 1) * key.size  # one number says how much each is wanted, and its place among equals
    key -= np.arange(1, key.size + 1)
    key.sort()
    key %= key.size
    place = _by_action(np.arange(key.size, dtype=np.int32).reshape(len(rows.throws), rows.rows, rows.columns))
    place = place[key.size - 1 - key]
    rank = np.empty_like(place)
    rank[place] = np.arange(place.size, dtype=np.int32)
    return Ranks(rank.reshape(len(rows.throws), rows.rows, rows.columns), place)


def _wanted(rows: BoardRows, policy: Preference) -> NDArray[Any]:
    """[D, rows, columns] how much every state is wanted."""
    held = [rows.held(row) for row in range(rows.rows)]
    return np.array([[policy.of(each, np.where(each > 0, dice, 0)) for each in held] for dice in rows.boards.throws])


def _as_integers(values: NDArray[Any]) -> NDArray[np.int64]:
    """[V] integers in the order of the values, small enough to be multiplied by V; equal for equal ones."""
    if values.dtype.kind == "i" and float(values.max()) - float(values.min()) < 2**62 / values.size:
        return values.astype(np.int64)
    order = values.argsort()  # by hand, as np.unique takes twice the memory
    ascending = values.take(order)
    steps = np.cumsum(np.append(False, ascending[1:] != ascending[:-1]), dtype=np.int32)
    del ascending
    integers = np.empty(values.size, np.int64)
    integers[order] = steps
    return integers


def _by_action(values: NDArray[Any]) -> NDArray[Any]:
    """[D * rows * columns] values [D, rows, columns] in the order of the actions that lead to them from one node."""
    mirrored = np.zeros(1, np.int64)
    while len(mirrored) < values.shape[1]:  # the lowest tile is the first digit of a column, and the last of a row
        mirrored = np.append(2 * mirrored, 2 * mirrored + 1)
    return values[::-1, mirrored].transpose(1, 2, 0).reshape(-1)
