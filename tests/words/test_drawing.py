"""Test pictures of positions by counting pixels of a colour."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.words import drawn_dice, words_of
from stb_gym.words.drawing import BLANK, IVORY, PIPS, SHUT

ALL, SOME = 0b111111111, 0b010011001
BOX, FIVE_DICE = words_of(ShutTheBox()), words_of(Threes())


def pixels(colour, pictures):
    return [np.count_nonzero((picture == colour).all(axis=2)) for picture in pictures]


def test_open_tiles_are_bright_and_shut_tiles_dark():
    pictures = [BOX.picture(progress, 2, (1, 1)) for progress in (0, 1, SOME, ALL)]
    assert (np.diff(pixels(IVORY, pictures)) > 3000).all()
    assert (np.diff(pixels(SHUT, pictures)) < -3000).all()


def test_dice_in_hand_are_blank_until_they_are_thrown():
    blank = pixels(BLANK, [FIVE_DICE.picture(4, dice, ()) for dice in range(6)])
    assert blank == pytest.approx([dice * blank[1] for dice in range(6)], rel=0.02)
    assert blank[1] > 3000
    assert pixels(BLANK, [FIVE_DICE.picture(4, 3, (1, 3, 6))]) < [10]  # at the edges of other colours


def test_dice_show_their_faces():
    ivory = pixels(IVORY, [BOX.picture(ALL, 2, (face,)) for face in range(1, 7)])
    assert ivory == sorted(set(ivory), reverse=True)
    for face, pips in PIPS.items():
        assert len(set(pips)) == face
        assert {8 - place for place in pips} == set(pips)  # the same turned around


def test_dice_are_drawn_as_text():
    assert drawn_dice((1, 6, 20)).splitlines() == [
        "╭─────╮  ╭─────╮  ╭─────╮",
        "│     │  │●   ●│  │     │",
        "│  ●  │  │●   ●│  │ 20  │",
        "│     │  │●   ●│  │     │",
        "╰─────╯  ╰─────╯  ╰─────╯",
    ]
