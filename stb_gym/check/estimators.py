"""Estimators of the policy gradient as weights: each move of a sampled turn gets a weight for its log-probability.

The gradient of a batch is the sum over its moves of weight x the derivative of the log-probability of the action.
"""

from collections.abc import Callable

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.check.sampled_turns import Turns

EPSILON = 1e-8  # added to standard deviations
Estimator = Callable[[Turns], FloatArray]  # returns [N, T] weights; 0 at padding


def total(turns: Turns) -> FloatArray:
    """Return [N, 1] the return of each turn."""
    return turns.reward.sum(axis=1, keepdims=True)


def to_go(turns: Turns) -> FloatArray:
    """Return [N, T] the sum of the rewards from each move on."""
    return np.cumsum(turns.reward[:, ::-1], axis=1)[:, ::-1]


def by_group(turns: Turns, values: FloatArray, others: bool = False, deviation: bool = False) -> FloatArray:
    """Return [N, 1 or T] values minus their means over groups.

    Args:
        turns: the turns.
        values: [N, 1] values of turns, or [N, T] of moves: then a mean is over the turns that have such a move.
        others: whether the mean leaves out the turn itself; it is 0 if no other turn has such a move.
        deviation: whether to divide by the standard deviation over the group.
    """
    columns = values.shape[1]
    of_groups = values.reshape(-1, turns.group_size, columns)
    counted = turns.valid[:, :columns].reshape(of_groups.shape).astype(float)  # each turn has a first move
    left_out = counted if others else 0
    amount = counted.sum(axis=1, keepdims=True) - left_out
    sums = (of_groups * counted).sum(axis=1, keepdims=True) - of_groups * left_out
    centred = (of_groups - sums / np.maximum(amount, 1)) * counted
    if deviation:
        centred /= of_groups.std(axis=1, keepdims=True) + EPSILON
    return centred.reshape(values.shape)


def own_rewards(turns: Turns) -> FloatArray:
    """Return [N, 1] the sum of the rewards of each turn, each minus its mean over the group's turns with such a move.

    A turn with more moves subtracts more means, so that the baseline depends on the actions (issue 7244 of verl, 2026).
    """
    return by_group(turns, turns.reward).sum(axis=1, keepdims=True)


ADVANTAGES: tuple[tuple[str, Estimator], ...] = (  # (fault, estimator); "" for the right ones
    ("", total),
    ("", lambda turns: (total(turns) - total(turns).mean()) * len(turns.reward) / (len(turns.reward) - 1)),
    ("", lambda turns: by_group(turns, total(turns), others=True)),
    ("", lambda turns: by_group(turns, to_go(turns), others=True)),
    (
        "each group is divided by the standard deviation of its returns",
        lambda turns: by_group(turns, total(turns), deviation=True),
    ),
    ("means of the rewards of each move are summed over the moves that a turn has", own_rewards),
    ("a move counts its own reward only, not those that follow", lambda turns: turns.reward),
    ("a move counts its own reward only, not those that follow", lambda turns: by_group(turns, turns.reward)),
)
RIGHT = [estimator for fault, estimator in ADVANTAGES if not fault]
SHARES: dict[str, Estimator] = {
    "": lambda turns: turns.valid.astype(float),
    "each turn is averaged over its own moves, so moves of short turns count more": (
        lambda turns: turns.valid / np.maximum(turns.length, 1)[:, None]
    ),
}
