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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray
from stb_gym.games.game import LARGEST_THROW_TABLE, Afterstate, Game, Heuristic, Moves, Roll, dice_in_words
from stb_gym.games.rules import document_fields, rule

MOON = -1  # the score of a turn that begins with nothing but the highest face, where that wins


@document_fields
@dataclass(frozen=True, repr=False)
class Threes(Game):
    """One turn of Threes.

    The choice is how many dice to keep. The dice kept are always those worth least, because no other choice of as many
    dice is better. A roll is the dice sorted by worth, so threes come first. With `moon`, all dice of a first throw of
    nothing but the highest face are kept.

    Raises:
        ValueError: naming the field that is out of range, and the range.

    Example:
        >>> import stb_gym
        >>> stb_gym.Threes(dice=2).moves((0, 2), (1, 6))  # keep the 1, or both dice
        {0: (1, 1), 1: (7, 0)}
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
    position_options: ClassVar[Mapping[str, str]] = {
        "points": "points so far (default 0)",
        "roll": "the dice as thrown",
        "dice": "how many dice were thrown",
    }

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

    def describe_afterstate(self, points: int, dice: int) -> str:
        return f"{points_in_words(points)}, {dice_in_words(dice)} left"

    def describe_move(self, action: int, goes_on: bool = True, roll: Roll | None = None) -> str:
        kept = self.actions[action]
        dice = "" if roll is None else f" ({' '.join(map(str, roll[:kept]))})"
        return f"keep {kept}{dice}"


def points_in_words(points: int) -> str:
    """Return points in words: "1 point", "4 points" or "the moon"."""
    if points == MOON:
        return "the moon"
    return "1 point" if points == 1 else f"{points} points"


def threes_only(game: Threes, moves: Moves) -> NDArray[np.integer]:
    """Keep the threes (the dice worth nothing) and nothing else; without any, the one lowest die."""
    threes = (moves.roll == game.free_face).sum(axis=1)
    return abs(moves.action - np.maximum(threes - 1, 0))


def take_all(game: Threes, moves: Moves) -> IntArray:
    """Keep all dice of every throw."""
    return -moves.action


HEURISTICS: dict[str, Heuristic] = {"threes-only": threes_only, "take-all": take_all}

# What the environment is made with: the mean reward of perfect play.
ENVIRONMENTS = {"Threes-v0": {"reward_threshold": -6.253978525944823}}
