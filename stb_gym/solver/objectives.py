"""Objectives: a utility of the final score, and the unit of its values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray
from stb_gym.checks import check_bool
from stb_gym.games import Game, perfect_score
from stb_gym.messages import quoted

Utility = Callable[[IntArray], NDArray[Any]]


@dataclass(frozen=True)
class Objective:
    """A utility of the final score; players maximise its expectation.

    Utilities that differ by less than 1e-10 of their size count as equal, so leave out large constants.

    Args:
        name: the name that people read.
        utility: a function from final scores [T] to utilities [T], more is better. The utility of a score must not
            depend on the others, and T may be 0.
        unit: the unit of values.
        sign: value = sign x utility; -1 for points where fewer are better, so that values are points.
        target: the score to reach, if values are the probability of a score at least as good as it; else None.
        worst: maximise minus the utility, as the worst play does.

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
    worst: bool = False

    def __post_init__(self) -> None:
        check_bool("worst", self.worst)

    @checked
    def utilities(self, final_score: IntArray) -> NDArray[Any]:
        """Return the utilities [T] of final scores [T].

        Raises:
            ValueError: if the utility is not a finite number for each of them.
        """
        final_score = np.asarray(final_score)
        fault = f"the objective {quoted(self.name)} must give a finite number for each of {final_score.size} scores"
        utility = finite_numbers(self.utility(final_score), final_score.shape, fault)
        return -utility if self.worst else utility

    def illegal_utility(self, final_score: IntArray) -> float:
        """Return the utility of an illegal action: that of the worst final score.

        It is the worst score for players who maximise the utility. Players who minimise it get the same score, so they
        gain nothing by illegal actions.
        """
        utilities = self.utilities(final_score).tolist()
        return float(max(utilities) if self.worst else min(utilities))

    @property
    def opposite(self) -> "Objective":
        """The objective whose perfect play is the worst play for this one, in the same unit."""
        return Objective(f"worst {self.name}", self.utility, self.unit, -self.sign, worst=not self.worst)


def finite_numbers(values: Any, shape: tuple[int, ...], fault: str) -> NDArray[Any]:
    """Return values as an array of signed numbers of 64 bits, or of objects such as fractions.

    Raises:
        ValueError: with the message `fault`, unless they are finite numbers [*shape].
    """
    numbers = np.asarray(values)
    is_finite = numbers.dtype.kind in "biufO" and np.isfinite(numbers.astype(float)).all()
    if numbers.shape != shape or not is_finite:
        raise ValueError(fault)
    return numbers.astype(np.result_type(numbers, np.int64), copy=False)


Goal = str | Objective | Utility


def objective_of(game: Game, goal: Goal) -> Objective:
    """Turn a name, a function or an Objective into an Objective.

    Args:
        game: the rules.
        goal: "score" (fewest points, or most where more are better), "shut" (the probability of the game's perfect
            score or better: 0 in Shut the Box and Threes, the best score of a turn in other games), "at-most:T" (the
            probability of at most T points; "at-least:T" where more are better), an `Objective`, or a function from
            final scores [T] to utilities [T].

    Raises:
        ValueError: if there is no such objective, or an objective of your own has one of these names.
    """
    if callable(goal):
        goal = Objective(getattr(goal, "__name__", "utility"), goal)
    known = _known(game, goal.name if isinstance(goal, Objective) else str(goal))
    if isinstance(goal, Objective):
        if known not in (None, goal):
            raise ValueError(f"{quoted(goal.name)} is another objective of {game}: give yours another name")
        return goal
    if known is None:
        reach = _reach(game)
        raise ValueError(
            f"unknown objective {quoted(goal)}: allowed are score, shut, {reach}:T (T points, such as {reach}:5)"
        )
    return known


def is_named(game: Game, goal: Objective) -> bool:
    """Return whether `objective_of` makes the objective from its name, so that a file can store the name alone."""
    return goal == _known(game, goal.name)


def _known(game: Game, name: str) -> Objective | None:
    """Return the objective of the library that has a name, None if there is none."""
    if name == "score":
        return Objective(name, np.positive if game.more_is_better else np.negative, "points", game.sign)
    if name == "shut":
        return Objective(name, _Reaches(game.sign, perfect_score(game)), "probability", 1, perfect_score(game))
    if match := re.fullmatch(rf"{_reach(game)}:(\d{{1,15}})", name, re.ASCII):
        target = int(match[1])
        return Objective(f"{_reach(game)}:{target}", _Reaches(game.sign, target), "probability", 1, target)
    return None


def _reach(game: Game) -> str:
    return "at-least" if game.more_is_better else "at-most"


@dataclass(frozen=True)
class _Reaches:
    """1 for a score at least as good as the target, else 0. Not a function, so that equal ones compare equal."""

    sign: int
    target: int

    def __call__(self, score: IntArray) -> NDArray[np.int64]:
        return (self.sign * score >= self.sign * self.target).astype(np.int64)
