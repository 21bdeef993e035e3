"""The checker of stable-baselines3, which starts torch, on the environments."""

import gymnasium as gym
import pytest
from stable_baselines3.common.env_checker import check_env

from stb_gym import MaskInObservation
from tests.envs.test_env import VARIANTS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
def test_it_finds_nothing(name, options, render_mode):
    check_env(gym.make(name, render_mode=render_mode, **options).unwrapped, skip_render_check=render_mode is None)


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version")
@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_it_finds_nothing_in_the_wrapper(name, options):
    check_env(MaskInObservation(gym.make(name, **options).unwrapped))
