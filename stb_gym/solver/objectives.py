"""What a player wants of a turn: a utility of its final score, and the unit in which people read its value."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray

Utility = Callable[[IntArray], NDArray[Any]]


@dataclass(frozen=True)
class Objective:
    """A utility of the final score; players maximise its expectation.

    Utilities that differ by less than 1e-10 of their size count as equal, so a large constant is better left out.

    Args:
        name: what it is called.
        utility: from final scores [S] to their utilities [S], more is better.
        unit: what values are counted in.
        sign: value = sign x utility; -1 for points where fewer are better, so that they are counted as such.
        target: of the objectives that are the chance to reach a score, that score.

    Example:
        >>> import stb_gym
        >>> squares = stb_gym.Objective("squares", lambda points: -(points**2))
        >>> round(stb_gym.solve(stb_gym.ShutTheBox(), squares).value, 3)
        -182.491
    """

    name: str
    utility: Utility
    unit: str = "utility"
    sign: int = 1
    target: int | None = None

    def utilities(self, final_score: IntArray) -> NDArray[Any]:
        """[S] the utility of every final score [S].

        Raises:
            ValueError: if the utility is not a finite number for each of them.
        """
        utility = np.asarray(self.utility(final_score))
        finite = utility.dtype.kind in "biu" or (
            utility.dtype.kind in "fO" and np.isfinite(utility.astype(float)).all()
        )
        if utility.shape != final_score.shape or not finite:
            raise ValueError(
                f"the objective {self.name} must give a finite number for each of {final_score.size} scores"
            )
        return utility

    def forfeit(self, final_score: IntArray) -> float:
        """The utility of an illegal action, given all final scores there are: the least; and for an opposite as well.

        Whoever wants the worst is not helped by what is against the rules: it counts as it does for everybody.
        """
        if isinstance(self.utility, _Opposite):
            return -self.utility.objective.forfeit(final_score)
        return float(self.utilities(final_score).min())

    @property
    def opposite(self) -> "Objective":
        """The worst for this objective, in the same unit."""
        return Objective(f"worst {self.name}", _Opposite(self), self.unit, -self.sign)


Goal = str | Objective | Utility


def objective_of(game: Game, goal: Goal) -> Objective:
    """The objective that a goal means in a game.

    Args:
        game: the rules.
        goal: "score" (fewest points, or most where more are better), "shut" (the chance of the game's perfect score, 0
            in Shut the Box and Threes, or better), "at-most:T" (the chance of at most T points; "at-least:T" where more
            are better), an `Objective`, or any function from final scores [S] to utilities [S].

    Raises:
        ValueError: if there is no such objective.
    """
    if isinstance(goal, Objective):
        return goal
    if isinstance(goal, str):
        return _named(goal, game.sign, game.perfect_score)
    if callable(goal):
        return Objective(getattr(goal, "__name__", "utility"), goal)
    return _named(repr(goal), game.sign, game.perfect_score)  # which refuses it


def is_named(game: Game, goal: Objective) -> bool:
    """Whether an objective is one that has a name, and none of one's own, even under such a name."""
    try:
        return goal == objective_of(game, goal.name)
    except ValueError:
        return False


@dataclass(frozen=True)
class _Points:
    """The points, times a sign that makes more of them better."""

    sign: int

    def __call__(self, score: IntArray) -> NDArray[np.int64]:
        return self.sign * score.astype(np.int64)


@dataclass(frozen=True)
class _Opposite:
    """What is best for it is worst for an objective."""

    objective: Objective

    def __call__(self, score: IntArray) -> NDArray[Any]:
        utility = self.objective.utilities(score)
        return -utility.astype(float if utility.dtype.kind in "bu" else utility.dtype)


@dataclass(frozen=True)
class _Reaches:
    """1 for a score at least as good as the target, else 0."""

    sign: int
    target: int

    def __call__(self, score: IntArray) -> NDArray[np.int64]:
        return (self.sign * score >= self.sign * self.target).astype(np.int64)


def _named(name: str, sign: int, perfect: int) -> Objective:
    reach = "at-least" if sign > 0 else "at-most"
    if name == "score":
        return Objective(name, _Points(sign), "points", sign)
    if name == "shut":
        return Objective(name, _Reaches(sign, perfect), "probability", 1, perfect)
    if match := re.fullmatch(rf"{reach}:(\d{{1,15}})", name, re.ASCII):
        target = int(match[1])
        return Objective(f"{reach}:{target}", _Reaches(sign, target), "probability", 1, target)
    raise ValueError(f"unknown objective {name!r}: allowed are score, shut, {reach}:T (T points, such as {reach}:5)")
