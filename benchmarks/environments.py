"""The environments beside those of Gymnasium and EnvPool.

Ours do more than the peers: a step checks that the action is legal and returns the mask of legal actions. Actions are
sampled before each timed step, ours among the legal ones. In SameStep mode a step makes a move in every environment;
in NextStep mode it only begins a new turn in about a quarter of them. The 300 is a box too large for tables: its moves
are computed from boards.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.timing import Comparison, Timer, installed, time_limit, timer

TURN, ROUND, THE_300 = "stb_gym/ShutTheBox-v0", "stb_gym/ShutTheBoxRound-v0", "stb_gym/ShutTheBox300-v0"
NUM_ENVS = 4096
STEPS = 2000  # of a call that times a single environment


def vector() -> Iterator[Comparison]:
    """Yield comparisons of steps of many environments at once, `NUM_ENVS` unless the name says otherwise."""
    for count in (1024, NUM_ENVS, 16_384, 65_536):
        cart_pole = _stepping("CartPole-v1", count, vectorization_mode="vector_entry_point")
        for mode in ("NextStep", "SameStep"):
            ours = _stepping(TURN, count, autoreset_mode=mode)
            yield Comparison(f"{mode} mode, {count} envs", ours, "Gymnasium CartPole", cart_pole, 1.2)
    turns = _stepping(TURN)
    yield Comparison(f"vector step, {NUM_ENVS} envs", turns, "EnvPool Taxi", _taxi(), 30)
    yield Comparison("vector step of rounds", _stepping(ROUND, players=3), "ours, turns", turns, 0.2)
    yield time_limit("vector step of The 300", 1 / 3e6, _stepping(THE_300))


def scalar() -> Iterator[Comparison]:
    """Yield comparisons of one environment made by `gym.make` with its usual wrappers: the whole loop with resets."""
    turn: Any = gym.make(TURN)
    seat: Any = gym.make(ROUND, players=3)
    lake = gym.make("FrozenLake-v1")
    legal = turn.unwrapped.transitions.action_mask.argmax(axis=1).tolist()
    moves = itertools.cycle([lake.action_space.sample() for _ in range(STEPS)])
    turns = _playing(turn, lambda: legal[turn.unwrapped.state])
    yield Comparison("single step", turns, "Gymnasium FrozenLake", _playing(lake, moves.__next__), 2.5)
    rounds = _playing(seat, lambda: legal[seat.unwrapped.state])
    yield Comparison("single step of a round", rounds, "ours, a turn", turns, 0.25)
    large: Any = gym.make(THE_300)
    large_steps = _playing(large, lambda: large.unwrapped.action_masks().argmax())
    yield time_limit("single step of The 300", 1 / 8e3, large_steps)


def _stepping(identity: str, count: int = NUM_ENVS, **options: Any) -> Timer:
    """Return a timer of steps of `count` environments that leaves out the choice of actions."""
    envs: Any = gym.make_vec(identity, count, **options)
    envs.reset(seed=0)
    sample = getattr(envs, "legal_sample", envs.action_space.sample)
    return timer(envs.step, lambda: [sample()], count)


def _taxi() -> Timer | None:
    """Return a timer of EnvPool's Taxi with one thread for each core, its default; None if it is not installed."""
    envpool = installed("envpool")
    if envpool is None:
        return None
    envs = envpool.make_gymnasium("Taxi-v3", num_envs=NUM_ENVS)
    envs.reset()
    space = gym.spaces.MultiDiscrete(np.full(NUM_ENVS, envs.action_space.n), dtype=np.int32)
    return timer(envs.step, lambda: [space.sample()], NUM_ENVS)


def _playing(env: gym.Env[Any, Any], choose: Callable[[], Any]) -> Timer:
    """Return a timer of steps of one environment, which is reset whenever an episode ends."""

    def play() -> None:
        env.reset()
        for _ in range(STEPS):
            _, _, terminated, truncated, _ = env.step(choose())
            if terminated or truncated:
                env.reset()

    return timer(play, units=STEPS)
