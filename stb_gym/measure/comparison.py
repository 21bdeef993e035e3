"""Rules of thumb beside each other, and better ones of them: how different scores are, and which exceptions pay."""

from collections.abc import Mapping
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import check_chances, check_integer
from stb_gym.solver import Mistake, Solution


class Comparison(NamedTuple):
    """Two distributions of final scores beside each other.

    Attributes:
        distance: the largest difference of the chances of a score of at most some number.
        at: that number, the lowest if there are several.
        shares: [2] the two chances there.
        means: [2] the expected scores.
        games_for_distance: how many games of each it takes until the difference at that number is twice its standard
            error, so that 39 of 40 samples show its sign; None if there is no difference.
        games_for_means: the same for the difference of the expected scores.
    """

    distance: float
    at: int
    shares: tuple[float, float]
    means: tuple[float, float]
    games_for_distance: int | None
    games_for_means: int | None


def compare(one: Mapping[int, float], other: Mapping[int, float]) -> Comparison:
    """Compare two distributions of final scores, exactly.

    Args:
        one: the chance of every final score, as `Evaluation.score_distribution` says them.
        other: the same.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> best = stb_gym.solve(game)
        >>> thumb = best.evaluate(stb_gym.strategy(game, "biggest-first"))
        >>> found = compare(best.evaluate(best.policy).score_distribution, thumb.score_distribution)
        >>> round(found.distance, 6), found.at
        (0.014757, 10)

    Raises:
        TypeError: if one is no such distribution.
        ValueError: if its chances do not sum to 1.
    """
    for each in (one, other):
        if not isinstance(each, Mapping):
            raise TypeError(f"{each!r:.80} is no distribution of final scores, such as evaluation.score_distribution")
        check_chances("the final scores", each.values())
    scores = np.array(sorted({*one, *other}))
    chances = np.array([[each.get(score, 0.0) for score in scores.tolist()] for each in (one, other)])
    up_to = chances.cumsum(axis=1)
    apart = abs(up_to[0] - up_to[1])
    place = int(np.argmax(apart > apart.max() * (1 - 1e-12)))  # the first of those that only rounding tells apart
    shares, means = up_to[:, place], chances @ scores
    return Comparison(
        distance=float(apart[place]),
        at=int(scores[place]),
        shares=(float(shares[0]), float(shares[1])),
        means=(float(means[0]), float(means[1])),
        games_for_distance=_games(shares, shares * (1 - shares)),
        games_for_means=_games(means, chances @ scores**2 - means**2),
    )


def _games(values: NDArray[np.float64], variances: NDArray[np.float64]) -> int | None:
    """How many games of each make the difference of two means [2] twice its standard error."""
    difference = values[0] - values[1]
    if abs(difference) <= 1e-12 * abs(values).max():
        return None
    return max(1, ceil(4 * variances.sum() / difference**2))


class PocketCard(NamedTuple):
    """A policy with exceptions.

    Attributes:
        exceptions: what is done otherwise, dearest first.
        regrets: the regret with none of them, the first, the first two ... all.
        policy: [N] the actions with all of them.
    """

    exceptions: list[Mistake]
    regrets: list[float]
    policy: NDArray[Any]

    def __repr__(self) -> str:
        return f"<{len(self.exceptions)} exceptions: regret {self.regrets[0]:.4g}, with them {self.regrets[-1]:.4g}>"


def pocket_card(optimum: Solution, policy: NDArray[Any], exceptions: int) -> PocketCard:
    """Take the dearest mistake of a policy back, then that of what is left, and so on.

    Args:
        optimum: perfect play, which says what is a mistake.
        policy: [N] actions.
        exceptions: how many mistakes to take back; there are fewer exceptions if it makes fewer mistakes.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> card = pocket_card(stb_gym.solve(game), stb_gym.strategy(game, "fewest-then-biggest"), 10)
        >>> [round(card.regrets[count], 4) for count in (0, 5, 10)]
        [0.1656, 0.1235, 0.1021]
    """
    check_integer("exceptions", exceptions, 0, 2**31)
    corrected, found = np.array(policy), list[Mistake]()
    if not isinstance(optimum, Solution) or corrected.ndim != 1:
        raise TypeError("a pocket card is made of a solution, such as stb_gym.solve(game), and an array of actions [N]")
    evaluation = optimum.evaluate(corrected)
    regrets = [evaluation.regret]
    while len(found) < exceptions and (dearest := evaluation.mistakes(1)):
        corrected[dearest[0].node] = dearest[0].best
        evaluation = optimum.evaluate(corrected)
        found += dearest
        regrets.append(evaluation.regret)
    return PocketCard(found, regrets, corrected)
