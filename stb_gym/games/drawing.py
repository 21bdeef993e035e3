"""What the games draw their positions with: a box with a tray and a floor of felt, dice, and what is said of them."""

from collections.abc import Sequence

import numpy as np

from stb_gym.games.canvas import Canvas as Canvas
from stb_gym.games.canvas import Colour
from stb_gym.games.canvas import Picture as Picture

# Colours (red, green, blue).
WALNUT, RIM, TRAY, FELT, SLOT = (66, 39, 22), (38, 23, 14), (30, 20, 14), (24, 82, 61), (17, 62, 46)
IVORY, GOLD, INK, CHALK, CREAM = (250, 247, 239), (246, 196, 74), (58, 34, 20), (232, 204, 158), (255, 243, 220)
SHADOW, RED, WHITE = (12, 44, 32), (200, 36, 36), (255, 255, 255)

# Lengths in pixels, even ones for the sake of video files.
EDGE, BAR, GAP, FELT_HEIGHT, LEAST_WIDTH = 16, 44, 10, 104, 420
DIE_PITCH, DIE, PIP_PITCH, PIP, SUM_ROOM = 76, 60, 17, 11, 92
TRAY_OF_POINTS = 124

# Where each face has its pips: places in a square of three rows and three columns, numbered from 0 row by row.
PIPS = {1: (4,), 2: (2, 6), 3: (2, 4, 6), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}


def empty_box(room: int, tray: int, told: str, score: str = "") -> Canvas:
    """A box with a tray of this height and below it a floor of felt, both with `room` for things side by side.

    Args:
        room: how wide the things in it are.
        tray: how high the tray is.
        told: what is to be said of the position, such as the last move; above the tray, on the left.
        score: the points so far; above the tray, on the right.
    """
    width = max(room + 20, LEAST_WIDTH) + 2 * EDGE
    canvas = Canvas(width, BAR + tray + GAP + FELT_HEIGHT + EDGE, WALNUT)
    inside, middle = width - 2 * EDGE, width / 2
    canvas.block(middle, BAR + tray / 2, inside + 6, tray + 6, 13, RIM)
    canvas.block(middle, BAR + tray / 2, inside, tray, 10, TRAY)
    canvas.block(middle, felt_of(canvas), inside + 6, FELT_HEIGHT + 6, 13, RIM)
    canvas.block(middle, felt_of(canvas), inside, FELT_HEIGHT, 10, FELT)
    taken = canvas.text(width - EDGE - 4, BAR / 2, score, 21, CHALK, "rm", inside / 2)
    canvas.text(EDGE + 4, BAR / 2, told, 21, CREAM, "lm", inside - 20 - taken)
    return canvas


def felt_of(canvas: Canvas) -> float:
    """How far down a box the middle of its felt is."""
    return canvas.height - EDGE - FELT_HEIGHT / 2


def columns(middle: float, count: int, pitch: float) -> list[float]:
    """The middles of `count` things side by side around `middle`."""
    return [middle + (place - (count - 1) / 2) * pitch for place in range(count)]


def draw_dice(
    canvas: Canvas, shown: Sequence[int], total: str, slots: int = 0, in_hand: int = 0, golden: Sequence[int] = ()
) -> None:
    """Dice on the felt and, on their right, what they add up to.

    Args:
        canvas: the box.
        shown: the faces of the dice just thrown.
        total: what stands on their right; "" for nothing.
        slots: the places of dice, if every die has one; 0 if they lie in the middle.
        in_hand: how many slots have a die; the others are dim.
        golden: faces whose dice are golden.
    """
    y = felt_of(canvas)
    shifted = SUM_ROOM if total or slots > 1 else 0
    places = columns((canvas.width - shifted) / 2, slots or len(shown), DIE_PITCH)
    for x in places[in_hand:slots]:
        canvas.block(x, y, DIE, DIE, 14, SLOT)
    for face, x in zip(shown, places, strict=False):
        _draw_die(canvas, x, y, face, GOLD if face in golden else IVORY)
    if total:
        canvas.text(places[-1] + DIE / 2 + 16, y, total, 34, CREAM, "lm", SUM_ROOM - 16)


def _draw_die(canvas: Canvas, x: float, y: float, face: int, colour: Colour) -> None:
    """A die with pips, or with a number where a face has too many for pips."""
    canvas.block(x + 1, y + 3, DIE, DIE, 14, SHADOW)
    canvas.block(x, y, DIE, DIE, 14, colour)
    if face not in PIPS:
        canvas.text(x, y, str(face), 34, INK)
    for place in PIPS.get(face, ()):
        down, right = place // 3 - 1, place % 3 - 1
        canvas.block(x + right * PIP_PITCH, y + down * PIP_PITCH, PIP, PIP, PIP / 2, INK)


def points_and_dice(
    points: int,
    dice: int,
    of_dice: int,
    shown: Sequence[int],
    golden: Sequence[int] = (),
    total: str = "",
    told: str = "",
) -> Picture:
    """A number of points and the dice, each in its slot; dice that are thrown no more leave theirs dim.

    Args:
        points: what stands in the tray.
        dice: how many dice are in hand.
        of_dice: how many slots there are.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        golden: faces whose dice are golden.
        total: what the dice are worth, on their right.
        told: what is said above all.
    """
    canvas = empty_box(of_dice * DIE_PITCH + SUM_ROOM, TRAY_OF_POINTS, told)
    y = BAR + TRAY_OF_POINTS / 2
    canvas.text(canvas.width / 2, y - 10, str(points), 64, CHALK)
    canvas.text(canvas.width / 2, y + 42, "points", 20, CHALK)
    draw_dice(canvas, shown, total, of_dice, dice, golden)
    return canvas.finished()


def forbidden(picture: Picture) -> Picture:
    """A picture of any size with the sign for "no entry" in the middle of its lower half, where the dice fall."""
    height, width, _ = picture.shape
    side = min(height, width) // 8 * 2
    sign = Canvas(side, side, WHITE)
    sign.block(side / 2, side / 2, side, side, side / 2, RED)
    sign.block(side / 2, side / 2, side * 5 / 8, side / 5, 2, IVORY)
    canvas, top, left = picture.copy(), 3 * height // 4 - side // 2, (width - side) // 2
    down, right = np.ogrid[:side, :side]
    inside = (down - (side - 1) / 2) ** 2 + (right - (side - 1) / 2) ** 2 <= (side / 2) ** 2
    canvas[top : top + side, left : left + side][inside] = sign.finished()[inside]
    return canvas
