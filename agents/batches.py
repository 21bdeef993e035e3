"""What a rollout teaches: distinct rows, distinct pairs of a row and an action, and advantages."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from stb_gym.games import IntArray


@dataclass(frozen=True)
class Batch:
    """U distinct rows and P distinct pairs of a row and an action, with sums over the samples of each.

    Attributes:
        observation: [U, ...] the observations.
        mask: [U, A] True where an action is legal.
        weight: [U] the share of the samples.
        target: [U] the mean of what a critic shall tell.
        row: [P] the row of a pair.
        action: [P] the action of a pair.
        share: [P] the share of the samples.
        up: [P] the sum of the positive advantages, divided by the number of all samples.
        down: [P] the same of the negative ones.
        before: [P] the logarithm of the probability with which the action was chosen.
    """

    observation: torch.Tensor
    mask: torch.Tensor
    weight: torch.Tensor
    target: torch.Tensor
    row: torch.Tensor
    action: torch.Tensor
    share: torch.Tensor
    up: torch.Tensor
    down: torch.Tensor
    before: torch.Tensor

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
            up=self.up[pairs],
            down=self.down[pairs],
            before=self.before[pairs],
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
        target: [N] what a critic shall tell of the row.
        device: where the batch is.
    """
    pairs, pair = np.unique(row * mask.shape[1] + action, return_inverse=True)
    row_of_pair, action_of_pair = np.divmod(pairs, mask.shape[1])
    samples, visits, before = len(row), np.bincount(row, minlength=len(mask)), np.empty(len(pairs), np.float32)
    before[pair] = log_probability

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
        up=tensor(np.bincount(pair, advantage.clip(min=0)) / samples).float(),
        down=tensor(np.bincount(pair, advantage.clip(max=0)) / samples).float(),
        before=tensor(before),
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
    surprise = reward + value[1:] * ~over - value[:-1]
    for step in range(len(surprise) - 2, -1, -1):
        surprise[step] += gae_lambda * ~over[step] * surprise[step + 1]
    return surprise
