"""The number of an agent, and its results by task as a table and a picture.

The score of a training is the regret as a share of random play's: 1 for random play, 0 for perfect play. The number is
the interquartile mean of log10(score) over tasks and seeds. Regrets differ by factors of thousands between tasks and
agents, so logarithms keep one task from deciding; the mean of the middle half is not moved by one that fails or is
solved (Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021). Scores below one
in a million count as one in a million, a convention, so that a solved task has a logarithm.
"""

from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib.figure import Figure

from agents.common import FloatArray
from stb_gym.console import Column, Table
from stb_gym.files import write_aside
from training.results import DRAWS, LEVELS, interquartile_mean
from training.suite.tasks import TASKS

LEAST = 1e-6


def number(results: pd.DataFrame) -> tuple[float, float, float]:
    """Return the number of an agent with one budget, and the ends of its 95 % bootstrap interval.

    The bootstrap draws seeds within each task, as tasks are fixed.
    """
    logarithms = log_scores(results)
    draws = np.random.default_rng(0)
    resampled = [draws.choice(values, (DRAWS, len(values))).T for values in logarithms.values()]
    low, high = np.quantile(interquartile_mean(np.concatenate(resampled)), LEVELS)
    return float(interquartile_mean(np.concatenate([*logarithms.values()]))), float(low), float(high)


def log_scores(results: pd.DataFrame) -> dict[str, FloatArray]:
    """Return log10 of the scores of the seeds by task, in the order of the tasks.

    Raises:
        ValueError: if a task has no result.
    """
    found = {}
    for task in TASKS:
        scores = results.loc[results["task"] == task, "score"].to_numpy(float)
        if not len(scores):
            raise ValueError(f"there is no result for the task {task}")
        found[task] = np.log10(np.maximum(scores, LEAST))
    return found


def table(results: pd.DataFrame) -> Table:
    """Return the median regret and the median score of every task and budget."""
    rows = results.groupby(["budget", "task"], sort=False)[["regret", "score", "seconds"]].median().reset_index()
    formats = {"budget": "", "task": "", "regret": ".4g", "score": ".2e", "seconds": ",.0f"}
    return Table({name: Column(form, rows[name].tolist()) for name, form in formats.items()})


def draw(results: pd.DataFrame, path: Path) -> None:
    """Draw the interquartile mean of log10(score) of every task and budget; random play has 0."""
    figure = Figure((7, 4), layout="constrained")
    axes = figure.add_subplot()
    for budget, of_budget in results.groupby("budget", sort=False):
        means = [interquartile_mean(values) for values in log_scores(of_budget).values()]
        axes.plot(means, list(TASKS), "o", label=f"{budget} steps")
    axes.axvline(0, color="grey", label="random play")
    axes.invert_yaxis()
    axes.set_xlabel("log10 of the regret as a share of random play's; further left is better")
    axes.legend()
    with write_aside(path) as aside:
        figure.savefig(aside, format=path.suffix[1:], dpi=150)
