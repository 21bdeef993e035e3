"""Run the benchmarks: `python -m benchmarks [solving] [measuring] [vector] [large] [scalar]`."""

import json
import os
import platform
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from statistics import median
from typing import Annotated, Any, Literal

from cyclopts import App, CycloptsError, Parameter
from cyclopts.types import PositiveInt

from benchmarks.environments import large, scalar, vector
from benchmarks.solving import measuring, solving
from benchmarks.timing import Comparison, installed
from stb_gym.output import Column, Table, refuse, say

Name = Literal["solving", "measuring", "vector", "large", "scalar"]
BENCHMARKS: dict[Name, Callable[[], Iterator[Comparison]]] = {
    "solving": solving,
    "measuring": measuring,
    "vector": vector,
    "large": large,
    "scalar": scalar,
}
PACKAGES = ("numpy", "gymnasium", "quantecon", "envpool")


def run(
    *names: Name, json: Annotated[bool, Parameter(name="--json", negative=())] = False, rounds: PositiveInt = 11
) -> int:
    """Time the library beside its peers on this machine: a ratio of 5 says that ours is 5 times as fast.

    A ratio is the median of all rounds, followed by the least and the largest. The last column shows the speed that
    is asked for, and whether the median meets it.

    Args:
        names: Benchmarks to run (default: all).
        json: Print JSON with the times of every round instead of a table.
        rounds: How often ours and the peer are timed, in turns.

    Returns:
        The exit status: 130 after ctrl-C, otherwise 0.
    """
    comparisons: list[Comparison] = []
    status = 0
    try:
        for name in names or BENCHMARKS:
            say(f"preparing {name}", error=True)
            for comparison in BENCHMARKS[name]():
                comparison.measure(rounds)
                comparisons.append(comparison)
    except KeyboardInterrupt:
        say("benchmarks: interrupted; the results are those so far", error=True)
        status = 130
    if json:
        say(as_json(comparisons))
    else:
        say(as_table(comparisons))
        say("\n" + ", ".join(f"{name} {value}" for name, value in machine().items()))
    return status


def as_table(comparisons: list[Comparison]) -> Table:
    """Return a row for each comparison: the medians of both sides, their ratio and the ratio that is asked for."""
    columns = {
        "": Column("", [each.name for each in comparisons]),
        "ours": Column(str, [_quantity(median(each.ours), each.unit) for each in comparisons]),
        "peer": Column("", [each.peer for each in comparisons]),
        "theirs": Column(str, [_theirs(each) for each in comparisons]),
        "ratio": Column(_three_figures, [median(each.ratios) if each.ratios else None for each in comparisons]),
        "least": Column(_three_figures, [min(each.ratios, default=None) for each in comparisons]),
        "most": Column(_three_figures, [max(each.ratios, default=None) for each in comparisons]),
        "asked for": Column("", [_asked(each) for each in comparisons]),
    }
    return Table(columns)


def as_json(comparisons: list[Comparison]) -> str:
    """Return the seconds per call, step or action in all rounds, the median ratios, and the machine."""
    results = [
        {
            "name": each.name,
            "peer": each.peer or None,
            "unit": each.unit,
            "ratio": median(each.ratios) if each.ratios else None,
            "least_ratio": each.least_ratio,
            "most_seconds": each.most_seconds,
            "met": each.met,
            "ours": each.ours,
            "theirs": each.theirs,
        }
        for each in comparisons
    ]
    return json.dumps({"machine": machine(), "results": results}, indent=2)


def machine() -> dict[str, Any]:
    """Return the number of cores and the versions of Python and of the packages that are compared."""
    versions = {package: version(package) for package in PACKAGES if installed(package)}
    return {"cores": os.cpu_count(), "Python": platform.python_version(), **versions}


def _theirs(comparison: Comparison) -> str:
    if comparison.theirs:
        return _quantity(median(comparison.theirs), comparison.unit)
    return "not installed" if comparison.peer else ""


def _asked(comparison: Comparison) -> str:
    verdict = {True: ": met", False: ": missed", None: ""}[comparison.met]
    if comparison.most_seconds is not None:
        sign = "<=" if comparison.unit == "ms" else ">="
        return f"ours {sign} {_quantity(comparison.most_seconds, comparison.unit)}{verdict}"
    return "" if comparison.least_ratio is None else f"ratio >= {comparison.least_ratio:g}{verdict}"


def _quantity(seconds: float, unit: str) -> str:
    """Return seconds per unit of work as text: milliseconds of a call, or a rate."""
    if unit == "ms":
        return f"{_three_figures(1000 * seconds)} ms"
    scale, prefix = (1e6, "M") if seconds <= 1e-6 else (1e3, "k")
    return f"{1 / (seconds * scale):.3g} {prefix} {unit}"


def _three_figures(number: float) -> str:
    """Return a number with three significant figures, never as a power of ten."""
    return f"{float(f'{number:.3g}'):.10g}"


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status: 2 after wrong arguments."""
    app = App(name="benchmarks", help_format="plaintext", default_command=run, version_flags=())
    try:
        return int(app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0)
    except CycloptsError as error:
        return refuse("benchmarks", error)


if __name__ == "__main__":
    sys.exit(main())
