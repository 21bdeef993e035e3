"""Configurations that learn five tiles in a tenth of a second, and one run that tests share."""

import pytest

from agents.presets import configure
from training.run import train

ENV = "stb_gym/ShutTheBox-v0"
SMALL = {  # settings with which each learner makes a few rollouts in 500 steps
    "ppo": {"num_envs": 16, "num_steps": 4, "minibatches": 2, "width": 16},
    "dqn": {"num_envs": 16, "batch_size": 32, "warm_up": 64, "replay_size": 256, "target_period": 3, "width": 16},
    "fitted-q": {"num_envs": 16, "batch_size": 32, "warm_up": 64, "width": 16},
    "afterstates": {"num_envs": 16, "minibatches": 2, "width": 16},
    "q-learning": {"num_envs": 8},
    "tabular-afterstates": {"num_envs": 8},
    "monte-carlo": {"num_envs": 8},
    "certainty-equivalence": {"num_envs": 8},
}


def small(algorithm="tabular-afterstates", seed=0, steps=500, arguments=None, **options):
    """Return a small configuration."""
    settings = SMALL.get(algorithm, {}) | options.pop("settings", {})
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
