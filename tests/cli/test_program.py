"""Test the command: user-defined games, documented JSON, processes, signals and closed pipes."""

import io
import json
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from unittest.mock import MagicMock

import pytest

from stb_gym import ShutTheBox, Threes, __version__, register_game, save_policy, strategy
from stb_gym.cli import main
from stb_gym.games import rule
from stb_gym.rounds import Round
from tests import PATIENCE, ROOT, every
from tests.cli.processes import STB_GYM
from tests.cli.test_text import LINES


def test_the_version_is_that_of_the_package(run):
    assert run("--version") == (0, f"{__version__}\n", "")


def test_the_command_alone_prints_its_help(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: stb-gym")


def documented():
    """Return the keys in docs/json.md by command; those that commands share are under "shared"."""
    [table] = re.findall(r"^```text\n(.*?)^```$", (ROOT / "docs/json.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = [line.split() for line in re.sub(r"\n +", " ", table).splitlines()]
    return {name: set(keys) for name, *keys in lines}


@pytest.mark.nightly
def test_every_key_of_the_json_is_documented(ask, run, tmp_path):
    known = documented()
    _, failed, _ = run("check returns tests.cli.test_checking:undiscounted --json")
    printed = {"check": set(json.loads(failed))}
    shared = known.pop("shared")
    lines = [line for line in LINES if "--json" not in line and not line.startswith("ask ") and "--dice 5" not in line]
    lines += ["list", "evaluate --policy ppo-threes", f"explore shut-the-box --tiles 4 --out {tmp_path}/page.html"]
    for line in lines:
        answer = ask(line)
        assert next(iter(answer.items())) == ("schema", 2)
        printed.setdefault(line.split()[0], set()).update(answer)
    assert known.keys() == printed.keys()
    for name, keys in printed.items():
        assert keys <= known[name] | shared, name
        assert known[name] <= keys, name
    assert shared <= set().union(*printed.values())


# Games of your own


@pytest.fixture
def coins(own_games):
    """Register a game with a rule named as one of Shut the Box, one that is on by default, and a fraction."""

    @dataclass(frozen=True, repr=False)
    class Coins(Threes):
        score: int = rule(4, "the score, in 100% of the games", low=0, high=9)
        shiny: bool = rule(True, "whether the coins shine")
        weight: float = rule(1.5, "what a coin weighs")
        name = "coins"

    register_game(Coins)


@pytest.mark.slow
@pytest.mark.usefixtures("coins")
def test_rules_of_your_own_game_are_flags(ask, run):
    rules = ask("solve coins --dice 1 --score 7 --no-shiny --weight 2.5")["rules"]
    assert (rules["score"], rules["shiny"], rules["weight"]) == (7, False, 2.5)
    assert ask("solve coins --dice 1")["rules"]["shiny"] is True
    assert ask("solve shut-the-box --tiles 3 --score count")["rules"]["score"] == "count"
    assert "in 100% of the games" in run("solve coins --help-rules")[1]
    assert run("solve coins --score sum")[0] == 2


@pytest.mark.usefixtures("own_games")
def test_a_rule_may_not_have_the_flag_of_a_command(run):
    @dataclass(frozen=True, repr=False)
    class Taken(Threes):
        rounds: int = rule(3, "how many rounds", low=1, high=9)
        name = "taken"

    register_game(Taken)
    status, _, err = run("match taken --policy random,random")
    assert (status, "--rounds" in err) == (2, True)


def test_import_registers_games_of_the_working_directory(run, tmp_path, monkeypatch):
    (tmp_path / "wrong.py").write_text("import stb_gym\nstb_gym.register_game(int)\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    for words, error in (("--import wrong", "ValueError"), ("--import=leaves", "SystemExit")):
        status, out, err = run(words, "solve threes")
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert error in err


@pytest.mark.filterwarnings("always")
def test_a_warning_takes_one_line(run, tmp_path, monkeypatch):
    (tmp_path / "drawing.py").write_text(
        "import numpy as np\nnumbers = np.random.default_rng(0)\n"
        "def agent(seen, masks): return np.where(masks, numbers.random(masks.shape), 0).argmax(axis=1)\n"
    )
    monkeypatch.chdir(tmp_path)
    status, _, err = run("measure threes --dice 2 --agent drawing:agent")
    assert (status, err.count("\n")) == (0, 1)
    assert err.startswith("stb-gym: the agent draws its actions: let it return probabilities")


# Output that cannot be trusted


def test_names_of_files_are_printed_escaped(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_policy("c\x1b[2J.npz", ShutTheBox(tiles=3), strategy(ShutTheBox(tiles=3), "random"))
    for name, option in (("evaluate", "--policy c\x1b[2J.npz"), ("certify", "--out a\x1b[2J")):
        status, out, _ = run(f"{name} shut-the-box --tiles 3 {option}")
        assert (status, "\\x1b[2J" in out) == (0, True)
        assert out.replace("\n", "").isprintable()


# Work that takes long


def test_a_command_shows_the_progress_of_its_long_loops_with_unit_and_total(run, monkeypatch, tmp_path):
    bars = MagicMock()
    monkeypatch.setattr("stb_gym.tracking.ProgressBar", bars)
    assert run(f"explore threes --dice 1 --faces 9 --out {tmp_path}/page.html")[0] == 0
    assert run("hardness shut-the-box --tiles 15")[0] == 0
    assert run("simulate threes --dice 1 --faces 9 --policy random --turns 5000")[0] == 0
    assert run("measure threes --dice 1 --faces 9 --agent tests.measure.test_meter:first_legal --turns 9")[0] == 0
    shown = [bar.args[:3] for bar in bars.call_args_list]
    words = {"positions found", "moves described", "scores so far solved", "seats of a round solved"}
    words |= {"boards solved", "boards evaluated", "turns played", "turns simulated"}
    assert words <= {bar[0] for bar in shown}
    assert all(total is not None and unit for _, total, unit in shown)
    Round(Threes(dice=1, faces=8)).solve()
    assert len(bars.call_args_list) == len(shown)  # the library itself shows nothing


# Processes


def test_a_terminal_without_box_drawing_gets_lookalikes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert main(["solve", "--help"]) == 0
    sys.stdout.seek(0)
    assert "+- Games -" in sys.stdout.read()


WRITES_FOR_EVER = """
import sys, time
from pathlib import Path
from stb_gym.cli import main

def write(path, content):
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)

Path.write_bytes = write
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signum", "status", "said"), every(2, [(signal.SIGTERM, 143, ""), (signal.SIGINT, 130, "stb-gym: interrupted\n")])
)
def test_a_command_that_is_ended_removes_unfinished_files(signum, status, said, tmp_path):
    words = [sys.executable, "-c", WRITES_FOR_EVER, "certify", "shut-the-box", "--tiles", "5", "--out", "values"]
    piped = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(words, **piped, cwd=tmp_path) as process:
        try:
            assert process.stderr.readline() == "writing\n"
            assert list(tmp_path.iterdir())
            process.send_signal(signum)
            assert process.stderr.read() == said
            assert process.wait(timeout=PATIENCE) == status
        finally:
            process.kill()
    assert list(tmp_path.iterdir()) == []


def test_signal_handlers_are_restored(run):
    def mine(*_):
        pass

    before = signal.signal(signal.SIGTERM, mine)
    try:
        run("solve threes --dice 1")
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shell", "words"),
    every(
        8, [*product(['"$@" | true', '"$@" >&-'], ["watch threes --seed 1", "play threes", "solve threes", "--help"])]
    ),
)
def test_a_closed_pipe_causes_no_traceback(words, shell):
    command = ["bash", "-c", shell, "bash", *STB_GYM, *words.split()]
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
