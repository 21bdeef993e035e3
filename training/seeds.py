"""Give the median over seeds an interval with a known coverage, whatever the distribution of the results.

The ends are results themselves, the k-th from below and from above. Each result is below the median of the distribution
with probability 1/2, so the number of those below it is binomial, and the probability that the ends contain the median
is known exactly (David and Nagaraja, "Order statistics", 2003, section 7.1).
"""

import numpy as np
from scipy.stats import binom

from agents.common import FloatArray

COVERAGE = 0.93  # the least probability that an interval contains the median; that of five seeds is 0.9375


def rank(seeds: int) -> int:
    """Return the greatest k for which the k-th lowest and the k-th highest of R results cover, but at least 1."""
    ranks = np.arange(1, seeds // 2 + 1)
    return int((1 - 2 * binom.cdf(ranks - 1, seeds, 0.5) >= COVERAGE).sum().clip(1))


def coverage(seeds: int) -> float:
    """Return the probability that `interval` contains the median: 94 % for five seeds, 98 % for ten, 75 % for three."""
    return float(1 - 2 * binom.cdf(rank(seeds) - 1, seeds, 0.5))


def interval(values: FloatArray) -> FloatArray:
    """Return [2, ...] the ends of the interval of the median of R seeds [R, ...], see `coverage`."""
    return np.sort(values, axis=0)[[rank(len(values)) - 1, -rank(len(values))]]
