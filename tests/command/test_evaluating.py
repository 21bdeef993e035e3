"""`stb-gym evaluate` and `stb-gym simulate`."""

import pytest

from stb_gym import ShutTheBox, save_policy, solve
from stb_gym.command import main


def test_evaluate(ask, capsys):
    result = ask("evaluate", "shut-the-box", "--strategy", "biggest-first")
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
    arguments = ("simulate", "threes", "--strategy", "threes-only", "--games", "20000", "--seed", "3")
    result = ask(*arguments)
    assert result["exact"] == pytest.approx(6.804024892)
    assert result["z"] == pytest.approx((result["mean"] - result["exact"]) / result["standard_error"])
    assert abs(result["z"]) < 4
    assert ask(*arguments) == result
    assert ask(*arguments[:-1], "4")["mean"] != result["mean"]
