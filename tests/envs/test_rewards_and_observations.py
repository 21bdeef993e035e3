"""Rewards in other units, and observations of other types: the same games."""

import copy
import pickle
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from stb_gym import ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv, transitions
from stb_gym.solver import objective_of

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
DTYPES = ["uint8", "int8", "int64", "float16", np.float32, np.dtype(">f8"), float]


def many_turns(name, steps=60, **options):
    """What a vector environment shows and pays, and a single one, playing the first legal action."""
    envs = gym.make_vec(name, 20, **options)
    seen = [envs.reset(seed=1)]
    for _ in range(steps):
        seen.append(envs.step(envs.action_masks().argmax(axis=1)))
    env = gym.make(name, **options)
    alone = [env.reset(seed=1)]
    for _ in range(steps):
        alone.append(env.step(env.unwrapped.action_masks().argmax()))
        if alone[-1][2]:
            alone.append(env.reset())
    return envs, seen, env, alone


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", [BOX, THREES])
def test_observations_are_the_same_in_every_type(name, dtype):
    _, plain, _, plain_alone = many_turns(name)
    envs, seen, env, alone = many_turns(name, observation_dtype=dtype)
    native = np.dtype(np.dtype(dtype).type)
    assert envs.single_observation_space.dtype == envs.observation_space.dtype == env.observation_space.dtype == native
    assert (env.observation_space.high == env.unwrapped.game.observation_high).all()
    for one, other in zip(seen + alone, plain + plain_alone, strict=True):
        assert one[0].dtype == native
        assert (one[0] == other[0]).all()
        assert envs.observation_space.contains(one[0]) or env.observation_space.contains(one[0])
    for one, other in zip(seen, plain, strict=True):
        assert (envs.node(one[0]) == envs.node(other[0])).all()
    assert env.unwrapped.node(alone[0][0]) == env.unwrapped.node(plain_alone[0][0])
    check_env(gym.make(name, observation_dtype=dtype).unwrapped)


def test_the_last_observation_has_the_type_too():
    envs = gym.make_vec(BOX, 5, observation_dtype="float32", autoreset_mode="SameStep")
    envs.reset(seed=1)
    *_, infos = envs.step(np.zeros(5, int))
    assert infos["final_obs"].dtype == np.float32
    assert not infos["final_obs"].any()


@pytest.mark.parametrize("wrong", [0.5, np.nan, 256, 257, -1, np.inf])
def test_numbers_that_no_position_shows_are_refused(wrong):
    env = gym.make(BOX, observation_dtype="float32").unwrapped
    observation, _ = env.reset(seed=1)
    observation[0] = wrong
    with pytest.raises(ValueError, match=r"^\[.*\] is no observation of ShutTheBox\(\)$"):
        env.node(observation)


@dataclass(frozen=True, repr=False)
class Wide(Threes):
    """Threes, of whose observations no more is said than that they are at most 200."""

    @property
    def observation_high(self):
        return np.full(7, 200)


def test_a_type_must_hold_the_largest_number():
    for made in (TurnEnv, TurnVectorEnv):
        assert made(Wide(), observation_dtype="uint8")
        assert made(Wide(), observation_dtype="float16")
        assert made(Threes(), observation_dtype="int8")
        with pytest.raises(ValueError, match=r"^observation_dtype must be .* that holds 0 to 200, .* not 'int8'$"):
            made(Wide(), observation_dtype="int8")


@pytest.mark.parametrize("scale", [1 / 45, 3, np.float32(0.5), np.int64(2)])
@pytest.mark.parametrize(("name", "objective"), [(BOX, "score"), (THREES, "at-most:5")])
def test_rewards_are_utilities_times_the_scale(name, objective, scale):
    _, plain, _, plain_alone = many_turns(name, objective=objective)
    envs, seen, env, alone = many_turns(name, objective=objective, reward_scale=scale)
    assert envs.transitions.reward_scale == scale
    assert env.unwrapped.objective == envs.objective == objective_of(envs.game, objective)
    paid = 0
    for one, other in zip(seen[1:], plain[1:], strict=True):
        assert one[1].dtype == np.float64
        assert (one[1] == other[1] * float(scale)).all()
        assert (one[0] == other[0]).all()
        paid += np.count_nonzero(one[1])
    assert paid > 20
    for one, other in zip(alone, plain_alone, strict=True):
        if len(one) == 5:
            assert type(one[1]) is float
            assert one[1] == other[1] * float(scale)
    _, info = env.reset(seed=0)
    worst = objective_of(envs.game, objective).utilities(env.unwrapped.transitions.tables.final_score).min()
    if not info["action_mask"].all():
        assert env.step(info["action_mask"].argmin())[1] == worst * float(scale)


def test_what_does_not_differ_is_shared():
    game = ShutTheBox(tiles=5)
    plain = transitions(game, objective_of(game, "score"))
    first = TurnEnv(game, observation_dtype="float32", reward_scale=0.5).transitions
    second = TurnVectorEnv(game, 3, reward_scale=0.5, observation_dtype=np.float32).transitions
    assert first is second
    assert first.next_state is plain.next_state
    assert TurnEnv(game, observation_dtype=np.uint8, reward_scale=1).transitions is plain
    assert TurnEnv(Threes()).transitions.observation.dtype == np.uint8


@pytest.mark.parametrize("how", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_keep_type_and_scale(how):
    for env in (
        gym.make(BOX, observation_dtype="float32", reward_scale=0.1).unwrapped,
        gym.make_vec(BOX, 3, observation_dtype="float32", reward_scale=0.1),
    ):
        assert how(env).transitions is env.transitions
