"""`stb-gym round`, `stb-gym par`, `stb-gym match` and `stb-gym tournament`."""

import re

import pytest

from stb_gym import Round, ShutTheBox, Threes, save_policy, series, strategy
from stb_gym.cli import contests, main
from stb_gym.cli.rounds import FindPar
from stb_gym.rounds import standings


def test_round(ask, capsys):
    result = ask("round", "threes", "--players", "2", "--ties", "all-win", "--indifferent", "lowest")
    assert result["seats"] == pytest.approx([0.5761170, 0.5813610], abs=5e-8)
    assert "exploitability" not in result
    assert result["survival"]["10"] == pytest.approx([1, 0.2503], abs=5e-5)
    assert list(result["survival"]) == [str(lead) for lead in range(31)]
    split = ask("round", "shut-the-box", "--may-stop")
    assert split["seats"] == pytest.approx([0.4979939469, 0.5020060531], abs=1e-9)
    assert split["throws"][1] < split["throws"][0]
    shut = ask("round", "shut-the-box", "--shut-wins")
    assert shut["seats"][0] > split["seats"][0]


def test_what_depends_on_the_indifferent_is_told_with_its_range(ask, capsys):
    words = ["round", "threes", "--ties", "all-win"]
    found = ask(*words)
    assert found["indifferent"] == "fewer"
    assert found["seats"] == pytest.approx([0.566301, 0.581361], abs=5e-7)
    assert found["ranges"]["seats"][0] == pytest.approx([0.5663, 0.5960], abs=5e-5)
    assert found["ranges"]["survival"]["10"] == [[1, 1], pytest.approx([0.2252, 0.2998], abs=5e-5)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "2 players, ties all-win, who is indifferent prefers to share the lead with fewer" in printed
    assert "seat 1  optimal  56.6301%  56.6301%  59.5982%" in printed
    assert "  10  100.00%  22.52 to 29.98%" in printed
    assert "least and most: by the rules for those to whom" in printed
    assert "who come after, from least to most by what the indifferent do\n" in printed
    line_up = ["match", "threes", "--policy", "approximation,optimal", "--ties", "all-win"]
    assert ask(*line_up)["ranges"]["round"][1] == pytest.approx([0.404069, 0.433776], abs=5e-7)
    assert main(line_up) == 0
    assert "     1             41.8921%  40.4069 to 43.3776%  14.7303 to 17.7010%\n" in capsys.readouterr().out


def test_nothing_depends_on_the_indifferent_where_nobody_is(ask, capsys):
    assert "ranges" not in ask("round", "threes", "--policy", "approximation,random", "--ties", "all-win")
    split = ask("round", "shut-the-box")
    assert split["ranges"].keys() == {"survival", "throws"}  # with whom one ties is no matter to anybody
    assert main(["round", "threes", "--policy", "random,random"]) == 0
    printed = capsys.readouterr().out
    assert "indifferent" not in printed


def test_round_of_strategies(ask, capsys, tmp_path):
    bots = ask("round", "threes", "--policy", "approximation,approximation,approximation", "--ties", "all-win")
    assert bots["seats"] == pytest.approx([0.38880, 0.40311, 0.41886], abs=5e-6)
    assert sum(bots["best_response_gains"]) == pytest.approx(bots["exploitability"])
    equilibrium = ask("round", "shut-the-box", "--tiles", "4", "--policy", "optimal,optimal")
    assert equilibrium["exploitability"] == pytest.approx(0, abs=1e-12)
    path = tmp_path / "mine.npz"
    save_policy(path, ShutTheBox(), strategy(ShutTheBox(), "biggest-first"))
    mine, named = (
        ask("round", "shut-the-box", "--policy", f"{player},optimal-score")["seats"]
        for player in (str(path), "biggest-first")
    )
    assert mine == named


def test_leads_are_final_scores_of_the_game(ask, capsys):
    odd = ask("round", "shut-the-box", "--tiles", "4", "--start-open", "odd")
    assert odd["survival"].keys() == {"0", "1", "3", "4"}
    assert odd["survival"]["0"] == [1, 1]
    moon = ask("round", "threes", "--dice", "2", "--moon")["survival"]
    assert list(moon)[:2] == ["-1", "0"]
    assert moon["-1"] == [1, 1]
    assert moon["0"] == [1, pytest.approx(1 - 1 / 36)]  # a moon after it


def test_match(ask, capsys):
    result = ask("match", "shut-the-box", "--policy", "optimal-score,optimal-score", "--rounds", "1")
    assert result["round"] == result["match"]
    assert result["round"] == pytest.approx({"win": 0.4793840513, "loss": 0.4793840513, "tie": 0.0412318974}, abs=1e-9)
    longer = ask("match", "threes", "--policy", "optimal,random")
    assert longer["rounds"] == 20
    assert longer["match"]["win"] > longer["round"]["win"] > 0.5
    assert sum(longer["match"].values()) == pytest.approx(1)
    assert [longer["match"]["win"], longer["match"]["loss"]] == longer["wins"][-1]
    assert (len(longer["wins"]), len(longer["tied"]), len(longer["points"])) == (20, 20, 20)


def test_match_of_several_by_who_begins(ask, capsys):
    words = ["match", "shut-the-box", "--tiles", "4", "--policy", "optimal,random,worst", "--rounds", "12"]
    found = ask(*words, "--begins", "loser")
    of_three = series(Round(ShutTheBox(tiles=4), 3), ["optimal", "random", "worst"], 12, "loser")
    assert found["wins"] == [pytest.approx(wins) for wins in of_three.wins.tolist()]
    assert found["wins"] != ask(*words)["wins"]
    assert "round" not in found
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert re.findall(r"^ *(\d+)  ", printed, re.M) == ["1", "2", "5", "10", "12"]
    assert "rounds  1: optimal  2: random  3: worst" in printed
    assert "the first player begins every round\n" in printed


def test_tournament(ask, capsys):
    players = ["--policy", "optimal,biggest-first"]
    result = ask("tournament", "shut-the-box", *players)
    assert result["wins"] == pytest.approx([0.5243487768, 0.4756512232])
    assert result["mean_rounds"] == pytest.approx(8.4125826562)
    out = ask("tournament", "shut-the-box", *players, "--ends", "out-at")
    assert (out["limit"], out["wins"]) == (45, pytest.approx([0.5155634567, 0.4844365433]))
    assert main(["tournament", "shut-the-box", *players, "--limit", "50"]) == 0
    assert "optimal        5" in capsys.readouterr().out


def test_round_says_what_changes_with_the_standing(ask, capsys):
    found = ask("round", "shut-the-box", "--ties", "all-win")["departures"]
    assert (found["first"], found["positions"]) == (19, 4040)
    assert [found["by_lead"][lead] for lead in ("0", "3", "10", "20")] == [[85], [243], [57], [30]]
    assert main(["round", "shut-the-box"]) == 0
    printed = capsys.readouterr().out
    assert "positions, of 4,040, at which no best move is best for the points: 19 for who begins," in printed
    assert "\n   0       85\n" in printed
    assert "departures" not in ask("round", "threes", "--dice", "2", "--policy", "random,random")


@pytest.mark.slow
def test_par(ask, capsys):
    words = ["par", "threes", "--after", "5"]
    found = ask(*words)
    assert [row["after"] for row in found["pars"]] == [1, 2, 3, 4, 5]
    assert [row["par"] for row in found["pars"]] == [5, 5, 4, 4, 4]
    assert found["pars"][0]["first"] == pytest.approx(0.475290977, abs=5e-10)
    assert found["pars"][4]["shares"]["threes-only"] == pytest.approx(0.8614, abs=5e-5)
    assert list(found["pars"][0]["shares"]) == ["optimal-score", "threes-only", "take-all"]
    assert found["perfect_from"] == {}
    assert main(words) == 0
    assert "            5  15.6580%    4     2         93.47%       86.14%     3.43%\n" in capsys.readouterr().out
    one_die = ask("par", "threes", "--dice", "1", "--after", "2", "--policy", "random")  # which has no choice
    assert one_die["perfect_from"] == {"random": 1}
    assert main(["par", "threes", "--after", "101"]) == 2
    assert capsys.readouterr().err == "stb-gym: players after must be an integer from 1 to 100, not 101\n"


@pytest.mark.slow
def test_from_how_many_players_after_only_threes_is_perfect():
    found = FindPar(after=30, ties="all-win", policy=("threes-only",)).answer(Threes(dice=2))
    assert found.perfect_from == {"threes-only": 24}
    assert str(found).endswith("threes-only is perfect from 24 players after on")
    assert FindPar(after=30, policy=("threes-only",)).answer(Threes(dice=2)).perfect_from == {"threes-only": 18}
    five_dice = FindPar(after=5, ties="all-win", policy=("threes-only",)).answer(Threes())
    shares = [row["shares"]["threes-only"] for row in five_dice.pars]
    assert shares[4] == pytest.approx(0.85, abs=5e-3)


@pytest.mark.parametrize("more", [[], ["--policy", "random,take-all,random"]])
def test_a_round_that_takes_long_says_so_before_it_begins(capsys, monkeypatch, more):
    words, done = ["round", "threes", "--dice", "2", "--players", "3", *more], []
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(contests, "SECONDS", 1.0)
    monkeypatch.setattr(standings, "tick", done.append)
    assert main(words) == 0
    first = capsys.readouterr().err.splitlines()[0]
    assert re.fullmatch(rf"stb-gym round: 0 of {sum(done)} standings \(0%\), about [0-9:]+ in all", first)


def test_no_sentence_is_broken(ask, capsys):
    for words in (["round", "threes", "--dice", "2"], ["par", "threes", "--dice", "2", "--after", "2"]):
        assert main(words) == 0
        assert "\\n" not in capsys.readouterr().out
