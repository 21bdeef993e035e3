"""Processes that the tests start import the checkout that is tested, and end at ctrl-C; windows follow at once."""

import os
import signal
from functools import lru_cache

import pytest

import stb_gym
from stb_gym.envs import TurnEnv
from tests import ROOT

os.environ["PYTHONPATH"] = str(ROOT)  # wherever the package was installed from
signal.signal(signal.SIGINT, signal.default_int_handler)  # which what a shell starts in the background ignores


@pytest.fixture(autouse=True)
def _windows_at_once(monkeypatch):
    monkeypatch.setitem(TurnEnv.metadata, "render_fps", 1000)


@pytest.fixture(scope="session")
def solved():
    """Return `stb_gym.solve` with a cache: `solved(game)`, `solved(game, "shut")`."""
    return lru_cache(maxsize=None)(stb_gym.solve)
