"""Tests import this checkout, also in processes they start; ctrl-C ends those; windows do not wait between frames."""

import os
import signal
from functools import lru_cache

import pytest
from hypothesis import settings

import stb_gym
from stb_gym.envs import TurnEnv
from tests import ROOT

os.environ["PYTHONPATH"] = str(ROOT)  # wherever the package was installed from
os.environ.pop("PYTHONUNBUFFERED", None)  # a broken pipe is noticed late where output is buffered, as it usually is
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore ctrl-C
settings.register_profile("tests", deadline=None, max_examples=30)
settings.load_profile("tests")


def pytest_configure(config):
    """Accept that the snapshots of tests that are left out are not used."""
    config.option.warn_unused_snapshots |= config.option.markexpr != "not nightly"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark nightly tests slow, too, so that `-m "not slow"` leaves out both."""
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker("slow")


@pytest.fixture(autouse=True)
def _windows_at_once(monkeypatch):
    monkeypatch.setitem(TurnEnv.metadata, "render_fps", 1000)


@pytest.fixture(scope="session")
def solved():
    """Return `stb_gym.solve` with a cache: `solved(game)`, `solved(game, "shut")`."""
    return lru_cache(maxsize=None)(stb_gym.solve)
