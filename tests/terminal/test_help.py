"""What helps a person who plays: hints, what moves are worth, moves taken back, and what several games came to."""

import re

import numpy as np
import pytest

from stb_gym import BoardValues, Round, ShutTheBox, Standing, Threes, solve, solve_boards
from stb_gym.games import words_of
from stb_gym.solver import objective_of
from stb_gym.terminal import coach_alone, play_alone
from stb_gym.terminal.chances import chances
from stb_gym.terminal.coach import MOST_RANKED, Account, Event, Unit
from stb_gym.terminal.course import Course
from stb_gym.terminal.dialogue import CAN_BE_TYPED, Sitting, your_turn
from stb_gym.terminal.evening import Result, totals
from tests.terminal.person import move_of, position_at, sit_down, talk

NINE = ShutTheBox()
POINTS = Unit(-1, "", "points", "expected points")


@pytest.fixture
def typing(monkeypatch):
    """Lines that a person types, one after another; then that person leaves."""

    def types(*lines):
        left = list(lines)

        def answer(prompt):
            print(prompt, end="")
            if not left:
                raise EOFError
            return left.pop(0)

        monkeypatch.setattr("builtins.input", answer)

    return types


# Hints


def test_a_hint_names_the_best_moves_and_what_they_are_worth(typing, capsys):
    coach, sitting = coach_alone(solve(NINE)), Sitting()
    typing("hint", "H", "1,2,6")
    with pytest.raises(EOFError):
        your_turn(NINE, None, iter([(4, 5), (6, 6)]), adviser=lambda: coach, sitting=sitting)
    seen = capsys.readouterr().out
    assert seen.count("\nHint: shut 9, 7.62 expected points.\n") == 2
    assert "Coach" not in seen
    assert (sitting.hints, str(sitting)) == (2, "With 2 hints.")
    assert str(Sitting(hints=1, taken_back=2)) == "With 1 hint and 2 moves taken back."
    assert str(Sitting()) == ""


def test_equally_good_moves_are_all_named(typing, capsys):
    game = ShutTheBox(tiles=3, dice=1)
    coach = coach_alone(solve(game, lambda points: 0 * points))
    typing("hint")
    with pytest.raises(EOFError):
        your_turn(game, coach, iter([(3,)]), adviser=lambda: coach)
    assert "Hint: shut 1,2 or shut 3, 0.00" in capsys.readouterr().out


def test_a_hint_in_a_round_knows_the_others_even_without_a_coach(monkeypatch, capsys):
    rules = Round(Threes(), 2)
    lines = iter(["hint", "q"])
    seen = talk(monkeypatch, capsys, rules, "optimal", types=lambda seen: next(lines), seed=3)
    coach = chances(rules, ["optimal"] * 2, 0).coach(rules.standings.find(Standing(None, 0, 1)))
    dice = [int(face) for face in re.search(r"dice   ([\d ]+)\n", seen)[1].split()]
    position = position_at(Threes(), {"roll": dice})
    worth = f"{100 * coach.choice(position).utility:.2f}% {coach.unit.heading}."
    best = " or ".join(f"keep {move.action + 1}" for move in coach.choice(position).best)
    assert re.search(rf"\nHint: {best} \(.*\), {re.escape(worth)}\n", seen)
    assert "Coach" not in seen
    assert "\nWith 1 hint.\n" in seen


def test_where_nobody_knows_there_is_no_hint(typing, capsys):
    typing("hint")
    with pytest.raises(EOFError):
        your_turn(NINE, None, iter([(4, 5)]))
    assert "There is nobody to give a hint.\n" in capsys.readouterr().out


# What all moves are worth


def test_after_a_mistake_all_moves_are_shown_best_first(typing, capsys):
    best = solve(NINE)
    coach = coach_alone(best)
    typing("shut 1,2,6", "q")
    with pytest.raises(EOFError):
        your_turn(NINE, coach, iter([(4, 5), (4, 4)]))
    seen = capsys.readouterr().out
    table = seen.partition("Coach: ")[2].partition("Coach: ")[2].partition("\n\n")[0].splitlines()
    assert re.match(r"\d+\.\d\d points lost: shut 9 was best\.$", table[0])
    assert table[1].split() == ["expected", "points", "lost"]
    rows = [re.match(r"shut ([\d,]+) +(\d+\.\d\d) +(\d+\.\d\d)( +yours)?$", row).groups() for row in table[2:]]
    position = position_at(NINE, {"roll": [4, 5]})
    assert len(rows) == len(position.moves)
    worths = []
    for tiles, worth, lost, yours in rows:
        move = move_of(NINE, position, tuple(map(int, tiles.split(","))))
        worths.append(-best.worth(move.held, move.dice))
        assert worth == f"{worths[-1]:.2f}"
        assert lost == f"{worths[-1] - worths[0]:.2f}"
        assert bool(yours) == (tiles == "1,2,6")
    assert worths == sorted(worths)


def test_after_a_best_move_nothing_is_shown(typing, capsys):
    typing("9", "q")
    with pytest.raises(EOFError):
        your_turn(NINE, coach_alone(solve(NINE)), iter([(4, 5), (3, 3)]))
    assert "lost" not in capsys.readouterr().out


def test_of_many_moves_the_best_and_the_chosen_one_are_shown():
    game = ShutTheBox(tiles=16, dice=4)
    coach = coach_alone(solve_boards(game))
    position = position_at(game, {"roll": 20})
    worst = max(zip(coach.choice(position).loss, position.moves, strict=True))[1]
    assert len(position.moves) > MOST_RANKED + 5
    table = coach.ranking(position, worst)
    assert [row[3] for row in table.rows] == [""] * MOST_RANKED + ["yours"]
    assert len(coach.ranking(position, coach.choice(position).best[0]).rows) == MOST_RANKED


# Moves taken back


def test_a_move_taken_back_is_chosen_again_with_the_same_dice_and_is_in_no_account(typing, capsys):
    coach, sitting = coach_alone(solve(NINE)), Sitting()
    typing("back", "1,2,6", "back", "9", "b", "9", "1 4")
    with pytest.raises(EOFError):
        your_turn(NINE, coach, iter([(4, 5), (4, 4), (6, 5), (2, 3), (6, 2)]), sitting=sitting)
    seen = capsys.readouterr().out
    assert seen.count("There is no move of yours to take back.\n") == 1
    assert re.findall(r"dice   (.*)\n", seen) == [
        "4 + 5 = 9",
        "4 + 4 = 8",
        "4 + 5 = 9",
        "6 + 5 = 11",
        "4 + 5 = 9",
        "2 + 3 = 5",
        "6 + 2 = 8",
    ]
    made = [step.move and NINE.moves[step.move.action] for step in sitting.steps]
    assert made == [(9,), (1, 4), None]
    assert sitting.taken_back == 2
    assert [event.words for event in coach.account(sitting.steps).events] == [
        "throw 1: 4 + 5 = 9, shut 9",
        "throw 2: 2 + 3 = 5, shut 1,4",
        "throw 3: 6 + 2 = 8, left",
    ]


def test_what_was_no_choice_is_taken_back_with_the_choice_before_it(typing, capsys):
    game, sitting = ShutTheBox(open=(1, 2, 3, 4, 5, 7, 9)), Sitting()
    typing("1 2", "back", "3")
    with pytest.raises(EOFError):
        your_turn(game, None, iter([(1, 2), (2, 2), (6, 6), (4, 5)]), sitting=sitting)
    seen = capsys.readouterr().out
    assert "The only move: shut 4.\n" in seen
    made = [step.move and game.moves[step.move.action] for step in sitting.steps]
    assert made == [(3,), None]


# Leaving


@pytest.mark.parametrize("coach", [True, False])
def test_who_leaves_gets_the_account_of_what_was_played(coach, monkeypatch, capsys):
    lines = iter(["1", "q"])
    seen = talk(monkeypatch, capsys, Round(Threes(), 1), types=lambda seen: next(lines), coach=coach, seed=4)
    assert seen.endswith("Goodbye.\n")
    assert seen.count("at the start ") == coach
    if coach:
        rows = seen.partition("at the start")[2].splitlines()
        assert re.match(r"throw 1: [\d ]+, keep 1 \(\d\) ", rows[1])
        assert re.match(r"throw 2: [\d ]+, left ", rows[2])
        *_, worth = rows[3].split()
        assert worth == rows[2].split()[-1]


# What is typed


@pytest.mark.parametrize("typed", ["9", "shut 9", "shut9", "Shut  9 "])
def test_tiles_may_be_typed_as_they_are_told(typed, typing, capsys):
    sitting = Sitting()
    typing(typed)
    with pytest.raises(EOFError):
        your_turn(NINE, None, iter([(4, 5), (3, 3)]), sitting=sitting)
    assert NINE.moves[sitting.steps[0].move.action] == (9,)


@pytest.mark.parametrize("typed", ["2", "keep 2", "keep 2 (3 1)", "keep2"])
def test_dice_may_be_typed_as_they_are_told(typed, typing, capsys):
    sitting = Sitting()
    typing(typed)
    with pytest.raises(EOFError):
        your_turn(Threes(), None, iter([(1, 3, 5, 5, 6), (2, 2, 2)]), sitting=sitting)
    assert sitting.steps[0].move.action == 1


@pytest.mark.parametrize("typed", ["shut", "keep 1", "shut up", "9 shut"])
def test_other_words_are_no_tiles(typed):
    assert words_of(NINE).understood(typed) == ()


# Several games


def account(dice, choices, start=10.0):
    return Account(POINTS, -start, [Event("", {"dice": dice}), Event("", {"dice": 0.0, "choices": choices})])


def test_what_several_games_came_to():
    played = [Result(12, None, account(-1.0, -0.5)), Result(5, None, account(4.0, -0.25))]
    assert totals(played, "turns") == (
        "2 turns: 8.50 points each.\nIn the mean, in points: the dice helped you by 1.50, your choices cost you 0.38."
    )
    assert totals([Result(12, 1.0, None), Result(None, 0.5, None), Result(6, 0.0, None)], "rounds") == (
        "3 rounds: 9.00 points each, 1.5 won."
    )


@pytest.mark.slow
def test_another_game_has_other_dice_and_the_totals_of_all():
    words = ("threes", "--coach", "--seed", "4")
    status, seen = sit_down(*words, types=lambda seen: b"5\n", another=[b"perhaps\n", b"y\n", b"yes\n"])
    assert status == 0
    assert seen.count("Type y or n.\n") == 1
    dice = re.findall(r"dice   ([\d ]+)\n", seen)
    scores = [int(score) for score in re.findall(r"You end with (\d+) point", seen)]
    assert len(dice) == len(scores) == len(set(dice)) == 3
    assert re.findall(r"^(\d) turns: (.*) points each\.$", seen, re.MULTILINE) == [
        ("2", f"{sum(scores[:2]) / 2:.2f}"),
        ("3", f"{sum(scores) / 3:.2f}"),
    ]
    changes = [[float(each) for each in row.split()[2:4]] for row in re.findall(r"^in all .*$", seen, re.MULTILINE)]
    cost = np.mean([choices for _, choices in changes])
    assert abs(float(re.findall(r"In the mean, .*your choices cost you (\d+\.\d\d)\.", seen)[-1]) - cost) < 0.02
    assert sit_down(*words, types=lambda seen: b"5\n")[1] == seen.partition("\nAnother turn?")[0]


@pytest.mark.slow
def test_rounds_are_played_again_too_and_what_was_won_is_added_up():
    words = ("threes", "--against", "take-all", "--ties", "split", "--seed", "1")
    status, seen = sit_down(*words, types=lambda seen: b"1\n", another=[b"y\n", b"q\n"])
    assert status == 0
    ends = re.findall(r"^(.*) wins? (?:1/2 each )?with \d+ points?\.$", seen, re.MULTILINE)
    won = sum({"You": 1.0, "take-all": 0.0}.get(who, 0.5) for who in ends)
    assert len(ends) == 2
    assert re.search(rf"^2 rounds: \d+\.\d\d points each, {won:.4g} won\.$", seen, re.MULTILINE)


def test_who_types_into_a_pipe_is_not_asked_for_another_game(monkeypatch, capsys):
    def answer(prompt):
        assert "Another" not in prompt
        return "5"

    monkeypatch.setattr("builtins.input", answer)
    play_alone(solve(Threes()), False, 4)
    assert "You end with" in capsys.readouterr().out


@pytest.mark.parametrize(("ties", "shares"), [("all-win", (1, 0, 1)), ("split", (1, 0, 0.5)), ("nobody", (1, 0, 0))])
def test_the_share_of_a_win(ties, shares):
    rules = Round(Threes(), 3, ties)
    assert tuple(Course(rules, "abc", scores).share(1) for scores in ([9, 4, 6], [3, 4, 4], [4, 4, 5])) == shares
    assert Course(rules, "abc", [0]).share(1) == 0


# What a terminal can show


@pytest.mark.parametrize("tiles", [1, 9, 15, 16, 23, 24])
def test_a_board_of_any_size_fits_into_80_columns(tiles):
    words = words_of(ShutTheBox(tiles=tiles, dice=4))
    boards = [
        words.text(held, 4, (6, 6, 6, 6)).splitlines() for held in (0, (1 << tiles) - 1, 0b101 & (1 << tiles) - 1)
    ]
    assert len({len(board) for board in boards}) == 1
    assert len(boards[0]) == (5 if tiles <= 15 else 8)
    assert max(len(line) for board in boards for line in board) <= 80
    assert re.findall(r"│ *(\d+) *│", "\n".join(boards[1])) == [str(tile) for tile in range(1, tiles + 1)]
    assert re.findall(r"│ *(\d+) *│", "\n".join(boards[2])) == ["1", "3"][: (tiles > 1) + 1]


@pytest.mark.slow
def test_everything_of_the_largest_box_but_sentences_fits_into_80_columns(monkeypatch, capsys):
    game = ShutTheBox(tiles=24, dice=4)
    worths = np.random.default_rng(0).uniform(-300, 0, (2**12, 2**12))  # as wide as any: how good they are is the same
    values = BoardValues(game, objective_of(game, "score"), worths)

    def types(prompt):
        open_and_roll = capsys.readouterr().out
        seen.append(open_and_roll)
        return "hint" if len(seen) % 2 else re.findall(r"shut (\d+(?:,\d+)*)", open_and_roll)[-1]

    seen = []
    monkeypatch.setattr("builtins.input", types)
    play_alone(values, True, 5)
    seen.append(capsys.readouterr().out)
    lines = "".join(seen).splitlines()
    tables = [line for line in lines if not line.endswith(".")]
    assert len(tables) > 30
    assert max(map(len, tables)) <= 80


def test_a_terminal_without_frames_gets_lines_that_look_alike():
    board = words_of(ShutTheBox(tiles=2)).text(0b01, 2, (1, 1))
    plain = board.encode("ascii", "stb_gym.plainly").decode()
    assert plain.splitlines()[:3] == ["+---+     ", "| 1 |     ", "+---+ --- "]
    assert "a→€b".encode("latin-1", "stb_gym.plainly") == b"a??b"
    assert board.encode("utf-8", "stb_gym.plainly").decode() == board


def test_what_can_be_typed_is_said_first(capsys, monkeypatch):
    seen = talk(monkeypatch, capsys, Round(Threes(), 1), seed=1)
    assert seen.splitlines()[2] == CAN_BE_TYPED
