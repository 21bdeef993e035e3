"""Processes that the tests start import the checkout that is tested, and end at ctrl-C; windows follow at once."""

import os
import signal

import pytest

from stb_gym.envs import TurnEnv
from tests import ROOT

os.environ["PYTHONPATH"] = str(ROOT)  # wherever the package was installed from
signal.signal(signal.SIGINT, signal.default_int_handler)  # which what a shell starts in the background ignores


@pytest.fixture(autouse=True)
def _windows_at_once(monkeypatch):
    monkeypatch.setitem(TurnEnv.metadata, "render_fps", 1000)
