"""A small environment that records every call, and what a collector should have stored of these calls.

Each call of `reset` or `step` returns one observation, and calls are numbered. The last entry of an observation is the
number of its call, so every observation is different. So is the reward of every step.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.checks import action_index
from stb_gym.envs import TurnEnv
from stb_gym.games import ShutTheBox
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
        shown: the observation that it returned.
        shown_mask: the action mask that it returned.
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
    shown: Array
    shown_mask: Array
    seed: int | None = None
    action: int = -1
    reward: float = 0.0
    terminated: bool = False
    truncated: bool = False


class RecordedEnv(gym.Wrapper[Any, Any, Any, Any]):
    """A game of five tiles and two dice that appends every call to `calls`. Some first actions are illegal.

    A step after the end of an episode changes nothing, so that a collector which forgets to reset is reported. In place
    of an illegal action a legal one is played, so that episodes of collectors without masks reach the limit, too.

    Args:
        index: the index of the environment; also its seed until a reset sets another.
        limit: the number of steps after which an episode is truncated.
        calls: the calls in all environments.
        reuse_buffer: whether all observations are the same array.
    """

    def __init__(self, index: int, limit: int, calls: list[Call], reuse_buffer: bool):
        super().__init__(gym.wrappers.TimeLimit(TurnEnv(ShutTheBox(tiles=5, dice=2, faces=3)), limit))
        self._answer: Any = self.env.reset(seed=index)  # the last one, without its observation of this wrapper
        space: Any = self.env.observation_space
        self.observation_space = gym.spaces.Box(0, np.append(space.high, np.float32(np.inf)))
        self._index = index
        self._calls = calls
        self._buffer = np.zeros(self.observation_space.shape, np.float32) if reuse_buffer else None
        self._before = -1
        self._previous = -1

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode."""
        self._answer = self.env.reset(seed=seed, options=options)
        return self._append(RESET, seed), self._answer[1]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Take an action."""
        number = len(self._calls)
        kind = LATE if any(self._answer[2:4]) else STEP
        if kind == STEP:
            mask = self._answer[-1]["action_mask"]
            action = action_index(action, len(mask))
            self._answer = self.env.step(action if mask[action] else mask.argmax())
        _, _, terminated, truncated, info = self._answer
        reward = (number if number % 2 else -number) / SCALE
        shown = self._append(kind, None, int(action), reward, terminated, truncated)
        self._previous = number
        return shown, reward, terminated, truncated, dict(info)

    def _append(self, kind: str, *entries: Any) -> Array:
        """Append a call with the last answer, and return its observation with its number."""
        shown = np.append(self._answer[0], len(self._calls) / SCALE).astype(np.float32)
        mask = self._answer[-1]["action_mask"] != 0
        call = Call(self._index, kind, self._before, self._previous, shown, mask, *entries)
        self._before = len(self._calls)
        self._calls.append(call)
        if self._buffer is None:
            return shown.copy()
        self._buffer[:] = shown
        return self._buffer


def truth_of(calls: list[Call], policy: Callable[..., Any] | None) -> dict[str, Array]:
    """Return what a collector should have stored, as arrays over the K calls; index -1 is an unknown call.

    Args:
        calls: the calls.
        policy: see `rollout`.

    Returns:
        The attributes of the calls, [K + 1, ...], and:

        - following, leaving: the number of the next step, or call, in the same environment, or -1;
        - is_cut: True where an unfinished episode has no further step;
        - is_finished: True where the episode of a step ended;
        - what each field should hold in the row of a step, and what faults store in it. Observations are given by the
          numbers of the calls that returned them.
    """
    unknown = calls[0]._replace(kind=UNKNOWN, seed=None)
    columns = zip(*calls, unknown, strict=True)
    truth: dict[str, Array] = {name: np.array(column) for name, column in zip(Call._fields, columns, strict=True)}
    before = truth["before"]
    masks = truth["shown_mask"]
    numbers = np.arange(len(masks))

    def after(earlier: Array, calls: Array) -> Array:
        found = np.full(len(masks), -1)
        found[earlier[calls]] = calls
        found[-1] = -1
        return found

    following = after(truth["previous"], numbers[truth["kind"] == STEP])
    next_played = before[following]
    done = truth["terminated"] | truth["truncated"]
    is_cut = ~done & (next_played != numbers)
    is_finished = done.copy()
    for number in numbers[::-1]:
        is_finished[number] |= not is_cut[number] and is_finished[following[number]]
    truth |= {
        "following": following,
        "leaving": after(before, numbers),
        "is_cut": is_cut,
        "is_finished": is_finished,
        "observation": before,
        "next_observation": numbers,
        "done": done,
        "done_before": done[truth["previous"]],
        "episode_start": truth["kind"][before] == RESET,
        "action_mask": masks[before],
        "next_action_mask": masks,
        "next_observation_played": next_played,
        "next_action_mask_played": masks[next_played],
        "terminated_or_stop": truth["terminated"] | is_cut,
        "done_or_stop": done | is_cut,
        "never": np.zeros_like(done),
        "all_legal": np.ones_like(masks),
    }
    if policy:
        for name, allowed in (("log_prob", "action_mask"), ("log_prob_unmasked", "all_legal")):
            chances = as_array(policy(truth["shown"][before], truth[allowed]))
            if chances.shape != masks.shape or not np.allclose(chances.sum(axis=1), 1, atol=1e-4):
                raise ValueError(
                    "policy(observation [K, O], action_mask [K, A]) must return probabilities [K, A] that sum to "
                    f"1 in each row, not {quoted(chances)}"
                )
            truth.setdefault("chances", chances)  # of the policy as it plays, after the mask
            with np.errstate(divide="ignore"):
                truth[name] = np.log(chances[numbers, truth["action"]])
    return truth
