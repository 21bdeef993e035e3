"""How many dice are thrown in a turn of Shut the Box: always all of them, or one where the rules allow or demand it.

The first throw is with all dice. The number of every later one is chosen with the move before it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.game import IntArray

# When one die may be thrown instead of all, after the first throw.
ONE_DIE = {
    "never": "never",
    "low-sum": "while the open tiles add up to no more than a die has faces",
    "high-shut": "while no tile above the faces of a die is open",
    "any-time": "at any time",
}


@dataclass(frozen=True)
class Hand:
    """The rule of the dice; boards are bit masks of open tiles. For the fields see `ShutTheBox`."""

    dice: int
    faces: int
    one_die: str
    forced: bool

    @property
    def when(self) -> str:
        """When one die may be thrown, in words."""
        return ONE_DIE[self.one_die]

    @property
    def throws(self) -> tuple[int, ...]:
        """The numbers of dice that are thrown in a turn, all of them first."""
        return (self.dice,) if self.one_die == "never" or self.dice == 1 else (self.dice, 1)

    @property
    def choices(self) -> tuple[int, ...]:
        """The numbers of dice that a player chooses from, fewest first; a 0 if there is no choice."""
        return (0,) if self.forced or len(self.throws) == 1 else (1, self.dice)

    def may_throw(self, held: IntArray, dice: int) -> NDArray[np.bool_]:
        """[B] whether so many dice may be thrown at boards [B] that are not the first."""
        if len(self.throws) == 1:
            return held > 0
        may_one = self._may_throw_one(held)
        return (held > 0) & (may_one if dice == 1 else ~(may_one & self.forced))

    def next_throws(self, held: IntArray, ends: NDArray[np.bool_]) -> IntArray:
        """[B, C] how many dice are thrown next at boards [B] by every choice, -1 where that may not be chosen.

        Where the turn ends nothing is thrown, which has the first choice.
        """
        may_one = self._may_throw_one(held)[:, None]
        choices = np.array(self.choices)
        if len(choices) == 1:
            throws = np.where(may_one & self.forced, 1, self.dice)
        else:
            throws = np.where(may_one | (choices > 1), choices, -1)
        throws[ends] = np.where(np.arange(len(choices)) == 0, 0, -1)
        return throws

    def _may_throw_one(self, held: IntArray) -> NDArray[np.bool_]:
        if self.one_die == "low-sum":
            low_tiles = np.arange(1, self.faces + 1)  # one higher is more than the sum may be
            low_sum = (held[:, None] >> low_tiles - 1 & 1) @ low_tiles
            return (low_sum <= self.faces) & (held < 1 << self.faces)
        if self.one_die == "high-shut":
            return held < 1 << self.faces
        return np.full(len(held), self.one_die == "any-time")
