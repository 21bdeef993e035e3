"""Test all printed text: help, answers, JSON and errors. `pytest --snapshot-update` updates it."""

from itertools import takewhile

import pytest

from stb_gym.cli.program import COMMANDS, GROUPS, WITHOUT_GAME
from tests import every

LINES = [
    "list",
    "solve shut-the-box --tiles 4",
    "solve threes --dice 1 --json",
    "advise shut-the-box --tiles 4 --open 1,3 --roll 4 --json",
    "solve shut-the-box --tiles 4 --objective shut --exact --full",
    "solve threes --dice 3 --worst",
    "solve shut-the-box --tiles 10 --dice 5",
    "solve shut-the-box --start-open 5,3,4 --first-move 3 --ending-roll 9",
    "solve shut-the-box --tiles 4 --one-die any-time --one-die-forced",
    "solve shut-the-box --tiles 4 --variant full-house --start-open odd",
    "solve threes --dice 2 --moon --free-face 0",
    "certify threes --dice 2",
    "hardness threes --dice 2",
    "hardness shut-the-box --tiles 16 --dice 3",
    "evaluate shut-the-box --tiles 4 --policy worst --lead 3 --departures",
    "evaluate threes --dice 2 --policy optimal --lead 3 --after 2 --ties all-win --departures",
    "evaluate threes --dice 2 --policy random --objective at-most:3 --full",
    "evaluate threes --dice 2 --policy take-all --json",
    "measure threes --dice 2 --agent tests.measure.test_meter:first_legal",
    "measure shut-the-box --tiles 4 --agent tests.measure.test_meter:first_legal --turns 50 --seed 2",
    "measure shut-the-box --tiles 4 --agent tests.cli.test_text:careless --turns 50",
    "simulate threes --dice 2 --policy random --turns 100 --seed 1",
    "compare shut-the-box --tiles 4 --policy random,worst --full",
    "compare shut-the-box --tiles 6 --policy lowest-first --exceptions 2 --objective shut",
    "afterstates shut-the-box --tiles 4 --objective shut --full",
    "afterstates threes --dice 2 --lead 4 --after 1",
    "advise shut-the-box --tiles 4 --open 1,3 --roll 4",
    "advise shut-the-box --tiles 4 --open 1,2 --roll 12 --objective shut",
    "advise shut-the-box --tiles 20 --open 20",
    "advise threes --dice 2 --points 3 --dice-in-hand 1",
    "advise threes --dice 2 --players 3 --roll 2,3",
    "advise threes --dice 2 --lead 4 --holders 2 --roll 2,3",
    "advise threes --dice 2 --lead 4 --after 1 --ties nobody --roll 2,3",
    "advise shut-the-box --tiles 4 --open 1,3 --roll 4 --lead 3 --json",
    "advise shut-the-box --variant low-sum --open 1,4,5 --roll 9 --dice-in-hand 2",
    "ask shut-the-box --tiles 4 --names 1 --moves",
    "ask threes --dice 2 --turns 3 --wording last-line",
    "grade threes --dice 2 --names 1 --moves --objective at-most:3 --answers tests/cli/answers.jsonl",
    "grade threes --dice 2 --names 1,2 --moves --objective at-most:3 --answers tests/cli/answers.jsonl "
    "--wording json,example",
    "grade threes --dice 2 --names 1 --moves --objective at-most:3 --answers tests/cli/answers.jsonl --turns 20",
    "list threes --dice 2 --objective at-most:1",
    "list threes",
    "list shut-the-box --tiles 4 --full",
    "list shut-the-box --variants --tiles 5",
    "list shut-the-box --variants --tiles 5 --full",
    "round shut-the-box --tiles 4 --ties all-win --shut-wins",
    "round threes --dice 2 --policy worst,random --full",
    "round threes --dice 2 --policy optimal,optimal",
    "round threes --dice 2 --policy optimal-score,optimal-score",
    "par threes --dice 2 --after 3 --policy take-all,threes-only --full",
    "par threes --dice 2 --after 20",
    "match threes --dice 2 --policy optimal,random --rounds 3 --begins winner",
    "tournament shut-the-box --tiles 4 --policy optimal,random --limit 9",
]
ERRORS = [
    "slove threes",
    "solve chess",
    "solve shut-the-boxx",
    "evaluate threee",
    "--frob",
    "solve shut-the-box --frob",
    "solve shut-the-box extra",
    "solve shut-the-box --start 1,3",
    "solve shut-the-box --open 1,3",
    "solve threes --tiles 4",
    "solve shut-the-box --tiles 99",
    "solve shut-the-box --tiles x",
    "solve threes --dice 2.5",
    "solve shut-the-box --dice 7 --faces 20",
    "solve shut-the-box --score golf",
    "solve shut-the-box --objective win",
    "solve shut-the-box --variant digitla",
    "solve threes --out values",
    "solve shut-the-box --out .",
    "solve shut-the-box --tiles 20 --dice 5 --exact",
    "evaluate threes",
    "evaluate threes --policy threes-onyl",
    "evaluate threes --policy no/such/file",
    "evaluate threes --policy random --policy worst",
    "evaluate threes --policy random --turns 10",
    "evaluate threes --policy random --lead 3 --objective shut",
    "evaluate shut-the-box --tiles 24 --dice 4 --policy random --departures",
    "measure threes --agent os",
    "measure threes --agent os:nothing",
    "measure threes --agent no.such:agent",
    "measure threes --agent tests.measure.test_meter:first_legal --turns 1",
    "measure threes",
    "evaluate threes --agent tests.measure.test_meter:first_legal",
    "measure shut-the-box --tiles 4 --agent tests.cli.test_text:careless --illegal raise",
    "measure shut-the-box --tiles 4 --agent tests.measure.test_meter:first_legal --no-masked",
    "evaluate --policy nobody.npz",
    "evaluate --policy ppo-threes,threes-only",
    "evaluate --tiles 9",
    "simulate threes",
    "simulate threes --policy random --turns 1",
    "simulate threes --policy random --seed -1",
    "compare threes --policy random",
    "compare threes --policy random --exceptions 3",
    "list threes --variants",
    "check gea tests.cli.test_checking:returns_to_go",
    "check returns tests.cli.test_checking:returns_to_go --kind gae",
    "check returns tests.cli.test_checking:no_such_name",
    "check value-loss tests.cli.test_checking:returns_to_go",
    "advise shut-the-box --open 1,x --roll 3",
    "advise shut-the-box --open 1,1 --roll 3",
    "advise shut-the-box --roll 13",
    "advise threes --roll 1,2,7",
    "advise threes --roll 3 --open 3",
    "advise shut-the-box --tiles 4 --roll 7 --ties all-win",
    "advise shut-the-box --tiles 4 --roll 7 --lead 46",
    "advise shut-the-box --tiles 4 --roll 7 --lead 5 --after 3 --players 4",
    "advise shut-the-box --tiles 4 --roll 7 --lead 5 --holders 3 --players 3",
    "advise shut-the-box --tiles 4 --roll 7 --holders 1 --after 2",
    "advise shut-the-box --tiles 4 --roll 7 --lead 5 --holders 0",
    "ask shut-the-box --variant the-300",
    "ask threes --names -1",
    "ask threes --names x",
    "ask threes --wording haiku",
    "ask threes --turns 1",
    "ask threes --answers tests/cli/answers.jsonl",
    "ask threes --dice 1",
    "grade threes --answers no/such/file",
    "round threes --ties both",
    "round threes --dice 2 --players 3 --policy optimal,random",
    "round threes --dice 2 --policy optimal,ppo-nine-tiles",
    "par threes --after 101",
    "round shut-the-box --variant the-300",
    "match shut-the-box --variant the-300 --policy random,random",
    "certify shut-the-box --variant the-300",
    "explore threes --out page.txt",
    "explore threes --out",
    "--json solve threes",
    "match threes",
    "match threes --dice 2 --policy optimal",
    "match threes --dice 2 --policy optimal,random --rounds 0",
    "match threes --dice 2 --policy optimal,random --begins never",
    "tournament shut-the-box --tiles 4 --policy random,worst --limit 0",
    "play threes --shut-wins",
    "play threes --against random --objective shut",
    "play threes --against ppo-nine-tiles",
    "play threes --seat 2",
    "play threes --seed -1",
    "list shut-the-box --variants --objective shut",
    "compare threes --policy optimal,random --objective shut",
    "play threes --dice 2 --against random --seat 3",
    "play threes --dice 2 --against nobody",
    "play threes --ties nobody",
    "play shut-the-box --variant the-300 --against random",
    "watch",
    "watch threes --rolls 1,x",
    "watch threes --dice 2 --together --policy random,worst --rolls 3",
    "watch threes --ties all-win",
    "watch threes --turns 0",
    "watch threes --dice 2 --policy biggest-first",
    "watch threes --turns 10001",
    "watch threes --turns 21 --out film.gif",
    "watch threes --turns 2 --rolls 3",
    "watch threes --together --policy random,worst --objective shut",
    "watch threes --dice 2 --out film.txt",
    "watch threes --pause -1",
    "explore shut-the-box --tiles 24 --dice 4 --out page.html",
    "explore threes --dice 2 --policy nobody --out page.html",
    "explore threes --dice 2 --run nowhere --out page.html",
    "--import no.such.module solve threes",
    "--import",
    "solve a\x1b[2J",
    "solve threes --objective a\x1b[2J",
    "solve threes --a\x1b[2J",
    "evaluate threes --policy a\x1b[2J",
    "--import a\x1b[2J solve threes",
]


HELP = [
    "--help",
    *(f"{command} --help" for command in ("solve", "list", "evaluate", "watch", "check", "advise threes")),
]
HELP += ["solve threes --help-rules", "evaluate shut-the-box --help-rules"]
HELP += [f"{command} shut-the-box --help" for command in COMMANDS]


@pytest.mark.parametrize("words", every(7, HELP, pytest.mark.slow))
def test_help(printed, snapshot, words):
    out = printed(words)
    assert "\n".join(line.rstrip() for line in out.splitlines()) == snapshot
    assert out.count("\n") < 46 or "--help-rules" in words


def careless(observations, masks):
    """Choose an illegal action."""
    return masks.argmin(axis=1)


@pytest.mark.parametrize("words", every(5, LINES, pytest.mark.slow))
def test_answers(printed, snapshot, words):
    out = printed(words)
    assert out == snapshot
    first, *lines = out.splitlines()
    if not first.startswith("{"):
        assert max(map(len, [first, *lines])) <= 80
        assert " ".join([first, *takewhile(bool, lines)]).endswith(".")


def test_every_command_has_a_group():
    names = [name for names in GROUPS.values() for name in names]
    assert sorted(names) == sorted({*COMMANDS, *WITHOUT_GAME})


@pytest.mark.parametrize("words", every(6, ERRORS, pytest.mark.slow))
def test_errors_take_one_line_and_write_nothing(run, snapshot, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(words)
    assert (status, out) == (2, "")
    assert err.startswith("stb-gym: ")
    assert err.rstrip("\n").isprintable()
    assert err == snapshot
    assert not list(tmp_path.iterdir())
