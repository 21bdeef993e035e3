"""The number of an agent, and its results by task as a table.

The score of a training is its regret as a share of random play's: 1 for random play, 0 for perfect play. The number is
the mean of log10(score) over seeds and then over tasks, so every task and every seed moves it; the task with the worst
mean stands beside it. Regrets differ by factors of thousands between tasks and agents, so logarithms keep one task from
deciding. Scores below one in a million count as one in a million, a convention, so that a solved task has a logarithm.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from scipy.stats import t as student

from agents.common import FloatArray
from stb_gym.console import Column, Table
from training.suite.tasks import KINDS

LEAST = 1e-6
CONFIDENCE = 0.95


class Number(NamedTuple):
    """The number of an agent with one budget.

    Attributes:
        mean: the mean of log10(score).
        low, high: the ends of its interval.
        worst: the kind of the task with the worst mean.
        worst_mean: that mean.
    """

    mean: float
    low: float
    high: float
    worst: str
    worst_mean: float


def log_scores(rows: pd.DataFrame) -> "pd.Series[float]":
    """Return log10 of the scores of the rows of `entries.grade`, indexed by kind."""
    return np.log10(rows.set_index("kind")["score"].clip(lower=LEAST))


def number(rows: pd.DataFrame) -> Number:
    """Return the number of an agent.

    Args:
        rows: the rows of `entries.grade` with one budget.

    Raises:
        ValueError: if a task has no result, or other seeds than the first one, or a seed below the highest is missing.
    """
    seeds = {kind: ", ".join(map(str, sorted(rows["seed"][rows["kind"] == kind]))) for kind in KINDS}
    first = seeds["points"]
    for kind, each in seeds.items():
        if each != first or not each:
            raise ValueError(
                f"all tasks need the same seeds: points has {first or 'none'}, but {kind} {each or 'none'}"
            )
    missing = sorted({*range(rows["seed"].max())} - {*rows["seed"]})
    if missing:
        raise ValueError(f"all seeds from 0 count, good and bad: there are {first}, but not {missing[0]}")
    by_kind = log_scores(rows).groupby("kind")
    means = by_kind.mean()
    middle = means.mean()
    half = float(half_width(np.stack([*by_kind.apply(np.array)])))
    return Number(middle, middle - half, middle + half, str(means.idxmax()), means.max())


def half_width(logarithms: FloatArray) -> FloatArray:
    """Return [...] half the width of the 95 % interval of the mean of [K, R, ...] logarithms of K tasks and R seeds.

    Tasks are fixed and seeds are drawn, so the variance of the mean is that of the tasks' means over seeds. Student's
    distribution with R - 1 degrees of freedom is wide enough whatever the tasks' variances are (Welch, "The
    generalization of 'Student's' problem when several different population variances are involved", 1947). It is NaN
    for one seed.
    """
    kinds, seeds, *_ = logarithms.shape
    if seeds == 1:
        return np.full(logarithms.shape[2:], np.nan)
    variance = logarithms.var(axis=1, ddof=1).sum(axis=0) / seeds / kinds**2
    return np.asarray(student.ppf((1 + CONFIDENCE) / 2, seeds - 1) * np.sqrt(variance))


def table(rows: pd.DataFrame) -> Table:
    """Return the median regret and the mean of log10(score) of every task and budget."""
    shown = rows.assign(mean=np.log10(rows["score"].clip(lower=LEAST))).groupby(["budget", "kind"], sort=False)
    found = shown.agg(regret=("regret", "median"), mean=("mean", "mean"), seeds=("seed", "count")).reset_index()
    headings = {"budget": ("steps", ""), "kind": ("task", ""), "regret": ("median regret", ".4g")}
    headings |= {"mean": ("mean log10 of the share of random play's", ".2f"), "seeds": ("seeds", "d")}
    return Table({title: Column(form, found[name].tolist()) for name, (title, form) in headings.items()})
