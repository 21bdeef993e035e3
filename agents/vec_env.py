"""The package's vector environment as a VecEnv of stable-baselines3: one call a step for all games."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from stb_gym.vector_env import TurnVectorEnv

Nodes = NDArray[np.int32]


class TurnVecEnv(VecEnv):
    """Adapts a `TurnVectorEnv` in SAME_STEP mode.

    An observation is the number of the node [B, 1], which stands for what the player sees there: observations of
    different nodes differ, so nothing is added or lost, and the networks look up the rest. Rewards are divided by the
    largest there is, so that values lie in [-1, 1] whatever the rules.

    Args:
        games: the vector environment.

    Raises:
        ValueError: if `games` is in another autoreset mode.
    """

    def __init__(self, games: TurnVectorEnv):
        if games.autoreset_mode != AutoresetMode.SAME_STEP:
            raise ValueError(f"stable-baselines3 needs autoreset mode SameStep, not {games.autoreset_mode.value}")
        self.games = games
        self.reward_scale = 1 / max(1.0, float(abs(games.transitions.reward).max()))
        self._actions = np.zeros(games.num_envs, np.int64)
        self._infos: list[dict[str, Any]] = [{}] * games.num_envs
        self._seed: int | None = None
        self.render_mode = games.render_mode
        nodes = gym.spaces.Box(0, games.transitions.tables.nodes, (1,), np.int32)
        super().__init__(games.num_envs, nodes, games.single_action_space)

    def reset(self) -> Nodes:
        """Begin all games; the first reset after `seed` uses the seed."""
        self.games.reset(seed=self._seed)
        self._seed = None
        return self._observed()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset."""
        self._seed = seed
        return [seed] * self.num_envs

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Take note of the actions."""
        self._actions = actions

    def step_wait(self) -> tuple[Nodes, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the moves; where a game ends, the observation is already that of the next."""
        _, reward, over, _, _ = self.games.step(self._actions)
        return self._observed(), (reward * self.reward_scale).astype(np.float32), over, self._infos

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

    def _observed(self) -> Nodes:
        return self.games.nodes.astype(np.int32)[:, None]
