"""Timing side by side: rounds of ours, theirs, ours, theirs, ..., so that other load on the machine slows both."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from statistics import median
from typing import Any

from stb_gym.output import Progress

Timer = Callable[[], float]  # does the work of one round and returns the seconds per unit of work
SECONDS = 0.1  # of a round


@dataclass
class Comparison:
    """Something to time, its peer, and the times of both.

    Attributes:
        name: what is timed.
        unit: "ms" for the time of a call, or a rate such as "steps/s".
        our_timer: times a round of ours.
        peer: the name of the peer, or "" without one.
        their_timer: times a round of the peer; None without a peer, or if it is not installed.
        least_ratio: the least acceptable speed as a multiple of the peer's; None accepts any.
        most_seconds: the most acceptable seconds for a call or a step; None accepts any.
        ours: [R] seconds per unit of work in each round.
        theirs: [R] the same for the peer; empty without one.
    """

    name: str
    unit: str
    our_timer: Timer
    peer: str = ""
    their_timer: Timer | None = None
    least_ratio: float | None = None
    most_seconds: float | None = None
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def measure(self, rounds: int) -> None:
        """Time both sides in turn, with progress on standard error.

        Args:
            rounds: how often each side is timed.
        """
        with Progress(self.name, rounds, "rounds") as progress:
            for done in range(1, rounds + 1):
                self.ours.append(self.our_timer())
                if self.their_timer is not None:
                    self.theirs.append(self.their_timer())
                progress.tell(done)

    @property
    def ratios(self) -> list[float]:
        """[R] how many times as fast as the peer ours was in each round; empty without a peer."""
        return [theirs / ours for ours, theirs in zip(self.ours, self.theirs, strict=False)]

    @property
    def met(self) -> bool | None:
        """Whether the median is acceptable; None if any is, or if the peer is not installed."""
        if self.most_seconds is not None:
            return median(self.ours) <= self.most_seconds
        if self.least_ratio is not None and self.ratios:
            return median(self.ratios) >= self.least_ratio
        return None


def timer(call: Callable[[], Any], prepare: Callable[[], Any] = lambda: None, units: int = 1) -> Timer:
    """Return a timer of a function; a round goes on until its calls took `SECONDS` together.

    Args:
        call: does `units` units of work.
        prepare: is called before every call and is not timed.
        units: units of work in a call.
    """

    def seconds_per_unit() -> float:
        spent, calls = 0.0, 0
        while spent < SECONDS:
            prepare()
            began = time.perf_counter()
            call()
            spent += time.perf_counter() - began
            calls += 1
        return spent / (calls * units)

    return seconds_per_unit


def installed(module: str) -> Any:
    """Import a module and return it; return None if it is not installed."""
    try:
        return import_module(module)
    except ImportError:
        return None
