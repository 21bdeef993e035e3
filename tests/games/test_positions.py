"""Test the lookup of positions by options, such as those of a reset."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import locate, walk
from tests.twins import MostThrees, games

PLAIN, ONE_DIE = MostThrees(dice=3), ShutTheBox(one_die="low-sum")
FORCED = ShutTheBox(one_die="low-sum", one_die_forced=True)


@given(games())
def test_the_options_of_a_position_name_it(game):
    for progress, dice in (afterstate for afterstate in walk(game) if afterstate[1]):
        options = game.options_at(progress, dice)
        assert locate(game, options) == (progress, dice, None)
        for faces in product((1, game.faces), repeat=dice):
            assert locate(game, {**options, "roll": faces}) == (progress, dice, game.roll_of(faces))


@pytest.mark.parametrize(
    ("game", "options", "position"),
    [
        (PLAIN, {}, (0, 3, None)),
        (PLAIN, {"points": 5, "roll": 6}, (5, 1, (6,))),
        (PLAIN, {"points": np.int64(5), "roll": [6, 3]}, (5, 2, (3, 6))),
        (ShutTheBox(), {"roll": [5, 1]}, (0b111111111, 2, (6,))),
        (ShutTheBox(), {"open": 4}, (0b1000, 2, None)),
        (ONE_DIE, {"open": [2, 1], "roll": 5}, (3, 2, (5,))),
        (ONE_DIE, {"open": [1, 2], "roll": 1}, (3, 1, (1,))),
        (ONE_DIE, {"open": [1, 2], "roll": [5]}, (3, 1, (5,))),
        (FORCED, {"open": [1, 2], "roll": 5}, (3, 1, (5,))),
    ],
    ids=str,
)
def test_options_that_are_left_out_are_those_of_the_start(game, options, position):
    assert locate(game, options) == position


@pytest.mark.parametrize(
    ("game", "name", "values"),
    [
        (PLAIN, "open", [[1]]),
        (PLAIN, "points", [19, "0"]),
        (PLAIN, "roll", [[7, 1, 1], "123"]),
        (ShutTheBox(), "points", [3]),
        (ShutTheBox(), "open", [[], [3, 3]]),
        (ShutTheBox(), "roll", [13, [1, 7], [1, 2, 3], "7"]),
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


def test_a_roll_has_as_many_dice_as_are_thrown():
    with pytest.raises(ValueError, match=r"^roll must have 5 dice there, not 2$"):
        locate(Threes(), {"points": 0, "dice": 5, "roll": [1, 2]})
    with pytest.raises(ValueError, match=r"^roll must have 2 or 1 dice there, not 3$"):
        locate(ShutTheBox(one_die="low-sum"), {"open": [1, 2], "roll": [1, 2, 3]})
