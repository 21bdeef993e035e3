"""sb3-contrib: MaskablePPO asks for `action_masks`."""

import gymnasium as gym
import pytest
from sb3_contrib import MaskablePPO

import stb_gym
from tests.libraries import BOX, IDS, measured


@pytest.mark.parametrize("name", IDS)
def test_first_line(name):
    model = MaskablePPO("MlpPolicy", name, n_steps=32, batch_size=32, seed=0, device="cpu").learn(64)
    assert measured(model.get_env(), model).illegal_mass == 0


def test_masked_ppo_learns_fast():
    env = stb_gym.sb3.TurnVecEnv(gym.make_vec(BOX, num_envs=8, autoreset_mode="SameStep"))
    model = MaskablePPO("MlpPolicy", env, n_steps=128, seed=0, device="cpu").learn(4096)
    assert stb_gym.RegretMeter(env)(model).regret < 2
