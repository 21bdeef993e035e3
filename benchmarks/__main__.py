"""Run the benchmarks: `python -m benchmarks [solving] [vector] [scalar] [learners]`."""

import os
import platform
import sys
from dataclasses import asdict
from importlib.metadata import version
from json import dumps
from statistics import median
from typing import Annotated, Literal

from cyclopts import App, CycloptsError, Parameter
from cyclopts.types import PositiveInt
from matplotlib.ticker import EngFormatter

from benchmarks.environments import scalar, vector
from benchmarks.learners import learners
from benchmarks.solving import solving
from benchmarks.timing import Result, installed
from stb_gym.console import refuse, say

Name = Literal["solving", "vector", "scalar", "learners"]
BENCHMARKS = {"solving": solving, "vector": vector, "scalar": scalar, "learners": learners}
LONG = "learners"  # takes minutes a round, and is run only if it is named
ROW = "{:42}{:>10}  {:22}{:>14}{:>9}{:>9}{:>9}  {}"  # of the table


def run(
    *names: Name, json: Annotated[bool, Parameter(name="--json", negative=())] = False, rounds: PositiveInt = 11
) -> None:
    """Time the library beside its peers on this machine: a ratio of 5 says that ours is 5 times as fast.

    Times are medians of all rounds, for a call, or for a step of one environment. A ratio is the median of all rounds,
    followed by the least and the largest. The last column shows the ratio that is asked for, and whether the median
    meets it. A time limit that is asked for is shown like a peer.

    Args:
        names: Benchmarks to run (default: all but learners, which trains for minutes in each round).
        json: Print a JSON object for each line, with the seconds of every round.
        rounds: How often ours and the peer are timed, in turns.
    """
    machine = {"cores": os.cpu_count(), "Python": platform.python_version()}
    machine |= {name: version(name) for name in ("numpy", "gymnasium", "quantecon", "envpool") if installed(name)}
    if not json:
        say(", ".join(f"{name} {value}" for name, value in machine.items()) + "\n")
        say(ROW.format("", "ours", "peer", "theirs", "ratio", "least", "most", "asked for"))
    for name in names or [each for each in BENCHMARKS if each != LONG]:
        for comparison in BENCHMARKS[name]():
            result = comparison.measure(rounds)
            say(dumps(asdict(result) | {"machine": machine}) if json else as_row(result))


def as_row(result: Result) -> str:
    """Return a line of the table."""
    duration = EngFormatter("s", places=1)
    ours = duration(median(result.ours))
    if not result.ratios:
        return ROW.format(result.name, ours, result.peer, "not installed", "", "", "", "")
    ratios = [f"{ratio:.2f}" for ratio in (median(result.ratios), min(result.ratios), max(result.ratios))]
    asked = f"{result.goal:g}: {'met' if result.met else 'missed'}"
    return ROW.format(result.name, ours, result.peer, duration(median(result.theirs)), *ratios, asked)


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status: 0, or 2 after wrong arguments."""
    app = App(name="python -m benchmarks", help_format="plaintext", default_command=run, version_flags=())
    try:
        return app(words, exit_on_error=False, print_error=False, result_action="return_value") or 0
    except CycloptsError as error:
        return refuse("benchmarks", error)


if __name__ == "__main__":
    sys.exit(main())
