"""What the README says of training: its commands run, one after the other, and its table says what the results say."""

import runpy
import shlex
import sys

import pytest

from agents.presets import read_presets
from tests import ROOT
from tests.test_readme import TRAINING
from training.results import results_table


def test_training_runs(tmp_path, monkeypatch):
    """Each module as the program that `python -m` makes of it."""
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    monkeypatch.chdir(tmp_path)
    for command in TRAINING:
        _, _, module, *words = shlex.split(command, comments=True)
        monkeypatch.setattr(sys, "argv", [module, *words])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(ROOT / f"{module.replace('.', '/')}.py"), run_name="__main__")
        assert ended.value.code == 0, command
    assert (tmp_path / "runs/quick/report/report.html").exists()


def test_the_table_says_what_the_results_say():
    table = results_table(ROOT / "docs" / "results", read_presets())
    assert table.to_markdown_rows() in (ROOT / "README.md").read_text()
