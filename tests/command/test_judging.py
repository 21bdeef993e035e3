"""`stb-gym judge`, and kept policies by name in the other commands."""

import re

from stb_gym import ShutTheBox, evaluate, kept_policies, load_policy, save_policy, strategy
from stb_gym.command import main


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


def test_the_whole_answer(capsys):
    assert main(["judge", "dqn-nine-tiles-shut", "ppo-threes"]) == 0
    printed = [re.split("  +", row) for row in capsys.readouterr().out.splitlines()]
    assert printed == [
        [
            "policy", "rules", "objective", "regret", "normalised score", "choices optimal", "ended illegally",
            "dearest mistake",
        ],
        [
            "dqn-nine-tiles-shut", "shut-the-box: tiles 9, dice 2, faces 6, score sum", "shut", "0.000167", "99.6733%",
            "98.6449%", "0.0000%",
            "open 1,2,3,4,5,6,8, roll 7: shut 1,6 instead of shut 2,5 loses 0.00226, once in 162 turns",
        ],
        [
            "ppo-threes", "threes: dice 5, faces 6", "score", "0.000004", "99.9999%", "99.9999%", "0.0000%",
            "10 points, 3 dice left, roll 1,1,5: keep 3 instead of keep 2 loses 2, once in 979,209 turns",
        ],
    ]  # fmt: skip


def test_if_one_file_is_damaged_none_is_judged(capsys, tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"PK")
    assert main(["judge", "ppo-threes", str(tmp_path / "mine.npz"), "--page", str(tmp_path / "page.md")]) == 2
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
            ask(command, "shut-the-box", "--strategies", f"biggest-first,{who}")
            for who in ("ppo-nine-tiles", str(tmp_path / "same.npz"))
        )
        assert by_name.pop("strategies") != by_file.pop("strategies")
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
