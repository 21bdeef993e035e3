"""Rules of the dice game known as Threes: throw the dice, keep at least one, throw the rest, until none is left.

The whole game, in pseudo-code:

    left, score = 5, 0
    while left:
        throw that many dice; a 3 is worth 0, any other face its number
        choose how many to keep, 1 or more, and keep those worth least
        score = score + what they are worth; left = left - how many they are
    fewest points are best

`points` is the points so far, or MOON.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.games.game import Afterstate, Game, Heuristic, Moves, Roll
from stb_gym.games.rolls import LARGEST_THROW_TABLE
from stb_gym.games.rules import rule

MOON = -1  # the score of a turn that begins with nothing but the highest face, where that wins


@dataclass(frozen=True, repr=False)
class Threes(Game):
    """One turn of Threes.

    The choice is how many dice to keep. The dice kept are always those worth least, because no other choice of as many
    dice is better. A roll is the dice sorted by worth, so threes come first. With `moon`, all dice of a first throw of
    nothing but the highest face are kept.

    Raises:
        ValueError: naming the field that is out of range, and the range.
    """

    dice: int = rule(5, "number of dice of the first throw", low=1, high=7, size=True)
    faces: int = rule(
        6, f"faces of every die; faces**dice is at most {LARGEST_THROW_TABLE:,}", low=2, high=20, size=True
    )
    free_face: int = rule(3, "the face that is worth nothing; 0 for none", low=0, high=20)
    moon: bool = rule(
        False, "a first throw of nothing but the highest face ends the turn with -1, which in a round wins at once"
    )

    name: ClassVar[str] = "threes"

    @cached_property
    def actions(self) -> tuple[int, ...]:
        """How many dice each action keeps."""
        return tuple(range(1, self.dice + 1))

    def worth(self, face: int) -> int:
        """Return the points of a die."""
        return 0 if face == self.free_face else face

    def start(self) -> Afterstate:
        return 0, self.dice

    def roll_of(self, throw: Roll) -> Roll:
        return tuple(sorted(throw, key=self.worth))

    def moves(self, afterstate: Afterstate, roll: Roll) -> dict[int, Afterstate]:
        points, dice = afterstate
        if self.moon and dice == self.dice and set(roll) == {self.faces}:
            return {dice - 1: (MOON, 0)}
        legal = {}
        for kept, face in enumerate(roll, 1):
            points += self.worth(face)
            legal[kept - 1] = (points, dice - kept)
        return legal

    def positions(self) -> Iterator[Afterstate]:
        """Yield every total up to the highest possible with each number of dice left, even if no throws reach it."""
        for left in range(self.dice + 1):
            yield from ((points, left) for points in range((self.dice - left) * self.faces + 1))
        if self.moon:
            yield MOON, 0

    def final_score(self, points: int) -> int:
        return points

    @property
    def observation_high(self) -> list[int]:
        return [self.dice * self.faces + self.moon] + [self.dice] * self.faces

    def observe(self, afterstate: Afterstate, roll: Roll) -> list[int]:
        """Return the points so far (one more than the most for the moon), then how many dice show 1, 2, and so on."""
        points = self.dice * self.faces + 1 if afterstate[0] == MOON else afterstate[0]
        return [points, *(roll.count(face) for face in range(1, self.faces + 1))]


def threes_only(game: Threes, moves: Moves) -> NDArray[np.integer]:
    """Keep the threes (the dice worth nothing) and nothing else; without any, the one lowest die."""
    threes = (moves.roll == game.free_face).sum(axis=1)
    return abs(moves.action - np.maximum(threes - 1, 0))


def take_all(game: Threes, moves: Moves) -> IntArray:
    """Keep all dice of every throw."""
    return -moves.action


HEURISTICS: dict[str, Heuristic] = {"threes-only": threes_only, "take-all": take_all}

# The mean reward of perfect play, by the name of the id.
REWARD_THRESHOLDS = {"Threes-v0": -6.253978525944823}
