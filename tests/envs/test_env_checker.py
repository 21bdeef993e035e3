"""Test the environments with the checker of stable-baselines3, which imports torch."""

import gymnasium as gym
import pytest
from stable_baselines3.common.env_checker import check_env

from stb_gym import MaskInObservation
from tests.envs.test_env import VARIANTS

pytestmark = pytest.mark.slow


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_it_finds_nothing(name, options, render_mode):
    env = gym.make(name, render_mode=render_mode, **options).unwrapped
    for checked in (env, MaskInObservation(env)):
        check_env(checked, skip_render_check=render_mode is None)
