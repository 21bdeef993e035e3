"""Test that the examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import stb_gym
from tests import mostly_nightly

NEED_MORE = ("stb_gym.pettingzoo", "stb_gym.sb3")  # need PettingZoo and stable-baselines3
LONG = [f"stb_gym.{name}" for name in ("check.gradients", "check.losses", "check.updates", "rounds.vector_env")]
MODULES = [name for _, name, _ in pkgutil.walk_packages(stb_gym.__path__, "stb_gym.") if name not in NEED_MORE]


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_nightly(MODULES, lambda name: name not in LONG))
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
