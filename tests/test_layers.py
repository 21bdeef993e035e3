"""Test that copies of environments are independent of them, and without the wrappers that only record."""

import numpy as np
from gymnasium import wrappers
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecCheckNan, VecNormalize

from stb_gym import MaskInObservation, RecordRegret
from stb_gym.layers import copy_of, layers_of, unknown_layers
from tests.own_wrappers import Own
from tests.test_trial import OwnVec, make


def names(env):
    return [type(layer).__name__ for layer in layers_of(env)]


def test_copies_leave_out_what_only_records(tmp_path):
    env = Own(RecordRegret(Monitor(Own(MaskInObservation(wrappers.TimeLimit(make(), 99))), str(tmp_path / "monitor"))))
    assert names(env) == ["TurnEnv", "TimeLimit", "MaskInObservation", "Own", "Monitor", "RecordRegret", "Own"]
    assert names(copy_of(env)) == ["TurnEnv", "MaskInObservation", "Own", "Own"]
    many = OwnVec(VecCheckNan(VecNormalize(DummyVecEnv([lambda: Own(Monitor(make()))] * 2))))
    assert names(copy_of(many)) == ["TurnEnv", "Own", "DummyVecEnv", "VecNormalize", "OwnVec"]
    assert names(copy_of(many).unwrapped.envs[1]) == ["TurnEnv", "Own"]
    without = VecNormalize(DummyVecEnv([make]), norm_obs=False)
    assert names(copy_of(without)) == ["TurnEnv", "DummyVecEnv"]
    env.close()


def test_copies_are_independent():
    env = VecNormalize(DummyVecEnv([lambda: Own(make())] * 2))
    env.reset()
    before = [member.unwrapped.snapshot() for member in env.unwrapped.envs]
    statistics = env.obs_rms.mean.copy()
    copy = copy_of(env)
    assert (copy.training, copy.norm_reward, env.training, env.norm_reward) == (False, False, True, True)
    copy.reset()
    for _ in range(5):
        copy.step(np.array([0, 0]))
    assert [member.unwrapped.snapshot() for member in env.unwrapped.envs] == before
    assert (env.obs_rms.mean == statistics).all()
    assert (copy.obs_rms.mean == statistics).all()


def test_unknown_layers_are_those_of_all_members():
    envs = SyncVectorEnv([make, lambda: Own(Monitor(make())), lambda: wrappers.FlattenObservation(make())])
    assert [type(layer).__name__ for layer in unknown_layers(envs)] == ["Own", "FlattenObservation"]
    assert unknown_layers(VecNormalize(DummyVecEnv([lambda: Monitor(make())]))) == []
    apart = AsyncVectorEnv([lambda: Own(make())] * 2)
    assert [type(layer).__name__ for layer in unknown_layers(apart)] == ["Own"]
    apart.close()
