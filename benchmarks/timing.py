"""Timing side by side: rounds of ours, theirs, ours, theirs, ..., so that other load on the machine slows both."""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any

Timer = Callable[[], float]  # does the work of one round and returns the seconds per unit of work
SECONDS = 0.1  # of a round


@dataclass
class Result:
    """The times of both sides, in seconds per unit of work, and what follows from them.

    Attributes:
        name: what was timed.
        peer: the name of the peer.
        ours: [R] seconds in each round.
        theirs: [R] the same for the peer; empty if it is not installed.
        ratios: [R] how many times as fast as the peer ours was in each round.
        goal: the least acceptable median of the ratios.
        met: whether the median is acceptable; None if the peer is not installed.
    """

    name: str
    peer: str
    ours: list[float]
    theirs: list[float]
    ratios: list[float]
    goal: float
    met: bool | None


@dataclass
class Comparison:
    """Something to time, and its peer.

    Attributes:
        name: what is timed.
        our_timer: times a round of ours.
        peer: the name of the peer.
        their_timer: times a round of the peer; None if it is not installed.
        goal: the least acceptable speed as a multiple of the peer's.
    """

    name: str
    our_timer: Timer
    peer: str
    their_timer: Timer | None
    goal: float

    def measure(self, rounds: int) -> Result:
        """Time both sides in turn, `rounds` times each, without the garbage collector, like `timeit`."""
        ours, theirs = [], []
        gc.disable()
        try:
            for _ in range(rounds):
                ours.append(self.our_timer())
                if self.their_timer:
                    theirs.append(self.their_timer())
        finally:
            gc.enable()
        ratios = [peer / own for own, peer in zip(ours, theirs, strict=False)]
        met = median(ratios) >= self.goal if ratios else None
        return Result(self.name, self.peer, ours, theirs, ratios, self.goal, met)


def time_limit(name: str, seconds: float, our_timer: Timer) -> Comparison:
    """Return a comparison with the longest acceptable time, in seconds per unit of work, as if it were a peer's."""
    return Comparison(name, our_timer, "time limit", lambda: seconds, 1)


def timer(call: Callable[..., Any], prepare: Callable[[], list[Any]] = list, units: int = 1) -> Timer:
    """Return a timer of a function; a round goes on until its calls took `SECONDS` together.

    Args:
        call: does `units` units of work.
        prepare: returns the arguments of a call. It is called before every call and is not timed.
        units: units of work in a call.
    """

    def seconds_per_unit() -> float:
        spent, calls = 0.0, 0
        while spent < SECONDS:
            arguments = prepare()
            began = time.perf_counter()
            call(*arguments)
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
