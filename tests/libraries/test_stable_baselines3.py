"""stable-baselines3: models made from an id, on environments and on the vector environment."""

import gymnasium as gym
import pytest
from sb3_contrib import QRDQN
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env

import stb_gym
from tests.libraries import BOX, IDS, MASKED, measured


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    model = PPO("MlpPolicy", name, n_steps=32, batch_size=32, seed=0, device="cpu").learn(64)
    assert measured(model.get_env(), model).regret > 0


@pytest.mark.parametrize("name", IDS)
def test_its_checker_finds_nothing(name):
    check_env(gym.make(name).unwrapped)


@pytest.mark.parametrize("algorithm", [PPO, A2C, DQN, QRDQN])
def test_it_learns_from_the_vector_environment_and_is_measured(algorithm):
    env = stb_gym.sb3.TurnVecEnv(gym.make_vec(BOX, num_envs=8, autoreset_mode="SameStep"))
    callback = stb_gym.sb3.RegretCallback(stb_gym.RegretMeter(env), every=400)
    algorithm("MlpPolicy", env, seed=0, device="cpu").learn(800, callback)
    assert len(callback.curve) >= 2
    assert 0 < callback.best.regret < 34


def test_it_takes_the_mask_in_the_observation():
    env = make_vec_env(MASKED, n_envs=2)
    model = PPO("MultiInputPolicy", env, n_steps=64, seed=0, device="cpu").learn(256)
    assert stb_gym.RegretMeter(env)(model).regret > 0
