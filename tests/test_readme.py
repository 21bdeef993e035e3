"""Every code block of the README runs, and the figures that it promises are those that are printed."""

import contextlib
import io
import itertools
import re
import shlex
import subprocess
import sys
from contextlib import ExitStack
from functools import cache
from unittest.mock import patch

import gymnasium as gym
import pytest

import stb_gym
from stb_gym import solve_boards
from stb_gym.command import listing, main, solving
from stb_gym.exact import objective_of
from stb_gym.games import registry
from tests import ROOT

BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
# Twelve lines of stable-baselines3 are those of a tutorial, and run with it.
PYTHON = [code for language, code in BLOCKS if language == "python" and "stable_baselines3" not in code]
SHELL = [line for language, code in BLOCKS if language == "sh" for line in code.splitlines()]
COMMANDS = [line for line in SHELL if not line.startswith("#")]
MAKE = [line for line in COMMANDS if line.startswith("make ")]
TRAINING = [line for line in COMMANDS if line.startswith("python -m training.")]
OURS = [line for line in COMMANDS if line.startswith("stb-gym ")]
THE_300 = "shut-the-box --variant the-300"
LONG = ("stb-gym variants", "stb-gym book", f"stb-gym advise {THE_300}", f"stb-gym evaluate {THE_300}")


@pytest.fixture
def games_are_forgotten():
    """What a test registers is known to that test only."""
    with ExitStack() as undone_at_the_end:
        for known in (stb_gym.GAMES, registry._ENTRIES, stb_gym.ENVIRONMENTS, gym.registry):
            undone_at_the_end.enter_context(patch.dict(known))
        yield
    sys.modules.pop("docs.pig", None)


@pytest.fixture(scope="module", autouse=True)
def _large_boxes_are_solved_once():
    solved = cache(solve_boards)

    def once(game, objective, progress=None, *, worst=False):
        return solved(game, objective_of(game, objective), worst=worst)

    with patch.object(solving, "solve_boards", once), patch.object(listing, "solve_boards", once):
        yield


@pytest.fixture
def no_ink(monkeypatch):
    """Pictures of books are made, and written without being drawn."""
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda figure, path, dpi: path.write_bytes(b"\x89PNG"))


def figures(text):
    """The percentages in comments, and other numbers of four decimals or more."""
    return re.findall(r"\d+\.\d+%|\d+\.\d{4,}", "\n".join(re.findall("#.*", text)))


def promised_below(command):
    """The figures in the comment below a command."""
    below = itertools.takewhile(lambda line: line.startswith("#"), SHELL[SHELL.index(command) + 1 :])
    return figures("\n".join(below))


def test_there_is_something_of_everything():
    assert {language for language, _ in BLOCKS} == {"python", "sh"}
    assert min(len(PYTHON), len(MAKE), len(TRAINING), len(OURS)) > 0
    assert sorted(COMMANDS) == sorted(MAKE + TRAINING + OURS)


@pytest.mark.parametrize("code", PYTHON)
@pytest.mark.usefixtures("games_are_forgotten")
def test_python_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    promised = figures(code)
    assert promised
    assert all(number in printed.getvalue() for number in promised)


@pytest.mark.parametrize(
    "command", [pytest.param(line, marks=[pytest.mark.slow] if line.startswith(LONG) else []) for line in OURS]
)
@pytest.mark.usefixtures("no_ink")
def test_commands_print_the_figures_that_stand_below_them(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    assert main(shlex.split(command, comments=True)[1:]) == 0
    printed = capsys.readouterr().out
    printed += "".join(path.read_text() for path in tmp_path.glob("*/*.md"))
    assert printed
    assert all(number in printed for number in promised_below(command))


@pytest.mark.parametrize("command", MAKE)
def test_make_knows_its_targets(command):
    words = [*shlex.split(command, comments=True), "--dry-run"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "$(" not in done.stdout


def test_links_and_pictures_exist():
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target
