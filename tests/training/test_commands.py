"""The commands of the laboratory, when somebody interrupts them."""

from importlib import import_module

import pytest

from agents.presets import read_presets
from tests import SMALL_PRESETS
from training import evaluate, results, train
from training.arguments import answered
from training.results import RESULTS, results_page


def interrupted(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("command", "words", "begins_with"),
    [
        ("evaluate", ["runs/none"], "Run.open"),
        ("film", ["runs/none", "--out", "film.gif"], "Run.open"),
        ("keep", ["runs/none", "--who", "I"], "read_presets"),
        ("ladder", ["runs/none"], "read_presets"),
        ("merge", ["runs/none", "runs/other"], "read_presets"),
        ("mistakes", ["none.npz"], "evaluations_of"),
        ("report", ["runs/none"], "Run.open"),
        ("results", ["runs/none"], "read_presets"),
    ],
)
def test_an_interruption_is_told_in_a_line(command, words, begins_with, monkeypatch, capsys, tmp_path):
    module = import_module(f"training.{command}")
    for name in ("Ledger", "rungs"):  # which the ladder asks first
        monkeypatch.setattr(module, name, interrupted, raising=False)
    monkeypatch.setattr(f"training.{command}.{begins_with}", interrupted)
    monkeypatch.chdir(tmp_path)
    assert module.main(words) == 130
    assert capsys.readouterr() == ("", f"training.{command}: interrupted\n")


def test_a_pipe_to_another_process_that_breaks_is_no_reader_who_leaves(capsys):
    def work():
        raise BrokenPipeError("the worker is gone")

    assert answered("training.study", work) == 2
    assert capsys.readouterr().err == "training.study: the worker is gone\n"


def test_a_run_on_a_box_with_tables_is_exact_anyhow(tmp_path, capsys):
    words = ["afterstate-network", "--presets", str(SMALL_PRESETS), "--tiles", "4", "--steps", "1000"]
    assert train.main([*words, "--measurements", "2", "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert evaluate.main([str(tmp_path / "run")]) == 0
    table = capsys.readouterr().out
    assert evaluate.main([str(tmp_path / "run"), "--exact"]) == 0
    assert capsys.readouterr().out == table != ""


def test_the_page_of_ones_own_study_says_nothing_of_the_studies_here(tmp_path, monkeypatch):
    for name in ("runs.csv", "curves.csv"):
        head, *lines = (RESULTS / name).read_text().splitlines(keepends=True)
        (tmp_path / name).write_text(head + "".join(line for line in lines if "limit-nine-tiles-" in line))
    own = results_page(tmp_path, read_presets())
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    here = results_page(tmp_path, read_presets())
    assert "training.study reference" in here
    assert "training.study reference" not in own
    assert own.count("| ") == here.count("| ") > 0


def test_the_help_says_how_games_of_ones_own_are_known(capsys):
    for main in (train.main, evaluate.main):
        with pytest.raises(SystemExit):
            main(["--help"])
        assert "--import MODULE" in capsys.readouterr().out
