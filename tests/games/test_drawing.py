"""Pictures of positions: their size and some of their pixels."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.games import below, forbidden, needed, words_of
from stb_gym.games.drawing import GOLD, IVORY, OPEN_TILE, PIPS, RED, SHUT_TILE, SLOT
from stb_gym.games.threes import MOON
from tests.twins import MostThrees

NINE, FIVE_DICE = ShutTheBox(), Threes()
ALL, SOME = 0b111111111, 0b010011001


def pixels(picture, colour):
    return np.count_nonzero((picture == colour).all(axis=2))


def drawn(game, *position, **more):
    return words_of(game).picture(*position, **more)


@pytest.mark.parametrize(
    ("game", "size"),
    [
        (NINE, (292, 574)),
        (ShutTheBox(tiles=13), (404, 458)),  # two rows
        (ShutTheBox(tiles=16, dice=7, faces=20), (404, 676)),
        (ShutTheBox(tiles=1, dice=1), (292, 452)),
        (FIVE_DICE, (298, 524)),
        (MostThrees(dice=2), (298, 452)),
    ],
    ids=str,
)
def test_all_pictures_of_a_game_have_one_size(game, size):
    held, dice = game.start()
    first = drawn(game, held, dice, (game.faces,) * dice)
    last = drawn(game, 0, 0, (), told="a line that is much too long for the picture and is cut " * 9)
    assert first.shape == last.shape == (*size, 3)
    assert first.dtype == np.uint8
    assert (first != last).any()


def test_open_tiles_are_bright_and_shut_ones_dark():
    pictures = [drawn(NINE, held, 2, (1, 1)) for held in (0, 1, SOME, ALL)]
    bright, dark = ([pixels(picture, colour) for picture in pictures] for colour in (OPEN_TILE, SHUT_TILE))
    assert bright[0] == 0
    assert (np.diff(bright) > 3000).all()
    assert dark[3] < 5  # edges of letters
    assert (np.diff(dark) < -1000).all()


def test_the_tiles_of_the_last_move_have_a_golden_rim():
    golden = [pixels(drawn(NINE, SOME, 2, (1, 1), before=before), GOLD) for before in (None, SOME, SOME | 2, ALL)]
    assert golden[0] == golden[1] < golden[2] < golden[3]


def test_pips_cover_ivory():
    ivory = [pixels(drawn(NINE, ALL, 2, (face,)), IVORY) for face in range(1, 7)]
    assert ivory == sorted(set(ivory), reverse=True)


@pytest.mark.parametrize("face", PIPS)
def test_faces_look_the_same_turned_around(face):
    assert len(set(PIPS[face])) == face
    assert {8 - place for place in PIPS[face]} == set(PIPS[face])


def test_dice_that_are_worth_nothing_are_golden():
    gold, ivory = ([pixels(drawn(FIVE_DICE, 0, 2, (face, 1)), colour) for face in (3, 1)] for colour in (GOLD, IVORY))
    assert gold[0] > gold[1] == 0
    assert ivory[0] < ivory[1]


def test_dice_that_are_kept_leave_their_slots_dim():
    dim = [pixels(drawn(FIVE_DICE, 0, dice, (1,) * dice), SLOT) for dice in range(6)]
    assert dim[5] == 0
    steps = np.diff(dim)
    assert steps.max() == steps.min() < -3000


def test_the_score_of_the_moon_has_a_minus():
    moon, one = (drawn(Threes(moon=True), points, 0, ()) for points in (MOON, 1))
    where = np.argwhere((moon != one).any(axis=2))
    assert where[:, 1].min() < moon.shape[1] // 2 - 10  # the minus stands before the 1


def test_lines_below_a_picture():
    picture = drawn(NINE, ALL, 2, (3, 4))
    more = below(picture, ["one line", "another"], 20, (0, 0, 0), (255, 255, 255))
    assert more.shape == (picture.shape[0] + 2 * 20 + 12, *picture.shape[1:])
    assert (more[: len(picture)] == picture).all()
    dark = [np.count_nonzero(line < 128) for line in (more[-52:-26], more[-26:])]
    assert min(dark) > 100


def test_a_forbidden_picture_has_a_sign_where_the_dice_are():
    picture = drawn(NINE, ALL, 2, (3, 4))
    kept = picture.copy()
    signed = forbidden(picture)
    assert (picture == kept).all()
    assert pixels(signed, RED) > 1000
    changed = np.argwhere((signed != picture).any(axis=2))
    assert changed.min(axis=0).tolist() > [picture.shape[0] // 2, picture.shape[1] // 3]
    assert changed[:, 1].max() < picture.shape[1] * 2 // 3


def test_a_picture_is_a_new_array():
    first = drawn(NINE, ALL, 2, (3, 4))
    kept = first.copy()
    first[:] = 0
    assert (drawn(NINE, ALL, 2, (3, 4)) == kept).all()


def test_a_missing_library_is_named():
    with pytest.raises(ImportError, match=r"Pencils.*pip install"):
        needed("no_such_module", "Pencils", "pictures")
