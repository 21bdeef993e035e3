"""The environments against Gymnasium's and EnvPool's.

Ours answer more than the peers do: a step checks that the action is legal and returns the mask of the legal ones.
Actions are made ahead: ours are looked up in a table of legal actions by node, the peers' are random.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Comparison, Timer, installed, timer

OURS = "stb_gym/ShutTheBox-v0"
GAMES = 4096
TURNS_AHEAD = 64
STEPS = 2000


def vector() -> Iterator[Comparison]:
    """Steps of many environments at once; only `step` is timed."""
    for games, least_ratio in ((GAMES, 1.5), (256, None), (65536, None)):
        name, peer = f"vector step, {games} games", "Gymnasium CartPole-v1"
        yield Comparison(name, "steps/s", _ours(games), peer, _cart_pole(games), least_ratio)
    yield Comparison(f"vector step, {GAMES} games", "steps/s", _ours(GAMES), "EnvPool Taxi-v3", _taxi(GAMES), 30)
    same_step = _ours(GAMES, autoreset_mode="SameStep")
    yield Comparison(f"vector step, {GAMES} games, SAME_STEP", "steps/s", same_step, "ours, NEXT_STEP", _ours(GAMES))


def scalar() -> Iterator[Comparison]:
    """Steps of one environment, made by `gym.make` with its usual wrappers: the whole loop with its resets."""
    env = gym.make(OURS)
    turn: Any = env.unwrapped
    legal = legal_actions(turn).tolist()
    lake = gym.make("FrozenLake-v1")
    moves = itertools.cycle(_random_actions(lake.action_space, STEPS))
    ours, theirs = _playing(env, lambda: legal[turn._node]), _playing(lake, lambda: next(moves))
    yield Comparison("single step", "steps/s", ours, "Gymnasium FrozenLake-v1", theirs, 5)


def legal_actions(games: Any) -> NDArray[np.int64]:
    """[N + 1] a legal action for each node of an environment, 0 where the turn is over."""
    return np.asarray(games.transitions.action_mask.argmax(axis=1))


def _ours(count: int, **options: Any) -> Timer:
    games: Any = gym.make_vec(OURS, count, **options)
    games.reset(seed=0)
    legal = legal_actions(games)
    return timer(games.step, lambda: legal[games._node], units=count)


def _cart_pole(count: int) -> Timer:
    games = gym.make_vec("CartPole-v1", count, vectorization_mode="vector_entry_point")
    games.reset(seed=0)
    return timer(games.step, _ahead(games.action_space), units=count)


def _taxi(count: int) -> Timer | None:
    """EnvPool's own number of threads: one for each core."""
    envpool = installed("envpool")
    if envpool is None:
        return None
    games = envpool.make_gymnasium("Taxi-v3", num_envs=count)
    games.reset()
    space = gym.spaces.MultiDiscrete(np.full(count, games.action_space.n), dtype=np.int32)
    return timer(games.step, _ahead(space), units=count)


def _ahead(space: gym.Space[Any]) -> Callable[[], Any]:
    """Random actions made ahead, over and over."""
    return itertools.cycle(_random_actions(space, TURNS_AHEAD)).__next__


def _random_actions(space: gym.Space[Any], count: int) -> list[Any]:
    space.seed(0)
    return [space.sample() for _ in range(count)]


def _playing(env: gym.Env[Any, Any], choose: Callable[[], Any]) -> Timer:
    def play(_: Any) -> None:
        env.reset()
        for _ in range(STEPS):
            _, _, terminated, truncated, _ = env.step(choose())
            if terminated or truncated:
                env.reset()

    return timer(play, units=STEPS)
