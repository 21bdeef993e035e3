"""The study of departures trains every change, and none of them without effect."""

import pandas as pd
import pytest

from agents.presets import TASKS, configure
from training.experiments import departures as departing
from training.run import measure


def test_presets_have_every_study():
    for study in departing.STUDIES:
        task, variant = study.split()
        for algorithm, _ in departing.CHANGES:
            steps = {"1m": 1_000_000, "10m": 10_000_000}[variant]
            assert configure(algorithm, *TASKS[task], variant).steps == steps


@pytest.mark.nightly
def test_every_change_is_trained_once_and_tells(tmp_path, monkeypatch, capsys):
    presets = tmp_path / "presets.toml"
    presets.write_text(
        "[ppo.small]\nsteps = 512\nnum_envs = 32\nwidth = 16\n"
        "[dqn.small]\nsteps = 512\nnum_envs = 32\nbatch_size = 64\nwarm_up = 64\nwidth = 16\n"
        "[fitted-q.small]\nsteps = 512\nnum_envs = 32\nwarm_up = 64\nwidth = 16\n"
    )
    monkeypatch.setattr("agents.presets.FILE", presets)
    monkeypatch.setattr(departing, "STUDIES", ("threes small",))
    for _ in range(2):
        departing.departures(seeds=1, out=tmp_path / "departures.csv.gz")
    rows = pd.read_csv(tmp_path / "departures.csv.gz")
    assert list(rows[["algorithm", "change"]].itertuples(index=False, name=None)) == list(departing.CHANGES)
    assert rows["regret"].nunique() == len(rows)
    assert rows["regret"][0] == measured_again("ppo")
    assert capsys.readouterr().out.count("is complete") == 2


def measured_again(algorithm):
    config = configure(algorithm, *TASKS["threes"], "small")
    learner = config.make_learner(config.make_envs())
    learner.learn(config.steps)
    return pytest.approx(measure(config, learner).greedy.regret, rel=1e-12)
