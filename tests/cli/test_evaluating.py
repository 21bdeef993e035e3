"""`stb-gym evaluate` and `stb-gym simulate`."""

import re

import pytest

from stb_gym import ShutTheBox, save_policy, solve
from stb_gym.cli import main


def test_evaluate(ask, capsys):
    result = ask("evaluate", "shut-the-box", "--policy", "biggest-first")
    assert result["value"] == pytest.approx(11.373255046)
    assert result["optimum"] == pytest.approx(11.157508444)
    assert result["regret"] == pytest.approx(11.373255046 - 11.157508444)
    assert result["normalised_score"] == pytest.approx((20.418812228 - 11.373255046) / (20.418812228 - 11.157508444))
    assert result["agreement"] == pytest.approx(1 - 210 / 4040)
    assert 0.9 < result["agreement_by_visits"] < 1
    assert result["shut_probability"] == result["score_distribution"]["0"] == pytest.approx(0.0695829302)
    assert sum(result["score_distribution"].values()) == pytest.approx(1)
    assert 5 < result["mean_throws"] < 6


def test_evaluate_a_saved_policy(ask, capsys, tmp_path):
    game = ShutTheBox(tiles=5)
    path = tmp_path / "policy.npz"
    save_policy(path, game, solve(game).policy)
    assert ask("evaluate", "shut-the-box", "--tiles", "5", "--policy", str(path))["regret"] == 0
    assert main(["evaluate", "shut-the-box", "--policy", str(path)]) == 2
    assert "is a policy of shut-the-box with" in capsys.readouterr().err


def test_simulate(ask, capsys):
    arguments = ("simulate", "threes", "--policy", "threes-only", "--turns", "20000", "--seed", "3")
    result = ask(*arguments)
    assert result["exact"] == pytest.approx(6.804024892)
    assert result["z"] == pytest.approx((result["mean"] - result["exact"]) / result["standard_error"])
    assert abs(result["z"]) < 4
    assert ask(*arguments) == result
    assert ask(*arguments[:-1], "4")["mean"] != result["mean"]


def test_compare(ask, capsys):
    words = ["compare", "shut-the-box", "--policy", "optimal-score,biggest-first"]
    found = ask(*words)
    assert found["comparison"]["distance"] == pytest.approx(0.014757, abs=5e-7)
    assert found["comparison"]["at"] == 10
    assert [sum(chances) for chances in zip(*found["scores"].values(), strict=True)] == pytest.approx([1, 1])
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "largest distance  1.4757%, of the chance of at most 10\n" in printed
    assert "    0           7.0889%           6.9583%\n" in printed
    assert main(["compare", "threes", "--policy", "optimal,optimal-score"]) == 0
    assert "games of each to see that  there is no difference\n" in capsys.readouterr().out
    assert main(["compare", "threes", "--policy", "random"]) == 2
    assert capsys.readouterr().err == "stb-gym: two policies are compared, not 1\n"


def test_card(ask, capsys):
    words = ["card", "shut-the-box", "--policy", "fewest-then-biggest", "--exceptions", "5"]
    found = ask(*words)
    assert [found["regrets"][0], found["regrets"][-1]] == pytest.approx([0.1656, 0.1235], abs=5e-5)
    assert len(found["exceptions"]) == 5
    assert found["exceptions"][0]["costs"] == pytest.approx(found["regrets"][0] - found["regrets"][1], rel=0.2)
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "fewest-then-biggest: Shut as few tiles as possible" in printed
    assert found["exceptions"][0]["at"] in printed
    assert main(["card", "threes", "--policy", "random"]) == 2
    assert capsys.readouterr().err == "stb-gym: a card is of a policy that is certain of its moves, not of random\n"


# Departures


def test_every_departure_is_listed_greatest_loss_first(ask, capsys):
    words = ["evaluate", "shut-the-box", "--policy", "biggest-first", "--departures"]
    found = ask(*words)["departures"]
    losses = [row["loss"] for row in found]
    assert (len(found), losses) == (210, sorted(losses, reverse=True))
    assert (found[0]["open"], found[0]["roll"], found[0]["best"]) == ([1, 2, 4, 5, 8, 9], "12", "shut 4,8")
    assert losses[0] == pytest.approx(4.467593, abs=1e-6)
    assert sum(row["cost"] for row in found) == pytest.approx(ask(*words)["regret"])
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert len(re.findall(r"^open .* shut .*$", printed, re.MULTILINE)) == 210


@pytest.mark.parametrize("rules", [["--score", "count"], ["--objective", "shut"], ["--lead", "10", "--after", "8"]])
def test_departures_for_other_scores_objectives_and_standings(ask, rules):
    found = ask("evaluate", "shut-the-box", *rules, "--policy", "biggest-first", "--departures")
    assert len(found["departures"]) not in (0, 210)
    assert sum(row["cost"] for row in found["departures"]) == pytest.approx(found["regret"])


def test_a_strategy_that_looks_at_the_standing_is_asked_there(ask):
    at = ("threes", "--lead", "7", "--after", "4", "--ties", "all-win")
    assert ask("evaluate", *at, "--policy", "optimal", "--departures")["departures"] == []
    strategies = [ask("evaluate", *at, "--policy", name)["regret"] for name in ("approximation", "optimal-score")]
    assert 0 < strategies[0] < strategies[1]
    solo = ask("evaluate", "threes", "--policy", "approximation")
    assert "seen" not in solo


def test_departures_are_refused_where_they_cannot_be_listed(capsys):
    assert main(["evaluate", "shut-the-box", "--tiles", "24", "--dice", "4", "--policy", "random", "--departures"]) == 2
    assert "only for games that fit into arrays" in capsys.readouterr().err
    assert main(["evaluate", "threes", "--policy", "random", "--lead", "3", "--objective", "shut"]) == 2
    assert "a round is played to win" in capsys.readouterr().err
