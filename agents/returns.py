"""Estimates of the return of every action, by its mean or by quantiles of it: the best action, and their loss."""

import numpy as np
import torch
from numpy.typing import NDArray

from stb_gym.games import IntArray


def best(estimates: NDArray[np.float32], legal: NDArray[np.bool_]) -> IntArray:
    """The legal actions whose returns have the greatest mean.

    Args:
        estimates: [B, A, K] quantiles of the returns; their mean itself if K is 1.
        legal: [B, A] True where an action is legal.

    Returns:
        [B] actions, the lowest of those that are as good; 0 where none is legal.
    """
    choice: IntArray = np.where(legal, estimates.mean(axis=2), -np.inf).argmax(axis=1)
    return choice


def losses(estimates: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """[B] the square of the error of a mean, or the quantile loss of K > 1 quantiles, without Huber's.

    Args:
        estimates: [B, K] estimates.
        targets: [B, K] the mean, or K equally likely samples of the return.
    """
    quantiles = estimates.shape[1]
    if quantiles == 1:
        return (targets - estimates)[:, 0] ** 2
    error = targets[:, None, :] - estimates[:, :, None]
    level = (torch.arange(quantiles, device=estimates.device) + 0.5)[:, None] / quantiles
    return torch.where(error < 0, (level - 1) * error, level * error).mean(dim=(1, 2))
