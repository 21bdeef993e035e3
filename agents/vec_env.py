"""The package's vector environment as a VecEnv of stable-baselines3, whose observations are numbers of nodes."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from stb_gym.envs import TurnVectorEnv

Nodes = NDArray[np.int32]


class NodeVecEnv(VecEnv):
    """Adapts a `TurnVectorEnv` in SAME_STEP mode to stable-baselines3.

    Observations [B, 1] are the numbers of the nodes. A number says neither more nor less than the observation of the
    original environment, as different nodes have different observations; the networks look up that observation. Rewards
    are divided by the largest there is in absolute value, so that values lie in [-1, 1] whatever the rules.

    Args:
        envs: the vector environment.

    Raises:
        ValueError: if `envs` is in another autoreset mode.
    """

    def __init__(self, envs: TurnVectorEnv):
        if envs.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"stable-baselines3 needs autoreset mode SameStep, not {envs.autoreset_mode.value}")
        self.envs = envs
        self.reward_scale = 1 / max(1.0, float(abs(envs.transitions.reward).max()))
        self._actions = np.zeros(envs.num_envs, np.int64)
        self._infos: list[dict[str, Any]] = [{}] * envs.num_envs
        self._seed: int | None = None
        self.render_mode = envs.render_mode
        nodes = gym.spaces.Box(0, envs.transitions.tables.nodes, (1,), np.int32)
        super().__init__(envs.num_envs, nodes, envs.single_action_space)

    def reset(self) -> Nodes:
        """Begin a turn in every environment; the first reset after `seed` uses the seed."""
        self.envs.reset(seed=self._seed)
        self._seed = None
        return self._observed()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Store the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[Nodes, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the moves; where a turn ends, the observation is already that of the next turn."""
        _, reward, over, _, _ = self.envs.step(self._actions)
        return self._observed(), (reward * self.reward_scale).astype(np.float32), over, self._infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment, once for each chosen environment."""
        return [getattr(self.envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the environments share everything."""
        raise NotImplementedError("the environments of a vector environment have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The result of a method of the vector environment, a row for each chosen environment."""
        result = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return [result[env] for env in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No environment is wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    def _observed(self) -> Nodes:
        return self.envs.nodes.astype(np.int32)[:, None]
