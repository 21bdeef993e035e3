"""Runs and results files become one table, and a report that shows it; what cannot be read is one line."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from stb_gym import evaluate, strategy
from tests import ROOT
from tests.training.fake_runs import ENV, GAME, fake_round, fake_run, fake_runs
from training import report
from training.compare import compare_agents, main
from training.results import (
    Task,
    bootstrap_interval,
    by_agent,
    by_task,
    curve_over_seeds,
    interquartile_mean,
    read_measurements,
    read_results,
    save_results,
)

NAME = "ShutTheBox-v0-tiles-5"
REGRETS = {name: evaluate(GAME, strategy(GAME, name)).regret for name in ("biggest-first", "optimal-shut", "random")}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return fake_runs(tmp_path_factory.mktemp("runs"))


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """Return the folder of a report; paths are relative to it."""
    monkeypatch.chdir(tmp_path)
    folders = fake_runs(Path("runs"))
    assert main([*map(str, folders), "--out", "report"]) == 0
    return Path("report")


def rows_of(paths, name=NAME):
    return pd.DataFrame(compare_agents(*by_task(read_measurements(paths))[name])).set_index("agent")


# Statistics


def test_the_interquartile_mean_leaves_out_the_lowest_and_the_highest_quarter():
    values = np.array([[100.0, 1], [1, 1], [2, 2], [-50, 100]])
    assert interquartile_mean(values).tolist() == [1.5, 1.5]
    assert interquartile_mean(values[:2]).tolist() == [50.5, 1]


def test_the_interval_is_that_of_scipy_but_for_its_random_numbers():
    from scipy import stats  # which takes long

    values = np.random.default_rng(1).lognormal(size=(10, 2))
    mean = partial(stats.trim_mean, proportiontocut=0.25)
    found = stats.bootstrap((values,), mean, method="percentile", n_resamples=4000, rng=2)
    width = found.confidence_interval.high - found.confidence_interval.low
    low, high = bootstrap_interval(values)
    assert abs(low - found.confidence_interval.low) == pytest.approx(0, abs=0.05 * width.max())
    assert abs(high - found.confidence_interval.high) == pytest.approx(0, abs=0.05 * width.max())
    assert (bootstrap_interval(values) == [low, high]).all()


def test_seeds_are_compared_at_the_same_steps():
    one = pd.DataFrame({"seed": 0, "steps": [0, 10, 20, 30], "regret": [8.0, 4, 2, 1]})
    other = pd.DataFrame({"seed": 1, "steps": [0, 20], "regret": [6.0, 2]})
    curve = curve_over_seeds(pd.concat([other, one]), "regret")
    assert curve["steps"].tolist() == [0, 10, 20]
    assert curve["mean"].tolist() == [7, 4, 2]
    assert (curve["low"] <= curve["mean"]).all()
    assert curve["high"].tolist() == [8, 4, 2]


# The table


def test_a_row_has_what_was_measured_last_over_seeds(runs):
    rows = rows_of(runs)
    assert list(rows.index) == list(rows.sort_values("regret", kind="stable").index)
    row, other = rows.loc["q-learning"], rows.loc["tabular-afterstates"]
    seeds = [REGRETS["biggest-first"], REGRETS["optimal-shut"]]
    assert row["regret"] == pytest.approx(np.mean(seeds))
    assert (row["low"], row["high"]) == pytest.approx((min(seeds), max(seeds)))
    assert (row["steps"], row["seconds"], row["seeds"]) == (2000, 20, 2)
    assert (other["regret"], other["agreement_by_visits"], other["illegal_mass"], other["seeds"]) == (0, 1, 0, 1)
    assert np.isnan(other["low"])


def test_a_task_has_the_name_of_the_presets_or_one_of_its_own():
    assert Task("stb_gym/ShutTheBox12-v0", {}).name == "twelve-tiles"
    assert Task(ENV, {"tiles": 5, "objective": "at-most:3"}).name == "ShutTheBox-v0-tiles-5-objective-at-most-3"
    assert Task(ENV, {}, "league", "2").name == "nine-tiles-2-players-league"


@pytest.mark.nightly
def test_rounds_are_compared_by_the_largest_gain(tmp_path, capsys):
    assert main([str(fake_round(tmp_path / "begun", [0.5])), "--out", str(tmp_path)]) == 0
    folder = fake_round(tmp_path / "round", [0.3, 0.2, 0.125])
    name = f"{NAME}-2-players-league"
    rows = rows_of([folder], name)
    assert rows["gain"].to_dict() == {"ppo": 0.125}
    assert "--players 2 --opponents league" in rows.loc["ppo", "command"]
    assert main([str(folder), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "largest gain (expected wins)" in printed
    assert " 0.125" in printed
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {f"{name}.png", f"{name}-dark.png"}


# Names and commands


def test_agents_of_one_algorithm_are_named_by_what_differs(tmp_path):
    wide = fake_run(tmp_path / "wide", ["worst"], settings={"exploration": 0.5})
    narrow = fake_run(tmp_path / "narrow", ["worst"], settings={"exploration": 0.25})
    longer = fake_run(tmp_path / "longer", ["worst"], settings={"exploration": 0.25}, steps=7000)
    same = fake_run(tmp_path / "same", ["worst"], settings={"exploration": 0.25}, steps=7000, seed=5)
    paths = [wide, narrow, longer, same]
    assert {name: len(runs) for name, runs in by_agent(read_measurements(paths)).items()} == {
        "q-learning, 2,000 steps, exploration 0.5": 1,
        "q-learning, 2,000 steps, exploration 0.25": 1,
        "q-learning, 7,000 steps, exploration 0.25": 2,
    }
    assert list(by_agent(read_measurements([longer, same]))) == ["q-learning"]


def test_a_command_has_all_that_differs_from_the_preset(tmp_path, monkeypatch):
    presets = tmp_path / "presets.toml"
    presets.write_text("[q-learning]\nsteps = 2000\n[q-learning.quick]\nexploration = 0.25\n")
    monkeypatch.setattr("agents.presets.FILE", presets)
    runs = [
        fake_run(tmp_path / "0", ["worst"], variant="quick"),
        fake_run(tmp_path / "2", ["worst"], variant="quick", seed=2),
        fake_run(tmp_path / "changed", ["worst"], settings={"exploration": 0.5}, steps=3000),
    ]
    rows = rows_of(runs)
    begin = "python -m training.train q-learning --env stb_gym/ShutTheBox-v0 --tiles 5"
    assert rows.loc["q-learning, quick", "command"] == f"{begin} --variant quick --steps 2000 --seeds 0,2"
    assert rows.loc["q-learning", "command"] == f"{begin} --settings.exploration 0.5 --steps 3000 --seeds 0"
    presets.write_text("[q-learning]\nsteps = 2000\n# without the variant\n")
    monkeypatch.setattr("agents.presets.FILE", presets.rename(tmp_path / "later.toml"))
    save_results(tmp_path / "all.csv.gz", read_measurements(runs))
    assert rows_of([tmp_path / "all.csv.gz"]).loc["q-learning, quick", "command"] == ""


@pytest.mark.nightly
def test_a_game_of_your_own_is_compared(tmp_path):
    folder = fake_run(tmp_path / "run", ["worst"])
    config = json.loads((folder / "config.json").read_text())
    config |= {"env": "stb_gym/Pig-v0", "arguments": {"most_points": 30}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "policy.npz").unlink()
    words = ["-m", "training.compare", "--import", "docs.pig", str(folder), "--out", str(tmp_path / "out")]
    printed = subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert "hold-at-20" in printed
    assert "--env stb_gym/Pig-v0 --import docs.pig --most-points 30" in (tmp_path / "out" / "README.md").read_text()


# Results files


def test_a_results_file_holds_all_measurements_and_is_read_again(runs, tmp_path, capsys):
    path = tmp_path / "all.csv.gz"
    assert main([*map(str, runs), "--save", str(path)]) == 0
    printed = capsys.readouterr().out
    pd.testing.assert_frame_equal(read_results(path), read_measurements(runs))
    assert "train/loss" not in read_results(path)
    assert main([str(path), "--save", str(tmp_path / "again" / "all.csv.gz")]) == 0
    assert capsys.readouterr().out == printed
    assert (tmp_path / "again" / "all.csv.gz").read_bytes() == path.read_bytes()


def test_every_task_has_its_rows_as_json(runs, tmp_path, capsys):
    assert main([*map(str, runs), str(fake_round(tmp_path / "round", [0.5])), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert list(answer) == [NAME, f"{NAME}-2-players-league"]
    assert {row["agent"]: row["regret"] for row in answer[NAME]} == rows_of(runs)["regret"].to_dict()


# The report


def test_the_pages(pages, snapshot):
    """They need only the pictures beside them, and name their language, tables and pictures."""
    names = {path.name for path in pages.iterdir()}
    assert names == {"report.html", "README.md", f"{NAME}.png", f"{NAME}-dark.png"}
    assert {name: (pages / name).read_text() for name in ("report.html", "README.md")} == snapshot


def test_the_picture_shows_every_curve_with_its_interval_and_its_name(runs, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    measurements = by_task(read_measurements(runs))[NAME][1]
    curves = {name: curve_over_seeds(frame, "regret") for name, frame in by_agent(measurements).items()}
    report.draw_curves(tmp_path / "light.png", curves, {"random": REGRETS["random"]}, "regret")
    report.draw_curves(tmp_path / "dark.png", curves, {}, "regret", dark=True)
    axes = drawn[0].axes[0]
    first, second, random = axes.lines
    assert first.get_xdata().tolist() == [1000, 2000]
    assert first.get_ydata() == pytest.approx(curves["q-learning"]["mean"][1:])
    assert second.get_ydata()[-1] == report.LEAST  # of a regret of 0
    assert first.get_color() != second.get_color()
    band = axes.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(curves["q-learning"]["high"][1:].max())
    assert random.get_ydata() == [REGRETS["random"]] * 2
    assert [text.get_text() for text in axes.texts] == [*curves, "random"]
    assert [text.xy[1] for text in axes.texts] == pytest.approx(
        [first.get_ydata()[-1], report.LEAST, REGRETS["random"]]
    )
    assert [to_hex(figure.get_facecolor()) for figure in drawn] == ["#ffffff", "#000000"]


def test_names_that_would_overlap_are_moved_apart():
    heights = np.array([0.5, 0.98, 0.51, 0.99, 0.1, 0.5])
    places = report.spread(heights, 0.05)
    assert (np.diff(np.sort(places)) > 0.05 - 1e-9).all()
    assert (places.argsort(kind="stable") == heights.argsort(kind="stable")).all()
    assert places[[0, 1, 4]].tolist() == [0.5, 0.98, 0.1]
