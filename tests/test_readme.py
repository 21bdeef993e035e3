"""Every code block of the README runs, and its table says what the results say."""

import itertools
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agents.presets import read_presets
from tests import ROOT
from training.results import results_table

BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
PYTHON = [code for language, code in BLOCKS if language == "python"]
SHELL = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]
COMMANDS = [line for line in SHELL if not line.startswith("#")]
MAKE = [line for line in COMMANDS if line.startswith("make ")]
TRAINING = [line for line in COMMANDS if line.startswith("python -m training.")]
OTHERS = [line for line in COMMANDS if line not in MAKE + TRAINING]


def figures(text):
    """The percentages in comments, and other numbers of four decimals or more."""
    return re.findall(r"\d+\.\d+%|\d+\.\d{4,}", "\n".join(re.findall("#.*", text)))


def run(command, folder):
    """Run a command in the folder as one with our Python; its standard output."""
    words = shlex.split(command, comments=True)
    if words[0] == "python":
        words[0] = sys.executable
    elif words[0] == "stb-gym":
        words[0] = str(Path(sys.executable).parent / "stb-gym")
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_there_is_something_of_everything():
    assert {language for language, _ in BLOCKS} == {"python", "sh"}
    assert min(len(PYTHON), len(MAKE), len(TRAINING), len(OTHERS)) > 0


@pytest.mark.parametrize("code", PYTHON)
def test_python_runs(code, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    promised = figures(code)
    assert promised
    assert all(number in done.stdout for number in promised)


@pytest.mark.parametrize("command", OTHERS)
def test_commands_print_the_figures_that_stand_below_them(command, tmp_path):
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    printed = run(command, tmp_path)
    printed += "".join(path.read_text() for path in tmp_path.glob("*/*.md"))
    below = itertools.takewhile(lambda line: line.startswith("#"), SHELL[SHELL.index(command) + 1 :])
    assert printed
    assert all(number in printed for number in figures("\n".join(below)))


def test_training_runs(tmp_path):
    for package in ("agents", "training", "docs"):
        (tmp_path / package).symlink_to(ROOT / package)
    for command in TRAINING:
        run(command, tmp_path)
    assert (tmp_path / "runs/quick/report/report.html").exists()


@pytest.mark.parametrize("command", MAKE)
def test_make_knows_its_targets(command):
    assert "$(" not in run(f"{command.split('#')[0]} --dry-run", ROOT)


def test_the_table_says_what_the_results_say():
    assert results_table(ROOT / "docs" / "results", read_presets()) in (ROOT / "README.md").read_text()


def test_links_and_pictures_exist():
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target
