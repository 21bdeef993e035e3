"""Test the planner of the example with mctx."""

import runpy

import gymnasium as gym

from stb_gym import RegretMeter
from tests.tutorials import FOLDER


def test_more_simulations_have_less_regret():
    make_planner = runpy.run_path(str(FOLDER / "with_mctx.py"))["Planner"]
    meter = RegretMeter(gym.make("stb_gym/ShutTheBox-v0", tiles=5))
    few, many = (meter(make_planner(meter.solution, number), deterministic=False).regret for number in (4, 256))
    assert many < few / 4
