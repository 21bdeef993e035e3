"""Rules of the dice game known as Threes: throw the dice, keep at least one, throw the rest, until none is left.

The whole game, in pseudo-code:

    left, score = 5, 0
    while left:
        throw that many dice; a 3 is worth 0, any other face its number
        choose how many to keep, 1 or more, and keep those worth least
        score = score + what they are worth; left = left - how many they are
    fewest points are best

`held` is the points so far, or MOON.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.fields import rule
from stb_gym.games.game import LARGEST_THROW_TABLE, Edges, Game, IntArray, rolls

MOON = -1  # the score of a turn that begins with nothing but the highest face, where that is a win


@dataclass(frozen=True, repr=False)
class Threes(Game):
    """One turn of Threes.

    The choice is how many dice to keep; kept are always those worth least (any other choice of as many is no better).
    A roll is the dice sorted by worth, so threes come first. With `moon`, all dice of a first throw of nothing but the
    highest face are kept.

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
    def moves(self) -> tuple[int, ...]:
        """How many dice each action keeps."""
        return tuple(range(1, self.dice + 1))

    @cached_property
    def observation_high(self) -> IntArray:
        return np.array([self.dice * self.faces + self.moon] + [self.dice] * self.faces, np.uint8)

    @cached_property
    def worth(self) -> NDArray[np.uint8]:
        """[faces + 1] points of each face; the first entry stands for no die."""
        points = np.arange(self.faces + 1, dtype=np.uint8)
        return np.where(points == self.free_face, np.uint8(0), points)

    def start(self) -> tuple[int, int]:
        return 0, self.dice

    def states(self) -> tuple[IntArray, IntArray]:
        most_points = [(self.dice - left) * self.faces for left in range(self.dice + 1)]
        held = np.concatenate([np.arange(most + 1) for most in most_points])
        dice = np.repeat(np.arange(self.dice + 1), np.array(most_points) + 1)
        return (np.append(held, MOON), np.append(dice, 0)) if self.moon else (held, dice)

    def level(self, held: IntArray, dice: IntArray) -> IntArray:
        return dice

    def roll_of(self, throws: NDArray[np.uint8]) -> NDArray[np.uint8]:
        by_worth = np.argsort(self.worth, kind="stable")[1:].astype(np.uint8)
        place = np.argsort(by_worth).astype(np.uint8)
        return by_worth[np.sort(place[throws - 1], axis=1)]

    def edges(self, held: IntArray, dice: int) -> Edges:
        points = np.cumsum(self.worth[rolls(self, dice).shown], axis=1, dtype=np.int64)  # [R, dice]
        state, roll, action = (index.ravel() for index in np.indices((len(held), *points.shape)))
        edges = Edges(state, roll, action, held[state] + points[roll, action], dice - 1 - action)
        if not self.moon or dice < self.dice:
            return edges
        of_moon = (rolls(self, dice).shown == self.faces).all(axis=1)[roll]
        edges = edges._replace(next_held=np.where(of_moon, MOON, edges.next_held))
        return Edges(*(column[~of_moon | (action == dice - 1)] for column in edges))

    def most_edges(self) -> int:
        return sum(
            ((self.dice - left) * self.faces + 1) * len(rolls(self, left).counts) * left
            for left in range(self.dice + 1)
        )

    def final_score(self, held: IntArray) -> IntArray:
        return held

    def observe(self, held: IntArray, dice: int) -> NDArray[np.uint8]:
        """The points so far (the moon is one more than can be), then how many dice show 1, 2, and so on."""
        shown = rolls(self, dice).shown
        seen = np.zeros((len(held), len(shown), len(self.observation_high)), np.uint8)
        seen[:, :, 0] = np.where(held == MOON, self.dice * self.faces + 1, held)[:, None]
        seen[:, :, 1:] = (shown[:, :, None] == np.arange(1, self.faces + 1)).sum(axis=1)
        return seen

    def smaller(self) -> "Iterator[Threes]":
        return (replace(self, dice=dice) for dice in range(self.dice - 1, 0, -1))
