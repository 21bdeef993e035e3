"""What a player wants of a turn: a utility of its final score, and the unit in which people read its value."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import IntArray


@dataclass(frozen=True)
class Objective:
    """A utility of the final score; players maximise its expectation.

    Attributes:
        name: "score" (fewest points), "shut" (chance of score 0 or less) or "at-most:T" (chance of at most T).
        target: T, or None for "score".
    """

    name: str
    target: int | None

    @property
    def sign(self) -> int:
        """Natural value = sign x utility: points are counted as such, although fewer are better."""
        return -1 if self.target is None else 1

    @property
    def unit(self) -> str:
        """What values are counted in."""
        return "points" if self.target is None else "probability"

    def utility(self, final_score: IntArray) -> NDArray[np.int64]:
        """[S] the utility of every final score."""
        if self.target is None:
            return -final_score.astype(np.int64)
        return (final_score <= self.target).astype(np.int64)


def parse_objective(name: Any) -> Objective:
    """The objective of a name.

    Raises:
        ValueError: if there is no such objective.
    """
    if name == "score":
        return Objective(name, None)
    if name == "shut":
        return Objective(name, 0)
    if isinstance(name, str) and (match := re.fullmatch(r"at-most:(\d{1,15})", name, re.ASCII)):
        return Objective(f"at-most:{int(match[1])}", int(match[1]))
    raise ValueError(f"unknown objective {name!r}: allowed are score, shut, at-most:T (T points, such as at-most:5)")
