"""The package's vector environment as a VecEnv of stable-baselines3: one call a step for all games."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from stb_gym.vector_env import TurnVectorEnv


class TurnVecEnv(VecEnv):
    """Adapts a `TurnVectorEnv` in SAME_STEP mode.

    Rewards are divided by the largest there is, so that values lie in [-1, 1] whatever the rules.

    Args:
        games: the vector environment.
        mask_in_observation: make observations {"observation": [B, O], "action_mask": [B, A]}, as DQN's replay buffer
            needs them; PPO asks for the masks by `action_masks` instead.

    Raises:
        ValueError: if `games` is in another autoreset mode.
    """

    def __init__(self, games: TurnVectorEnv, mask_in_observation: bool = False):
        if games.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"stable-baselines3 needs autoreset mode SameStep, not {games.autoreset_mode.value}")
        self.games = games
        self.reward_scale = 1 / max(1.0, float(abs(games.transitions.reward).max()))
        self._mask_in_observation = mask_in_observation
        self._actions = np.zeros(games.num_envs, np.int64)
        self._seed: int | None = None
        space: gym.Space[Any] = games.single_observation_space
        if mask_in_observation:
            space = gym.spaces.Dict(observation=space, action_mask=gym.spaces.MultiBinary(games.transitions.actions))
        self.render_mode = games.render_mode
        super().__init__(games.num_envs, space, games.single_action_space)

    def reset(self) -> Any:
        """Begin all games; the first reset after `seed` uses the seed."""
        observation, _ = self.games.reset(seed=self._seed)
        self._seed = None
        return self._observed(observation)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take note of the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the moves; infos of games that ended hold the "terminal_observation"."""
        observation, reward, over, _, info = self.games.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(over):
            infos[game]["terminal_observation"] = self._final(info["final_obs"][game])
        return self._observed(observation), (reward * self.reward_scale).astype(np.float32), over, infos

    def close(self) -> None:
        """Nothing to close."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the vector environment, once per chosen game."""
        return [getattr(self.games, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: the games share everything."""
        raise NotImplementedError("the games of one vector environment have no attributes of their own")

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """The result of a method of the vector environment, a row for each chosen game."""
        result = getattr(self.games, method_name)(*method_args, **method_kwargs)
        return [result[game] for game in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False] * len(list(self._get_indices(indices)))

    def _observed(self, observation: NDArray[np.uint8]) -> Any:
        if not self._mask_in_observation:
            return observation
        return {"observation": observation, "action_mask": self.games.action_masks().view(np.int8)}

    def _final(self, observation: NDArray[np.uint8]) -> Any:
        if not self._mask_in_observation:
            return observation
        return {"observation": observation, "action_mask": np.zeros(self.games.transitions.actions, np.int8)}
