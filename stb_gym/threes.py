"""Rules of the dice game known as Threes: throw the dice, keep at least one, throw the rest, until none is left.

Every die kept is worth its face, but one face, usually the 3, is worth nothing. `held` is the points so far, or MOON.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Edges, IntArray, check_flag, check_integer, check_names, integers, rolls, rules_in_words

MOON = -1  # the score of a turn that begins with nothing but the highest face, where that is a win


@dataclass(frozen=True, repr=False)
class Threes:
    """One turn of Threes.

    The choice is how many dice to keep; kept are always those worth least (any other choice of as many is no better).
    A roll is the dice sorted by worth, so threes come first.

    Attributes:
        dice: number of dice of the first throw.
        faces: faces of every die.
        free_face: the face that is worth nothing; 0 for none. Every other face is worth its number.
        moon: a first throw of nothing but the highest face ends the turn; all its dice are kept, the score is -1, and
            in a round that wins at once.

    Raises:
        ValueError: naming the field that is out of range, and the range.
    """

    dice: int = 5
    faces: int = 6
    free_face: int = 3
    moon: bool = False

    name: ClassVar[str] = "threes"

    def __post_init__(self) -> None:
        check_integer("dice", self.dice, 1, 7)
        check_integer("faces", self.faces, 2, 20)
        check_integer("free_face", self.free_face, 0, 20)
        check_flag("moon", self.moon)

    __repr__ = rules_in_words

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

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        check_names("position", where, ("points", "dice", "roll"))
        roll = where.get("roll")
        if roll is not None:
            roll = integers("dice shown", roll, 1, self.faces)
        dice = where.get("dice", self.dice if roll is None else len(roll))
        check_integer("number of dice", dice, 1, self.dice)
        if roll is not None and len(roll) != dice:
            raise ValueError(f"roll shows {len(roll)} dice, but {dice} are thrown")
        points = where.get("points", 0)
        check_integer(f"points with {dice} of {self.dice} dice left", points, 0, (self.dice - dice) * self.faces)
        return points, dice, None if roll is None else self.roll_of(np.array([roll], np.uint8))[0]

    def describe_state(self, held: int, dice: int) -> str:
        if held == MOON:
            return "the moon"
        return f"{held} point{'s' * (held != 1)}, {dice} {'die' if dice == 1 else 'dice'} left"

    def describe_roll(self, roll: NDArray[np.uint8]) -> str:
        return ",".join(map(str, roll)) or "none"

    def describe_move(self, action: int) -> dict[str, Any]:
        return {"keep": self.moves[action]}
