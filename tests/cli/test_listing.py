"""`stb-gym strategies`, `stb-gym variants` and `stb-gym states`."""

import re

import pytest

from stb_gym import GAMES, VARIANTS, ShutTheBox, solve, strategies
from stb_gym.cli import main
from stb_gym.cli.listing import _small
from stb_gym.games import rule_flags


def test_strategies(ask):
    listed = ask("strategies")["strategies"]
    known = {name: strategies(rules()) for name, rules in GAMES.items()}
    assert {game: list(plays) for game, plays in listed.items()} == {game: list(plays) for game, plays in known.items()}
    assert all(words.endswith(".") for plays in listed.values() for words in plays.values())
    for game, plays in known.items():
        rows = {row["name"]: row for row in ask("strategies", game, "--objective", "at-most:3")["strategies"]}
        assert rows.keys() == plays.keys()
        assert rows["worst"]["regret"] > rows["optimal"]["regret"] > 0
    nine = {row["name"]: row for row in ask("strategies", "shut-the-box")["strategies"]}
    assert nine["optimal-shut"]["shut_probability"] == pytest.approx(466473281 / 6530347008)
    assert nine["optimal-score"]["value"] == nine["optimal"]["value"] == pytest.approx(11.157508444)


def test_variants_by_name_and_by_rules(ask, capsys):
    rows = {row["name"]: row for row in ask("variants", "--tiles", "10", "--dice", "2")["variants"]}
    assert rows.keys() == VARIANTS.keys()
    assert rows["full-house"]["value"] == solve(ShutTheBox(tiles=10)).value
    assert rows["thai-style"]["shut_probability"] == solve(ShutTheBox(tiles=10, match="one-tile"), "shut").value
    assert rows["thai-style"]["rules"]["match"] == "one-tile"
    assert rows["3-down-extreme"]["states"] == 129
    by_name = ask("solve", "shut-the-box", "--variant", "thai-style", "--tiles", "8")
    rules = ["--match", "one-tile", "--tiles", "8"]
    assert by_name["value"] == ask("solve", "shut-the-box", *rules)["value"]
    moon = ask("solve", "threes", "--moon", "--free-face", "0", "--dice", "2")
    assert moon["title"] == "threes: dice 2, faces 6, free_face 0, moon True"
    opened = ["--start-open", "1,3,4", "--first-move", "3", "--ending-roll", "9", "--one-die", "any-time"]
    game = ShutTheBox(open=(1, 3, 4), first_move=3, ending_roll=9, one_die="any-time", one_die_forced=True)
    assert ask("solve", "shut-the-box", *opened, "--one-die-forced")["value"] == solve(game).value
    assert rule_flags(ShutTheBox(dice=1)) == ["--dice", "1"]  # 1 is no switch, though it equals True
    assert rule_flags(game) == [*opened[:2], *opened[6:], "--one-die-forced", *opened[2:6]]


def test_a_variant_that_cannot_be_is_said_in_its_row(ask, capsys):
    rows = {row["name"]: row for row in ask("variants", "--tiles", "5")["variants"]}
    assert rows["lucky-seven"]["refused"] == "each of open must be an integer from 1 to 5, not 7"
    assert "value" not in rows["lucky-seven"]
    assert rows["classic"]["value"] == solve(ShutTheBox(tiles=5)).value
    assert main(["variants", "--tiles", "5"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("all with tiles 5\n")
    assert "not so: each of open must be an integer from 1 to 5, not 7" in printed


def test_tiny_chances_are_percentages_too():
    assert [_small(chance) for chance in (0.5, 1e-5, 9.1e-8)] == ["50.000000%", "0.001000%", "9.1e-06%"]


def test_states(ask, capsys):
    words = ["states", "shut-the-box", "--tiles", "3", "--objective", "shut"]
    found = ask(*words)["states"]
    assert len(found) == 7  # every set of open tiles but none
    by_name = {row["state"]: row for row in found}
    # Of 36 throws one is a 2 and shuts the 2; no throw of two dice shuts a 1 alone.
    assert (by_name["open 2"]["value"], by_name["open 2"]["ways"][:3]) == (pytest.approx(1 / 36), [0, 1, 0])
    assert (by_name["open 1"]["value"], sum(by_name["open 1"]["ways"])) == (0, 0)
    assert by_name["open 2,3"]["ways"][:3] == [
        0,
        4,
        4,
    ]  # by one of four fives; or by a 2 and one of two threes, or back
    assert main(words) == 0
    assert re.search(r"\nopen 2 +2\.777778% +1\n", capsys.readouterr().out)
    ten = ask("states", "shut-the-box", "--tiles", "10")["states"][-1]["ways"]
    assert ten[5:10] == [117120, 465677280, 27229396320, 166670380800, 161989632000]


@pytest.mark.slow
def test_ways_are_counted_however_many_there_are(ask):
    states = ask("states", "shut-the-box", "--tiles", "13", "--dice", "3")["states"]
    assert sum(states[-1]["ways"]) == 16_239_012_495_395_456_643_120  # more than any number of 64 bits
    assert all(type(ways) is int and ways >= 0 for row in states for ways in row["ways"])
