"""What the networks see: the observation in unary."""

from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor


class UnaryObservation(BaseFeaturesExtractor):
    """Each number of the observation in unary: the number v, at most h, becomes h inputs, the first v of which are 1.

    For Shut the Box, whose numbers are at most 1, that is the observation itself. For Threes it lets the networks tell
    neighbouring numbers apart, which they learn slowly from one input each. Of a Dict observation the mask is left out.
    """

    column: torch.Tensor
    least: torch.Tensor

    def __init__(self, observation_space: gym.Space[Any]):
        seen = observation_space["observation"] if isinstance(observation_space, gym.spaces.Dict) else observation_space
        assert isinstance(seen, gym.spaces.Box)
        high = seen.high.astype(np.int64)
        super().__init__(observation_space, int(high.sum()))
        least = np.concatenate([np.arange(1, h + 1) for h in high])
        self.register_buffer("column", torch.as_tensor(np.repeat(np.arange(len(high)), high)), persistent=False)
        self.register_buffer("least", torch.as_tensor(least, dtype=torch.float32), persistent=False)

    def forward(self, observation: Any) -> torch.Tensor:
        """[B, F] numbers 0 or 1."""
        seen: torch.Tensor = observation["observation"] if isinstance(observation, dict) else observation
        return (seen[:, self.column] >= self.least).float()
