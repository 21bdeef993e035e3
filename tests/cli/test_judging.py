"""`stb-gym judge`, and kept policies by name in the other commands."""

import re

import pytest

from stb_gym import ShutTheBox, Threes, evaluate, kept_policies, load_policy, save_policy, strategy
from stb_gym.cli import main


def test_judge(ask, tmp_path):
    game, policy = ShutTheBox(tiles=6), strategy(ShutTheBox(tiles=6), "worst")
    save_policy(tmp_path / "mine.npz", game, policy, objective="shut")
    mine, kept = ask("judge", str(tmp_path / "mine.npz"), "ppo-threes")["policies"]
    assert mine["policy"] == str(tmp_path / "mine.npz")
    assert (mine["title"], mine["rules"]["tiles"]) == ("shut-the-box: tiles 6, dice 2, faces 6, score sum", 6)
    assert (mine["objective"], mine["unit"]) == ("shut", "probability")
    assert mine["regret"] == evaluate(game, policy, "shut").regret
    assert mine["dearest_mistake"]["cost"] == evaluate(game, policy, "shut").mistakes(1)[0].cost
    assert (kept["policy"], kept["objective"], kept["unit"]) == ("ppo-threes", "score", "points")
    [judged] = ask("judge", str(tmp_path / "mine.npz"), "--objective", "at-most:3")["policies"]
    assert judged["regret"] == evaluate(game, policy, "at-most:3").regret
    assert [each["policy"] for each in ask("judge")["policies"]] == kept_policies()


def test_the_whole_answer(capsys, tmp_path, monkeypatch):
    """Of rules of thumb, as kept policies may be replaced by better ones."""
    monkeypatch.chdir(tmp_path)
    for path, game, objective in (("box.npz", ShutTheBox(), "shut"), ("threes.npz", Threes(), "score")):
        save_policy(path, game, strategy(game, "approximation"), objective=objective)
    assert main(["judge", "box.npz", "threes.npz"]) == 0
    printed = [re.split("  +", row) for row in capsys.readouterr().out.splitlines()]
    assert printed == [
        [
            "policy", "rules", "objective", "value", "regret", "normalised score", "choices optimal",
            "ended illegally", "dearest mistake",
        ],
        [
            "box.npz", "shut-the-box: tiles 9, dice 2, faces 6, score sum", "shut", "0.071156", "0.000276",
            "99.4592%", "98.1634%", "0.0000%",
            "open 1,3,5,7, roll 8: shut 3,5 instead of shut 1,7 loses 0.0123, once in 577 turns",
        ],
        [
            "threes.npz", "threes: dice 5, faces 6", "score", "6.262882", "0.0089", "99.8359%", "99.2938%", "0.0000%",
            "2 points, 3 dice left, roll 1,2,2: keep 1 instead of keep 3 loses 0.389, once in 431 turns",
        ],
    ]  # fmt: skip


def test_if_one_file_is_damaged_none_is_judged(capsys, tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"PK")
    assert main(["judge", "ppo-threes", str(tmp_path / "mine.npz")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"stb-gym: {tmp_path / 'mine.npz'} is not a policy file of stb_gym, or is damaged\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.npz"]


def test_commands_know_the_kept_policies_by_name(ask, tmp_path):
    game = ShutTheBox()
    policy = load_policy("ppo-nine-tiles", game)
    save_policy(tmp_path / "same.npz", game, policy)
    assert ask("evaluate", "shut-the-box", "--policy", "ppo-nine-tiles")["regret"] == evaluate(game, policy).regret
    for command in ("round", "match", "tournament"):
        by_name, by_file = (
            ask(command, "shut-the-box", "--policy", f"biggest-first,{who}")
            for who in ("ppo-nine-tiles", str(tmp_path / "same.npz"))
        )
        assert by_name.pop("policies") != by_file.pop("policies")
        assert by_name == by_file


def test_one_can_play_against_a_kept_policy(monkeypatch, capsys):
    def nobody(prompt):
        raise EOFError

    monkeypatch.setattr("builtins.input", nobody)
    assert main(["play", "shut-the-box", "--against", "ppo-nine-tiles", "--seat", "2", "--seed", "1"]) == 0
    printed = capsys.readouterr().out
    assert "\nppo-nine-tiles\n" in printed
    assert "  ends with " in printed
    assert main(["play", "threes", "--against", "ppo-nine-tiles"]) == 2
    assert capsys.readouterr().err.startswith("stb-gym: ppo-nine-tiles is a policy of shut-the-box with ")


@pytest.mark.parametrize("words", [["ppo-threes"], ["--objective", "shut"]])
def test_the_leaderboard_is_of_the_kept_policies_as_they_are(words, tmp_path, capsys):
    assert main(["judge", *words, "--out", str(tmp_path / "page.md")]) == 2
    assert "say --out alone" in capsys.readouterr().err
    assert not (tmp_path / "page.md").exists()
