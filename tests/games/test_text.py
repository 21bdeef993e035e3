"""The description of games to people: positions, moves and scores in words, and what a person types."""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import Words, numbers_typed, rolls, walk, words_of
from stb_gym.games.shut_the_box import board_of
from stb_gym.games.threes import MOON
from tests.twins import games


@dataclass(frozen=True, repr=False)
class Coins(Threes):
    """Throw coins and keep the low ones.

    A game without words of its own, which is not registered.
    """

    name: ClassVar[str] = "throwing-coins"
    more_is_better: ClassVar[bool] = True


ALL, SOME = board_of(range(1, 10)), board_of([1, 4, 5, 8])
PLAIN = Coins(dice=3)
STRICT = {"one_die": "high-shut", "one_die_forced": True, "first_move": 2, "ending_roll": 7, "score": "digits"}
TYPED = ["x", "9", "4", "4 4 1", "1 4"]

# Rules; positions and throws, as (held, dice, faces).
DESCRIBED = {
    "nine tiles": (ShutTheBox(), [(SOME, 2, (6, 4)), (ALL, 2, (1, 2)), (SOME, 2, (3, 4)), (0, 0, ())]),
    "sixteen tiles": (ShutTheBox(tiles=16, one_die="low-sum"), [(1 << 15 | 3, 2, (6, 6)), (3, 1, (3,)), (3, 0, ())]),
    "strict": (ShutTheBox(**STRICT), [(ALL, 2, (3, 4)), (ALL, 2, (1, 1)), (ALL, 2, (6, 6)), (SOME, 1, (4,))]),
    "either die": (ShutTheBox(match="one-tile", score="count", one_die="any-time"), [(SOME, 2, (1, 4)), (1, 1, (2,))]),
    "both dice": (ShutTheBox(match="faces-or-sum", one_die="low-sum"), [(ALL, 2, (2, 2)), (SOME, 2, (1, 4))]),
    "two at most": (ShutTheBox(match="two-at-most"), [(SOME, 2, (4, 5))]),
    "threes": (Threes(), [(0, 5, (6, 3, 1, 3, 2)), (1, 2, (3, 4)), (9, 1, (3,)), (30, 0, ())]),
    "the moon": (Threes(dice=2, free_face=0, moon=True), [(0, 2, (6, 6)), (0, 2, (6, 5)), (MOON, 0, ())]),
    "plain": (PLAIN, [(0, 3, (2, 1, 6)), (4, 1, (3,)), (18, 0, ())]),
}


@pytest.mark.parametrize(("game", "positions"), DESCRIBED.values(), ids=DESCRIBED)
def test_description(game, positions, snapshot):
    words = words_of(game)
    lines = [words.introduction(), words.how_to_play(), f"{words.best} points are best; {words.perfection}", ""]
    lines += [f"{words.score(points)}; {words.goal(points)}; {words.ended(points)}" for points in (0, 1, 5, 18)]
    for held, dice, faces in positions:
        roll = game.roll_of(faces) if faces else ()
        lines += ["", words.node(held, dice, roll), words.throw(faces), words.text(held, dice, faces)]
        moves = game.moves((held, dice), roll) if dice else {}
        for action, (_, next_dice) in moves.items():
            move = words.move(action, goes_on=next_dice > 0)
            lines.append(f"{move}: {words.move_in_words(move)}; {words.move_in_words(move, roll)}")
        if dice and not moves:
            lines.append(words.no_move(held, dice, faces))
    held, dice, faces = positions[0]
    roll = game.roll_of(faces)
    legal = [words.typed_as(action) for action in game.moves((held, dice), roll)]
    wrong = [typed for typed in TYPED if words.understood(typed) not in legal]
    lines += ["", *(f"{typed}? {words.hint(held, dice, roll, words.understood(typed))}" for typed in wrong)]
    assert "\n".join(lines) == snapshot


def test_words_that_name_a_position(snapshot):
    asked = {name: (words_of(game).prompt, words_of(game).positions) for name, (game, _) in DESCRIBED.items()}
    assert {name: asked[name] for name in ("nine tiles", "threes", "plain")} == snapshot


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [
        *[(typed, (3, 5)) for typed in ("5 3", "5,3", "5 + 3", "3,  5")],
        *[(typed, ()) for typed in ("", "x", "3 x", "3,", "-3", "1234", "3.5")],
        ("3", (3,)),
        ("3 3", (3, 3)),
    ],
)
def test_numbers_typed(typed, numbers):
    assert numbers_typed(typed) == numbers
    for game, word in ((ShutTheBox(), "shut"), (Threes(), "keep")):
        assert words_of(game).understood(typed) == words_of(game).understood(f"{word} {typed}") == numbers


@given(games())
def test_moves_can_be_typed(game):
    words = words_of(game)
    for action, move in enumerate(game.actions):
        line = " ".join(map(str, move)) if isinstance(move, tuple) else str(move)
        assert words.understood(line) == words.typed_as(action)
        in_words = words.move_in_words(words.move(action, goes_on=False))
        assert line == "" or words.understood(in_words) == words.typed_as(action)
    assert len({words.typed_as(action) for action in range(len(game.actions))}) == len(set(game.actions))


# Positions


@given(games())
def test_positions_are_located_by_their_words(game):
    words = words_of(game)
    for held, dice in filter(lambda state: state[1], walk(game)):
        assert words.locate(words.where(held, dice)) == (held, dice, None)
        for faces in product((1, game.faces), repeat=dice):
            assert words.locate({**words.where(held, dice), "roll": faces}) == (held, dice, game.roll_of(faces))
        for roll in rolls(game, dice).shown:
            if len(roll) == 1:
                assert words.locate({**words.where(held, dice), "roll": roll[0]}) == (held, dice, roll)


def test_what_is_not_named_is_that_of_the_start():
    assert words_of(PLAIN).locate({}) == (0, 3, None)
    assert words_of(PLAIN).locate({"held": np.int64(5), "roll": [6, 3]}) == (5, 2, (3, 6))
    assert words_of(Threes()).locate({"points": 4, "dice": 2, "roll": None}) == (4, 2, None)
    assert words_of(ShutTheBox()).locate({"roll": [5, 1]}) == (ALL, 2, (6,))
    assert words_of(ShutTheBox(match="one-tile")).locate({"open": [8, 1, 4, 5], "roll": [5, 1]}) == (SOME, 2, (1, 5))


@pytest.mark.parametrize(
    ("rules", "where", "located"),
    [
        ({}, {}, (2, None)),
        ({}, {"dice": 1}, (1, None)),
        ({}, {"roll": 5}, (2, (5,))),
        ({}, {"roll": 5, "dice": 1}, (1, (5,))),
        ({}, {"roll": 1}, (1, (1,))),
        ({}, {"roll": [5]}, (1, (5,))),
        ({"one_die_forced": True}, {"roll": 5}, (1, (5,))),
    ],
    ids=str,
)
def test_all_dice_are_meant_where_one_may_be_thrown(rules, where, located):
    words = words_of(ShutTheBox(one_die="low-sum", **rules))
    assert words.locate({"open": [1, 2], **where}) == (0b11, *located)


@pytest.mark.parametrize(
    ("game", "where", "word"),
    [
        (PLAIN, {"open": [1]}, "open"),
        *[(PLAIN, {"dice": dice}, "dice") for dice in (0, 4)],
        *[(PLAIN, {"dice": 2, "held": held}, "held with 2 dice") for held in (7, -1, "5")],
        (PLAIN, {"held": 3}, "held with 3 dice"),
        *[(PLAIN, {"roll": roll}, "roll") for roll in ([7, 1, 1], "123", [0, 1, 1])],
        (PLAIN, {"roll": []}, "dice"),
        (PLAIN, {"roll": [1, 2], "dice": 3}, "roll"),
        (ShutTheBox(), {"held": 3}, "held"),
        (ShutTheBox(), {"open": []}, "open"),
        (ShutTheBox(), {"open": [3, 3]}, "open"),
        (ShutTheBox(open="odd"), {"open": [1, 2]}, "open tile"),
        (ShutTheBox(), {"open": [10]}, "open"),
        *[(ShutTheBox(), {"roll": roll}, "roll") for roll in (1, 13, [1, 7], [1, 2, 3], "7")],
        *[(ShutTheBox(one_die="low-sum"), where, "dice") for where in ({"open": [5, 9], "dice": 1}, {"dice": 1})],
        (ShutTheBox(one_die="low-sum"), {"open": [5, 9], "roll": 1}, "roll"),
        *[(ShutTheBox(match="one-tile"), {"roll": roll}, "roll") for roll in (5, [5, 7])],
        *[(ShutTheBox(dice=7, faces=2, one_die="any-time"), {"open": [1, 2], "roll": roll}, "roll") for roll in (3, 6)],
    ],
    ids=str,
)
def test_other_positions_are_refused(game, where, word):
    with pytest.raises(ValueError, match=word):
        words_of(game).locate(where)


def test_only_positions_that_exist_are_located():
    @dataclass(frozen=True, repr=False)
    class Even(Threes):
        name: ClassVar[str] = "even"

        def worth(self, face):
            return 2 * face

        def positions(self):
            return iter(())

    words = Words(Even(dice=2, faces=3))
    assert words.locate({"held": 4, "dice": 1}) == (4, 1, None)
    with pytest.raises(ValueError, match="2, 4, 6"):
        words.locate({"held": 3, "dice": 1})
