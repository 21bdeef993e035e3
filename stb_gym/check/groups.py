"""Check advantages of groups: what RLOO, GRPO and their relatives compute from the returns of answers to one question.

A question with three answers has 81 groups of four. All are listed with their probabilities under a policy, so the mean
gradient has no noise. A right estimator also treats the answers of a group alike, and each group on its own: without
this its mean may be right, and only its noise grows.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Arrays, ask
from stb_gym.check.results import Case, CheckResult, combined
from stb_gym.checks import check_integer

RETURNS = np.array([0.25, -1.0, 2.0])  # returns of the three answers; the mean of equal ones is exact in binary
POLICY = np.array([0.2, 0.5, 0.3])  # their probabilities
SHIFTS = 4  # greatest number that is added to the returns of a group
TOLERANCE = 1e-5  # share of the greatest advantage
SCALED = 5e-3  # the same for standardised returns: code may add a number such as 1e-4 to the standard deviation
REMEDY = "compute the advantages of one group by hand, from its own returns alone"


@dataclass(frozen=True)
class Groups(Arrays):
    """Answers in groups: the answers of a group are in a row and belong to the same question.

    Attributes:
        returns: [N] the return of each answer.
        group: [N] the number of its group.
        group_size: the number of answers in a group.
    """

    returns: Any
    group: Any
    group_size: int


@checked
def group_advantages(function: Callable[[Groups], Any], *, group_size: int = 4, scaled: bool = False) -> CheckResult:
    """Check the advantages of groups of answers, such as those of RLOO and GRPO.

    All groups of a question with three answers are listed once, with their probabilities. The policy gradient that the
    advantages give on average must point along the exact one (Ahmadian et al., "Back to basics: revisiting REINFORCE
    style optimization for learning from human feedback in LLMs", 2024); its length may differ. If two answers of a
    group change places, so must their advantages. A number that is added to all returns of a group must not change any
    advantage.

    Args:
        function: takes `Groups` and returns advantages [N].
        group_size: the number of answers in a group.
        scaled: whether advantages are divided by the standard deviation of their group, as in GRPO (Shao et al.,
            "DeepSeekMath", 2024). That biases the gradient. So the advantages are compared in place of its direction:
            they must be the returns of each group, standardised, times any positive factor.

    Returns:
        The result; its errors are relative to the greatest advantage.

    Raises:
        TypeError: if the function fails, or returns no numbers.
        ValueError: if it returns another shape or changes its batch, or an argument is not allowed.

    Example:
        >>> from stb_gym import check
        >>> def centred(groups):
        ...     returns = groups.returns.reshape(-1, groups.group_size)
        ...     return (returns - returns.mean(axis=1, keepdims=True)).ravel()
        >>> check.group_advantages(centred).passed
        True
        >>> check.group_advantages(lambda groups: groups.returns - groups.returns.mean()).likely
        ('the baseline is that of other groups, too',)
    """
    check_integer("group_size", group_size, 2, 6)
    answers = np.array([*product(range(len(RETURNS)), repeat=group_size)])
    returns = RETURNS[answers]
    groups = Groups(returns.ravel(), np.arange(len(answers)).repeat(group_size), group_size)
    shifts = np.random.default_rng(0).integers(-SHIFTS, SHIFTS, len(answers)).repeat(group_size)
    shifted = replace(groups, returns=groups.returns + shifts)
    found, of_shifted = (
        ask(function, batch, groups.returns.shape).reshape(answers.shape) for batch in (groups, shifted)
    )
    scale = abs(found).max()
    centred = returns - returns.mean(axis=1, keepdims=True)
    deviation = returns.std(axis=1, keepdims=True)
    deviation[deviation == 0] = np.inf  # equal returns have no advantage
    turned = np.ravel_multi_index(np.roll(answers, 1, axis=1).T, [len(RETURNS)] * group_size)
    differences = {
        "a number added to all returns of a group": of_shifted - found,
        "answers in another order": found[turned] - np.roll(found, 1, axis=1),
    }
    with np.errstate(all="ignore"):
        cases = [Case(name, float(abs(array).max() / scale), TOLERANCE) for name, array in differences.items()]
        slopes = np.eye(len(RETURNS))[answers] - POLICY
        mean = np.einsum("g,gk,gka->a", POLICY[answers].prod(axis=1), found, slopes)
        exact = POLICY * (RETURNS - POLICY @ RETURNS)
        cosine = float(mean @ exact / np.linalg.norm(mean) / np.linalg.norm(exact))
        direction = Case("direction of the mean gradient", 1 - cosine, TOLERANCE, f"cosine {cosine:.4g}")
        if scaled:
            direction = Case("standardised returns", _distance(found, centred / deviation), SCALED)
    cases.append(direction)
    likely = {
        "all advantages are 0: each return is subtracted from itself": scale == 0,
        "advantages are not finite: a group of equal returns is divided by 0": not np.isfinite(found).all(),
        "the place of an answer matters: another answer is its baseline, or answers are left out": not cases[1].passed,
        "no baseline is subtracted": np.allclose(found, returns),
        "advantages are divided by a deviation over all groups: check them before that": (
            not cases[0].passed and _distance(of_shifted, found) < TOLERANCE
        ),
        "the baseline is that of other groups, too": not cases[0].passed,
        "the sign is wrong": cosine < 0,
        "advantages are not divided by the standard deviation": scaled and _distance(found, centred) < SCALED,
        "advantages are divided by the variance": scaled and _distance(found, centred / deviation**2) < SCALED,
        "returns are not standardised by the mean and the standard deviation of their group": scaled,
        "a baseline or a divisor depends on the answer's own return": True,
    }
    first = next(fault for fault, applies in likely.items() if applies)
    return combined("group_advantages", [(case, [first]) for case in cases], REMEDY)


@np.errstate(all="ignore")
def _distance(found: FloatArray, wanted: FloatArray) -> float:
    """Return the greatest difference from the closest positive multiple of an array, relative to the greatest entry."""
    factor = max((found * wanted).sum() / (wanted**2).sum(), 0)
    return float(abs(found - factor * wanted).max() / abs(found).max())
