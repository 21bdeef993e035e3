"""The package's vector environment as a VecEnv of stable-baselines3, whose observations are numbers of nodes."""

from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TurnVectorEnv
from stb_gym.sb3 import TurnVecEnv

Nodes = NDArray[np.int32]


class NodeVecEnv(TurnVecEnv):
    """Adapts a `TurnVectorEnv` in SAME_STEP mode to the learners over nodes.

    Observations [B, 1] are the numbers of the nodes. A number says neither more nor less than the observation of the
    original environment, as different nodes have different observations; the networks look up that observation. Rewards
    are divided by the largest there is in absolute value, so that values lie in [-1, 1] whatever the rules. All infos
    are empty.

    Args:
        envs: the vector environment.

    Raises:
        ValueError: if `envs` is in another autoreset mode.
    """

    envs: TurnVectorEnv

    def __init__(self, envs: TurnVectorEnv):
        super().__init__(envs)
        self.reward_scale = 1 / max(1.0, float(abs(envs.transitions.reward).max()))
        self.observation_space = gym.spaces.Box(0, envs.transitions.tables.nodes, (1,), np.int32)
        self._infos: list[dict[str, Any]] = [{}] * envs.num_envs

    def reset(self) -> Nodes:
        """Begin a turn in every game."""
        super().reset()
        return self._observed()

    def step_wait(self) -> tuple[Nodes, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the moves; where a turn is over, the observation is already that of the next turn."""
        _, reward, over, _, _ = self.envs.step(self._actions)
        return self._observed(), (reward * self.reward_scale).astype(np.float32), over, self._infos

    def _observed(self) -> Nodes:
        return self.envs.nodes.astype(np.int32)[:, None]
