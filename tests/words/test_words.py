"""The description of games to people: positions, moves and scores in words, and what a person types."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import locate, walk
from stb_gym.games.shut_the_box import board_of
from stb_gym.games.threes import MOON
from stb_gym.words import Words, words_of
from tests.twins import MostThrees, games

ALL, SOME = board_of(range(1, 10)), board_of([1, 4, 5, 8])
BOX, PLAIN, ONE_DIE = ShutTheBox(), MostThrees(dice=3), ShutTheBox(one_die="low-sum")
FORCED = ShutTheBox(one_die="low-sum", one_die_forced=True)
STRICT = ShutTheBox(
    open=[1, 2, 4, 8], one_die="high-shut", one_die_forced=True, first_move=2, ending_roll=7, score="digits"
)

# Rules; positions and throws, as (progress, dice, faces).
DESCRIBED = {
    "nine tiles": (BOX, [(SOME, 2, (6, 4)), (ALL, 2, (1, 2)), (SOME, 2, (3, 4)), (0, 0, ())]),
    "sixteen tiles": (ShutTheBox(tiles=16, one_die="low-sum"), [(1 << 15 | 3, 2, (6, 6)), (3, 1, (3,))]),
    "strict": (STRICT, [(139, 2, (3, 4)), (139, 2, (2, 1)), (139, 2, (2, 2)), (136, 2, (3, 2)), (9, 1, (5,))]),
    "either": (ShutTheBox(match="one-tile", score="count", one_die="any-time"), [(SOME, 2, (1, 4)), (1, 1, (2,))]),
    "faces or sum": (ShutTheBox(open=[1, 4, 5, 8], match="faces-or-sum"), [(SOME, 2, (1, 4)), (SOME, 2, (6, 6))]),
    "two at most": (ShutTheBox(match="two-at-most"), [(ALL, 2, (4, 5))]),
    "threes": (Threes(), [(0, 5, (6, 3, 1, 3, 2)), (1, 2, (3, 4)), (9, 1, (3,)), (30, 0, ())]),
    "the moon": (Threes(dice=2, free_face=1, moon=True), [(0, 2, (6, 6)), (0, 2, (6, 5)), (MOON, 0, ())]),
    "plain": (PLAIN, [(0, 3, (2, 1, 6)), (4, 1, (3,)), (18, 0, ())]),
}


@pytest.mark.parametrize(("game", "positions"), DESCRIBED.values(), ids=DESCRIBED)
def test_description(game, positions, snapshot):
    words = words_of(game)
    lines = [words.introduction(), words.how_to_play(), *words.notes, words.perfection]
    lines += [words.prompt, *map(str, game.position_options.items())]
    lines += [f"{words.score(points)}; {words.goal(points)}; {words.ended(points)}" for points in (0, 1, 18)]
    for progress, dice, faces in positions:
        roll = game.roll_of(faces) if faces else ()
        lines += ["", game.describe_state(progress, dice, roll), words.throw(faces), words.text(progress, dice, faces)]
        moves = game.moves((progress, dice), roll) if dice else {}
        for action in moves:
            typed = game.describe_move(action, goes_on=False)
            assert type(words) is Words or words.typed_as(action) in ("", words.understood(typed))
            brief = game.describe_move(action, False, roll)
            lines.append(f"{words.move(action)}: {game.describe_move(action)}; {brief}")
        if not any(map(words.typed_as, moves)):
            lines.append(words.no_move(progress, dice, faces))
    assert "\n".join(lines) == snapshot


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        *((typed, (3, 5)) for typed in ("5 3", "5,3", "5 + 3", "3,  5", "shut 3,5")),
        ("3 3", (3, 3)),
        *((typed, typed) for typed in ("", "x", "3 x", "3,", "-3", "1234", "3.5")),
    ],
)
def test_numbers_that_are_typed_are_sorted_and_other_text_stays(typed, understood):
    assert words_of(BOX).understood(typed) == understood


@given(games())
def test_positions_are_located_by_their_words(game):
    for progress, dice in (afterstate for afterstate in walk(game) if afterstate[1]):
        where = game.options_at(progress, dice)
        assert locate(game, where) == (progress, dice, None)
        for faces in product((1, game.faces), repeat=dice):
            assert locate(game, {**where, "roll": faces}) == (progress, dice, game.roll_of(faces))


@pytest.mark.parametrize(
    ("game", "where", "located"),
    [
        (PLAIN, {}, (0, 3, None)),
        (PLAIN, {"points": 5}, (5, 2, None)),
        (PLAIN, {"points": 5, "roll": 6}, (5, 1, (6,))),
        (PLAIN, {"points": np.int64(5), "roll": [6, 3]}, (5, 2, (3, 6))),
        (BOX, {"roll": [5, 1]}, (ALL, 2, (6,))),
        (BOX, {"open": 4}, (0b1000, 2, None)),
        (ONE_DIE, {"open": [2, 1], "roll": 5}, (3, 2, (5,))),
        (ONE_DIE, {"open": [1, 2], "roll": 1}, (3, 1, (1,))),
        (ONE_DIE, {"open": [1, 2], "roll": [5]}, (3, 1, (5,))),
        (FORCED, {"open": [1, 2], "roll": 5}, (3, 1, (5,))),
    ],
    ids=str,
)
def test_what_is_not_named_is_that_of_the_start(game, where, located):
    assert locate(game, where) == located


@pytest.mark.parametrize(
    ("game", "name", "values"),
    [
        (PLAIN, "open", [[1]]),
        (PLAIN, "dice", [4]),
        (PLAIN, "points", [19, "0"]),
        (PLAIN, "roll", [[7, 1, 1], "123"]),
        (BOX, "points", [3]),
        (BOX, "open", [[], [3, 3]]),
        (BOX, "roll", [13, [1, 7], [1, 2, 3], "7"]),
        (ShutTheBox(match="one-tile"), "roll", [5]),
        (ONE_DIE, "dice", [1]),
        (ONE_DIE, "roll", [1]),
        (ShutTheBox(open="odd"), "open", [[2]]),
        (ShutTheBox(dice=7, faces=2, one_die="any-time", open=[1]), "roll", [3]),
    ],
    ids=str,
)
def test_positions_that_do_not_exist_are_refused(game, name, values):
    for value in values:
        with pytest.raises(ValueError, match=name):
            locate(game, {name: value})
