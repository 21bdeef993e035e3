"""A rollout and what it teaches: distinct rows, distinct pairs of a row and an action, and advantages."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from stb_gym.games import IntArray


class Rollout(NamedTuple):
    """T steps in B environments.

    Attributes:
        observation: [T + 1, B, ...] what was seen, after the last step, too.
        mask: [T + 1, B, A] True where an action was legal.
        decision: [T, B] whether an action was asked for.
        action: [T, B] the actions.
        log_probability: [T, B] the logarithm of the probability with which each was chosen.
        reward: [T, B] the rewards, with what is to be expected of the rest of an episode that was truncated.
        over: [T, B] whether an episode ended.
    """

    observation: NDArray[Any]
    mask: NDArray[np.bool_]
    decision: NDArray[np.bool_]
    action: IntArray
    log_probability: NDArray[np.float32]
    reward: NDArray[np.float32]
    over: NDArray[np.bool_]


@dataclass(frozen=True)
class Batch:
    """U distinct rows and P distinct pairs of a row and an action, with sums over the samples of each.

    Attributes:
        observation: [U, ...] the observations.
        mask: [U, A] True where an action is legal.
        weight: [U] the share of the samples.
        target: [U] the mean of what values are fitted to.
        row: [P] the row of a pair.
        action: [P] the action of a pair.
        share: [P] the share of the samples.
        positive_advantage: [P] the sum of the positive advantages, divided by the number of all samples.
        negative_advantage: [P] the same of the negative ones.
        old_log_probability: [P] the logarithm of the probability with which the action was chosen.
    """

    observation: torch.Tensor
    mask: torch.Tensor
    weight: torch.Tensor
    target: torch.Tensor
    row: torch.Tensor
    action: torch.Tensor
    share: torch.Tensor
    positive_advantage: torch.Tensor
    negative_advantage: torch.Tensor
    old_log_probability: torch.Tensor

    def of_rows(self, rows: torch.Tensor) -> "Batch":
        """The part of some rows, with all their pairs."""
        new = torch.full((len(self.weight),), -1, device=rows.device)
        new[rows] = torch.arange(len(rows), device=rows.device)
        pairs = (new[self.row] >= 0).nonzero()[:, 0]
        return Batch(
            observation=self.observation[rows],
            mask=self.mask[rows],
            weight=self.weight[rows],
            target=self.target[rows],
            row=new[self.row[pairs]],
            action=self.action[pairs],
            share=self.share[pairs],
            positive_advantage=self.positive_advantage[pairs],
            negative_advantage=self.negative_advantage[pairs],
            old_log_probability=self.old_log_probability[pairs],
        )


def batch_of(
    observation: NDArray[Any],
    mask: NDArray[np.bool_],
    row: IntArray,
    action: IntArray,
    log_probability: NDArray[np.float32],
    advantage: NDArray[np.float32],
    target: NDArray[np.float32],
    device: torch.device,
) -> Batch:
    """The batch of N samples.

    Args:
        observation: [U, ...] the distinct observations.
        mask: [U, A] their legal actions.
        row: [N] which of these rows each sample is of.
        action: [N] the action that was chosen.
        log_probability: [N] the logarithm of the probability with which it was.
        advantage: [N] what is estimated of it.
        target: [N] what the value of the row is fitted to.
        device: where the batch is.
    """
    pairs, pair = np.unique(row * mask.shape[1] + action, return_inverse=True)
    row_of_pair, action_of_pair = np.divmod(pairs, mask.shape[1])
    samples, visits = len(row), np.bincount(row, minlength=len(mask))
    old_log_probability = np.empty(len(pairs), np.float32)
    old_log_probability[pair] = log_probability  # that of any sample of a pair: the actor is one for the whole rollout

    def tensor(array: NDArray[Any]) -> torch.Tensor:
        return torch.as_tensor(array, device=device)

    return Batch(
        observation=tensor(observation),
        mask=tensor(mask),
        weight=tensor(visits / samples).float(),
        target=tensor(np.bincount(row, target, len(mask)) / visits.clip(min=1)).float(),
        row=tensor(row_of_pair),
        action=tensor(action_of_pair),
        share=tensor(np.bincount(pair) / samples).float(),
        positive_advantage=tensor(np.bincount(pair, advantage.clip(min=0)) / samples).float(),
        negative_advantage=tensor(np.bincount(pair, advantage.clip(max=0)) / samples).float(),
        old_log_probability=tensor(old_log_probability),
    )


def advantages(
    reward: NDArray[np.float32], over: NDArray[np.bool_], value: NDArray[np.float32], gae_lambda: float
) -> NDArray[np.float32]:
    """[T, B] generalised advantage estimates, not discounted (Schulman et al., 2016).

    Args:
        reward: [T, B] the rewards.
        over: [T, B] True where a step ended an episode.
        value: [T + 1, B] what is expected where the steps were made, and after the last.
        gae_lambda: 0 trusts the values, 1 the rewards.
    """
    advantage = reward + value[1:] * ~over - value[:-1]  # errors of temporal differences; what follows adds later ones
    for step in range(len(advantage) - 2, -1, -1):
        advantage[step] += gae_lambda * ~over[step] * advantage[step + 1]
    return advantage
