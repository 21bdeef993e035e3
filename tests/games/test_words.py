"""Games in words: positions, moves, scores and goals; of both games, and of one that has no words of its own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from stb_gym.games.threes.rules import MOON
from stb_gym.games.words import Words

from stb_gym import ShutTheBox, Threes, compile_game
from stb_gym.games import numbers_typed, positions_of, rolls, rolls_in_words, states_in_words, words_of
from tests.twins import SMALL, MostThrees

NINE, FIVE_DICE, PLAIN = ShutTheBox(), Threes(), MostThrees(dice=3)


@dataclass(frozen=True, repr=False)
class Coin(Threes):
    """Throw the coin.

    Nobody registered this game, and nobody says how its moves are called.
    """

    name: ClassVar[str] = "two-coins"
    dice: int = 2
    faces: int = 2


def roll(*faces):
    return np.array(faces, np.uint8)


# What is told


def test_positions_are_told():
    assert words_of(NINE).state(0b10011, 2) == "open 1,2,5"
    assert words_of(NINE).state(0, 0) == "open none"
    assert words_of(NINE).node(0b10011, 2, roll(7)) == "open 1,2,5, roll 7"
    low = words_of(ShutTheBox(one_die="low-sum"))
    assert [low.state(3, dice) for dice in (0, 1, 2)] == ["open 1,2", "open 1,2, 1 die", "open 1,2, 2 dice"]
    assert words_of(FIVE_DICE).state(1, 3) == "1 point, 3 dice left"
    assert words_of(FIVE_DICE).node(4, 1, roll(3)) == "4 points, 1 die left, roll 3"
    assert words_of(Threes(moon=True)).state(MOON, 0) == "the moon"
    assert words_of(PLAIN).node(4, 1, roll(3)) == "held 4, 1 die, roll 3"
    assert words_of(PLAIN).node(4, 0, roll()) == "held 4, 0 dice, roll none"
    assert states_in_words(words_of(PLAIN), np.array([4, 5]), np.array([1, 0])) == ["held 4, 1 die", "held 5, 0 dice"]


def test_rolls_and_throws_are_told():
    assert rolls_in_words(words_of(ShutTheBox(dice=1, faces=3)), 1) == ["1", "2", "3"]
    assert rolls_in_words(words_of(ShutTheBox(match="one-tile", faces=2)), 2) == ["1,1", "1,2", "2,2"]
    assert rolls_in_words(words_of(Threes(faces=3)), 2) == ["1,1", "1,2", "2,2", "3,1", "3,2", "3,3"]
    assert rolls_in_words(words_of(NINE), 0) == rolls_in_words(words_of(FIVE_DICE), 0) == ["none"]
    assert words_of(NINE).throw((3, 4)) == "3 + 4 = 7"
    assert words_of(NINE).throw((3,)) == "3"
    assert words_of(FIVE_DICE).throw((3, 4)) == words_of(PLAIN).throw((3, 4)) == "3 4"


def test_moves_are_told():
    box, dice, plain = words_of(ShutTheBox(one_die="any-time")), words_of(FIVE_DICE), words_of(PLAIN)
    action = box.game.moves.index((1, 3))
    assert box.move(action) == {"tiles": [1, 3], "dice": 1}
    assert box.move(action + 1) == {"tiles": [1, 3], "dice": 2}
    assert box.move(action, goes_on=False) == {"tiles": [1, 3]}
    assert box.move_in_words(box.move(action)) == "shut 1,3, throw 1 die"
    assert box.move_in_words(box.move(action + 1)) == "shut 1,3, throw 2 dice"
    assert box.move_in_words({"tiles": [9]}) == "shut 9"
    assert box.move_in_words({"tiles": []}) == "no move"
    assert (dice.move(1), plain.move(1)) == ({"keep": 2}, {"move": 2})
    assert dice.move_in_words({"keep": 2}) == "keep 2"
    assert dice.move_in_words({"keep": 2}, roll(3, 1, 6)) == "keep 2 (3 1)"
    assert plain.move_in_words({"move": 2}, roll(3, 1, 6)) == "2"


def test_scores_and_goals_are_told():
    for words in (words_of(NINE), words_of(FIVE_DICE), words_of(PLAIN)):
        assert [words.score(points) for points in (0, 1, 2)] == ["0 points", "1 point", "2 points"]
    assert words_of(Threes(moon=True)).score(MOON) == "the moon"
    assert [words_of(NINE).goal(points) for points in (0, 1, 5)] == ["0 points", "at most 1 point", "at most 5 points"]
    assert [words_of(PLAIN).goal(points) for points in (0, 17, 18)] == [
        "at least 0 points",
        "at least 17 points",
        "18 points",
    ]
    assert (words_of(NINE).best, words_of(PLAIN).best) == ("fewest", "most")


def test_how_to_play_is_told():
    assert words_of(Coin()).how_to_play() == "Throw the coin."
    assert words_of(NINE).how_to_play().startswith("Shut any open tiles that add up to the roll; the sum of those")
    rules = ShutTheBox(one_die="low-sum", one_die_forced=True, first_move=2, ending_roll=7, score="digits")
    lines = words_of(rules).how_to_play().splitlines()
    assert lines[1:] == [
        "After the first throw you must throw one die while the open tiles add up to no more than a die has faces.",
        "The first move must shut the 2.",
        "A roll of 7 ends the turn.",
    ]
    assert "the number read from the digits" in lines[0]
    assert (
        words_of(Threes(moon=True))
        .how_to_play()
        .endswith("\nA first throw of nothing but 6 is the moon, better than 0.")
    )
    assert "counts nothing" not in words_of(Threes(free_face=0)).how_to_play()
    assert words_of(Coin()).introduction() == "Two coins"
    assert (
        words_of(ShutTheBox(tiles=12, one_die="low-sum")).introduction() == "Shut the box (tiles 12, one die low-sum)"
    )


def test_ends_are_told():
    assert words_of(NINE).ended(0) == "You shut the box!"
    assert (
        words_of(NINE).ended(3) == words_of(FIVE_DICE).ended(3) == words_of(PLAIN).ended(3) == "You end with 3 points."
    )
    assert words_of(Threes(moon=True)).ended(MOON) == "You end with the moon."
    assert words_of(PLAIN).no_move(0, 2, (1, 2)) == "There is no move."
    assert words_of(NINE).no_move(0b11, 2, (3, 4)) == "No open tiles add up to 7."
    assert words_of(ShutTheBox(match="one-tile")).no_move(0b11, 2, (3, 4)) == "No open tiles match the dice."
    strict = words_of(ShutTheBox(first_move=2, ending_roll=7))
    assert strict.no_move(511, 2, (3, 4)) == "A roll of 7 ends the turn."
    assert strict.no_move(511, 2, (6, 6)) == "The first move must shut the 2, and no tiles with it match."
    assert strict.no_move(1, 2, (6, 6)) == "No open tiles add up to 12."


# What is typed


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        ("3", (3,)), ("5 3", (3, 5)), ("5,3", (3, 5)), ("5 + 3", (3, 5)), ("3 3", (3, 3)), ("", ()), ("x", ()),
        ("3 x", ()), ("3,", ()), ("-3", ()), ("1234", ()), ("3.5", ()),
    ],
)  # fmt: skip
def test_numbers_are_read(typed, numbers):
    assert numbers_typed(typed) == numbers
    assert words_of(NINE).understood(typed) == words_of(FIVE_DICE).understood(typed) == numbers


@pytest.mark.parametrize("game", [NINE, FIVE_DICE, PLAIN, ShutTheBox(one_die="any-time")], ids=str)
def test_every_move_can_be_typed_and_is_told_from_others(game):
    words = words_of(game)
    for action, move in enumerate(game.moves):
        line = " ".join(map(str, move)) if isinstance(move, tuple) else str(move)
        assert words.understood(line) == words.typed_as(action)
    assert len({words.typed_as(action) for action in range(len(game.moves))}) == len(set(game.moves))


def test_hints_say_what_is_wrong_and_what_is_allowed():
    def hint(typed, **rules):
        words = words_of(ShutTheBox(**rules))
        thrown = roll(3, 4) if words.game.match in ("one-tile", "faces-or-sum") else roll(7)
        return words.hint(0b111001111 if "first_move" not in rules else 511, 2, thrown, words.understood(typed))

    assert hint("x") == "These are no tiles. Type open tiles that add up to 7. ? shows which you can shut."
    assert hint("5 2").startswith("Tile 5 is not open. ")
    assert hint("6").startswith("Tile 6 is not open. ")
    assert hint("4").startswith("That is 4. ")
    assert hint("3 3 1").startswith("Every tile is there only once. ")
    assert hint("1 2").startswith("1 + 2 = 3. Type open")
    assert hint("8").startswith("That is 8. Type open")
    assert hint("8", match="one-tile") == (
        "These do not match. Type one open tile, that of a die or of their sum. ? shows which you can shut."
    )
    assert "one open tile or two that add up to 7" in hint("8", match="two-at-most")
    assert "the open tiles of all dice, or that of their sum" in hint("8", match="faces-or-sum")
    assert "add up to 7, the 2 among them." in hint("3 4", first_move=2)
    assert (
        words_of(FIVE_DICE).hint(0, 4, roll(1, 2, 4, 4), ())
        == "Type how many dice to keep, from 1 to 4. ? shows which they are."
    )
    assert words_of(PLAIN).hint(0, 3, roll(1, 2, 4), "x") == "Type 1 or 2 or 3."


# What is named


def test_positions_are_located_plainly():
    words = words_of(PLAIN)
    assert [name for name, _, _ in positions_of(type(words))] == ["held", "dice", "roll"]
    assert [flag for _, flag, _ in positions_of(type(words))] == ["held", "dice-in-hand", "roll"]
    assert words.locate({}) == (0, 3, None)
    assert words.locate({"held": 5, "dice": 2}) == (5, 2, None)
    held, dice, seen = words.locate({"held": 5, "roll": [6, 3]})
    assert (held, dice, seen.tolist()) == (5, 2, [3, 6])
    held, dice, seen = words.locate({"held": np.int64(5), "dice": 1, "roll": 6})
    assert (held, dice, seen.tolist()) == (5, 1, [6])
    assert words.locate({"roll": None}) == (0, 3, None)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"open": [1]}, "unknown position 'open': allowed are held, dice, roll"),
        ({"dice": 4}, "unknown number of dice 4: allowed are 1, 2, 3"),
        ({"dice": 0}, "unknown number of dice 0: allowed are 1, 2, 3"),
        ({"dice": 2, "held": 7}, "held with 2 dice must be an integer from 0 to 6, not 7"),
        ({"dice": 2, "held": -1}, "held with 2 dice must be an integer from 0 to 6, not -1"),
        ({"dice": 2, "held": "5"}, "held with 2 dice must be an integer from 0 to 6, not '5'"),
        ({"held": 3}, "held with 3 dice must be an integer from 0 to 0, not 3"),
        ({"roll": [7, 1, 1]}, "each of roll must be an integer from 1 to 6, not 7"),
        ({"roll": "123"}, "roll must be a list of integers from 1 to 6, not '123'"),
        ({"roll": []}, "unknown number of dice 0: allowed are 1, 2, 3"),
        ({"roll": [1, 2], "dice": 3}, "roll shows 2 dice, but 3 are thrown"),
    ],
)
def test_positions_that_are_none_are_refused(where, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        words_of(PLAIN).locate(where)


class Gaps(Words):
    """Only even points are positions."""


def test_points_between_those_there_are_are_refused():
    @dataclass(frozen=True, repr=False)
    class Even(Threes):
        name: ClassVar[str] = "even"

        def states(self):
            held, dice = super().states()
            return held[held % 2 == 0], dice[held % 2 == 0]

    words = Gaps(Even(dice=2))
    assert words.locate({"held": 4, "dice": 1})[0] == 4
    with pytest.raises(ValueError, match=r"^unknown held with 1 die 3: allowed are 0, 2, 4, 6$"):
        words.locate({"held": 3, "dice": 1})


@pytest.mark.parametrize("game", [*SMALL, PLAIN, Coin()], ids=str)
def test_every_node_is_located_by_its_own_words(game):
    """What a person reads of a node, said again, is the node."""
    tables, words = compile_game(game), words_of(game)
    for state in np.flatnonzero(tables.dice).tolist():
        held, dice = int(tables.held[state]), int(tables.dice[state])
        for shown in rolls(game, dice).shown:
            if isinstance(game, ShutTheBox):
                where = {"open": [tile for tile in range(1, game.tiles + 1) if held >> tile - 1 & 1]}
                where["roll"] = int(shown[0]) if shown.size == 1 else shown.tolist()
            else:
                where = {next(iter(words.positions)): held, "roll": shown.tolist()}
            found = words.locate(where | {"dice": dice})
            assert (*found[:2], found[2].tolist()) == (held, dice, shown.tolist())


# What is drawn


def test_text_of_a_game_without_words():
    assert words_of(PLAIN).text(9, 2, (3, 4)) == "dice   3 4\npoints 9"
    assert words_of(PLAIN).text(9, 0, ()) == "dice   none\npoints 9"
    assert words_of(Threes(moon=True)).text(MOON, 0, ()) == "dice   none\nkept   5 of 5\npoints -1"


@pytest.mark.parametrize("game", [Threes(moon=True), Coin(moon=True)], ids=str)
def test_the_moon_is_drawn_as_minus_one(game):
    moon, one, none = (words_of(game).picture(points, 0, ()) for points in (MOON, 1, 0))
    assert moon.shape == one.shape == none.shape
    assert (moon != one).any()
    assert (moon != none).any()
    where = np.argwhere((moon != one).any(axis=2))
    assert where[:, 1].min() < moon.shape[1] // 2  # the minus stands before the 1


def test_where_one_die_may_be_thrown_all_are_meant_unless_said_otherwise():
    words = words_of(ShutTheBox(one_die="any-time"))
    assert words.locate({"open": [1, 2]}) == (0b11, 2, None)
    assert words.locate({"open": [1, 2], "dice": 1}) == (0b11, 1, None)


@pytest.mark.parametrize("roll", [3, 4, 5, 6])
def test_a_roll_that_neither_one_die_nor_all_can_show_is_refused(roll):
    words = words_of(ShutTheBox(dice=7, faces=2, one_die="any-time"))
    with pytest.raises(ValueError, match=f"no roll of 7 or 1 dice of 2 faces is {roll}"):
        words.locate({"open": [1, 2], "roll": roll})
    assert [words.locate({"open": [1, 2], "roll": roll})[1] for roll in (1, 2, 7, 14)] == [1, 1, 7, 7]
