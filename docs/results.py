"""Write what the pages show of docs/results: `python -m docs.results`.

It writes a table of final regrets for each task, and one of the departures from the textbook, into the page of agents,
and draws the picture of the README.
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from stb_gym.output import write_text
from training.compare import baselines
from training.experiments.departures import KEY
from training.report import draw_curves
from training.results import (
    Task,
    bootstrap_interval,
    by_agent,
    by_task,
    curve_over_seeds,
    interquartile_mean,
    read_measurements,
    read_numbers,
)

DOCS = Path(__file__).parent
RESULTS = DOCS / "results" / "curves.csv.gz"
DEPARTURES = DOCS / "results" / "departures.csv.gz"
PAGE = DOCS / "agents.md"
HEADINGS = {"nine-tiles": "Nine tiles", "threes": "Threes", "twelve-tiles": "Twelve tiles", "the-300": "The 300"}
OF_DEPARTURES = "What differs from the textbook, and what it is worth"
TASK = "nine-tiles"
LEARNERS = ("afterstates", "certainty-equivalence", "fitted-q", "ppo", "dqn")
OF_THE_LIBRARY = ("sb3-maskable-ppo-tuned", "sb3-maskable-ppo", "sb3-ppo", "sb3-dqn")
AGENTS = tuple(f"{name}, 1m" for name in LEARNERS + OF_THE_LIBRARY)  # all with a million steps
BASELINES = ("random", "fewest-then-biggest", "greedy-step")


def draw(folder: Path, results: Path = RESULTS) -> None:
    """Write curves.png into a folder.

    Args:
        folder: the folder.
        results: a results file with runs of all AGENTS on nine tiles.
    """
    task, measurements = by_task(read_measurements([results]))[TASK]
    runs = by_agent(measurements)
    curves = {name: curve_over_seeds(runs[name], task.metric) for name in AGENTS}
    evaluations = baselines(task)
    regrets = {name: evaluations[name].regret for name in BASELINES}
    draw_curves(folder / "curves.png", curves, regrets, task.heading)


def table(task: Task, measurements: pd.DataFrame) -> str:
    """Return the final regrets on a task as Markdown: a row for each algorithm, a column for each number of steps.

    A cell has the interquartile mean of the regret, its 95% interval, and the mean time of a training in minutes.
    """
    ends = measurements.sort_values("steps").groupby(["algorithm", "budget", "seed"], as_index=False).last()
    cells = {}
    for (algorithm, budget), runs in ends.groupby(["algorithm", "budget"]):
        minutes = runs["seconds"].mean() / 60
        cells[algorithm, budget] = cell(runs[task.metric], f"<br>{minutes:.2g} min")
    budgets = sorted(ends["budget"].unique())
    best = ends.groupby("algorithm")[task.metric].min().sort_values(ascending=False)
    lines = [
        f"| agent | {' | '.join(f'{budget / 1e6:g}M' for budget in budgets)} |",
        f"| --- |{' ---: |' * len(budgets)}",
    ]
    for algorithm in best.index:
        row = [cells.get((algorithm, budget), "") for budget in budgets]
        lines.append(f"| `{algorithm}` | {' | '.join(row)} |")
    return "\n".join(lines)


def departures_table(results: pd.DataFrame) -> str:
    """Return the final regrets of learners with single changes, of three seeds or more, as Markdown."""
    by_change = results.groupby(["algorithm", "change", "study"], sort=False)["regret"]
    cells = by_change.apply(lambda regrets: cell(regrets) if len(regrets) >= 3 else "")
    rows = cells.unstack(fill_value="")
    lines = [f"| learner | change | {' | '.join(rows.columns)} |", f"| --- | --- |{' ---: |' * len(rows.columns)}"]
    lines += [f"| `{learner}` | {change} | {' | '.join(row)} |" for (learner, change), row in rows.iterrows()]
    return "\n".join(lines)


def cell(regrets: "pd.Series[float]", after: str = "") -> str:
    """Return the interquartile mean of regrets and, in small letters, its 95% interval and what comes after it."""
    low, high = bootstrap_interval(regrets.to_numpy(float))
    mean = interquartile_mean(regrets.to_numpy(float))
    return f"{rounded(mean)}<br><small>{rounded(low, 2)} to {rounded(high, 2)}{after}</small>"


def rounded(number: float, digits: int = 3) -> str:
    """Return a number with as many significant digits, and 0 for less than 0.000005."""
    return np.format_float_positional(number, digits, fractional=False, trim="-") if number >= 5e-6 else "0"


def with_tables(page: str) -> str:
    """Return the page of agents with today's tables in place of those below its headings."""
    tables = {HEADINGS[name]: table(*found) for name, found in by_task(read_measurements([RESULTS])).items()}
    tables[OF_DEPARTURES] = departures_table(read_numbers(DEPARTURES, KEY))
    for heading, rows in tables.items():
        before, line, after = page.partition(f"\n## {heading}\n")
        words, *_ = after.partition("\n| ")
        rest = re.sub(r"\A(\|.*\n)+", "", after[len(words) + 1 :])
        page = f"{before}{line}{words}\n{rows}\n{rest}"
    return page


if __name__ == "__main__":
    draw(DOCS)
    write_text(PAGE, with_tables(PAGE.read_text()))
