"""Positions of the games as text and as pictures, drawn with numpy alone."""

from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Game
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.threes import Threes

Colour = tuple[int, int, int]
Picture = NDArray[np.uint8]
Shape = NDArray[np.float32]

# Colours (red, green, blue). A material is the colour of its face and the colour of its edge.
WALNUT = (112, 70, 41), (66, 39, 22)
TRAY = (46, 31, 22), (24, 15, 10)
FELT = (33, 94, 70), (17, 56, 43)
OPEN_TILE = (236, 201, 145), (250, 226, 182)
SHUT_TILE = (84, 56, 37), (104, 72, 49)
IVORY = (250, 247, 239), (206, 200, 186)
GOLD = (246, 196, 74), (191, 139, 34)
INK, FADED_INK, CHALK, SLOT, BLACK = (58, 34, 20), (146, 112, 84), (236, 201, 145), (25, 74, 56), (0, 0, 0)

# Lengths in pixels. Things are placed by their centre; a ROW is how far down the picture that centre is.
HEIGHT, RIM, LEAST_WIDTH = 310, 22, 180
TRAY_ROW, TRAY_HEIGHT = 89, 134
FELT_ROW, FELT_HEIGHT = 230, 116
TILE_PITCH, TILE_WIDTH, OPEN_HEIGHT, SHUT_HEIGHT = 58, 52, 112, 40
DIE_PITCH, DIE, PIP_PITCH, PIP = 78, 62, 17, 12

# Where each face has its pips: places in a square of three rows and three columns, numbered from 0 row by row.
PIPS = {1: (4,), 2: (2, 6), 3: (2, 4, 6), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}

DIGIT_PITCH = 6
DIGITS = """
.###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###.
#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...#
#...# ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#
#...# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .####
#...# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#
#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#.
.###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##..
"""


def text(game: Game, held: int, dice: int, shown: tuple[int, ...]) -> str:
    """A position in a few lines of plain text, as many for all positions of a game.

    Args:
        game: Shut the Box or Threes.
        held: what the player holds: the board as a bit mask (Shut the Box), or the points so far (Threes).
        dice: number of dice in hand.
        shown: the faces of the dice just thrown; empty when nothing is thrown.

    Raises:
        TypeError: if the game is neither.
    """
    if isinstance(game, ShutTheBox):
        return _board_text(game, held, shown)
    if isinstance(game, Threes):
        return _threes_text(game, held, dice, shown)
    raise TypeError(f"no drawing is known for {game!r}")


def picture(game: Game, held: int, dice: int, shown: tuple[int, ...]) -> Picture:
    """A position as an image [height, width, 3] uint8 (red, green, blue), of one size for all positions of a game.

    Takes and raises what `text` does.
    """
    if isinstance(game, ShutTheBox):
        return _board_picture(game, held, shown)
    if isinstance(game, Threes):
        return _threes_picture(game, held, dice, shown)
    raise TypeError(f"no drawing is known for {game!r}")


def _board_text(game: ShutTheBox, held: int, shown: tuple[int, ...]) -> str:
    """Open tiles stand, shut ones lie flat."""
    tops = "".join("╭───╮" if held >> i & 1 else "     " for i in range(game.tiles))
    numbers = "".join(f"│{i + 1:^3}│" if held >> i & 1 else "     " for i in range(game.tiles))
    feet = "".join("╰───╯" if held >> i & 1 else "╶───╴" for i in range(game.tiles))
    total = f" = {sum(shown)}" if len(shown) > 1 else ""
    points = f"points {game.final_score(np.array([held]))[0]}" if held else "shut the box!"
    return "\n".join([tops, numbers, feet, f"dice   {' + '.join(map(str, shown)) or 'none'}{total}", points])


def _threes_text(game: Threes, held: int, dice: int, shown: tuple[int, ...]) -> str:
    return f"dice   {' '.join(map(str, shown)) or 'none'}\nkept   {game.dice - dice} of {game.dice}\npoints {held}"


def _board_picture(game: ShutTheBox, held: int, shown: tuple[int, ...]) -> Picture:
    canvas = _empty_box(max(game.tiles * TILE_PITCH, game.dice * DIE_PITCH)).copy()
    for i, column in enumerate(_columns(canvas, game.tiles, TILE_PITCH)):
        _draw_tile(canvas, column, i + 1, bool(held >> i & 1))
    for face, column in zip(shown, _columns(canvas, len(shown), DIE_PITCH), strict=True):
        _draw_die(canvas, column, face, IVORY)
    return canvas


def _threes_picture(game: Threes, held: int, dice: int, shown: tuple[int, ...]) -> Picture:
    """The points where Shut the Box has its tiles; each die keeps its slot, those kept leave theirs dim."""
    canvas = _empty_box(game.dice * DIE_PITCH).copy()
    columns = _columns(canvas, game.dice, DIE_PITCH)
    _paint(canvas, TRAY_ROW, canvas.shape[1] // 2, _number(held, 70), CHALK)
    for face, column in zip(shown, columns, strict=False):
        _draw_die(canvas, column, face, GOLD if face == game.free_face else IVORY)
    for column in columns[dice:]:
        _paint(canvas, FELT_ROW, column, _rounded(DIE, DIE, 14), SLOT)
    return canvas


def _columns(canvas: Picture, count: int, pitch: int) -> list[int]:
    """The centres of `count` things side by side in the middle of the canvas."""
    first = (canvas.shape[1] - (count - 1) * pitch) // 2
    return [first + i * pitch for i in range(count)]


@lru_cache(maxsize=32)
def _empty_box(width: int) -> Picture:
    """A box of walnut, with a tray for tiles and below it a floor of felt, both with room for `width` pixels."""
    width = max(width, LEAST_WIDTH) + 18
    y, x = np.ogrid[:HEIGHT, : width + 2 * RIM]
    grain = np.sin(y / 2 + 3 * np.sin(x / 170)) + np.sin(y / 5 + 4 * np.sin(x / 260 + 1))
    canvas = (np.array(WALNUT[0]) * (1 + 0.04 * grain[:, :, None])).astype(np.uint8)
    for row, height, (floor, wall) in (TRAY_ROW, TRAY_HEIGHT, TRAY), (FELT_ROW, FELT_HEIGHT, FELT):
        _paint(canvas, row, width // 2 + RIM, _rounded(height + 4, width + 4, 12), WALNUT[1])
        _paint(canvas, row, width // 2 + RIM, _rounded(height, width, 10), wall)
        _paint(canvas, row, width // 2 + RIM, _rounded(height - 16, width - 16, 10, fade=16), floor)
    return canvas


def _draw_tile(canvas: Picture, column: int, number: int, is_open: bool) -> None:
    """A tile that stands, or one folded down: low and dark at the foot of the tray."""
    if is_open:
        _draw_block(canvas, TRAY_ROW, column, OPEN_HEIGHT, TILE_WIDTH, 7, OPEN_TILE)
        _paint(canvas, TRAY_ROW, column, _number(number, 27), INK)
    else:
        row = TRAY_ROW + (OPEN_HEIGHT - SHUT_HEIGHT) // 2
        _draw_block(canvas, row, column, SHUT_HEIGHT, TILE_WIDTH, 7, SHUT_TILE)
        _paint(canvas, row, column, _number(number, 18), FADED_INK)


def _draw_die(canvas: Picture, column: int, face: int, material: tuple[Colour, Colour]) -> None:
    """A die with pips, or with a number where a face has too many for pips."""
    _draw_block(canvas, FELT_ROW, column, DIE, DIE, 14, material)
    if face not in PIPS:
        _paint(canvas, FELT_ROW, column, _number(face, 27), INK)
    for place in PIPS.get(face, ()):
        down, right = place // 3 - 1, place % 3 - 1
        _paint(canvas, FELT_ROW + down * PIP_PITCH, column + right * PIP_PITCH, _rounded(PIP, PIP, PIP // 2), INK)


def _draw_block(
    canvas: Picture, row: int, column: int, height: int, width: int, radius: int, material: tuple[Colour, Colour]
) -> None:
    """A block with round corners that casts a shadow downwards."""
    face, edge = material
    _paint(canvas, row + 4, column, _rounded(height, width, radius, fade=8), BLACK, strength=0.5)
    _paint(canvas, row, column, _rounded(height, width, radius), edge)
    _paint(canvas, row, column, _rounded(height - 4, width - 4, radius - 2), face)


def _paint(canvas: Picture, row: int, column: int, shape: Shape, colour: Colour, strength: float = 1.0) -> None:
    """Lay a colour over the canvas, in place, through a shape [h, w] centred at row and column."""
    height, width = shape.shape
    top, left = row - height // 2, column - width // 2
    below = canvas[top : top + height, left : left + width]
    below[:] = below + strength * shape[:, :, None] * (np.array(colour, np.float32) - below)


@lru_cache(maxsize=256)
def _rounded(height: int, width: int, radius: int, fade: int = 1) -> Shape:
    """A rectangle with round corners: how much of each pixel it covers. Its edge fades over `fade` pixels."""
    y, x = (np.abs(np.arange(side) - (side - 1) / 2) for side in (height + fade // 2 * 2, width + fade // 2 * 2))
    outside_y, outside_x = np.maximum(y - height / 2 + radius, 0), np.maximum(x - width / 2 + radius, 0)
    distance = np.hypot(outside_y[:, None], outside_x) - radius
    return np.clip(0.5 - distance / fade, 0, 1).astype(np.float32)


@lru_cache(maxsize=256)
def _number(number: int, height: int) -> Shape:
    """A number in digits of this height, drawn with a round pen: how much of each pixel it covers."""
    font = np.array([[mark == "#" for mark in line + "."] for line in DIGITS.strip().split("\n")])
    starts = [DIGIT_PITCH * int(digit) for digit in str(number)]
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
