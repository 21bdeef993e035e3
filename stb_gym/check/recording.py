"""A small environment that records every call, and what a collector should have stored of these calls.

Each call of `reset` or `step` returns one observation, and calls are numbered. The last entry of an observation is the
number of its call, so every observation is different. So is the reward of every step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import TurnEnv
from stb_gym.games import Threes
from stb_gym.measure.tensors import as_array
from stb_gym.messages import quoted

Array = NDArray[Any]

SCALE = 4096  # numbers of calls become fractions of this, which float32 holds exactly
STEP = "step"
LATE = "late"  # a step after the end of the episode
RESET = "reset"
UNKNOWN = "unknown"


class Call(NamedTuple):
    """A call of `reset` or `step`.

    Attributes:
        env: the index of the environment.
        kind: STEP, LATE or RESET.
        before: the number of the call before it in the same environment, or -1.
        previous: the number of the last call of `step` before it in the same environment, or -1.
        observation: the observation that it returned.
        mask: the action mask that it returned.
        seed: the seed of a reset, or None.
        action: the action, or -1.
        reward: the reward; 0 for a RESET.
        terminated: whether it terminated the episode.
        truncated: whether it truncated the episode.
    """

    env: int
    kind: str
    before: int
    previous: int
    observation: Array
    mask: Array
    seed: int | None
    action: int = -1
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


class RecordedEnv(gym.Wrapper[Any, Any, Any, Any]):
    """A game with six dice of two faces that appends every call to `calls`.

    A step after the end of an episode changes nothing, so that a collector which forgets to reset is reported.

    Args:
        index: the index of the environment; also its seed until a reset sets another.
        limit: the number of steps after which an episode is truncated.
        calls: the calls in all environments.
        reuse_buffer: whether all observations are the same array.
    """

    def __init__(self, index: int, limit: int, calls: list[Call], reuse_buffer: bool):
        super().__init__(gym.wrappers.TimeLimit(TurnEnv(Threes(dice=6, faces=2)), limit))
        self.env.reset(seed=index)
        space: Any = self.env.observation_space
        self.observation_space = gym.spaces.Box(0, np.append(space.high, np.float32(np.inf)))
        self._index = index
        self._calls = calls
        self._buffer = np.zeros(self.observation_space.shape, np.float32) if reuse_buffer else None
        self._before = -1
        self._previous = -1
        self._answer: Any = None  # to the last STEP

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        return self._append(RESET, observation, info["action_mask"], seed=seed), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        number = len(self._calls)
        before = self._calls[self._before]
        kind = LATE if before.terminated or before.truncated else STEP
        if kind == STEP:
            self._answer = self.env.step(action)
        observation, _, terminated, truncated, info = self._answer
        reward = (number if number % 2 else -number) / SCALE
        shown = self._append(kind, observation, info["action_mask"], int(action), reward, terminated, truncated)
        self._previous = number
        return shown, reward, terminated, truncated, dict(info)

    def _append(self, kind: str, observation: Array, mask: Array, *entries: Any, seed: int | None = None) -> Array:
        """Append a call, and return its observation with its number."""
        number = len(self._calls)
        shown = np.append(observation, number / SCALE).astype(np.float32)
        self._calls.append(Call(self._index, kind, self._before, self._previous, shown, mask != 0, seed, *entries))
        self._before = number
        if self._buffer is None:
            return shown.copy()
        self._buffer[:] = shown
        return self._buffer


class Truth:
    """What a collector should have stored, as arrays over the K calls. Index -1 is an entry for an unknown call.

    Attributes:
        kind, previous: [K + 1] see `Call`.
        following: [K + 1] the number of the next step in the same environment, or -1.
        leaving: [K + 1] the number of the next call in the same environment, or -1.
        is_cut: [K + 1] True where an unfinished episode has no further step.
        observations: [K + 1, O] the observations.
        columns: [K + 1] or, for masks, [K + 1, A] what a field should hold in the row of a step, and what faults store
            in it. Observations are given by the numbers of the calls that returned them.
    """

    def __init__(self, calls: list[Call], policy: Callable[..., Any] | None):
        unknown = calls[0]._replace(kind=UNKNOWN)
        entries = [np.array(entry) for entry in zip(*calls, unknown, strict=True)]
        self.kind, before, self.previous, self.observations, masks = entries[1:6]
        action, reward, terminated, truncated = entries[7:]
        numbers = np.arange(len(self.kind))
        self.leaving = np.full(len(numbers), -1)
        self.leaving[before] = numbers
        self.leaving[-1] = -1
        steps = numbers[self.kind == STEP]
        self.following = np.full(len(numbers), -1)
        self.following[self.previous[steps]] = steps
        self.following[-1] = -1
        done = terminated | truncated
        next_played = before[self.following]
        self.is_cut = ~done & (next_played != numbers)
        self.columns: dict[str, Array] = {
            "observation": before,
            "action": action,
            "reward": reward,
            "next_observation": numbers,
            "terminated": terminated,
            "truncated": truncated,
            "done": done,
            "episode_start": self.kind[before] == RESET,
            "action_mask": masks[before],
            "next_action_mask": masks,
            "stale_observation": self.previous,
            "next_observation_played": next_played,
            "next_action_mask_played": masks[next_played],
            "terminated_or_stop": terminated | self.is_cut,
            "done_or_stop": done | self.is_cut,
            "never": np.zeros_like(done),
            "all_legal": np.ones_like(masks),
        }
        if policy:
            for name, allowed in (("log_prob", "action_mask"), ("log_prob_unmasked", "all_legal")):
                chances = as_array(policy(self.observations[before], self.columns[allowed]))
                if chances.shape != masks.shape or not np.allclose(chances.sum(axis=1), 1, atol=1e-4):
                    raise ValueError(
                        "policy(observation [K, O], action_mask [K, A]) must return probabilities [K, A] that sum to "
                        f"1 in each row, not {quoted(chances)}"
                    )
                with np.errstate(divide="ignore"):
                    self.columns[name] = np.log(chances[numbers, action])
