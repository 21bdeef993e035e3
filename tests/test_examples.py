"""The examples in docstrings run, and every public function has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import stb_gym

NEED_MORE = ("stb_gym.pettingzoo", "stb_gym.sb3")  # PettingZoo, stable-baselines3
MODULES = [name for _, name, _ in pkgutil.walk_packages(stb_gym.__path__, "stb_gym.") if name not in NEED_MORE]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    assert doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_public_functions_have_an_example():
    public = (getattr(stb_gym, name) for name in stb_gym.__all__ if name not in ("pettingzoo", "plots", "sb3"))
    functions = [each for each in public if inspect.isfunction(inspect.unwrap(each))]
    assert len(functions) > 5
    assert [each for each in functions if "Example:" not in inspect.getdoc(each)] == []
