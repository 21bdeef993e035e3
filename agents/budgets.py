"""Settings that follow the budget: known for some numbers of steps, the anchors, and interpolated for all others."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stb_gym.games import check_integer

Anchor = Mapping[str, int | float]


def settings_at(anchors: Sequence[Anchor], steps: int) -> dict[str, int | float]:
    """The settings for a training of so many steps; beyond the first and the last anchor those of that one.

    Between two anchors a setting grows by the same factor whenever the steps do, or by the same amount if it is 0 at
    any anchor. Whole numbers stay whole, others have four figures.

    >>> anchors = [{"steps": 100, "num_envs": 8, "entropy": 0.5}, {"steps": 10_000, "num_envs": 128, "entropy": 0}]
    >>> settings_at(anchors, 1000)
    {'num_envs': 32, 'entropy': 0.25}

    Args:
        anchors: `steps` and the same settings each, checked by `check_anchors`; without any there are no settings.
        steps: how many steps the training has, 1 or more.
    """
    names = [name for name in anchors[0] if name != "steps"] if anchors else []
    return {name: _number_at([(anchor["steps"], anchor[name]) for anchor in anchors], steps) for name in names}


def _number_at(known: Sequence[tuple[float, float]], steps: int) -> int | float:
    at, numbers = zip(*known, strict=True)
    of_factors = min(numbers) > 0
    number = np.interp(math.log(steps), np.log(at), np.log(numbers) if of_factors else numbers)
    return rounded(math.exp(number) if of_factors else float(number), all(isinstance(each, int) for each in numbers))


def rounded(number: float, whole: bool) -> int | float:
    """A number as one would write it into a file: a whole one, or one of four figures.

    >>> rounded(0.00123456, whole=False), rounded(12.7, whole=True)
    (0.001235, 13)
    """
    return round(number) if whole else float(f"{number:.4g}")


def check_anchors(anchors: Any) -> None:
    """Raise a ValueError unless anchors have rising steps and numbers for the same settings."""
    if not isinstance(anchors, list) or not all(isinstance(anchor, dict) for anchor in anchors):
        raise ValueError("a budget is a table with two pairs of brackets")
    last = 0
    for anchor in anchors:
        check_integer("steps of a budget", anchor.get("steps"), last + 1, 10**12)
        last = anchor["steps"]
        if anchor.keys() != anchors[0].keys():
            raise ValueError(f"budgets have the same settings: {', '.join(anchor.keys() ^ anchors[0].keys())} differ")
        for name, number in anchor.items():
            if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number < math.inf:
                raise ValueError(f"{name} of a budget must be a number, 0 or more, not {number!r}")
