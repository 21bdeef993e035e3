"""The examples in docstrings run, and whoever calls a public function finds one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import stb_gym

MODULES = [name for _, name, _ in pkgutil.walk_packages(stb_gym.__path__, "stb_gym.")]
NEED_MORE = ("stb_gym.pettingzoo", "stb_gym.sb3")  # PettingZoo, stable-baselines3
FUNCTIONS = [
    name
    for name in stb_gym.__all__
    if name not in ("pettingzoo", "plots", "sb3") and inspect.isfunction(inspect.unwrap(getattr(stb_gym, name)))
]


@pytest.mark.parametrize("name", [name for name in MODULES if name not in NEED_MORE])
def test_examples_run(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_there_are_examples():
    found = [example for name in MODULES if name not in NEED_MORE for example in examples_of(name)]
    assert len(found) > 40


def examples_of(name):
    tests = doctest.DocTestFinder().find(importlib.import_module(name))
    return [example for test in tests for example in test.examples]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_have_arguments_and_an_example(name):
    page = inspect.getdoc(getattr(stb_gym, name))
    assert "Example:" in page
    if inspect.signature(getattr(stb_gym, name)).parameters:
        assert "Args:" in page
