"""Tests import this checkout, also in processes they start; ctrl-C ends those; windows do not wait between frames.

Networks begin with the same weights in every run, and without torch the tests that need it are left out.
"""

import gc
import os
import runpy
import signal
import sys
from contextlib import ExitStack
from functools import lru_cache
from importlib.util import find_spec
from unittest.mock import patch

import gymnasium as gym
import pytest
from hypothesis import settings

import stb_gym
from stb_gym import trial
from stb_gym.envs import TurnEnv
from stb_gym.games import GAMES, registry
from stb_gym.words import WORDS
from tests import ROOT

os.environ["PYTHONPATH"] = str(ROOT)  # wherever the package was installed from
os.environ.pop("PYTHONUNBUFFERED", None)  # a broken pipe is noticed late where output is buffered, as it usually is
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore ctrl-C
SLOW_TO_IMPORT = [  # they import torch or matplotlib
    ROOT / "tests" / name
    for name in (
        "benchmarks/test_benchmarks.py",
        "check/test_gradients.py",
        "check/test_groups.py",
        "check/test_ladder.py",
        "check/test_losses.py",
        "check/test_updates.py",
        "check/zoo/test_zoo.py",
        "docs/test_tutorials.py",
        "envs/test_env_checker.py",
        "envs/test_sb3_vec_env.py",
        "measure/test_diagnosis.py",
        "measure/test_meter_networks.py",
        "measure/test_meter_sb3.py",
        "measure/test_sb3_callback.py",
        "test_learners.py",
        "test_trial.py",
    )
]
TurnEnv.metadata["render_fps"] = 1000
settings.register_profile("tests", deadline=None, max_examples=12)
settings.load_profile("tests")


def pytest_ignore_collect(collection_path, config):
    """Leave out tests that are slow to import with slow tests, and where the laboratory's libraries are missing."""
    is_left_out = "not slow" in config.option.markexpr or not find_spec("stable_baselines3")
    return (is_left_out and collection_path in SLOW_TO_IMPORT) or None


def pytest_configure(config):
    """Neither report nor delete the snapshots of tests that markers leave out; try wrappers briefly, unless nightly."""
    if config.option.markexpr != "nightly":
        trial.TURNS = 80
    config.option.disable_unused_snapshots |= config.option.markexpr != "not nightly"


@pytest.hookimpl(tryfirst=True)
def pytest_terminal_summary(config):
    """Leave out syrupy's advice against that option."""
    config.option.disable_unused_snapshots = False


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark nightly tests slow, too, so that `-m "not slow"` leaves out both."""
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker("slow")


@pytest.hookimpl(hookwrapper=True)
def pytest_collection():
    """Keep the garbage collector off while tests are imported, and then let it pass over what was imported."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _same_networks():
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(1)
        torch.default_generator.manual_seed(0)  # of processors alone, which is faster


@pytest.fixture(scope="session")
def solved():
    """Return `stb_gym.solve` with a cache: `solved(game)`, `solved(game, "shut")`."""
    return lru_cache(maxsize=None)(stb_gym.solve)


@pytest.fixture
def own_games():
    """Forget the games that a test registers."""
    with ExitStack() as stack:
        for known in (GAMES, registry.ENTRIES, WORDS, stb_gym.ENVIRONMENTS, gym.registry):
            stack.enter_context(patch.dict(known))
        yield
    for name in ("pig", "docs.pig"):  # so that another import registers the game again
        sys.modules.pop(name, None)


@pytest.fixture
def pig(own_games):
    """Return the game of docs/pig.py."""
    return runpy.run_path(str(ROOT / "docs" / "pig.py"))["Pig"]
