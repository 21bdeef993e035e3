"""The environments beside those of Gymnasium and EnvPool.

Ours do more than the peers: a step checks that the action is legal and returns the mask of legal actions. Actions are
drawn before the timing begins, ours among the legal ones. In SAME_STEP mode a step makes a move in every environment;
in NEXT_STEP mode it only begins a new turn in about a quarter of them.
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium as gym
import numpy as np

from benchmarks.timing import Comparison, Timer, installed, timer
from stb_gym.envs.large_stepper import large_stepper

OURS, ROUND, THE_300 = "stb_gym/ShutTheBox-v0", "stb_gym/ShutTheBoxRound-v0", "stb_gym/ShutTheBox300-v0"
NUM_ENVS = 4096
STEPS_AHEAD = 64  # actions drawn before the timing begins
STEPS = 2000  # of a call that times a single environment


def vector() -> Iterator[Comparison]:
    """Yield comparisons of steps of many environments at once, and of sampling legal actions for them."""
    for count, least_ratio in ((256, None), (NUM_ENVS, 2.0), (65_536, 2.0)):
        name, theirs = f"vector step, {count} envs", _cart_pole(count)
        yield Comparison(name, "steps/s", _ours(count), "Gymnasium CartPole-v1", theirs, least_ratio)
    name = f"vector step, {NUM_ENVS} envs"
    turns = _ours(NUM_ENVS)
    yield Comparison(name, "steps/s", turns, "EnvPool Taxi-v3", _taxi(NUM_ENVS), 30.0)
    same_step = _ours(NUM_ENVS, autoreset_mode="SameStep")
    yield Comparison(f"{name}, SAME_STEP", "steps/s", same_step, "ours, NEXT_STEP", turns, 0.7)
    rounds = _ours(NUM_ENVS, ROUND, players=3)
    yield Comparison(f"vector step of rounds, {NUM_ENVS} envs", "steps/s", rounds, "ours, turns", turns, 0.2)

    envs: Any = _begun(OURS, NUM_ENVS)
    for _ in range(STEPS_AHEAD):  # to the middle of turns
        envs.step(envs.legal_sample())
    rows = tuple(envs.action_masks().view(np.int8))
    sampling = timer(envs.legal_sample, units=NUM_ENVS)
    theirs = timer(lambda: envs.action_space.sample(mask=rows), units=NUM_ENVS)
    name, peer = f"legal actions, {NUM_ENVS} envs", "Gymnasium sample(mask=...)"
    yield Comparison(name, "actions/s", sampling, peer, theirs, 30.0)


def large() -> Iterator[Comparison]:
    """Yield times of The 300, whose moves are computed from boards instead of looked up in tables."""
    for mode in ("NextStep", "SameStep"):
        stepping = _ours(NUM_ENVS, THE_300, autoreset_mode=mode)
        yield Comparison(f"The 300, {NUM_ENVS} envs, {mode}", "steps/s", stepping, most_seconds=1 / 3e6)
    envs: Any = _begun(THE_300, NUM_ENVS)
    for name in ("action_masks", "legal_sample", "afterstates"):
        yield Comparison(f"The 300, {NUM_ENVS} envs, {name}", "ms", timer(getattr(envs, name)))
    making = timer(lambda: gym.make(THE_300).reset(seed=0), large_stepper.cache_clear)
    yield Comparison("The 300, make and reset", "ms", making, most_seconds=2.0)
    env: Any = gym.make(THE_300)
    playing = _playing(env, lambda: env.unwrapped.action_masks().argmax())
    yield Comparison("The 300, single step", "steps/s", playing, most_seconds=1 / 8e3)


def scalar() -> Iterator[Comparison]:
    """Yield comparisons of one environment made by `gym.make` with its usual wrappers: the whole loop with resets."""
    turn: Any = gym.make(OURS)
    legal = turn.unwrapped.transitions.action_mask.argmax(axis=1).tolist()
    lake = gym.make("FrozenLake-v1")
    moves = _drawn(lake.action_space, STEPS)
    ours = _playing(turn, lambda: legal[turn.unwrapped._node])
    yield Comparison("single step", "steps/s", ours, "Gymnasium FrozenLake-v1", _playing(lake, moves), 2.5)
    seat: Any = gym.make(ROUND, players=3)
    rounds = _playing(seat, lambda: legal[seat.unwrapped._node])
    yield Comparison("single step of a round", "steps/s", rounds, "ours, a turn", ours, 0.25)


def _begun(identity: str, count: int, **options: Any) -> Any:
    envs = gym.make_vec(identity, count, **options)
    envs.reset(seed=0)
    return envs


def _ours(count: int, identity: str = OURS, **options: Any) -> Timer:
    envs = _begun(identity, count, **options)
    return _stepping(envs.step, envs.legal_sample, count)


def _cart_pole(count: int) -> Timer:
    envs = _begun("CartPole-v1", count, vectorization_mode="vector_entry_point")
    return _stepping(envs.step, _drawn(envs.action_space, STEPS_AHEAD), count)


def _taxi(count: int) -> Timer | None:
    """Return a timer of EnvPool's Taxi with one thread for each core, its default; None if it is not installed."""
    envpool = installed("envpool")
    if envpool is None:
        return None
    envs = envpool.make_gymnasium("Taxi-v3", num_envs=count)
    envs.reset()
    space = gym.spaces.MultiDiscrete(np.full(count, envs.action_space.n), dtype=np.int32)
    return _stepping(envs.step, _drawn(space, STEPS_AHEAD), count)


def _stepping(step: Callable[[Any], Any], choose: Callable[[], Any], count: int) -> Timer:
    """Return a timer of steps of `count` environments that leaves out the choice of actions."""
    actions: Any = None

    def prepare() -> None:
        nonlocal actions
        actions = choose()

    return timer(lambda: step(actions), prepare, count)


def _drawn(space: gym.Space[Any], count: int) -> Callable[[], Any]:
    """Draw random actions, and return a function that returns them one after the other, over and over."""
    space.seed(0)
    return itertools.cycle([space.sample() for _ in range(count)]).__next__


def _playing(env: gym.Env[Any, Any], choose: Callable[[], Any]) -> Timer:
    def play() -> None:
        env.reset()
        for _ in range(STEPS):
            _, _, terminated, truncated, _ = env.step(choose())
            if terminated or truncated:
                env.reset()

    return timer(play, units=STEPS)
