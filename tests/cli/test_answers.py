"""What the commands answer: exact values, options that belong together, and agreement with Python."""

import hashlib
from unittest.mock import patch

import numpy as np
import pytest

from stb_gym import (
    RegretMeter,
    ShutTheBox,
    Threes,
    evaluate,
    kept_policies,
    load_policy,
    save_policy,
    solve,
    strategies,
    strategy,
)
from stb_gym.explorer import explorer_page
from stb_gym.games import GAMES, VARIANTS, fits
from stb_gym.rounds import Round, series
from stb_gym.solver import Standing, move_tree
from tests import every
from tests.measure.test_meter import first_legal

FIRST_LEGAL = "tests.measure.test_meter:first_legal"


def careless(observations, masks):
    """Choose an illegal action."""
    return masks.argmin(axis=1)


FOUND = {
    "solve shut-the-box": {
        "value": 11.157508444,
        "shut_probability": 0.0708885323,
        "states": 512,
        "decision_nodes": 4040,
    },
    "solve shut-the-box --exact": {"fraction": "27323400707/2448880128"},
    "solve shut-the-box --worst": {"value": 24.344561898},
    "certify shut-the-box": {"nodes": 5622, "optimal_actions_agree": True},
    "hardness threes": {"random_regret": 5.425651, "effective_horizon": 4},
    "hardness shut-the-box --tiles 16 --dice 3": {"shares": [0.0045764022]},
    "evaluate shut-the-box --policy biggest-first": {
        "value": 11.373255046,
        "optimum": 11.157508444,
        "agreement": 1 - 210 / 4040,
        "shut_probability": 0.0695829302,
    },
    "advise shut-the-box --open 1,2 --roll 12": {"moves": []},
    "advise shut-the-box --open 1,4,5,8": {"value": 11.071245},
    "advise threes --dice-in-hand 2": {"value": 79 / 18},
    "advise shut-the-box --tiles 20 --open 20": {"value": 20},  # no roll of two dice shuts it
    "advise threes --lead 3 --roll 3,1,6 --dice-in-hand 3 --ties nobody": {"unit": "probability"},
    "round shut-the-box --dice 1 --tiles 3 --policy optimal,optimal": {"exploitability": 0},
    "tournament shut-the-box --policy optimal,biggest-first": {
        "wins": [0.5243487768, 0.4756512232],
        "mean_rounds": 8.4125826562,
    },
    "match shut-the-box --policy optimal-score,optimal-score --rounds 1": {
        "match": {"win": 0.4793840513, "loss": 0.4793840513, "tie": 0.0412318974},
    },
    "round threes --policy approximation,approximation,approximation --ties all-win": {
        "seats": [0.38880, 0.40311, 0.41886],
    },
    "par threes --dice 1 --after 2 --policy random": {"perfect_from": {"random": 1}},  # it has no choice
}


@pytest.mark.parametrize("words", every(6, FOUND))
def test_values(ask, words):
    found = ask(words)
    for name, expected in FOUND[words].items():
        assert found[name] == (expected if isinstance(expected, str) else pytest.approx(expected, abs=5e-6))


@pytest.mark.slow
def test_values_at_many_standings(ask):
    round_of = ask("round threes --ties all-win")
    assert round_of["seats"] == pytest.approx([0.566301, 0.581361], abs=5e-7)
    assert list(round_of["survival"]) == [str(lead) for lead in range(31)]
    departures = ask("round shut-the-box --ties all-win")["departures"]
    assert (departures["first"], departures["positions"]) == (19, 4040)
    assert [departures["by_lead"][lead] for lead in ("0", "3", "10", "20")] == [[85], [243], [57], [30]]
    pars = ask("par threes --after 5")["pars"]
    assert [row["par"] for row in pars] == [5, 5, 4, 4, 4]
    assert pars[0]["first"] == pytest.approx(0.475290977, abs=5e-10)
    assert pars[4]["shares"]["threes-only"] == pytest.approx(0.8614, abs=5e-5)
    assert ask("par threes --dice 2 --after 30 --policy threes-only")["perfect_from"] == {"threes-only": 18}


@pytest.mark.slow
def test_rules_are_flags(ask):
    opened = "--start-open 1,3,4 --first-move 3 --ending-roll 9 --one-die any-time"
    game = ShutTheBox(open=(1, 3, 4), first_move=3, ending_roll=9, one_die="any-time", one_die_forced=True)
    assert ask("solve shut-the-box", opened, "--one-die-forced")["value"] == solve(game).value
    assert ask("solve threes --moon --free-face 0 --dice 2")["rules"]["moon"] is True
    by_name = ask("solve shut-the-box --variant thai-style --tiles 8")
    assert by_name == ask("solve shut-the-box --match one-tile --tiles 8")
    for words, tiles in (("odd", "odd"), ("4-up", "4-up"), ("7,5", (5, 7))):
        assert ask("solve shut-the-box --start-open", words)["value"] == solve(ShutTheBox(open=tiles)).value


@pytest.mark.slow
def test_strategies_and_variants_are_listed(ask):
    known = ask("list")
    assert known["strategies"] == {name: dict(strategies(rules())) for name, rules in GAMES.items()}
    assert known["variants"].keys() == {"shut-the-box"}
    assert known["policies"] == kept_policies()
    nine = {row["name"]: row for row in ask("list shut-the-box")["strategies"]}
    assert nine["optimal-shut"]["shut_probability"] == pytest.approx(466473281 / 6530347008)
    assert nine["worst"]["regret"] > nine["optimal"]["regret"] == 0
    rows = {row["name"]: row for row in ask("list shut-the-box --variants --tiles 5")["variants"]}
    assert rows.keys() == VARIANTS.keys()
    assert rows["classic"]["value"] == solve(ShutTheBox(tiles=5)).value
    assert rows["thai-style"]["shut_probability"] == solve(ShutTheBox(tiles=5, match="one-tile"), "shut").value
    assert "not 7" in rows["lucky-seven"]["refused"]


def test_ways_to_the_perfect_score(ask):
    by_name = {row["state"]: row for row in ask("states shut-the-box --tiles 3 --objective shut")["states"]}
    assert len(by_name) == 7  # every set of open tiles but none
    # Of 36 throws one is a 2 and shuts the 2; no throw of two dice shuts a 1 alone.
    assert (by_name["open 2"]["value"], by_name["open 2"]["ways"][:3]) == (pytest.approx(1 / 36), [0, 1, 0])
    assert sum(by_name["open 1"]["ways"]) == 0


@pytest.mark.slow
def test_moves_are_ranked(ask):
    where = "advise shut-the-box --open 1,4,5,8 --roll 9"
    moves = ask(where)["moves"]
    assert [move["tiles"] for move in moves] == [[4, 5], [1, 8]]
    assert [move["regret"] for move in moves] == pytest.approx([0, 7.027778 - 6.888889], abs=1e-6)
    assert [move["tiles"] for move in ask(where, "--objective shut")["moves"]] == [[1, 8], [4, 5]]
    low_sum = ask("advise shut-the-box --variant low-sum --open 1,4,5 --roll 9 --dice-in-hand 2")["moves"]
    assert [(move["tiles"], move["dice"]) for move in low_sum] == [([4, 5], 1), ([4, 5], 2)]
    rolls = ask("advise shut-the-box --open 1,4,5,8")["rolls"]
    assert (rolls[7]["moves"], rolls[7]["leaves"]) == ([{"tiles": [4, 5]}], ["open 1,8"])
    assert (rolls[0]["moves"], rolls[0]["value"]) == ([], 18)


@pytest.mark.slow
def test_a_standing_is_that_of_python(ask):
    for ties in ("split", "all-win"):
        rules = Round(ShutTheBox(tiles=6), 3, ties)
        box = f"shut-the-box --tiles 6 --ties {ties}"
        first = ask("advise", box, "--players 3")
        assert first["value"] == pytest.approx(rules.solve().seats[0])
        assert first == ask("advise", box, "--after 2")
        best = rules.solve().at(Standing(5, 2, 0))
        last = "--lead 5 --holders 2"
        assert ask("advise", box, last)["value"] == pytest.approx(best.value)
        values = dict(zip(best.states()["state"], best.states()["value"], strict=True))
        assert all(row["value"] == values[row["state"]] for row in ask("states", box, last)["states"])
    at = "evaluate threes --lead 7 --after 2 --ties all-win"
    assert ask(at, "--policy optimal --departures")["departures"] == []
    regrets = [ask(at, "--policy", name)["regret"] for name in ("approximation", "optimal-score")]
    assert 0 < regrets[0] < regrets[1]


@pytest.mark.slow
def test_a_tree_is_that_of_python(ask, run, solved):
    where = "advise shut-the-box --open 1,3,4,6,7 --roll 7 --depth 2"
    tree = move_tree(solved(ShutTheBox()), 2, open=[1, 3, 4, 6, 7], roll=7)
    assert run(where)[1].endswith(f"\n\n{tree}\n")
    root = ask(where)["tree"]
    assert [move["label"] for move in root["branches"]] == ["shut 7", "shut 3,4", "shut 1,6"]
    at = ask(where, "--lead 4 --after 1")["tree"]
    best = Round(ShutTheBox(), 3).solve().at(Standing(4, 1, 1))
    assert at["value"] == best.value_at(open=[1, 3, 4, 6, 7], roll=7)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "start"), every(3, [("t.png", b"\x89PNG"), ("t.svg", b"<?xml"), ("t.PDF", b"%PDF")]))
def test_a_tree_is_drawn_in_the_format_of_the_file(run, tmp_path, name, start):
    assert run("advise shut-the-box --tiles 4 --open 1,3,4 --roll 4 --depth 1 --out", str(tmp_path / name))[0] == 0
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.slow
def test_departures_are_listed_greatest_loss_first(ask):
    words = "evaluate shut-the-box --policy biggest-first --departures"
    found = ask(words)["departures"]
    losses = [row["loss"] for row in found]
    assert (len(found), losses) == (210, sorted(losses, reverse=True))
    assert (found[0]["open"], found[0]["roll"], found[0]["best"]) == ([1, 2, 4, 5, 8, 9], "12", "shut 4,8")
    for more in ("--score sum", "--score count", "--lead 10 --after 1"):
        answer = ask(words, "--tiles 6", more)
        assert sum(row["cost"] for row in answer["departures"]) == pytest.approx(answer["regret"])


@pytest.mark.slow
def test_an_agent_is_measured_as_in_python(ask, run, tmp_path, monkeypatch):
    six = "evaluate shut-the-box --tiles 6 --agent"
    exact = RegretMeter(ShutTheBox(tiles=6))(first_legal)
    assert ask(six, FIRST_LEGAL).items() >= exact.summary().items()
    sampled = RegretMeter(Threes()).sample(first_legal, 3000, seed=4)
    answer = ask("evaluate threes --agent", FIRST_LEGAL, "--turns 3000 --seed 4")
    assert answer.items() >= sampled.summary().items()
    assert answer["interval"] == list(sampled.interval)
    assert ask(six, "tests.cli.test_answers:careless --turns 500")["illegal_mass"] == 1
    status, _, err = run(six, "tests.cli.test_answers:careless --illegal raise")
    assert (status, "illegal action" in err) == (2, True)
    status, _, err = run(six, "tests.cli.test_answers:careless --no-masked")
    assert (status, "masked is for torch modules" in err) == (2, True)
    (tmp_path / "mine.py").write_text("def play(seen, masks):\n    return masks.argmax(axis=1)\n")
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\n")
    monkeypatch.chdir(tmp_path)
    assert ask(six, "mine:play")["regret"] == exact.regret
    assert "SystemExit: 0" in run(six, "leaves:agent")[2]


@pytest.mark.slow
def test_saved_policies(ask, run, tmp_path):
    game, path = ShutTheBox(tiles=6), str(tmp_path / "mine.npz")
    save_policy(path, game, strategy(game, "worst"), objective="shut")
    mine, kept = ask("evaluate --policy", f"{path},ppo-threes")["policies"]
    assert (mine["policy"], mine["rules"]["tiles"], mine["objective"]) == (path, 6, "shut")
    assert mine["regret"] == evaluate(game, strategy(game, "worst"), "shut").regret
    assert (kept["policy"], kept["objective"], kept["unit"]) == ("ppo-threes", "score", "points")
    [by_other] = ask("evaluate --policy", path, "--objective at-most:3")["policies"]
    assert by_other["regret"] == evaluate(game, strategy(game, "worst"), "at-most:3").regret
    assert ask("evaluate shut-the-box --tiles 6 --policy", path)["regret"] > 0
    assert "is a policy of ShutTheBox(tiles=6)" in run("evaluate shut-the-box --policy", path)[2]
    save_policy(tmp_path / "same.npz", Threes(), load_policy("ppo-threes", Threes()))
    for command in ("round", "match", "tournament"):
        names = ("ppo-threes", str(tmp_path / "same.npz"))
        one, other = (ask(command, "threes --policy", f"threes-only,{name}") for name in names)
        assert one.pop("policies") != other.pop("policies")
        assert one == other


@pytest.mark.slow
def test_without_a_policy_all_kept_policies_are_evaluated(ask):
    names = ["ppo-nine-tiles", "ppo-threes"]
    with patch("stb_gym.cli.turn.kept_policies", return_value=names):
        assert [row["policy"] for row in ask("evaluate")["policies"]] == names


@pytest.mark.slow
def test_matches_are_those_of_python(ask):
    words = "match shut-the-box --tiles 4 --policy optimal,random --policy worst --rounds 12"
    found = ask(words, "--begins loser")
    expected = series(Round(ShutTheBox(tiles=4), 3), ["optimal", "random", "worst"], 12, "loser")
    assert found["wins"] == [pytest.approx(wins) for wins in expected.wins.tolist()]
    assert "match" not in found
    two = ask("match threes --policy optimal,random")
    assert [two["match"]["win"], two["match"]["loss"]] == two["wins"][-1]
    assert len(two["wins"]) == len(two["tied"]) == len(two["points"]) == 20


@pytest.mark.slow
def test_policies_are_compared_and_put_on_a_card(ask):
    found = ask("compare shut-the-box --policy optimal-score,biggest-first")
    assert found["comparison"]["distance"] == pytest.approx(0.014757, abs=5e-7)
    assert found["comparison"]["at"] == 10
    assert np.array(list(found["scores"].values())).sum(axis=0) == pytest.approx([1, 1])
    card = ask("compare shut-the-box --policy fewest-then-biggest --exceptions 5")
    assert [card["regrets"][0], card["regrets"][-1]] == pytest.approx([0.1656, 0.1235], abs=5e-5)
    assert [row["regret_left"] for row in card["exceptions"]] == card["regrets"][1:]


# Files


def test_a_certificate_hashes_its_file(ask, tmp_path):
    file = tmp_path / "values.txt"
    result = ask("certify threes --out", str(file))
    assert result["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()


def test_the_page_of_a_game_is_that_of_python(run, tmp_path):
    assert run("explore shut-the-box --tiles 3 --policy worst,random --out", str(tmp_path / "page.html"))[0] == 0
    assert (tmp_path / "page.html").read_text() == explorer_page(ShutTheBox(tiles=3), ["worst", "random"])


# Boxes too large for tables: a small one is taken for large, so that both answers can be compared


LARGE = "shut-the-box --tiles 8 --faces 5 --one-die low-sum"


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    every(
        3,
        [
            f"solve {LARGE}",
            f"solve {LARGE} --objective shut --worst",
            f"evaluate {LARGE} --policy fewest-then-biggest",
            f"evaluate {LARGE} --policy random --objective shut",
            f"list {LARGE}",
            f"advise {LARGE} --open 1,2,4,6,7 --roll 7",
            f"advise {LARGE} --open 1,2,4,6,7 --roll 3,4 --match one-tile",
        ],
    ),
)
def test_large_boxes_have_the_same_answers(ask, words):
    expected = ask(words)
    with patch("stb_gym.games.game.LARGEST_TABLE", 1000):
        assert not fits(ShutTheBox(tiles=8, faces=5, one_die="low-sum"))
        found = ask(words)
    for answer in (expected, found):
        for name in ("states", "mistakes"):  # states are counted otherwise; equal costs may be sorted otherwise
            answer.pop(name, None)
        if "strategies" in answer:
            with_tables_only = ("approximation", "most-ways")
            answer["strategies"] = [row for row in answer["strategies"] if row["name"] not in with_tables_only]
    assert found.keys() <= expected.keys()
    assert_near(found, expected)


def assert_near(found, expected):
    """Compare two JSON values up to rounding; keys that only `expected` has are ignored."""
    if isinstance(found, dict):
        for key in found:
            assert_near(found[key], expected[key])
    elif isinstance(found, list):
        for each, other in zip(found, expected, strict=True):
            assert_near(each, other)
    else:
        assert found == (pytest.approx(expected, rel=1e-9, abs=1e-12) if isinstance(found, float) else expected)
