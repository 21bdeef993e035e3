"""Test turns and rounds of a person: whole sessions, seeds, opponents, and the ways to leave."""

import shlex
import subprocess
from functools import partial

import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.large import solve_large
from stb_gym.rounds import Round
from stb_gym.terminal import play_alone, play_round
from tests import PATIENCE
from tests.cli.processes import STB_GYM
from tests.terminal.person import sit_down

OPTIMAL, RANDOM = ("optimal", "optimal"), ("random", "random")
WRONG_TILES = ["", "nine", "4;5", "-9", "9" * 9, "10", "0 9", "2", "1 + 1", "5 4 3", "9 , ", "9 shut"]
ALONE = {
    "coach": (ShutTheBox(), "score", True, 3, ["hint", "  ?  ", *WRONG_TILES, " 1,  8 ", "2,4", "shut 3", "5", "7"]),
    "threes": (Threes(), "score", False, 3, ["0", "6", "1 2", "all", "HELP", "keep2", "KEEP 2 (3 1)", "1"]),
    "dice": (ShutTheBox(one_die="any-time"), "score", False, 4, ["5", "3", "1", "q"]),
    "target": (ShutTheBox(tiles=4), "at-most:3", True, 2, ["1,4", "4", "2"]),
    "large": (ShutTheBox(tiles=14, dice=3), "score", True, 1, ["h", "quit"]),
    "no choice": (ShutTheBox(tiles=3, open=(1, 3)), "score", True, 5, []),
    "variant": (ShutTheBox(match="faces-or-sum", first_move=3, ending_roll=7), "shut", True, 0, []),
    "custom": (Threes(dice=2), lambda points: -1e-5 * points, True, 0, ["2"]),
}


@pytest.mark.parametrize("name", ALONE)
def test_a_turn_alone(name, printed, solved, snapshot):
    game, objective, coach, seed, lines = ALONE[name]
    known = solve_large(game, objective) if name == "large" else solved(game, objective)
    assert printed(partial(play_alone, known, coach, seed), *lines) == snapshot


ROUNDS = {
    "split": (Round(Threes(), 3), [OPTIMAL, RANDOM], 2, True, 3, ["1"] * 5),
    "shared name": (Round(ShutTheBox(tiles=5), 3, "all-win"), [RANDOM, RANDOM], 3, False, 4, ["hint", "5", "1 2"]),
    "shut": (Round(ShutTheBox(tiles=3, dice=1, faces=3), 3, "nobody", True), [OPTIMAL, RANDOM], 2, True, 0, []),
    "left": (Round(Threes(), 2), [OPTIMAL], 1, True, 3, ["1", "hint", "q"]),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_a_round(name, printed, snapshot):
    *rest, lines = ROUNDS[name]
    assert printed(partial(play_round, *rest), *lines) == snapshot


# At a terminal, by a pipe, and without anything to type on


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "status", "last"),
    [(b"\x03", 130, "interrupted"), pytest.param(b"\x04", 0, "Goodbye.", marks=pytest.mark.nightly)],
)
def test_ctrl_d_and_ctrl_c_leave(key, status, last):
    left, seen = sit_down("shut-the-box", "--seed", "1", keys=[b"\xff\xfe\n", b"x\n", key])
    assert left == status
    assert last in seen.splitlines()[-1]
    assert "Traceback" not in seen


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("shell", "ends"), [("yes 1 | {}", "You end with"), ("{} </dev/null", "Goodbye."), ("{} <&-", "Goodbye.")]
)
def test_without_a_terminal_one_game_is_played_as_far_as_it_is_typed(shell, ends):
    command = shell.format(shlex.join([*STB_GYM, "play", "threes", "--seed", "1"]))
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].startswith(ends)
