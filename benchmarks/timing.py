"""Timing side by side: rounds of ours, theirs, ours, theirs, ..., so that what slows the machine slows both."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any

from stb_gym.output import Progress

Timer = Callable[[], float]  # does the work of a round, and returns the seconds that one unit of it took


@dataclass(frozen=True)
class Comparison:
    """Something to time, and what to hold it against.

    Attributes:
        name: what is timed.
        unit: "ms" of a call, or a rate: "steps/s", "actions/s".
        ours: times a round of ours.
        peer: the name of the peer, or "" if there is none.
        theirs: times a round of the peer; None if there is no peer or it is not installed.
        least_ratio: how many times as fast as the peer we mean to be. None: for information only.
        most_seconds: how many seconds a call, or a step, may take. None: for information only.
        rounds: how many rounds, R.
    """

    name: str
    unit: str
    ours: Timer
    peer: str = ""
    theirs: Timer | None = None
    least_ratio: float | None = None
    most_seconds: float | None = None
    rounds: int = 21


@dataclass(frozen=True)
class Result:
    """What the rounds of a comparison gave.

    Attributes:
        comparison: what was timed.
        ours, theirs: [R] seconds that one unit of work took in each round; `theirs` is empty without a peer.
    """

    comparison: Comparison
    ours: list[float]
    theirs: list[float]

    @property
    def ratios(self) -> list[float]:
        """[R] how many times as fast as the peer we were in each round; empty without a peer."""
        return [their / our for our, their in zip(self.ours, self.theirs, strict=False)]

    @property
    def met(self) -> bool | None:
        """Whether the median meets the bar; None without a bar or a peer to hold against."""
        if self.comparison.most_seconds is not None:
            return median(self.ours) <= self.comparison.most_seconds
        if self.comparison.least_ratio is not None and self.ratios:
            return median(self.ratios) >= self.comparison.least_ratio
        return None


def measure(comparison: Comparison) -> Result:
    """Time both sides in turn, round by round, and say on standard error how far it is."""
    ours, theirs = [], []
    with Progress(comparison.name, comparison.rounds, "rounds") as progress:
        for done in range(1, comparison.rounds + 1):
            ours.append(comparison.ours())
            if comparison.theirs is not None:
                theirs.append(comparison.theirs())
            progress.tell(done)
    return Result(comparison, ours, theirs)


def timer(
    call: Callable[[Any], Any], prepare: Callable[[], Any] = lambda: None, units: int = 1, seconds: float = 0.1
) -> Timer:
    """A timer of `call(prepare())`, in which `prepare` is not timed.

    Args:
        call: does `units` units of work.
        prepare: makes its argument.
        units: of work in a call.
        seconds: a round goes on until the calls took that long together, and makes one call at least.
    """

    def mean_seconds() -> float:
        spent, calls = 0.0, 0
        while spent < seconds:
            argument = prepare()
            began = time.perf_counter()
            call(argument)
            spent += time.perf_counter() - began
            calls += 1
        return spent / (calls * units)

    return mean_seconds


def installed(module: str) -> Any:
    """The module, or None if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None
