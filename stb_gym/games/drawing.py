"""Pictures of boxes, dice and numbers, drawn with numpy alone: what the games draw their positions with.

A picture is an array [height, width, 3] uint8 (red, green, blue). Things are painted over it in place.
"""

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.keeping import kept

Colour = tuple[int, int, int]
Picture = NDArray[np.uint8]
Shape = NDArray[np.float32]

# Colours (red, green, blue). A material is the colour of its face and the colour of its edge.
WALNUT = (112, 70, 41), (66, 39, 22)
TRAY = (46, 31, 22), (24, 15, 10)
FELT = (33, 94, 70), (17, 56, 43)
IVORY = (250, 247, 239), (206, 200, 186)
GOLD = (246, 196, 74), (191, 139, 34)
INK, CHALK, SLOT, BLACK, RED = (58, 34, 20), (236, 201, 145), (25, 74, 56), (0, 0, 0), (200, 36, 36)

# Lengths in pixels. Things are placed by their centre; a ROW is how far down the picture that centre is.
HEIGHT, RIM, LEAST_WIDTH = 310, 22, 180
TRAY_ROW, TRAY_HEIGHT = 89, 134
FELT_ROW, FELT_HEIGHT = 230, 116
DIE_PITCH, DIE, PIP_PITCH, PIP = 78, 62, 17, 12

# Where each face has its pips: places in a square of three rows and three columns, numbered from 0 row by row.
PIPS = {1: (4,), 2: (2, 6), 3: (2, 4, 6), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}

DIGIT_PITCH = 6
DIGITS = """
.###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###. .....
#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...# .....
#...# ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# .....
#...# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .#### .###.
#...# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....# .....
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#. .....
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##.. .....
"""


def points_and_dice(
    points: int, dice: int, of_dice: int, shown: tuple[int, ...], golden: tuple[int, ...] = ()
) -> Picture:
    """A number of points and the dice, each in its slot; dice that are thrown no more leave theirs dim.

    Args:
        points: what stands in the tray.
        dice: how many dice are in hand.
        of_dice: how many slots there are.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        golden: faces whose dice are golden.
    """
    canvas = empty_box(of_dice * DIE_PITCH).copy()
    slots = columns(canvas, of_dice, DIE_PITCH)
    paint(canvas, TRAY_ROW, canvas.shape[1] // 2, numeral(points, 70), CHALK)
    for face, column in zip(shown, slots, strict=False):
        draw_die(canvas, column, face, GOLD if face in golden else IVORY)
    for column in slots[dice:]:
        paint(canvas, FELT_ROW, column, rounded(DIE, DIE, 14), SLOT)
    return canvas


def forbidden(picture: Picture) -> Picture:
    """A picture of any size with the sign for "no entry" in the middle of its lower half, where the dice fall."""
    canvas = picture.copy()
    height, width, _ = canvas.shape
    side = min(height, width) // 4
    row, column = 3 * height // 4, width // 2
    paint(canvas, row, column, rounded(side, side, side // 2), IVORY[0])
    paint(canvas, row, column, rounded(side - 6, side - 6, side // 2 - 3), RED)
    paint(canvas, row, column, rounded(side // 5, side * 5 // 8, 2), IVORY[0])
    return canvas


def columns(canvas: Picture, count: int, pitch: int) -> list[int]:
    """The centres of `count` things side by side in the middle of the canvas."""
    first = (canvas.shape[1] - (count - 1) * pitch) // 2
    return [first + i * pitch for i in range(count)]


@kept(mebibytes=16)
def empty_box(width: int) -> Picture:
    """A box of walnut, with a tray for tiles and below it a floor of felt, both with room for `width` pixels."""
    width = max(width, LEAST_WIDTH) + 18
    y, x = np.ogrid[:HEIGHT, : width + 2 * RIM]
    grain = np.sin(y / 2 + 3 * np.sin(x / 170)) + np.sin(y / 5 + 4 * np.sin(x / 260 + 1))
    canvas = (np.array(WALNUT[0]) * (1 + 0.04 * grain[:, :, None])).astype(np.uint8)
    for row, height, (floor, wall) in (TRAY_ROW, TRAY_HEIGHT, TRAY), (FELT_ROW, FELT_HEIGHT, FELT):
        paint(canvas, row, width // 2 + RIM, rounded(height + 4, width + 4, 12), WALNUT[1])
        paint(canvas, row, width // 2 + RIM, rounded(height, width, 10), wall)
        paint(canvas, row, width // 2 + RIM, rounded(height - 16, width - 16, 10, fade=16), floor)
    return canvas


def draw_die(canvas: Picture, column: int, face: int, material: tuple[Colour, Colour]) -> None:
    """A die with pips, or with a number where a face has too many for pips."""
    draw_block(canvas, FELT_ROW, column, DIE, DIE, 14, material)
    if face not in PIPS:
        paint(canvas, FELT_ROW, column, numeral(face, 27), INK)
    for place in PIPS.get(face, ()):
        down, right = place // 3 - 1, place % 3 - 1
        paint(canvas, FELT_ROW + down * PIP_PITCH, column + right * PIP_PITCH, rounded(PIP, PIP, PIP // 2), INK)


def draw_block(
    canvas: Picture, row: int, column: int, height: int, width: int, radius: int, material: tuple[Colour, Colour]
) -> None:
    """A block with round corners that casts a shadow downwards."""
    face, edge = material
    paint(canvas, row + 4, column, rounded(height, width, radius, fade=8), BLACK, strength=0.5)
    paint(canvas, row, column, rounded(height, width, radius), edge)
    paint(canvas, row, column, rounded(height - 4, width - 4, radius - 2), face)


def paint(canvas: Picture, row: int, column: int, shape: Shape, colour: Colour, strength: float = 1.0) -> None:
    """Lay a colour over the canvas, in place, through a shape [h, w] centred at row and column."""
    height, width = shape.shape
    top, left = row - height // 2, column - width // 2
    below = canvas[top : top + height, left : left + width]
    below[:] = below + strength * shape[:, :, None] * (np.array(colour, np.float32) - below)


@kept(mebibytes=16)
def rounded(height: int, width: int, radius: int, fade: int = 1) -> Shape:
    """A rectangle with round corners: how much of each pixel it covers. Its edge fades over `fade` pixels."""
    y, x = (np.abs(np.arange(side) - (side - 1) / 2) for side in (height + fade // 2 * 2, width + fade // 2 * 2))
    outside_y, outside_x = np.maximum(y - height / 2 + radius, 0), np.maximum(x - width / 2 + radius, 0)
    distance = np.hypot(outside_y[:, None], outside_x) - radius
    return np.clip(0.5 - distance / fade, 0, 1).astype(np.float32)


@kept(mebibytes=16)
def numeral(whole: int, height: int) -> Shape:
    """A whole number in digits of this height, drawn with a round pen: how much of each pixel it covers."""
    font = np.array([[mark == "#" for mark in line + "."] for line in DIGITS.strip().split("\n")])
    starts = [DIGIT_PITCH * "0123456789-".index(sign) for sign in str(whole)]
    marks = np.hstack([font[:, start : start + DIGIT_PITCH] for start in starts])[:, :-1]
    scale = height / len(marks)
    y, x = np.ogrid[:height, : round(marks.shape[1] * scale)]
    pixels = (x + 0.5 + (y + 0.5) * 1j) / scale - (0.5 + 0.5j)
    start, step = np.array(_strokes(marks)).T[:, :, None, None]
    along = np.clip(((pixels - start) * step.conj()).real / np.abs(step) ** 2, 0, 1)
    distance = np.abs(pixels - start - along * step).min(axis=0)
    return np.clip(0.5 + (0.5 - distance) * scale, 0, 1).astype(np.float32)


def _strokes(marks: NDArray[np.bool_]) -> list[tuple[complex, complex]]:
    """The strokes that join neighbouring marks: where the pen starts and how it moves, as x + y * 1j."""
    strokes = []
    for (y, x), (y_to, x_to) in combinations(np.argwhere(marks), 2):
        around = marks[y : y_to + 1, min(x, x_to) : max(x, x_to) + 1]
        # A third mark in the square of two diagonal neighbours already joins them around the corner.
        if max(around.shape) == 2 and around.sum() == 2:
            strokes.append((complex(x, y), complex(x_to - x, y_to - y)))
    return strokes
