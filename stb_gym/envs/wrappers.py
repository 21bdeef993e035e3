"""A wrapper for libraries that look for the action mask in the observation, as replay buffers have to."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray


class MaskInObservation(gym.Wrapper[Any, np.int64, Any, np.int64], RecordConstructorArgs):
    """Observations become {"observation": [O] uint8, "action_mask": [A] int8, 1 = legal}.

    Args:
        env: an environment whose infos have an "action_mask".
    """

    def __init__(self, env: gym.Env[NDArray[np.uint8], np.int64]):
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        assert isinstance(env.action_space, gym.spaces.Discrete)
        self.observation_space = gym.spaces.Dict(
            observation=env.observation_space, action_mask=gym.spaces.MultiBinary(int(env.action_space.n))
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Begin a turn."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._with_mask(observation, info), info

    def step(self, action: np.int64) -> tuple[dict[str, NDArray[Any]], Any, bool, bool, dict[str, Any]]:
        """Make a move."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._with_mask(observation, info), reward, terminated, truncated, info

    def action_masks(self) -> NDArray[np.bool_]:
        """[A] True = legal, as sb3-contrib asks for it."""
        masks: NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        return masks

    @staticmethod
    def _with_mask(observation: NDArray[np.uint8], info: dict[str, Any]) -> dict[str, NDArray[Any]]:
        return {"observation": observation, "action_mask": info["action_mask"]}
