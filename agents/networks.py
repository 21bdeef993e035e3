"""What the networks see: the observation, scaled."""

from typing import Any

import gymnasium as gym
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor


class ScaledObservation(BaseFeaturesExtractor):
    """The observation divided by its largest values; of a Dict observation, the part that is not the mask."""

    largest: torch.Tensor

    def __init__(self, observation_space: gym.Space[Any]):
        seen = observation_space["observation"] if isinstance(observation_space, gym.spaces.Dict) else observation_space
        assert isinstance(seen, gym.spaces.Box)
        super().__init__(observation_space, seen.shape[0])
        self.register_buffer("largest", torch.as_tensor(seen.high, dtype=torch.float32), persistent=False)

    def forward(self, observation: Any) -> torch.Tensor:
        """[B, O] numbers from 0 to 1."""
        seen: torch.Tensor = observation["observation"] if isinstance(observation, dict) else observation
        return seen / self.largest
