"""What is seen of boards and rolls: observations from their numbers, and back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.cases import Cases
from stb_gym.envs.endings import BoardSums
from stb_gym.games import Game, IntArray


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
        self._things = BoardSums(things.astype(dtype))
        self._thing_columns, self._roll_columns = things.argmax(axis=1), by_roll.argmax(axis=1)

    def of(self, board: Any, case: Any) -> NDArray[Any]:
        """[..., O] what is seen at boards and cases."""
        seen = self._things.of(board)
        seen += self._rolls.take(case, axis=0)
        return seen

    def find(self, rows: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """The boards [B] and the cases of later throws [B], C without a roll, that observations [B, O] would show."""
        open_things, roll = rows[:, self._thing_columns] > 0, rows[:, self._roll_columns] > 0
        board = open_things @ (1 << np.arange(len(self._thing_columns)))
        return board, np.where(roll.any(axis=1), roll.argmax(axis=1), len(self._rolls) - 2)
