"""`stb-gym advise`."""

import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes
from stb_gym.cli import main


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


# Before the dice are thrown


def test_what_a_board_is_worth_and_what_to_do_on_every_roll(ask, capsys):
    found = ask("advise", "shut-the-box", "--open", "1,4,5,8")
    assert found["value"] == pytest.approx(sum(row["chance"] * row["value"] for row in found["rolls"]))
    assert [row["chance"] for row in found["rolls"]] == pytest.approx(
        [ways / 36 for ways in (*range(1, 7), *range(5, 0, -1))]
    )
    nine = found["rolls"][7]
    assert (nine["roll"], nine["moves"], nine["leaves"]) == ("9", [{"tiles": [4, 5]}], ["open 1,8"])
    assert nine["value"] == ask("advise", "shut-the-box", "--open", "1,8")["value"] == pytest.approx(6.888889, abs=5e-7)
    assert (found["rolls"][0]["moves"], found["rolls"][0]["value"]) == ([], 18)
    assert main(["advise", "shut-the-box", "--open", "1,4,5,8"]) == 0
    printed = capsys.readouterr().out
    assert "open 1,4,5,8: worth 11.071245 before the throw" in printed
    assert "\n2      2.7778%  none                    18.000000\n" in printed
    assert "\n9     11.1111%  shut 4,5    open 1,8     6.888889\n" in printed


def test_the_start_is_worth_what_the_game_is(ask):
    assert ask("advise", "shut-the-box")["value"] == pytest.approx(11.1575084442)
    dice = ask("advise", "threes", "--dice-in-hand", "2")
    assert dice["value"] == pytest.approx(79 / 18)
    assert dice["rolls"][0]["moves"] == [{"keep": 2}]
    equal = ask("advise", "threes", "--dice-in-hand", "2", "--objective", "at-most:1")["rolls"][-1]
    assert (equal["roll"], equal["moves"], equal["value"]) == ("6,6", [{"keep": 1}, {"keep": 2}], 0)


def test_a_board_too_large_for_arrays(ask):
    one = ask("advise", "shut-the-box", "--tiles", "20", "--open", "20")
    assert one["value"] == 20  # no roll of two dice shuts it
    assert {row["chance"] > 0 and not row["moves"] for row in one["rolls"]} == {True}


# In a round


@pytest.mark.slow
def test_a_position_in_a_round(ask, capsys):
    words = ["advise", "threes", "--lead", "8", "--after", "3", "--roll", "3,1,3,2,4"]
    assert [move["keep"] for move in ask(*words)["moves"]] == [2, 3, 1, 4, 5]
    assert ask(*words) == ask(*words, "--holders", "1", "--ties", "split", "--players", "5")
    assert ask(*words)["moves"] != ask(*words, "--holders", "3")["moves"]
    assert ask("advise", "threes", "--lead", "8", "--roll", "3,1,3,2,4")["moves"][0]["keep"] == 5  # nobody after
    below = ask("advise", "threes", "--lead", "3", "--roll", "3,1,6", "--dice-in-hand", "3", "--ties", "nobody")
    assert below["value"] == pytest.approx(0.3565, abs=5e-5)
    assert below["unit"] == "probability"
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "objective share of the win\n1 player leads with 8 points, 3 play after you, ties split\n" in printed
    assert "keep 2  31.512320%   0.000000%" in printed


@pytest.mark.parametrize("ties", ["split", "all-win"])
def test_the_start_of_a_turn_in_a_round_is_worth_what_the_seat_wins(ask, ties):
    rules = Round(ShutTheBox(tiles=6), 3, ties)
    first = ask("advise", "shut-the-box", "--tiles", "6", "--players", "3", "--ties", ties)
    assert first["value"] == pytest.approx(rules.solve().seats[0])
    assert first["objective"] == {"split": "share of the win", "all-win": "chance to win"}[ties]
    assert ask("advise", "shut-the-box", "--tiles", "6", "--after", "2", "--ties", ties) == first
    meets = Standing(5, 2, 0)
    worth = rules.solve().replies[0].at(meets).worth(*rules.game.start())
    last = ask("advise", "shut-the-box", "--tiles", "6", "--lead", "5", "--holders", "2", "--ties", ties)
    assert last["value"] == pytest.approx(worth)
    assert last["seen"] == f"2 players lead with 5 points, none play after you, ties {ties}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--ties all-win", "ties, shut-wins and may-stop are rules of a round: say your place in it, by --after"),
        ("--lead 5 --objective shut", "objectives and values of boards are for a turn alone: a round is played to win"),
        ("--after 2 --values no.npy", "objectives and values of boards are for a turn alone: a round is played to win"),
        ("--lead 46", "lead must be an integer from 0 to 45, not 46"),
        ("--lead 5 --after 3 --players 4", "who has 3 players after is the first of 4: there is no lead yet"),
        ("--lead 5 --holders 3 --players 3", "holders of the lead must be an integer from 1 to 2, not 3"),
        ("--holders 1 --after 2", "before anybody has played there are no holders of the lead, not 1"),
    ],
)
def test_places_that_there_are_not(capsys, words, message):
    assert main(["advise", "shut-the-box", "--roll", "7", *words.split()]) == 2
    assert capsys.readouterr().err == f"stb-gym: {message}\n"


# Every position at a standing


@pytest.mark.parametrize("game", [ShutTheBox(), Threes()], ids=str)
@pytest.mark.parametrize("after", [1, 8])
def test_states_at_a_standing(ask, game, after):
    found = ask("states", game.name, "--lead", "10", "--after", str(after), "--ties", "all-win")
    best = Round(game, 2 + after, ties="all-win").solve().at(Standing(lead=10, holders=1, after=after))
    values = dict(zip(best.states()["state"], best.states()["value"], strict=True))
    assert all(row["value"] == values[row["state"]] for row in found["states"])
    assert len(found["states"]) == sum(dice > 0 for dice in best.states()["dice"])
    assert found["seen"].startswith("1 player leads with 10 points, ")
    assert found["unit"] == "probability"


def test_a_standing_of_a_round_that_nobody_has_begun(ask):
    [*_, start] = ask("states", "shut-the-box", "--after", "1")["states"]
    assert start["value"] == pytest.approx(0.4979939469, abs=1e-10)
