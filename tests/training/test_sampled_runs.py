"""Runs on boxes that are measured by sampled turns: what their folders hold, that they go on, and how they are told."""

import csv
import json
import math
import shutil

import pytest

from agents.policy_array import value_error
from agents.presets import read_presets
from stb_gym import RegretMeter, ShutTheBox, solve
from tests import SMALL_PRESETS
from tests.training.faults import Killed, killed
from training import evaluate as evaluating
from training import logs, plots, results, study_plots
from training import report as reporting
from training import run as runs
from training import train as training
from training.ledger import Ledger
from training.palette import styles_of
from training.run import Run, measure

TASK = ["--presets", str(SMALL_PRESETS), "--tiles", "5", "--steps", "5000", "--measurements", "4", "--seed", "3"]
TURNS = 600


def no_tables(patch):
    """As if no box had tables."""
    patch.setattr(runs, "fits_tables", lambda game: False)
    patch.setattr(runs, "TURNS", TURNS)


@pytest.fixture(autouse=True)
def too_large(monkeypatch):
    no_tables(monkeypatch)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder of a short run."""
    out = tmp_path_factory.mktemp("runs") / "ppo"
    with pytest.MonkeyPatch.context() as patch:
        no_tables(patch)
        assert training.main(["ppo", *TASK, "--out", str(out)]) == 0
    return out


def exactly(run):
    """The measure of a run's learner, computed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "fits_tables", lambda game: True)
        return measure(run.config, run.learner())


def test_its_curve_says_what_was_sampled_and_how_large_the_noise_is(folder):
    run = Run.open(folder)
    last = run.curve()[-1]
    exact = exactly(run)
    assert all((point.turns, math.isnan(point.agreement)) == (TURNS, True) for point in run.curve())
    assert 0 < abs(last.regret - exact.greedy.regret) <= 4 * last.standard_error
    assert last.exploring_regret == pytest.approx(exact.exploring.regret, abs=0.2)
    assert last.value_error == run.result()["value_error"] > 0
    assert run.result()["greedy"]["standard_error"] == last.standard_error
    assert run.is_sampled()


def test_it_has_no_policy_of_all_positions(folder):
    assert {path.name for path in folder.iterdir()} == {
        ".lock", "config.json", "curve.csv", "log.csv", "result.json", "weights.safetensors",
    }  # fmt: skip


def test_the_error_of_values_is_that_at_the_positions_that_are_met(folder, monkeypatch):
    monkeypatch.setattr(runs, "TURNS", 30_000)
    run = Run.open(folder)
    learner = run.learner()
    sampled, exact = measure(run.config, learner), exactly(run)
    assert value_error(learner, sampled.greedy) == pytest.approx(value_error(learner, exact.greedy), rel=0.03)


def test_it_is_measured_again_from_its_weights_with_as_many_turns_as_one_likes(folder, capsys):
    assert evaluating.main([str(folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["greedy"].items() <= Run.open(folder).result()["greedy"].items()
    assert evaluating.main([str(folder), "--turns", "5000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["greedy"]["turns"] == told["exploring"]["turns"] == 5000
    assert evaluating.main([str(folder), "--turns", "0"]) == 2
    assert "turns must be an integer from 2" in capsys.readouterr().err
    assert evaluating.main([str(folder)]) == 0
    table = capsys.readouterr().out
    assert "standard error" in table
    assert f" {Run.open(folder).result()['greedy']['normalised_score']:.3%} " in table


def test_killed_at_any_moment_it_ends_as_if_it_had_not_been(tmp_path):
    words = ["afterstates", *TASK, "--steps", "2000", "--checkpoint-seconds", "0", "--resume"]
    with killed(10**9) as met:
        assert training.main([*words, "--out", str(tmp_path / "whole")]) == 0
    whole = Run.open(tmp_path / "whole")
    for moment in range(1, len(met) + 1, 3):
        out = tmp_path / str(moment)
        with pytest.raises(Killed), killed(moment):
            training.main([*words, "--out", str(out)])
        assert training.main([*words, "--out", str(out)]) == 0
        again = Run.open(out)
        assert [same(point) for point in again.curve()] == [same(point) for point in whole.curve()]
        assert again.result()["greedy"] == whole.result()["greedy"]
        shutil.rmtree(out)


def same(point):
    """A measurement without what differs from time to time."""
    return {name: value for name, value in vars(point).items() if name not in ("seconds", "agreement")}


def test_a_finished_one_is_not_trained_again(folder):
    before = (folder / "result.json").stat().st_mtime_ns
    assert training.main(["ppo", *TASK, "--out", str(folder), "--resume"]) == 0
    assert (folder / "result.json").stat().st_mtime_ns == before


@pytest.fixture
def study(folder, tmp_path):
    """A study of that run."""
    presets = tmp_path / "presets.toml"
    presets.write_text(SMALL_PRESETS.read_text())
    ledger = Ledger(tmp_path)
    ledger.enter("ppo-five-tiles-3", "five-tiles", "standard", Run.open(folder))
    return tmp_path


def test_tables_tell_it_from_an_exact_one(study, folder, monkeypatch):
    [row] = Ledger(study).rows.values()
    point = Run.open(folder).curve()[-1]
    assert (row.turns, row.standard_error, row.regret, row.policy) == (TURNS, point.standard_error, point.regret, "")
    random = RegretMeter(Run.open(folder).game())(lambda seen, masks: masks / masks.sum(axis=1, keepdims=True)).regret
    assert row.normalised_score == pytest.approx(1 - row.regret / random)
    monkeypatch.setattr(results, "config_of", lambda row, folder, presets: Run.open(folder_of).config)
    folder_of = folder
    page = results.results_page(study, read_presets(study / "presets.toml"))
    assert f"**{row.regret:.5f}** ± {row.standard_error:.5f} |" in page
    assert results.SAMPLED.strip() in page
    assert "--policy random" not in page  # of The 300 that would take a minute


def test_what_was_written_before_anything_was_sampled_is_read_as_exact(study):
    for name in ("runs.csv", "curves.csv"):
        rows = list(csv.reader((study / name).read_text().splitlines()))
        kept = [place for place, heading in enumerate(rows[0]) if heading not in ("turns", "standard_error")]
        (study / name).write_text("".join(",".join(row[place] for place in kept) + "\n" for row in rows))
    ledger = Ledger(study)
    assert {row.turns for row in ledger.rows.values()} == {0}
    assert {point.turns for curve in ledger.curves.values() for point in curve} == {0}


def test_pictures_tell_it_from_an_exact_one(study, folder, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(plots, "save", lambda path, figure: drawn.append((path.name, figure)))
    monkeypatch.setattr(study_plots, "save", lambda path, figure: drawn.append((path.name, figure)))
    curve = Run.open(folder).curve()
    plots.plot_regret(tmp_path / "regret.svg", {"ppo": curve}, {}, "points", styles_of(["ppo"]))
    study_plots.plot_study(study, read_presets(study / "presets.toml"))
    figures = dict(drawn)
    for figure in (figures["regret.svg"], figures["five-tiles.png"]):
        axes = figure.axes[0]
        assert axes.get_ylabel() == "regret, sampled with exact losses (points)"
        [band] = axes.collections
        highest = max(point.regret + 1.96 * point.standard_error for point in curve[-4:])
        assert band.get_paths()[0].vertices[:, 1].max() >= highest * (1 - 1e-5)


def test_a_report_says_what_was_sampled_and_shows_the_mistakes_that_were_met(folder, tmp_path, capsys):
    assert reporting.main([str(folder), "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text()
    assert "Agents were measured by turns that they played, with the exact loss of every choice" in page
    assert "Regret, sampled with exact losses" in page
    assert "exactly, not sampled" not in page
    assert "Played so" not in page
    dearest = reporting.mistakes_in_words(Run.open(folder).evaluation(), 1)[0]
    assert f'alt="{dearest["node"]}">' in page
    assert f"It plays <b>{dearest['plays']}</b>; best is <b>{dearest['best']}</b>" in page
    assert page.count("data:image/png") == min(6, len(Run.open(folder).evaluation().mistakes()))
    assert "The bands of sampled agents are their 95% intervals." in page
    assert "standard error" in capsys.readouterr().out


def test_chances_to_end_worse_have_the_noise_of_the_turns(folder):
    sampled, best = Run.open(folder).evaluation(), solve(ShutTheBox(tiles=5))
    perfect = best.evaluate(best.policy)
    for score, difference, error in zip(*plots.ends_worse(sampled, perfect), strict=True):
        worse = sampled.final_score > score
        expected = sum(chance for other, chance in perfect.score_distribution.items() if other > score)
        assert difference == pytest.approx(worse.mean() - expected)
        assert error == pytest.approx(worse.std() / math.sqrt(TURNS))


def test_regrets_are_named_after_how_they_were_found(folder):
    sampled = Run.open(folder).curve()[0]
    exact = type(sampled)(**{**vars(sampled), "turns": 0, "standard_error": 0.0})
    assert plots.regret_of([exact]) == "exact regret"
    assert plots.regret_of([sampled]) == "regret, sampled with exact losses"
    assert plots.regret_of([exact, sampled]) == "regret, exact or sampled with exact losses"


def test_logs_name_numbers_after_how_they_were_found(folder):
    sampled = Run.open(folder).curve()[-1]
    exact = type(sampled)(**{**vars(sampled), "turns": 0, "standard_error": 0.0, "agreement": 1.0})
    for point, kind, known in ((sampled, "sampled", "standard_error"), (exact, "exact", "agreement")):
        told = logs._scalars(runs.Measurement(point, {"loss": 2.0}, None))
        assert (told[f"{kind}/regret"], told["train/loss"], f"{kind}/{known}" in told) == (point.regret, 2.0, True)
        assert {name.split("/")[0] for name in told} == {kind, "train"}
