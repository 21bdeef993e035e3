"""What is said of training: the commands of the pages run, in their order, and the page of results is as it is made."""

import re
import runpy
import shlex
import sys

import pytest

from agents.presets import read_presets
from docs import curves
from tests import ROOT
from tests.docs.pages import DOCS, README, commands_of, promised_below
from training.ledger import Ledger
from training.pictured import pictured
from training.results import results_page, results_tables


def test_training_runs_and_prints_the_figures_that_stand_below(tmp_path, monkeypatch, capsys):
    """Each module as the program that `python -m` makes of it."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    for command in commands_of("python -m training."):
        _, _, module, *words = shlex.split(command, comments=True)
        monkeypatch.setattr(sys, "argv", [module, *words])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(ROOT / f"{module.replace('.', '/')}.py"), run_name="__main__")
        assert ended.value.code == 0, command
        printed = capsys.readouterr().out
        assert all(number in printed for number in promised_below(command)), command
    assert (tmp_path / "runs/quick/report/report.html").exists()


def test_the_pages_say_what_the_results_say():
    page = results_page(DOCS / "results", read_presets())
    assert page == (DOCS / "results" / "README.md").read_text()
    assert "e+" not in page  # as steps of thousands of millions were written
    said, _, _ = (DOCS / "agents.md").read_text().partition("## What is still wrong")
    assert len(figures := re.findall(r"\d+\.\d{4,}", said)) > 5
    assert all(figure in page for figure in figures)


def test_the_table_of_the_readme_says_what_the_results_say():
    """If this fails, `python -m training.results docs/results` prints the numbers, in the rows of nine-tiles."""
    rows = re.findall(r"^\| (\w.*) \| ([*\d.]+) \| (\S+) \|$", README.read_text(), re.MULTILINE)
    assert len(rows) == 5
    table = results_tables(DOCS / "results", read_presets())["nine-tiles"]
    cells = zip(*(column.cells() for column in table.columns.values()), strict=True)
    known = {row[0]: (row[1].partition(" ")[0].strip("*"), row[6]) for row in cells}
    assert {name: (regret.strip("*"), steps) for name, regret, steps in rows} == {
        name: known[name] for name, *_ in rows
    }
    regrets = [float(regret.strip("*")) for _, regret, _ in rows]
    assert regrets == sorted(regrets, reverse=True)


def test_the_picture_of_lengths_shows_who_was_trained_for_several():
    rows = [row for row in Ledger(DOCS / "results").rows.values() if row.task == "nine-tiles"]
    assert "afterstate-network" in {row.algorithm for row in rows}
    lengths = {row.algorithm for row in pictured(rows)["-budgets"]}
    assert lengths == {"ppo", "dqn", "q-learning", "afterstates", "limit"}


def test_the_picture_of_the_readme_is_drawn(tmp_path):
    curves.draw(tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
