"""What is seen of boards and rolls: observations from their numbers, and back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.cases import Cases
from stb_gym.games import Game, IntArray

LOW_BITS = 12  # what is seen of a board is the sum of what is seen of its lowest bits, and of the others: two tables


class Sight:
    """Observations of a game in which moves take things off a board.

    Args:
        game: the rules.
        cases: its cases, C of them. Two more numbers, C and C + 1, stand for no throw at all.
        dtype: the type of observations.
    """

    def __init__(self, game: Game, cases: Cases, dtype: Any):
        throws = list(dict.fromkeys(case.dice for case in cases.all))
        bits = game.start()[0].bit_length()
        things = game.observe(1 << np.arange(bits), 0)[:, 0]
        by_roll = np.concatenate([game.observe(np.zeros(1, np.int64), dice)[0] for dice in throws])
        nothing = np.zeros((2, things.shape[1]), np.uint8)
        self._rolls = np.concatenate((by_roll, by_roll[: len(cases.all) - cases.first], nothing)).astype(dtype)
        self._low, self._high = _sums(things[:LOW_BITS]).astype(dtype), _sums(things[LOW_BITS:]).astype(dtype)
        self._thing_columns, self._roll_columns = things.argmax(axis=1), by_roll.argmax(axis=1)

    def of(self, board: Any, case: Any) -> NDArray[Any]:
        """[..., O] what is seen at boards and cases."""
        seen: NDArray[Any] = self._low.take(board & (1 << LOW_BITS) - 1, axis=0)
        seen += self._high.take(board >> LOW_BITS, axis=0)
        seen += self._rolls.take(case, axis=0)
        return seen

    def find(self, rows: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """The boards [B] and the cases of later throws [B], C without a roll, that observations [B, O] would show."""
        open_things, roll = rows[:, self._thing_columns] > 0, rows[:, self._roll_columns] > 0
        board = open_things @ (1 << np.arange(len(self._thing_columns)))
        return board, np.where(roll.any(axis=1), roll.argmax(axis=1), len(self._rolls) - 2)


def _sums(rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """[2**N, O] the sums of the subsets of rows [N, O], in the order of the binary numbers of which they are digits."""
    sums = np.zeros((1, rows.shape[1]), np.uint8)
    for row in rows:
        sums = np.concatenate((sums, sums + row))
    return sums
