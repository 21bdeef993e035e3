"""Statistics over seeds: the interquartile mean, and its interval by a stratified bootstrap.

Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021. As a run is measured
exactly, or nearly so, the interval is due to the differences between seeds.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import trim_mean

RESAMPLES = 2000
LEVEL = 0.95


def interquartile_mean(values: NDArray[Any]) -> NDArray[np.float64]:
    """[..., P] the mean over seeds of values [..., R, P] without the lowest and the highest quarter."""
    return np.asarray(trim_mean(values, 0.25, axis=-2))


def mean_of_seeds(values: Sequence[float]) -> float:
    """The interquartile mean of a number of each seed."""
    return float(interquartile_mean(np.array(values)[:, None])[0])


def interval(
    strata: Sequence[NDArray[Any]], statistic: Callable[[list[NDArray[Any]]], NDArray[np.float64]]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two ends [P] of the bootstrap interval of a statistic over seeds.

    Seeds are drawn with replacement within each stratum. The random numbers are the same in every call.

    Args:
        strata: values of a number of seeds at P points, such as levels of regret: an array [R, P] for each stratum,
            such as a task.
        statistic: given the strata of all draws, each [RESAMPLES, R, P], returns their statistics [RESAMPLES, P].
    """
    random = np.random.default_rng(0)
    drawn = [stratum[random.integers(len(stratum), size=(RESAMPLES, len(stratum)))] for stratum in strata]
    low, high = np.quantile(statistic(drawn), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return low, high


def interquartile_interval(values: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends [P] of the interval of the interquartile mean over seeds of values [R, P]."""
    return interval([values], lambda drawn: interquartile_mean(drawn[0]))
