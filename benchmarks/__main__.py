"""Run the benchmarks: `python -m benchmarks [solving] [measuring] [vector] [scalar] [training] [studies]`."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from statistics import median
from typing import Any, Literal

import tyro

from benchmarks.environments import scalar, vector
from benchmarks.measuring import measuring
from benchmarks.solving import solving
from benchmarks.studies import studies
from benchmarks.timing import Comparison, Result, measure
from benchmarks.training import training
from stb_gym.output import Column, Table, say

Name = Literal["solving", "measuring", "vector", "scalar", "training", "studies"]
BENCHMARKS: dict[Name, Callable[[], Iterator[Comparison]]] = {
    "solving": solving,
    "measuring": measuring,
    "vector": vector,
    "scalar": scalar,
    "training": training,
    "studies": studies,
}
PACKAGES = ("numpy", "gymnasium", "torch", "stable-baselines3", "sb3-contrib", "quantecon", "envpool", "ray")


@dataclass(frozen=True)
class Arguments:
    """Time the package against its peers, side by side: a ratio of 5 says that ours is 5 times as fast.

    A ratio is the median of the rounds', followed by the least and the largest. The last column is the bar we mean to
    meet and whether the median does; a comparison without one is for information.
    """

    names: tyro.conf.Positional[tuple[Name, ...]] = ()
    """Benchmarks to run (default: all)."""
    json: bool = False
    """Print JSON with the times of every round instead of a table."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = tyro.cli(Arguments, args=arguments, prog="benchmarks")
    results: list[Result] = []
    interrupted = False
    try:
        for name in options.names or BENCHMARKS:
            say(f"preparing {name}", error=True)
            for comparison in BENCHMARKS[name]():
                results.append(measure(comparison))
    except KeyboardInterrupt:
        interrupted = True
    if options.json:
        say(json.dumps({"machine": machine(), "results": [to_json(result) for result in results]}, indent=2))
    else:
        say(results_table(results))
        say("\n" + ", ".join(f"{name} {value}" for name, value in machine().items()))
    if interrupted:
        say("benchmarks: interrupted; the results are those so far", error=True)
    return 130 if interrupted else 0


def results_table(results: list[Result]) -> Table:
    """A row for each comparison, with the least and the largest ratio of a round in brackets."""
    ratios = [result.ratios for result in results]
    columns = {
        "": Column("", [result.comparison.name for result in results]),
        "ours": Column(str, [quantity(result.ours, result.comparison.unit) for result in results]),
        "peer": Column("", [result.comparison.peer for result in results]),
        "theirs": Column(str, [theirs(result) for result in results]),
        "ratio": Column(figures, [median(each) if each else None for each in ratios]),
        "(range)": Column("", [f"({figures(min(each))} - {figures(max(each))})" if each else None for each in ratios]),
        "bar": Column("", [bar(result) for result in results]),
    }
    return Table(columns)


def theirs(result: Result) -> str:
    """The median of the peer, if there is one and it is installed."""
    if result.theirs:
        return quantity(result.theirs, result.comparison.unit)
    return "not installed" if result.comparison.peer else ""


def bar(result: Result) -> str:
    """What we mean to meet, and whether we do."""
    comparison = result.comparison
    verdict = {True: ": met", False: ": missed", None: ""}[result.met]
    if comparison.most_seconds is not None:
        sign = "<=" if comparison.unit == "ms" else ">="
        return f"ours {sign} {quantity([comparison.most_seconds], comparison.unit)}{verdict}"
    return "" if comparison.least_ratio is None else f"ratio >= {comparison.least_ratio:g}{verdict}"


def quantity(seconds: list[float], unit: str) -> str:
    """The median of seconds per unit of work, as people read it."""
    if unit == "ms":
        return f"{1000 * median(seconds):.3g} ms"
    rate = 1 / median(seconds)
    scale, prefix = (1e6, "M") if rate >= 1e6 else (1e3, "k")
    return f"{rate / scale:.3g} {prefix} {unit}"


def figures(ratio: float) -> str:
    """A ratio to three figures, and never as a power of ten."""
    return f"{float(f'{ratio:.3g}'):.10g}"


def to_json(result: Result) -> dict[str, Any]:
    """A result with all its rounds; times in seconds per call, step or action."""
    comparison = result.comparison
    return {
        "name": comparison.name,
        "peer": comparison.peer or None,
        "seconds_per": "call" if comparison.unit == "ms" else comparison.unit.removesuffix("s/s"),
        "ours_median": median(result.ours),
        "theirs_median": median(result.theirs) if result.theirs else None,
        "ratio_median": median(result.ratios) if result.ratios else None,
        "ratio_min": min(result.ratios, default=None),
        "ratio_max": max(result.ratios, default=None),
        "least_ratio": comparison.least_ratio,
        "most_seconds": comparison.most_seconds,
        "met": result.met,
        "ours": result.ours,
        "theirs": result.theirs,
    }


def machine() -> dict[str, Any]:
    """What the benchmarks ran on."""
    found: dict[str, Any] = {"cores": os.cpu_count(), "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


if __name__ == "__main__":
    sys.exit(main())
