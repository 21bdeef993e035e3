"""Positions as text and as pictures."""

import numpy as np
import pytest
from stb_gym.games.shut_the_box.drawing import OPEN_TILE, SHUT_TILE

from stb_gym import ShutTheBox, Threes
from stb_gym.games import words_of
from stb_gym.games.drawing import IVORY, PIPS, SLOT

NINE = ShutTheBox()
BOARD = 0b010011001  # 1, 4, 5, 8


def text(game, held, dice, shown):
    return words_of(game).text(held, dice, shown)


def picture(game, held, dice, shown):
    return words_of(game).picture(held, dice, shown)


def pixels(image, colour):
    return np.count_nonzero((image == colour).all(axis=2))


def test_text_shows_open_tiles_dice_and_points():
    top, numbers, foot, dice, points = text(NINE, BOARD, 2, (6, 4)).splitlines()
    assert numbers.split("│") == ["", " 1 ", "          ", " 4 ", "", " 5 ", "          ", " 8 ", "     "]
    assert (dice, points) == ("dice   6 + 4 = 10", "points 18")
    assert len(top) == len(foot) == 9 * 5
    assert text(NINE, 0, 0, ()).endswith("dice   none\nshut the box!")
    assert text(Threes(), 9, 2, (3, 4)) == "dice   3 4\nkept   3 of 5\npoints 9"


def test_more_open_tiles_more_bright_wood():
    bright = [pixels(picture(NINE, held, 2, (1, 1)), OPEN_TILE) for held in (0, 1, BOARD, 511)]
    assert bright[0] == 0
    assert bright == sorted(bright)
    dark = [pixels(picture(NINE, held, 2, (1, 1)), SHUT_TILE) for held in (0, 1, BOARD, 511)]
    assert dark[3] < 5  # of the edges of letters
    assert dark == sorted(dark, reverse=True)


def test_pips_cover_ivory():
    ivory = [pixels(picture(NINE, 511, 2, (face,)), IVORY) for face in range(1, 7)]
    assert ivory == sorted(ivory, reverse=True)
    assert len(set(ivory)) == 6


@pytest.mark.parametrize("game", [NINE, ShutTheBox(tiles=16, dice=7, faces=20), ShutTheBox(tiles=1, dice=1), Threes()])
def test_all_pictures_of_a_game_are_of_one_size(game):
    held, dice = game.start()
    shown = tuple(range(1, dice + 1)) if game.faces < 20 else tuple(range(14, 14 + dice))
    images = [picture(game, *position) for position in ((held, dice, shown), (0, 0, ()))]
    assert images[0].shape == images[1].shape
    assert images[0].dtype == np.uint8
    assert (images[0] != images[1]).any()


def test_a_picture_is_the_callers_own():
    first = picture(NINE, 511, 2, (3, 4))
    kept = first.copy()
    first[:] = 0
    assert (picture(NINE, 511, 2, (3, 4)) == kept).all()


def test_threes_shine():
    assert (picture(Threes(), 0, 5, (3, 1, 1, 1, 1)) != picture(Threes(), 0, 5, (1, 1, 1, 1, 1))).any()
    assert pixels(picture(Threes(), 0, 5, (3, 3, 3, 3, 3)), IVORY) == 0


def test_dice_that_are_kept_leave_their_slots_dim():
    dim = [pixels(picture(Threes(), 0, dice, (1,) * dice), SLOT) for dice in range(6)]
    assert dim[5] == 0
    steps = np.diff(dim)
    assert steps.max() == steps.min() < -3000


@pytest.mark.parametrize("face", PIPS)
def test_every_face_has_its_pips_and_looks_the_same_turned_around(face):
    assert len(set(PIPS[face])) == face
    assert {8 - place for place in PIPS[face]} == set(PIPS[face])
