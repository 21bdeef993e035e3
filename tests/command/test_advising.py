"""`stb-gym advise`."""

import pytest

from stb_gym.command import main


def test_advise(ask, capsys):
    moves = ask("advise", "shut-the-box", "--open", "1,4,5,8", "--roll", "9")["moves"]
    assert [move["tiles"] for move in moves] == [[4, 5], [1, 8]]
    assert [move["value"] for move in moves] == pytest.approx([6.888889, 7.027778], abs=1e-6)
    assert [move["regret"] for move in moves] == pytest.approx([0, 7.027778 - 6.888889], abs=1e-6)
    shut = ("--objective", "shut")
    moves = ask("advise", "shut-the-box", "--open", "1,4,5,8", "--roll", "9", *shut)["moves"]
    assert [move["tiles"] for move in moves] == [[1, 8], [4, 5]]
    moves = ask("advise", "threes", "--points", "0", "--roll", "3,1,6")["moves"]
    assert [move["keep"] for move in moves] == [2, 1, 3]
    assert moves[0]["value"] == pytest.approx(4)


def test_a_single_tile_is_open(ask):
    [move] = ask("advise", "shut-the-box", "--open", "5", "--roll", "5")["moves"]
    assert (move["tiles"], move["value"]) == ([5], 0)


def test_advise_where_there_is_no_move(ask, capsys):
    result = ask("advise", "shut-the-box", "--open", "1,2", "--roll", "12")
    assert (result["moves"], result["value"]) == ([], 3)
    assert main(["advise", "shut-the-box", "--open", "1,2", "--roll", "12"]) == 0
    assert "no legal move: the turn ends, worth 3.000000" in capsys.readouterr().out


def test_a_move_with_a_choice_of_dice(ask, capsys):
    where = ["--variant", "low-sum", "--open", "1,4,5", "--roll", "9", "--dice-in-hand", "2"]
    moves = ask("advise", "shut-the-box", *where)["moves"]
    assert [(move["tiles"], move["dice"]) for move in moves] == [([4, 5], 1), ([4, 5], 2)]
    assert main(["advise", "shut-the-box", *where]) == 0
    assert "shut 4,5, throw 2 dice" in capsys.readouterr().out
    moves = ask("advise", "shut-the-box", "--variant", "jackpot", "--roll", "3,4")["moves"]
    assert sorted(move["tiles"] for move in moves) == [[3], [4], [7]]


def test_where_nothing_is_thrown_no_dice_are_chosen(ask, capsys):
    where = ["--one-die", "any-time", "--open", "1,4", "--roll", "5", "--dice-in-hand", "2"]
    assert ask("advise", "shut-the-box", *where)["moves"] == [{"tiles": [1, 4], "value": 0, "regret": 0}]
