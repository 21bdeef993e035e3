"""Compare two distributions of final scores exactly."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from stb_gym.arguments import checked
from stb_gym.checks import check_chances


class Comparison(NamedTuple):
    """Two distributions of final scores.

    Attributes:
        distance: the greatest difference between their cumulative probabilities.
        at: the score where it is greatest, the lowest of several.
        shares: [2] the two probabilities of a score of at most `at`.
        means: [2] the expected scores in points.
    """

    distance: float
    at: int
    shares: list[float]
    means: list[float]


@checked
def compare(one: Mapping[int, float], other: Mapping[int, float]) -> Comparison:
    """Compare two distributions of final scores, exactly.

    Args:
        one: the probability of every final score, such as `Evaluation.score_distribution`.
        other: the same.

    Returns:
        The greatest difference between the two cumulative distributions, where it is, and both means.

    Raises:
        TypeError: if an argument is not a dictionary from scores to probabilities.
        ValueError: if the probabilities do not sum to 1.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> best = stb_gym.solve(game)
        >>> heuristic = best.evaluate(stb_gym.strategy(game, "biggest-first"))
        >>> found = stb_gym.compare(best.evaluate(best.policy).score_distribution, heuristic.score_distribution)
        >>> round(found.distance, 6), found.at
        (0.014757, 10)
    """
    for distribution in (one, other):
        check_chances("the final scores", distribution.values())
    scores = sorted({*one, *other})
    chances = np.array([[distribution.get(score, 0.0) for score in scores] for distribution in (one, other)])
    up_to = chances.cumsum(axis=1)
    difference = abs(up_to[0] - up_to[1])
    greatest = int(np.argmax(difference > difference.max() * (1 - 1e-12)))  # the lowest score, despite rounding
    return Comparison(
        distance=float(difference[greatest]),
        at=scores[greatest],
        shares=up_to[:, greatest].tolist(),
        means=(chances @ scores).tolist(),
    )
