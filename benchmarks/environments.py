"""The environments against Gymnasium's and EnvPool's.

Ours do more than the peers: a step checks that the action is legal and returns the mask of the legal ones. Actions are
drawn before the timing begins, ours among the legal ones. In SAME_STEP mode a step makes a move in every environment;
in NEXT_STEP mode a step only begins a new turn in about a quarter of them.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Comparison, Timer, installed, timer
from stb_gym.envs.large_stepper import large_stepper

OURS, ROUND, THE_300 = "stb_gym/ShutTheBox-v0", "stb_gym/ShutTheBoxRound-v0", "stb_gym/ShutTheBox300-v0"
NUM_ENVS = 4096
TURNS_AHEAD = 64
STEPS = 2000


def vector() -> Iterator[Comparison]:
    """Steps of many environments at once, of which only `step` is timed, and random legal actions for all of them."""
    for count, least_ratio in ((256, None), (NUM_ENVS, 2), (65536, 2)):
        name, peer = f"vector step, {count} envs", "Gymnasium CartPole-v1"
        yield Comparison(name, "steps/s", _ours(count), peer, _cart_pole(count), least_ratio)
    name, peer = f"vector step, {NUM_ENVS} envs", "EnvPool Taxi-v3"
    yield Comparison(name, "steps/s", _ours(NUM_ENVS), peer, _taxi(NUM_ENVS), 30)
    for count in (NUM_ENVS, 65536):
        name, same_step = f"vector step, {count} envs, SAME_STEP", _ours(count, autoreset_mode="SameStep")
        yield Comparison(name, "steps/s", same_step, "ours, NEXT_STEP", _ours(count), 0.7)
    rounds = _ours(NUM_ENVS, ROUND, players=3)
    yield Comparison(f"vector step of rounds, {NUM_ENVS} envs", "steps/s", rounds, "ours, turns", _ours(NUM_ENVS), 0.2)
    yield from _sampling(NUM_ENVS)
    yield from _of_boards(NUM_ENVS)


def scalar() -> Iterator[Comparison]:
    """Steps of one environment, made by `gym.make` with its usual wrappers: the whole loop with its resets."""
    env = gym.make(OURS)
    turn: Any = env.unwrapped
    legal = legal_actions(turn).tolist()
    lake = gym.make("FrozenLake-v1")
    moves = itertools.cycle(_random_actions(lake.action_space, STEPS))
    ours, theirs = _playing(env, lambda: legal[turn._node]), _playing(lake, lambda: next(moves))
    yield Comparison("single step", "steps/s", ours, "Gymnasium FrozenLake-v1", theirs, 2.5)
    env = gym.make(ROUND, players=3)
    player: Any = env.unwrapped
    rounds = _playing(env, lambda: legal[player._node])
    yield Comparison("single step of a round", "steps/s", rounds, "ours, a turn", ours, 0.25)
    env = gym.make(THE_300)
    large: Any = env.unwrapped
    ours = _playing(env, lambda: large.action_masks().argmax())
    yield Comparison("single step, The 300", "steps/s", ours, most_seconds=1 / 8e3)


def legal_actions(envs: Any) -> NDArray[np.int64]:
    """[N + 1] a legal action for each node of an environment, 0 where the turn is over."""
    return np.asarray(envs.transitions.action_mask.argmax(axis=1))


def _ours(count: int, identity: str = OURS, **options: Any) -> Timer:
    envs: Any = gym.make_vec(identity, count, **options)
    envs.reset(seed=0)
    return timer(envs.step, envs.legal_sample, units=count)


def _sampling(count: int) -> Iterator[Comparison]:
    """Random legal actions in the middle of turns, against drawing them from the masks of the same nodes."""
    envs: Any = gym.make_vec(OURS, count)
    envs.reset(seed=0)
    for _ in range(TURNS_AHEAD):
        envs.step(envs.legal_sample())
    masks, random = envs.action_masks(), np.random.default_rng(0)
    rows = tuple(masks.view(np.int8))
    name, ours = f"legal actions, {count} envs", timer(lambda _: envs.legal_sample(), units=count)
    for peer, call, least_ratio in (
        ("Gymnasium sample(mask=...)", lambda _: envs.action_space.sample(mask=rows), 30),
        ("NumPy over the masks", lambda _: (random.random(masks.shape) * masks).argmax(axis=1), None),
    ):
        yield Comparison(name, "actions/s", ours, peer, timer(call, units=count), least_ratio)


def _of_boards(count: int) -> Iterator[Comparison]:
    """The 300, whose moves are worked out from boards."""
    for mode in ("NextStep", "SameStep"):
        name, ours = f"vector step, {count} envs of The 300, {mode}", _ours(count, THE_300, autoreset_mode=mode)
        yield Comparison(name, "steps/s", ours, most_seconds=1 / 3e6)
    envs: Any = gym.make_vec(THE_300, count)
    envs.reset(seed=0)
    for name, call in (
        ("masks", lambda _: envs.action_masks()),
        ("legal actions", lambda _: envs.legal_sample()),
        ("afterstates", lambda _: envs.afterstates()),
    ):
        yield Comparison(f"{name}, {count} envs of The 300", "ms", timer(call))
    making = timer(lambda _: gym.make(THE_300).reset(seed=0), large_stepper.cache_clear)
    yield Comparison("make The 300", "ms", making, most_seconds=2.0)


def _cart_pole(count: int) -> Timer:
    envs = gym.make_vec("CartPole-v1", count, vectorization_mode="vector_entry_point")
    envs.reset(seed=0)
    return timer(envs.step, _ahead(envs.action_space), units=count)


def _taxi(count: int) -> Timer | None:
    """EnvPool's own number of threads: one for each core."""
    envpool = installed("envpool")
    if envpool is None:
        return None
    envs = envpool.make_gymnasium("Taxi-v3", num_envs=count)
    envs.reset()
    space = gym.spaces.MultiDiscrete(np.full(count, envs.action_space.n), dtype=np.int32)
    return timer(envs.step, _ahead(space), units=count)


def _ahead(space: gym.Space[Any]) -> Callable[[], Any]:
    """A function that returns random actions, drawn before, over and over."""
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
