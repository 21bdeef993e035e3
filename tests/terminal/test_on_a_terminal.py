"""Playing as a person does it: at a pseudo-terminal, by a pipe, and without anything to type on."""

import os
import re
import shlex
import subprocess

import pytest

from stb_gym import Round, Threes
from tests import PATIENCE
from tests.cli.processes import STB_GYM
from tests.terminal.person import CTRL_C, CTRL_D, Careful, boards, in_turn, sit_down, talk


@pytest.mark.slow
@pytest.mark.parametrize("pick", [min, max])
def test_a_turn_of_shut_the_box_on_a_terminal(pick):
    status, seen = sit_down("shut-the-box", "--seed", "4", types=Careful(pick))
    assert status == 0
    assert seen.startswith("Shut the box: try to end with the fewest points you can.\n")
    choices = list(boards(seen))
    assert len(choices) >= 2
    for opened, roll, _, tiles in choices:
        assert sum(tiles) == roll
        assert set(tiles) <= set(opened)
    last = [int(tile) for tile in re.findall(r"│ *(\d+) *│", seen.split("\n\n")[-1])]
    assert re.search(r"No open tiles add up to \d+\.\n", seen)
    assert seen.endswith(f"You end with {sum(last)} point{'s' * (sum(last) != 1)}.\n")
    assert "Coach" not in seen


@pytest.mark.slow
def test_a_turn_of_threes_on_a_terminal():
    status, seen = sit_down("threes", "--seed", "4", types=lambda seen: b"2\n")
    throws = [[int(face) for face in dice.split()] for dice in re.findall(r"dice   ([\d ]+)\n", seen)]
    assert (status, [len(throw) for throw in throws]) == (0, [5, 3, 1])
    kept = [sorted(0 if face == 3 else face for face in throw)[:2] for throw in throws]
    assert seen.count("Keep how many dice? 2\n") == 2
    assert f"The only move: keep 1 ({throws[-1][0]}).\n" in seen
    total = sum(map(sum, kept))
    assert seen.endswith(f"You end with {total} point{'s' * (total != 1)}.\n")


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "left"), [(CTRL_D, ""), (b"q\n", "q"), (b"Quit\n", "Quit")])
def test_leaving_in_the_middle(typed, left):
    status, seen = sit_down("threes", "--against", "random", "--coach", types=in_turn(b"1\n", typed))
    assert status == 0
    assert f"\nKeep how many dice? {left}\n\n" in seen
    assert re.search(
        r"^throw 2: [\d ]+, left  .*\nin all .*\n\nIn percentage points: .*\nGoodbye\.\n$", seen, re.MULTILINE
    )


@pytest.mark.slow
def test_ctrl_c_ends_with_one_line_and_status_130():
    status, seen = sit_down("shut-the-box", types=in_turn(b"x\n", CTRL_C))
    assert status == 130
    assert re.search(r"Shut which tiles\? \^C\s*stb-gym: interrupted\n$", seen)
    assert "Traceback" not in seen


@pytest.mark.slow
def test_a_pipe_reads_like_a_terminal():
    arguments = ("threes", "--seed", "5", "--against", "threes-only", "--seat", "2", "--coach")
    status, seen = sit_down(*arguments, types=lambda seen: b"1\n")
    piped = subprocess.run([*STB_GYM, "play", *arguments], input="1\n" * 9, capture_output=True, text=True)
    assert (status, piped.returncode, piped.stderr) == (0, 0, "")
    assert piped.stdout == seen


@pytest.mark.slow
@pytest.mark.parametrize("seat", [1, 2, 3])
def test_a_round_on_a_terminal(seat):
    arguments = ["shut-the-box", "--against", "biggest-first", "--against", "random", "--seat", str(seat)]
    status, seen = sit_down(*arguments, types=Careful(lambda moves: moves[0]))
    assert status == 0
    players = ["biggest-first", "random"]
    players.insert(seat - 1, "Your turn")
    heads = re.findall(r"^(biggest-first|random|Your turn)(?:: .*)?$", seen, re.MULTILINE)
    assert heads == players
    ends = re.findall(r"^(?:(?:  ends|You end) with (\d+) point|You shut the box!)", seen, re.MULTILINE)
    scores = [int(score or 0) for score in ends]
    others = {"biggest-first": scores[players.index("biggest-first")], "random": scores[players.index("random")]}
    before = {name: others[name] for name in players[: seat - 1]}
    situation = re.search(r"Your turn: (.*)\.\n", seen)[1]
    if before:
        lead = min(before.values())
        leaders = [name for name in before if before[name] == lead]
        verb = "leads" if len(leaders) == 1 else "lead"
        assert situation.startswith(f"{' and '.join(leaders)} {verb} with {lead} point")
    else:
        assert situation.startswith("you begin, ")
    after = {1: "biggest-first and random play", 2: "random plays", 3: "nobody plays"}
    assert situation.endswith(f", {after[seat]} after you")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["{} </dev/null", "{} <&-"])
def test_who_cannot_type_is_bid_goodbye(shell):
    command = shell.format(shlex.join([*STB_GYM, "play", "threes", "--seed", "1"]))
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Goodbye.\n")


@pytest.mark.slow
def test_a_terminal_without_frames_for_the_tiles_shows_their_numbers():
    environment = os.environ | {"PYTHONIOENCODING": "latin-1"}
    command = [*STB_GYM, "play", "shut-the-box", "--seed", "1"]
    done = subprocess.run(
        command, input="", capture_output=True, text=True, timeout=PATIENCE, check=False, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "+---++---+\ndice " in done.stdout
    assert "| 8 || 9 |" in done.stdout


@pytest.mark.slow
def test_a_box_too_large_for_arrays_is_played_alone(monkeypatch):
    status, seen = sit_down(
        "shut-the-box", "--tiles", "18", "--dice", "4", "--seed", "1", "--coach", types=Careful(max)
    )
    assert status == 0
    assert seen.startswith("Shut the box (tiles 18, dice 4): try to end with the fewest points you can.\n")
    assert "expected points with perfect play" in seen
    assert len(list(boards(seen))) >= 2
    assert "In points: " in seen


@pytest.mark.slow
def test_bad_typing_gets_a_line_that_helps_and_another_try():
    wrong = {
        "": "These are no tiles. ",
        "nine": "These are no tiles. ",
        "4;5": "These are no tiles. ",
        "-9": "These are no tiles. ",
        "9" * 5000: "These are no tiles. ",
        "10": "Tile 10 is not open. ",
        "0 9": "Tile 0 is not open. ",
        "2": "That is 2. ",
        "1 + 1": "Every tile is there only once. ",
        "5 4 3": "3 + 4 + 5 = 12. ",
    }
    lines = [*wrong, "  ?  ", "HELP", "9 , ", " 5,  4 ", "q"]
    done = subprocess.run(
        [*STB_GYM, "play", "shut-the-box", "--seed", "3"], input="\n".join(lines), capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "\ndice   4 + 5 = 9\n" in done.stdout
    said = done.stdout.split("Shut which tiles? ")[1:]
    allowed = "Type open tiles that add up to 9. ? shows which you can shut.\n"
    for (typed, fault), answer in zip(wrong.items(), said, strict=False):
        assert answer == f"{typed}\n{fault}{allowed}"
    for answer in said[len(wrong) : len(wrong) + 2]:
        assert answer.endswith(
            "\nYou can shut 1,2,6; shut 1,3,5; shut 1,8; shut 2,3,4; shut 2,7; shut 3,6; shut 4,5; shut 9.\n"
        )
    assert said[len(wrong) + 2] == f"9 , \nThese are no tiles. {allowed}"
    assert said[len(wrong) + 3].startswith(" 5,  4 \n\n╭───╮╭───╮╭───╮          ╭───╮")
    assert said[-1].endswith("q\nGoodbye.\n")


@pytest.mark.slow
def test_bad_typing_in_threes_and_bytes_that_are_no_text(monkeypatch, capsys):
    lines = iter(["0", "6", "1 2", "all", "?", "5"])
    seen = talk(monkeypatch, capsys, Round(Threes(), 1), types=lambda seen: next(lines), seed=3)
    assert seen.count("Type how many dice to keep, from 1 to 5. ? shows which they are.\n") == 4
    dice = re.search(r"dice   ([\d ]+)\n", seen)[1].split()
    lowest = sorted(dice, key=lambda face: (face != "3", face))
    keeps = (f"keep {n} ({' '.join(lowest[:n])})" for n in range(1, 6))
    assert f"You can {'; '.join(keeps)}.\n" in seen
    status, seen = sit_down("threes", "--seed", "3", types=in_turn(b"\xff\xfe\n", b"q\n"))
    assert status == 0
    assert seen.endswith("from 1 to 5. ? shows which they are.\nKeep how many dice? q\nGoodbye.\n")
