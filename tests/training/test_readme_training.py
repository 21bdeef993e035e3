"""What is said of training: the README's commands run, in their order, and the page of results is as it is made."""

import re
import runpy
import shlex
import sys

import pytest

from agents.presets import read_presets
from tests import ROOT
from tests.test_readme import TRAINING
from training.results import results_page


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


def test_the_page_says_what_the_results_say():
    folder = ROOT / "docs" / "results"
    assert results_page(folder, read_presets()) == (folder / "README.md").read_text()
    section = re.search("## How close do agents get.(.*?)\n###? ", (ROOT / "README.md").read_text(), re.DOTALL)
    figures = re.findall(r"\d+\.\d{4,}", section[1])
    assert figures
    assert all(figure in results_page(folder, read_presets()) for figure in figures)
