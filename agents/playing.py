"""A vector environment as a learner plays it, however episodes begin anew and however large rewards are."""

from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from agents.learner import Snapshot, VectorEnv
from agents.snapshots import check_like, named, part
from stb_gym.games import IntArray

SCALE = "scale"  # the name of the scale of rewards among the weights of learners
NEARLY_NOTHING = float(np.finfo(np.float32).tiny)


class Step(NamedTuple):
    """What a step in B environments led to.

    Attributes:
        reward: [B] as the environment gives it.
        terminated: [B] whether an episode ended.
        truncated: [B] whether it was cut off without an end of its own.
        last: [T, ...] what was seen last of these T episodes that were cut off.
        last_mask: [T, A] True where an action was legal there.
    """

    reward: NDArray[np.float32]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    last: NDArray[Any]
    last_mask: NDArray[np.bool_]


class Playing:
    """The episodes of a vector environment as they stand.

    Args:
        envs: the vector environment. Where there is no `action_mask` in its infos every action is legal.
        masks: whether masks are heeded; if not, every action is legal.
        seed: of the environment.

    Attributes:
        actions: how many actions there are.
        observation: [B, ...] what is seen.
        mask: [B, A] True where an action is legal.
        decision: [B] whether an action is asked for; not where none is legal, nor where a step only begins an episode.
        scale: the greatest absolute sum of rewards that an episode has had so far, nearly 0 before there was any.
            Divided by it, what is to be learned is about 1 in every environment.

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
        self.scale = NEARLY_NOTHING
        self._begin(*envs.reset(seed=seed))

    def step(self, action: IntArray) -> Step:
        """Take an action [B] in every environment."""
        observation, reward, terminated, truncated, infos = self.envs.step(action)
        over, truncated = terminated | truncated, truncated & ~terminated
        last, last_mask = observation[:0], np.zeros((0, self.actions), np.bool_)
        if truncated.any():
            final = self._same_step
            last = np.stack(list((infos["final_obs"] if final else observation)[truncated]))
            last_mask = self._legal(infos["final_info"] if final else infos)[truncated]
        self._answer = observation, infos, over & self._same_step
        self._see(observation, infos, over & (not self._same_step))
        self._rewarded += reward
        self.scale = max(self.scale, float(np.abs(self._rewarded).max()))
        self._rewarded[over] = 0.0
        return Step(np.array(reward, np.float32), terminated, truncated, last, last_mask)

    def arrived(self) -> NDArray[Any]:
        """[B, ...] what the last step led to; where it ended an episode, the last observation of that."""
        observation, infos, ended = self._answer
        seen = np.array(observation)
        if ended.any():
            seen[ended] = np.stack(list(infos["final_obs"][ended]))
        return seen

    def snapshot(self) -> dict[str, Any]:
        """Where to go on from; only the scale if the environment cannot tell how it stands."""
        if not hasattr(self.envs, "snapshot"):
            return {"scale": self.scale}
        seen = {"observation": self.observation, "mask": self.mask, "decision": self.decision}
        return {"scale": self.scale, **seen, "rewarded": self._rewarded, **named("envs", self.envs.snapshot())}

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot, with new episodes if it does not tell how they stood.

        Raises:
            ValueError: if it is of other environments.
        """
        check_like(snapshot, self.snapshot(), but=["envs"])
        if "observation" in snapshot:
            if not self.envs.observation_space.contains(snapshot["observation"]):
                raise ValueError("what was seen last is no observation")
            self.envs.restore(part(snapshot, "envs"))  # type: ignore[attr-defined]
            self.observation, self.mask, self.decision = (snapshot[k] for k in ("observation", "mask", "decision"))
            self._rewarded = snapshot["rewarded"].copy()
        else:
            self._begin(*self.envs.reset())
        self.scale = snapshot["scale"]

    def _begin(self, observation: NDArray[Any], infos: dict[str, Any]) -> None:
        self._rewarded = np.zeros(self.envs.num_envs)
        self._see(observation, infos, np.zeros(self.envs.num_envs, np.bool_))

    def _see(self, observation: NDArray[Any], infos: dict[str, Any], ended: NDArray[np.bool_]) -> None:
        # The environment may write its next answer into the same array.
        self.observation, self.mask = np.array(observation), self._legal(infos)
        self.decision = self.mask.any(axis=1) & ~ended

    def _legal(self, infos: dict[str, Any]) -> NDArray[np.bool_]:
        """[B, A] True where an action is legal."""
        if not self._masks or "action_mask" not in infos:
            return np.ones((self.envs.num_envs, self.actions), np.bool_)
        legal: NDArray[np.bool_] = np.asarray(infos["action_mask"]) != 0
        told = infos.get("_action_mask")  # which of the infos hold one, as Gymnasium's environments say
        return legal if told is None else legal | ~told[:, None]
