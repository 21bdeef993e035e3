"""Find out what the last step of an environment was, below the wrappers around it."""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np

from stb_gym.arrays import IntArray
from stb_gym.envs import LastStep, TurnEnv, TurnVectorEnv
from stb_gym.messages import quoted

NOT_ONE_STEP = "a wrapper took no step, or several at once, or restored a snapshot: put the recorder inside it"


def turn_of(env: Any, kind: type, needed: str, hint: str = "") -> Any:
    """Return an environment without wrappers; if it is one of rounds, the environment of turns that it holds.

    Raises:
        TypeError: if it is not of a kind. The error reads "`needed` of stb_gym, not ..." and ends with the hint.
        ValueError: if its actions are words.
    """
    if isinstance(env.action_space, gym.spaces.Text):
        raise ValueError("TextEnv makes no step if an answer names no action: read the losses in its infos")
    turn = getattr(env.unwrapped, "turn", env.unwrapped)
    if not isinstance(turn, kind):
        raise TypeError(f"{needed} of stb_gym, not {quoted(env)}{hint}")
    return turn


def last_step_of(env: TurnEnv, before: int) -> LastStep | None:
    """Return the step that an environment has just made; None if a wrapper has begun another turn instead.

    Args:
        env: the environment without the wrappers around it.
        before: its state before the step.

    Raises:
        RuntimeError: if the wrappers did anything else.
    """
    last = env.last_step
    if last is not None and last.states == before:
        return last
    if env.num_steps == 0:
        return None
    raise RuntimeError(NOT_ONE_STEP)


def last_steps_of(envs: TurnVectorEnv, before: IntArray) -> LastStep:
    """Return the step that a vector environment has just made; see `last_step_of`."""
    last = envs.last_step
    if last is None or (last.states != before).any():
        raise RuntimeError(NOT_ONE_STEP)
    return last


def games_begun(infos: Any) -> IntArray:
    """Return the games that a reset has begun.

    Raises:
        TypeError: if its infos do not say it.
    """
    if not isinstance(infos, Mapping) or "_action_mask" not in infos:
        raise TypeError("a wrapper has replaced the infos of the environment: put the recorder inside it")
    return np.flatnonzero(infos["_action_mask"])
