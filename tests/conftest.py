"""Processes that the tests start import the checkout that is tested; windows do not wait for people to follow."""

import os

import pytest

from stb_gym.envs import TurnEnv
from tests import ROOT

os.environ["PYTHONPATH"] = str(ROOT)  # wherever the package was installed from


@pytest.fixture(autouse=True)
def _windows_at_once(monkeypatch):
    monkeypatch.setitem(TurnEnv.metadata, "render_fps", 1000)
