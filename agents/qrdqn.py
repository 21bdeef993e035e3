"""Masked QR-DQN: masked DQN that learns quantiles of the return instead of its mean alone.

    loss = mean over estimates i and targets j of |q_i - 1 if target_j < estimate_i else q_i| x |target_j - estimate_i|

with q_i = (i + 1/2) / K the levels of the K quantiles. Dabney et al., "Distributional reinforcement learning with
quantile regression", 2018. This is their QR-DQN-0, without a Huber loss: returns here are far smaller than its unit, so
that it would learn expectiles instead of quantiles. The greedy action has the largest mean over its quantiles, which
for a finite number of them is not quite the mean of the return.
"""

from dataclasses import dataclass

import torch

from agents.dqn import DQNSettings, MaskedDQN, make_node_dqn
from stb_gym.envs import TurnVectorEnv
from stb_gym.games import check_integer


@dataclass(frozen=True)
class QRDQNSettings(DQNSettings):
    """Settings of QR-DQN: those of DQN and one more."""

    quantiles: int
    """How many quantiles of the return of every action are learned."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        super().check()
        check_integer("quantiles", self.quantiles, 1, 256)


class MaskedQRDQN(MaskedDQN):
    """QR-DQN over nodes."""

    @staticmethod
    def loss(value: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss of quantiles [B, K] against equally likely samples of the return [B, K]."""
        quantiles = value.shape[1]
        level = (torch.arange(quantiles) + 0.5) / quantiles
        error = target[:, None, :] - value[:, :, None]
        return torch.where(error < 0, (level[:, None] - 1) * error, level[:, None] * error).mean()


def make_qrdqn(envs: TurnVectorEnv, settings: QRDQNSettings, seed: int) -> MaskedDQN:
    """A QR-DQN that has learned nothing yet."""
    return make_node_dqn(MaskedQRDQN, settings.quantiles, envs, settings, seed)
