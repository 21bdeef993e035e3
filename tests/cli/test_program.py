"""The command as a whole: wrong use, signals, readers who leave, progress, and the installed command."""

import json
import os
import signal
import subprocess
import sys

import pytest

from stb_gym import ShutTheBox, save_policy, strategy
from stb_gym.cli import main
from stb_gym.output import Progress
from tests import PATIENCE
from tests.cli.processes import STB_GYM, run


@pytest.mark.slow
def test_the_installed_command_prints_json_alone_on_standard_output():
    status, out, err = run("solve", "shut-the-box", "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["value"] == pytest.approx(11.157508444)


# Wrong use


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("solve shut-the-box --tiles 99", "tiles must be an integer from 1 to 28, not 99"),
        ("solve shut-the-box --tiles x", "--tiles must be an integer, not 'x'"),
        ("solve threes --tiles 4", "unknown rule 'tiles': allowed are dice, faces"),
        ("solve shut-the-box --score golf", "unknown score 'golf': allowed are sum, count"),
        ("solve shut-the-box --objective win", "unknown objective 'win': allowed are score, shut, at-most:T"),
        ("solve shut-the-box --dice 7 --faces 20", "7 dice of 20 faces have 1,280,000,000 throws"),
        ("solve chess", "unknown game 'chess': allowed are shut-the-box, threes\n"),
        (
            "solve shut-the-boxx",
            "unknown game 'shut-the-boxx': allowed are shut-the-box, threes; did you mean shut-the-box?",
        ),
        ("slove threes", "unknown command 'slove': allowed are solve, certify, "),
        ("slove threes", "; did you mean solve?"),
        ("trian ppo", "; did you mean train?"),
        ("solve", "the following arguments are required: GAME"),
        ("solve shut-the-box --frob", "unknown argument '--frob': see stb-gym solve --help\n"),
        ("solve threes --open 1", "unknown argument '--open': see stb-gym solve --help; did you mean --start-open?"),
        ("--frob", "unknown argument '--frob': see stb-gym --help\n"),
        ("evaluate threes", "the following arguments are required: --policy"),
        ("evaluate threes --policy threes-onyl", "; did you mean threes-only?"),
        ("evaluate threes --policy best", "unknown strategy of threes 'best': allowed are random"),
        ("evaluate threes --policy no/such/file", "there is no policy file no/such/file"),
        (
            "advise shut-the-box --open 1,x --roll 3",
            "argument --open: '1,x' is neither an integer nor a list of them such as 1,4,5",
        ),
        ("advise shut-the-box --open 1,1 --roll 3", "open must name at least one tile, and each once"),
        ("advise shut-the-box --roll 13", "roll must be an integer from 2 to 12, not 13"),
        ("advise threes --roll 3 --open 3", "unknown option for threes 'open': allowed are points, roll, dice-in-hand"),
        ("advise threes --roll 1,2,7", "each of roll must be an integer from 1 to 6, not 7"),
        ("simulate threes --policy random --turns 1", "turns must be an integer from 2"),
        ("simulate threes --policy random --seed -1", "seed must be an integer from 0"),
        ("round threes --ties both", "unknown ties 'both': allowed are split, all-win, nobody"),
        ("round threes --players 0", "players must be an integer from 1 to 101, not 0"),
        (
            "round threes --players 3 --policy optimal,random",
            "a round of 3 players needs as many strategies, not 2",
        ),
        ("round threes --policy optimal,biggest-first", "unknown strategy of threes 'biggest-first': allowed"),
        ("round threes --policy optimal,no.npz", "there is no policy file no.npz"),
        ("round threes --policy optimal,ppo-nine-tiles", "ppo-nine-tiles is a policy of shut-the-box with"),
        ("judge ppo-threes no.npz", "there is no policy file no.npz"),
        ("judge nobody", "there is no policy file nobody, nor is it one of the kept policies: dqn-nine-tiles, "),
        ("judge ppo-threes --objective win", "unknown objective 'win'"),
        ("judge --out .", ". is a folder, not a file"),
        ("judge --tiles 9", "unknown argument '--tiles': see stb-gym judge --help"),
        ("round threes --may-stop", "may_stop needs a game whose points only get better during a turn"),
        ("match threes", "the following arguments are required: --policy"),
        ("match threes --policy optimal", "players of a match must be an integer from 2 to 8, not 1"),
        ("match threes --policy optimal,random --rounds 0", "rounds must be an integer from 1 to 10000, not 0"),
        ("strategies --tiles 9", "rules are of a game: say which, shut-the-box or threes"),
        ("tournament shut-the-box --policy random,worst --ends never", "unknown end of a tournament 'never'"),
        (
            "round shut-the-box --tiles 14 --score digits",
            "a round of 2 players of ShutTheBox(tiles=14, score='digits')",
        ),
        (
            "tournament shut-the-box --tiles 12 --score digits --policy random,worst,optimal --limit 10000",
            "is too large",
        ),
        ("play shut-the-box --values none --against random", "values of boards are for a turn alone"),
        ("play shut-the-box --tiles 24 --dice 4 --shut-wins", "are rules of a round"),
        ("advise shut-the-box --values none --roll 5", "there is no file of board values none"),
        ("solve shut-the-box --out .", ". is a folder, not a file"),
        ("solve shut-the-box --variant none", "unknown variant 'none': allowed are classic"),
        ("solve threes --variant golf", "variants are of shut-the-box, not of threes"),
        ("advise shut-the-box --variant thai-style --roll 5", "roll must be the faces of 2 dice, not 5"),
        ("simulate threes", "the following arguments are required: --policy"),
        ("--completion fish", "unknown shell 'fish': allowed are bash, zsh, tcsh"),
        ("strategies --variant golf", "rules are of a game: say which, shut-the-box or threes"),
        ("solve threes --dice 2.5", "--dice must be an integer, not '2.5'"),
        ("solve shut-the-box --first-move x", "--first-move must be an integer, not 'x'"),
        ("--import no.such.module solve threes", "--import no.such.module: ModuleNotFoundError: No module named 'no'"),
        ("--import", "argument --import: expected one argument"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(capsys, words, message):
    assert main(words.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("stb-gym: ")
    assert message in printed.err
    assert printed.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "a\x1b[2J"],
        ["solve", "threes", "--objective", "a\x1b[2J"],
        ["solve", "shut-the-box", "--score", "a\x1b[2J"],
        ["solve", "shut-the-box", "--tiles", "a\x1b[2J"],
        ["evaluate", "threes", "--policy", "a\x1b[2J"],
        ["judge", "a\x1b[2J"],
        ["round", "threes", "--policy", "optimal,a\x1b[2J"],
        ["solve", "threes", "--a\x1b[2J"],
        ["--import", "a\x1b[2J", "solve", "threes"],
    ],
)
def test_control_characters_are_printed_escaped(capsys, words):
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "a\\x1b[2J" in said
    assert said.rstrip("\n").isprintable()


@pytest.mark.slow
def test_names_of_files_are_printed_escaped_in_answers_too(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = ShutTheBox(tiles=3)
    save_policy("c\x1b[2J.npz", game, strategy(game, "random"))
    for words in (
        ["evaluate", "shut-the-box", "--tiles", "3", "--policy", "c\x1b[2J.npz"],
        ["solve", "shut-the-box", "--tiles", "3", "--out", "a\x1b[2J"],
    ):
        assert main(words) == 0
        said = capsys.readouterr().out
        assert "\\x1b[2J" in said
        assert said.replace("\n", "").isprintable()


def test_what_a_module_of_games_raises_is_said(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])  # --import puts the folder there
    (tmp_path / "a_module_with_a_mistake.py").write_text("import stb_gym\nstb_gym.register_game(int)\n")
    assert main(["--import", "a_module_with_a_mistake", "solve", "threes"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("stb-gym: --import a_module_with_a_mistake: ValueError: rules must be a frozen dataclass")
    assert said.count("\n") == 1


def test_help_is_status_0(capsys):
    for words in (["--help"], ["solve", "-h"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        assert capsys.readouterr().out.startswith("usage: stb-gym ")


# Signals and readers who leave


WRITES_FOR_EVER = """
import sys, time
from stb_gym.cli import main
from stb_gym.large import values as board_values

def save(file, array):
    print("writing", file=sys.stderr, flush=True)
    time.sleep(60)

board_values.np.save = save
sys.exit(main())
"""


def ended_by(signum, folder):
    """Status and standard error of a command that is sent a signal while it writes a file that never gets done."""
    words = [sys.executable, "-c", WRITES_FOR_EVER, "solve", "shut-the-box", "--tiles", "5", "--out", "values"]
    piped = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
    with subprocess.Popen(words, **piped, cwd=folder) as process:
        try:
            assert process.stderr.readline() == "writing\n"
            assert list(folder.iterdir())
            process.send_signal(signum)
            said = process.stderr.read()
            return process.wait(timeout=PATIENCE), said
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("signum", "status", "said"), [(signal.SIGTERM, 143, ""), (signal.SIGINT, 130, "stb-gym: interrupted\n")]
)
def test_a_command_that_is_ended_clears_unfinished_files_away(signum, status, said, tmp_path):
    assert ended_by(signum, tmp_path) == (status, said)
    assert list(tmp_path.iterdir()) == []


def test_handlers_of_signals_are_as_before():
    def mine(*_):
        pass

    before = signal.signal(signal.SIGTERM, mine)
    try:
        assert main(["solve", "threes", "--dice", "1"]) == 0
        assert signal.getsignal(signal.SIGTERM) is mine
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["solve", "threes"], ["--help"], ["solve", "threes", "--json"]])
def test_a_reader_that_stops_reading_causes_no_traceback(words):
    read, write = os.pipe()
    os.close(read)
    for unbuffered in ("1", ""):
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(
            [*STB_GYM, *words], stdout=write, stderr=subprocess.PIPE, env=environment, timeout=PATIENCE, check=False
        )
        assert done.stderr == b""
    os.close(write)


@pytest.mark.slow
def test_a_closed_standard_output_causes_no_traceback():
    done = subprocess.run(
        ["bash", "-c", '"$@" >&-', "bash", *STB_GYM, "solve", "threes"],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


# Progress


@pytest.mark.parametrize(
    ("words", "done", "note"),
    [
        ("simulate threes --policy random --turns 1000", (1000, 1000), "turns"),
        ("solve shut-the-box --tiles 9 --dice 3 --out values", (1, 1), "rows of boards"),
        ("certify threes --dice 2", (), "solved 21 states in fractions"),
        ("variants --tiles 5 --dice 1", (), "missionary"),
    ],
)
def test_who_waits_sees_how_far_the_work_is(words, done, note, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = []
    monkeypatch.setattr(Progress, "tell", lambda self, *done, note: told.append((done, note)))
    assert main(words.split()) == 0
    assert (done, note) in told
