"""What is seen of boards and rolls: observations from their numbers, and back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs.stepping.cases import Cases
from stb_gym.games import BoardSums, Game, IntArray


class Sight:
    """Observations of a game in which moves take things off a board.

    Args:
        game: the rules.
        cases: its cases.
        dtype: the type of observations, by NumPy's name.
    """

    def __init__(self, game: Game, cases: Cases, dtype: str):
        things = game.observe(1 << np.arange(game.start()[0].bit_length()), 0)[:, 0]
        of_rolls = {case.dice: game.observe(np.zeros(1, np.int64), case.dice)[0] for case in cases.all}
        seen = np.array([of_rolls[case.dice][case.roll] for case in cases.all])
        self._things, self._rolls = BoardSums(things.astype(dtype)), seen.astype(dtype)
        # The numbers of an observation that tell of each thing, and of each roll.
        self._of_things, self._of_rolls = things.argmax(axis=1), seen[: cases.later].argmax(axis=1)
        self._end = cases.end

    def of(self, board: Any, case: Any) -> NDArray[Any]:
        """[..., O] what is seen at boards and cases."""
        seen = self._things.of(board)
        seen += self._rolls.take(case, axis=0)
        return seen

    def find(self, rows: NDArray[Any]) -> tuple[IntArray, IntArray]:
        """The boards [B] and the cases [B], of later throws or of an end, that observations [B, O] would show."""
        open_things, roll = rows[:, self._of_things] > 0, rows[:, self._of_rolls] > 0
        board = open_things @ (1 << np.arange(len(self._of_things)))
        return board, np.where(roll.any(axis=1), roll.argmax(axis=1), self._end)
