"""A vector environment as a learner plays it, however episodes begin anew."""

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from agents.learner import Snapshot, VectorEnv, named, part
from stb_gym.games import IntArray


class Playing:
    """The episodes of a vector environment as they stand.

    Args:
        envs: the vector environment. Without `action_mask` in its infos every action is legal.
        masks: whether masks are heeded; if not, every action is legal.
        seed: of the environment.

    Attributes:
        actions: how many actions there are.
        observation: [B, ...] what is seen.
        mask: [B, A] True where an action is legal.
        decision: [B] whether an action is asked for; not where none is legal, nor where a step only begins an episode.

    Raises:
        ValueError: if the environment wants to be begun anew by hand, or actions are not numbered.
    """

    def __init__(self, envs: VectorEnv, masks: bool, seed: int):
        if not isinstance(envs.single_action_space, gym.spaces.Discrete) or envs.single_action_space.start != 0:
            raise ValueError(f"actions must be numbered from 0, a Discrete, not {envs.single_action_space}")
        mode = AutoresetMode(envs.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))
        if mode == AutoresetMode.DISABLED:
            raise ValueError("the autoreset mode must be NEXT_STEP or SAME_STEP, not DISABLED")
        self.envs, self.actions = envs, int(envs.single_action_space.n)
        self._masks, self._same_step = masks, mode == AutoresetMode.SAME_STEP
        observation, infos = envs.reset(seed=seed)
        self._see(observation, infos, np.zeros(envs.num_envs, np.bool_))

    def step(self, action: IntArray) -> tuple[NDArray[Any], NDArray[np.bool_], NDArray[np.bool_], NDArray[Any]]:
        """Take an action [B] in every environment.

        Returns:
            Rewards [B], whether episodes were terminated [B], whether they were truncated without an end of their own
            [B], and [T, ...] the last observations of these T.
        """
        observation, reward, terminated, truncated, infos = self.envs.step(action)
        truncated = truncated & ~terminated
        last = infos["final_obs"] if self._same_step and truncated.any() else observation
        last = np.stack(list(last[truncated])) if truncated.any() else observation[:0]
        self._see(observation, infos, (terminated | truncated) & (not self._same_step))
        return np.asarray(reward), terminated, truncated, last

    def snapshot(self) -> dict[str, Any]:
        """Where to go on from; nothing if the environment cannot tell."""
        if not hasattr(self.envs, "snapshot"):
            return {}
        seen = {"observation": self.observation, "mask": self.mask, "decision": self.decision}
        return {**seen, **named("envs", self.envs.snapshot())}

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot; from an empty one, with new episodes."""
        if snapshot:
            self.envs.restore(part(snapshot, "envs"))  # type: ignore[attr-defined]
            self.observation, self.mask, self.decision = (snapshot[k] for k in ("observation", "mask", "decision"))
        else:
            self._see(*self.envs.reset(), np.zeros(self.envs.num_envs, np.bool_))

    def _see(self, observation: NDArray[Any], infos: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        legal = infos.get("action_mask") if self._masks else None
        if legal is None:
            legal = np.ones((self.envs.num_envs, self.actions), np.bool_)
        # The environment may write its next answer into the same array.
        self.observation, self.mask = np.array(observation), np.asarray(legal) != 0
        self.decision = self.mask.any(axis=1) & ~ended
