"""Provide configurations that learn five tiles in a tenth of a second, and a run that tests share."""

import pytest

from agents.presets import configure
from tests.learners import SMALL
from training.run import train

ENV = "stb_gym/ShutTheBox-v0"


def small(algorithm="tabular-afterstates", seed=0, steps=500, arguments=None, **options):
    """Return a small configuration."""
    settings = SMALL[algorithm] | options.pop("settings", {})
    rules = {"tiles": 5} if arguments is None else arguments
    env = options.pop("env", ENV)
    return configure(algorithm, env, rules, seed=seed, steps=steps, settings=settings, **options)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """Return the folder of a finished run with five measurements or more, which no test may change."""
    folder = tmp_path_factory.mktemp("runs") / "tabular-afterstates"
    train(small(steps=2000), folder, measurements=5)
    return folder


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Let commands write to a new working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "runs"
