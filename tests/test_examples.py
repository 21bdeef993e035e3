"""Test that the examples in docstrings run."""

import doctest
import importlib
import pkgutil

import pytest

import stb_gym

NEED_MORE = ("stb_gym.pettingzoo", "stb_gym.sb3")  # need PettingZoo and stable-baselines3
MODULES = [name for _, name, _ in pkgutil.walk_packages(stb_gym.__path__, "stb_gym.") if name not in NEED_MORE]


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0
