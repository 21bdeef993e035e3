"""Whole games: rounds against strategies, and turns for a goal."""

import re
from itertools import count, product

import numpy as np
import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, strategy
from stb_gym.cli import main
from stb_gym.rounds import TIES
from stb_gym.solver import approximation
from stb_gym.terminal import play_round
from tests.terminal.person import node_of, position_at, talk, wins


def test_bad_arguments_are_one_line_and_status_2(capsys):
    for arguments, message in [
        ("threes --against best", "unknown strategy of threes 'best': allowed are random"),
        ("threes --against random --against random --seat 4", "seat must be an integer from 1 to 3, not 4"),
        ("threes --seat 2", "seat must be an integer from 1 to 1, not 2"),
        ("threes --seed -1", "seed must be an integer from 0"),
        ("threes --objective win", "unknown objective 'win'"),
        ("threes --against random --objective shut", "objective shut is for playing alone: a round is played to win"),
        ("threes --against random --may-stop", "may_stop needs a game whose points only get better"),
        ("threes --against no-such-file.npz", "there is no policy file no-such-file.npz"),
        ("shut-the-box --shut-wins", "ties, shut-wins and may-stop are rules of a round: name somebody"),
        ("shut-the-box --ties all-win", "ties, shut-wins and may-stop are rules of a round: name somebody"),
    ]:
        assert main(["play", *arguments.split()]) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(f"stb-gym: {message}")
        assert printed.err.count("\n") == 1


def test_the_same_seed_is_the_same_game(monkeypatch, capsys):
    rules = Round(ShutTheBox(), 3)

    def game(seed, **how):
        return talk(monkeypatch, capsys, rules, "random", "approximation", seat=2, seed=seed, **how)

    assert game(5) == game(5) != game(6)
    assert game(None) != game(None)


def test_choices_do_not_change_the_dice_of_the_others(monkeypatch, capsys):
    rules = Round(Threes(), 2)
    turns = [
        talk(monkeypatch, capsys, rules, "random", types=lambda seen, keep=keep: keep, seed=5).split("\nrandom\n")
        for keep in ("1", "2")
    ]
    (first, last), (other_first, other_last) = turns
    assert first != other_first
    assert last.split("  ends")[0] == other_last.split("  ends")[0]


@pytest.mark.slow
@pytest.mark.parametrize("ties", TIES)
def test_the_result_in_words(monkeypatch, capsys, ties):
    rules, results = Round(Threes(dice=1), 3, ties), set()
    for seed in range(100):
        seen = talk(monkeypatch, capsys, rules, "take-all", "random", seat=2, seed=seed, coach=True)
        scores = [int(score) for score in re.findall(r"^(?:  ends|You end) with (\d+) point", seen, re.MULTILINE)]
        lowest = min(scores)
        names = [name for name, score in zip(["take-all", "you", "random"], scores, strict=True) if score == lowest]
        who = " and ".join(sorted(names, key=lambda name: name != "you")).replace("you", "You")
        if len(names) == 1:
            how = "win" if who == "You" else "wins"
        else:
            shares = f"tie and win 1/{len(names)} each"
            how = {"all-win": "tie and win", "split": shares, "nobody": "tie, so nobody wins,"}[ties]
        assert f"{'expected share of the win' if ties == 'split' else 'chance to win'}\nat the start " in seen
        assert f"\n\n{who} {how} with {lowest} point{'s' * (lowest != 1)}.\n\n" in seen
        assert re.search(r"in all .* (.*)%\n", seen)[1] == f"{100 * wins(ties, scores, 1):.2f}"
        results.add(tuple(names))
    assert len(results) == 7  # every set of winners


@pytest.mark.parametrize("after", [0, 1])
@pytest.mark.parametrize("name", ["optimal", "approximation", "biggest-first"])
def test_opponents_play_their_strategy_where_they_stand(monkeypatch, capsys, name, after):
    game = ShutTheBox(tiles=7)
    rules, choices = Round(game, 3, "split"), 0
    opponents = [name, "worst"] if after else ["worst", name]
    for seed in range(12):
        seen = talk(monkeypatch, capsys, rules, *opponents, seed=seed)
        scores = re.findall(r"(?:  ends|You end) with (\d+) point", seen)
        before = [int(score) for score in scores[: 2 - after]]
        standing = Standing(min(before), before.count(min(before)), after)
        if name == "optimal":
            policy = rules.solve().policy(standing)
        elif name == "approximation":
            policy = approximation(rules.tables, standing)
        else:
            policy = strategy(game, name)
        opened = set(range(1, 8))
        turn = seen.split(f"\n{name}\n")[1].split("  ends with ")
        for roll, tiles, left in re.findall(r"^  .*?(\d+)  +shut ([\d,]+) +open (.*)$", turn[0], re.MULTILINE):
            shut = tuple(map(int, tiles.split(",")))
            node = node_of(rules.tables, position_at(game, {"open": sorted(opened), "roll": int(roll)}))
            assert game.moves[policy[node]] == shut
            opened -= set(shut)
            assert left == (",".join(map(str, sorted(opened))) or "none")
            choices += 1
        assert turn[1].split()[0] == str(sum(opened))
    assert choices > 20


def test_opponents_that_are_arrays_and_share_a_name(monkeypatch, capsys):
    game = Threes()
    half = (strategy(game, "take-all")[:, None] == np.arange(5)) * 0.5
    half[:, 0] += 0.5  # keep one die or all, the same if only one is left
    rules, seen = Round(game, 3), []
    lines = iter(["5"] * 20)
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    for seed in range(20):
        play_round(rules, [("robot", strategy(game, "take-all")), ("robot", half)], 2, False, seed)
    seen = capsys.readouterr().out
    assert seen.count("\nrobot (seat 1)\n") == seen.count("\nrobot (seat 3)\n") == 20
    assert len(re.findall(r"robot \(seat 1\)\n  \d \d \d \d \d  keep 5 .*\n  ends", seen)) == 20
    firsts = re.findall(r"robot \(seat 3\)\n  \d \d \d \d \d  keep (\d)", seen)
    assert {"1": 4, "5": 4}.items() <= {k: min(4, firsts.count(k)) for k in "15"}.items()
    assert set(firsts) == {"1", "5"}
    with pytest.raises(ValueError, match="a policy of"):
        play_round(rules, [("robot", np.zeros(3, int)), ("robot", half)], 2, False, None)


def test_a_final_score_of_0_ends_the_round(monkeypatch, capsys):
    rules, ends = Round(ShutTheBox(tiles=3, dice=1, faces=3), 3, shut_wins=True), set()
    for seed in range(40):
        seen = talk(monkeypatch, capsys, rules, "optimal", "random", seat=2, seed=seed, coach=True)
        assert "whoever ends with 0 points wins at once" in seen
        if "That ends the round." in seen:
            played = "You shut the box!" in seen, "Your turn" in seen
            winner = "You win" if played[0] else "optimal wins"
            assert f"\nThat ends the round.\n\n{winner} with 0 points.\n" in seen
            assert "\nrandom\n" not in seen
            ends.add(played)
    assert ends == {(True, True), (False, False)}


@pytest.mark.slow
def test_the_last_player_stops_once_ahead(monkeypatch, capsys):
    rules, stopped = Round(ShutTheBox(), 2, may_stop=True), set()
    for seed, seat in product(range(12), (1, 2)):
        seen = talk(monkeypatch, capsys, rules, "most-first", seat=seat, seed=seed, coach=True)
        mine = int(re.search(r"You (?:end with (\d+)|shut the box!)", seen)[1] or 0)
        other = int(re.search(r"  (?:ends|ahead, and stops) with (\d+)", seen)[1])
        if "You are ahead and nobody plays after you, so you stop." in seen:
            assert (seat, mine < other) == (2, True)
            assert seen.split("in all")[1].split("\n")[0].endswith("100.00%")
            stopped.add("you")
        elif "  ahead, and stops with" in seen:
            assert (seat, other < mine) == (1, True)
            stopped.add("other")
        else:
            assert (mine >= other) if seat == 2 else (other >= mine) or "  ends with 0" in seen or mine == 0
    assert stopped == {"you", "other"}
    assert "stop" not in talk(monkeypatch, capsys, Round(ShutTheBox(), 2), "most-first", seat=2, seed=0)


def test_only_the_last_player_may_stop(monkeypatch, capsys):
    rules = Round(ShutTheBox(), 3, may_stop=True)
    for seed in range(6):
        seen = talk(monkeypatch, capsys, rules, "worst", "worst", seat=2, seed=seed)
        assert "so you stop" not in seen
        assert "  ahead, and stops" not in seen.split("You end")[0]


def test_alone_for_a_goal(monkeypatch, capsys):
    rules, said = Round(ShutTheBox(tiles=4), 1), set()
    for seed in range(20):
        seen = talk(monkeypatch, capsys, rules, objective="at-most:3", seed=seed)
        assert seen.startswith("Shut the box (tiles 4): try to end with at most 3 points.\n")
        points = int(re.search(r"You (?:end with (\d+)|shut the box!)", seen)[1] or 0)
        last = seen.split("\n")[-2]
        assert last == ("Just what you wanted!" if points <= 3 else "You wanted at most 3 points.")
        said.add(last)
    assert len(said) == 2


def test_a_first_roll_that_fits_nothing_ends_the_turn(monkeypatch, capsys):
    rules = Round(ShutTheBox(tiles=3), 1)
    for seed in count():
        seen = talk(monkeypatch, capsys, rules, coach=True, seed=seed)
        if "You end with 6 points" in seen:
            break
    assert re.search(r"No open tiles add up to \d+\.\nYou end with 6 points\.\n", seen)
    assert "throw 1: " in seen
    assert "no move" in seen


def test_a_moon_is_called_so(monkeypatch, capsys):
    rules = Round(Threes(dice=1, moon=True), 2)
    moons = (talk(monkeypatch, capsys, rules, "random", types=lambda seen: "1", seed=seed) for seed in range(30))
    seen = next(seen for seen in moons if "You end with the moon." in seen)
    assert "That ends the round." in seen
    assert "You win with the moon." in seen
