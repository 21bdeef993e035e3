"""Test the studies: single changes, hardness as a prediction, and parts of regrets."""

from queue import Queue

import pandas as pd
import pytest

from agents.presets import TASKS, configure
from stb_gym import hardness
from stb_gym.files import write_json
from training.experiments import departures as departing
from training.experiments import diagnoses
from training.experiments import hardness as predicting
from training.experiments import language_model as imitating
from training.measurement import measure
from training.results import read_numbers, save_results
from training.study import fill_table, run_study


def run_twice(main, path):
    """Run the command of an experiment with one seed twice, the second time without a training; return its rows."""
    for _ in range(2):
        assert main(["--seeds", "1", "--out", str(path)]) == 0
    return pd.read_csv(path)


def test_presets_have_every_study():
    for study in departing.STUDIES:
        task, variant = study.split()
        for algorithm, _ in departing.CHANGES:
            steps = {"1m": 1_000_000, "10m": 10_000_000}[variant]
            assert configure(algorithm, *TASKS[task], variant).steps == steps


@pytest.mark.nightly
def test_every_change_is_trained_once_and_changes_the_regret(tmp_path, monkeypatch, capsys):
    presets = tmp_path / "presets.toml"
    presets.write_text(
        "[ppo.small]\nsteps = 512\nnum_envs = 32\nwidth = 16\n"
        "[dqn.small]\nsteps = 512\nnum_envs = 32\nbatch_size = 64\nwarm_up = 64\nwidth = 16\n"
        "[fitted-q.small]\nsteps = 512\nnum_envs = 32\nwarm_up = 64\nwidth = 16\n"
    )
    monkeypatch.setattr("agents.presets.FILE", presets)
    monkeypatch.setattr(departing, "STUDIES", ("threes small",))
    rows = run_twice(departing.main, tmp_path / "departures.csv.gz")
    assert list(rows[["algorithm", "change"]].itertuples(index=False, name=None)) == list(departing.CHANGES)
    assert rows["regret"].nunique() == len(rows)
    assert rows["regret"][0] == measured_again("ppo")
    assert capsys.readouterr().out.count("is complete") == 2


def test_rows_that_another_process_adds_are_kept(tmp_path):
    out = tmp_path / "rows.csv.gz"

    def train(name, seed):
        save_results(out, pd.DataFrame({"name": ["theirs"], "seed": [0], "regret": [1.0]}))
        return [2.0]

    key = ["name", "seed"]
    assert fill_table(train, [("ours", 0)], key, ["regret"], out)["regret"].tolist() == [2.0]
    assert read_numbers(out, key)["name"].tolist() == ["theirs", "ours"]
    with pytest.raises(ValueError, match="nothing to train"):
        fill_table(train, [], key, ["regret"], out)


def test_the_progress_of_other_processes_is_read_from_their_folders(tmp_path, monkeypatch):
    shown = Queue()
    monkeypatch.setattr("training.study.ProgressBar.tell", lambda self, done, note=None: shown.put(done))
    monkeypatch.setattr("training.study.GLANCE_SECONDS", 0.001)

    def in_parallel(function, calls, *options):
        for number, (folder, *_) in enumerate(calls, 1):
            folder.mkdir()
            write_json(folder / "result.json", {"steps": 100})
            while shown.get(timeout=20) != 100 * number:
                pass
            yield (folder,), None, ""

    monkeypatch.setattr("training.study.in_parallel", in_parallel)
    runs = {tmp_path / str(seed): configure("monte-carlo", *TASKS["threes"], seed=seed, steps=2000) for seed in (1, 2)}
    assert run_study(runs, workers=2) == {}


def measured_again(algorithm):
    config = configure(algorithm, *TASKS["threes"], "small")
    learner = config.make_learner(config.make_envs())
    learner.learn(config.steps)
    return pytest.approx(measure(config, learner).greedy.regret, rel=1e-12)


def test_a_score_that_follows_a_measure_correlates_with_it():
    names = ["dice 3 objective score", "faces 4 objective score", "tiles 9 objective shut", "dice 4 objective score"]
    rows = []
    for name in names:
        found = hardness(predicting.TASKS[name].game, predicting.TASKS[name].objective)
        rows += [("steps", name, found.shares[0] + noise) for noise in (-1e-6, 1e-6)]
        rows.append(("size", name, -found.decisions))
    found = predicting.correlations(pd.DataFrame(rows, columns=["agent", "task", "score"]))
    assert found.loc["steps", "1 step"] == pytest.approx(1)
    assert found.loc["size", "decisions"] == pytest.approx(-1)


@pytest.mark.nightly
def test_agents_are_diagnosed_once(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(diagnoses, "STUDIED", ("threes",))
    monkeypatch.setattr(diagnoses, "STEPS", 2000)
    monkeypatch.setattr(diagnoses, "FIT_STEPS", 20)
    rows = run_twice(diagnoses.main, tmp_path / "diagnoses.csv.gz").set_index("agent")
    assert rows.index.tolist() == [*diagnoses.OURS, *diagnoses.MODELS]
    assert (rows[["exploration_first_1", "sampling_first_1"]] >= 0).all(axis=None)
    assert (rows["exploration_first_1"] <= rows["exploration_first_10"]).all()
    assert ((rows["representation"] != 0) == [agent in diagnoses.MODELS for agent in rows.index]).all()
    assert not rows.loc["ppo"].equals(rows.loc["ppo without entropy bonus"])
    assert capsys.readouterr().out.count("is complete") == 2


@pytest.mark.nightly
def test_a_language_model_learns_to_write_moves(tmp_path, monkeypatch):
    monkeypatch.setattr(imitating, "STEPS", 150)
    monkeypatch.setattr(imitating, "GAMES", (200,))
    [row] = run_twice(imitating.main, tmp_path / "model.csv.gz").to_dict("records")
    assert (row["games"], row["seed"]) == (200, 0)
    assert 0 < row["regret"] < 34  # of an answer that is never legal
    assert row["unparsable_mass"] < 0.5
    assert row["illegal_mass"] + row["unparsable_mass"] < 1
