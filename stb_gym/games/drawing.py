"""Pictures of positions: a box with a tray and a floor of felt, tiles, dice, and words about them.

Pictures are drawn with Pillow, which is loaded when something is drawn and comes with `stb-gym[render]`. Lengths are in
pixels of the finished picture; places are distances from the left and from the top.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]  # red, green, blue
Picture = NDArray[np.uint8]  # [height, width, 3]

SCALE = 2  # how much larger things are drawn than they are shown, so that their edges become smooth
SMALLEST = 11  # text of fewer pixels cannot be read


def needed(module: str, library: str, what: str) -> Any:
    """Import and return a module of an optional library.

    Args:
        module: the module.
        library: the name of the library in the error.
        what: what needs it, such as "pictures".

    Raises:
        ImportError: if it is not installed, with the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} need {library}, which is not installed: pip install 'stb-gym[render]'") from error


class Canvas:
    """A picture that is being drawn.

    Args:
        width, height: its size.
        colour: the background.

    Raises:
        ImportError: if Pillow is not installed, with the command that installs it.
    """

    def __init__(self, width: int, height: int, colour: Colour):
        self.width, self.height = width, height
        self._image = _pillow("Image").new("RGB", (width * SCALE, height * SCALE), colour)
        self._draw = _pillow("ImageDraw").Draw(self._image)

    def block(
        self, x: float, y: float, width: float, height: float, radius: float, colour: Colour, rim: Colour | None = None
    ) -> None:
        """Draw a rectangle with round corners around (x, y), and a rim of two pixels inside it."""
        corners = [(x - width / 2) * SCALE, (y - height / 2) * SCALE]
        corners += [(x + width / 2) * SCALE - 1, (y + height / 2) * SCALE - 1]
        self._draw.rounded_rectangle(corners, radius * SCALE, colour, rim, 2 * SCALE if rim else 0)

    def text(
        self, x: float, y: float, words: str, size: float, colour: Colour, anchor: str = "mm", room: float | None = None
    ) -> float:
        """Write words at (x, y); shrink them, and in the end cut them, to fit `room`.

        Args:
            x: where they begin ("lm"), end ("rm") or have their middle ("mm"), by `anchor`.
            y: where their middle is.
            words: one line.
            size: the height of the font.
            colour: their colour.
            anchor: which point of the words is at (x, y), as Pillow names it.
            room: the largest width; None for any.

        Returns:
            Their width.
        """
        font = _font(size)
        if room is not None and font.getlength(words) > room * SCALE:
            font = _font(max(0.97 * size * room * SCALE / font.getlength(words), SMALLEST))
            while len(words) > 1 and font.getlength(words) > room * SCALE:
                words = f"{words[:-2]}…"
        self._draw.text((x * SCALE, y * SCALE), words, colour, font, anchor)
        return float(font.getlength(words)) / SCALE

    def finished(self) -> Picture:
        """Return the picture as a new array."""
        return np.array(self._image.reduce(SCALE))


def below(picture: Picture, lines: list[str], line_height: int, ink: Colour, paper: Colour) -> Picture:
    """Return a picture with lines of text below it; its size depends only on how many lines there are."""
    width = picture.shape[1]
    canvas = Canvas(width, line_height * len(lines) + 12, paper)
    for place, line in enumerate(lines):
        canvas.text(16, 6 + line_height * (place + 0.5), line, line_height * 0.72, ink, "lm", width - 32)
    return np.concatenate((picture, canvas.finished()))


def _font(size: float) -> Any:
    return _pillow("ImageFont").load_default(size * SCALE)


def _pillow(module: str) -> Any:
    return needed(f"PIL.{module}", "Pillow", "pictures")


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
    """Return a canvas with a box: a tray and below it a floor of felt.

    Args:
        room: the width of the things in it.
        tray: the height of the tray.
        told: a line about the position, such as the last move; above the tray, on the left.
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
    """Return the height of the middle of the felt."""
    return canvas.height - EDGE - FELT_HEIGHT / 2


def columns(middle: float, count: int, pitch: float) -> list[float]:
    """Return the middles of `count` things side by side around `middle`."""
    return [middle + (place - (count - 1) / 2) * pitch for place in range(count)]


def draw_dice(
    canvas: Canvas, shown: Sequence[int], total: str, slots: int = 0, in_hand: int = 0, golden: Sequence[int] = ()
) -> None:
    """Draw dice on the felt and, on their right, their total.

    Args:
        canvas: the box.
        shown: the faces of the dice just thrown.
        total: the text on their right; "" for none.
        slots: the number of slots, if every die has one; 0 to draw the dice in the middle.
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
    """Draw a die with pips, or with a number above 6."""
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
    """Return a picture of the points and the dice, each in its slot; slots of dice no longer thrown are dim.

    Args:
        points: the number in the tray.
        dice: how many dice are in hand.
        of_dice: how many slots there are.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        golden: faces whose dice are golden.
        total: the text on the right of the dice.
        told: the line above the tray.
    """
    canvas = empty_box(of_dice * DIE_PITCH + SUM_ROOM, TRAY_OF_POINTS, told)
    y = BAR + TRAY_OF_POINTS / 2
    canvas.text(canvas.width / 2, y - 10, str(points), 64, CHALK)
    canvas.text(canvas.width / 2, y + 42, "points", 20, CHALK)
    draw_dice(canvas, shown, total, of_dice, dice, golden)
    return canvas.finished()


def forbidden(picture: Picture) -> Picture:
    """Return a picture with a no-entry sign in the middle of its lower half, where the dice are."""
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


OPEN_TILE, OPEN_EDGE, SHUT_TILE, SHUT_EDGE = (236, 201, 145), (255, 231, 190), (74, 49, 32), (104, 72, 49)
TILE_PITCH, TILE_WIDTH, OPEN_HEIGHT, SHUT_HEIGHT = 58, 52, 98, 44  # pixels
LONGEST_ROW, LONGEST_LINE = 12, 15  # tiles in a row of a picture, and in one of text, which fits into 80 columns


def board_text(tiles: int, held: int, shown: tuple[int, ...], points: int) -> str:
    """Return a board, the dice and the points as text: five lines, and three more for a second row of tiles."""
    rows = -(-tiles // LONGEST_LINE)
    a_row = -(-tiles // rows)
    lines = []
    for first in range(0, tiles, a_row):
        row = range(first, min(first + a_row, tiles))
        lines.append("".join("╭───╮" if held >> i & 1 else "     " for i in row))
        lines.append("".join(f"│{i + 1:^3}│" if held >> i & 1 else "     " for i in row))
        lines.append("".join("╰───╯" if held >> i & 1 else "╶───╴" for i in row))
    total = f" = {sum(shown)}" if len(shown) > 1 else ""
    score = f"points {points}" if held else "shut the box!"
    return "\n".join([*lines, f"dice   {' + '.join(map(str, shown)) or 'none'}{total}", score])


def board_picture(
    tiles: int, dice: int, held: int, shown: tuple[int, ...], told: str, score: str, just_shut: int = 0
) -> Picture:
    """Return a picture of a board and the dice; more than twelve tiles stand in two rows.

    Args:
        tiles: how many tiles there are, open or shut.
        dice: the most dice that are thrown.
        held: the open tiles, as a bit mask.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        told: the line above the board.
        score: the points, in words.
        just_shut: the tiles that the last move has shut, as a bit mask; they have a golden rim.
    """
    rows = -(-tiles // LONGEST_ROW)
    a_row = -(-tiles // rows)
    row_height = OPEN_HEIGHT + 14
    canvas = empty_box(max(a_row * TILE_PITCH, dice * DIE_PITCH + SUM_ROOM), rows * row_height + 6, told, score)
    places = columns(canvas.width / 2, a_row, TILE_PITCH)
    for i in range(tiles):
        foot = BAR + (i // a_row + 1) * row_height - 4
        _draw_tile(canvas, places[i % a_row], foot, i + 1, bool(held >> i & 1), bool(just_shut >> i & 1))
    draw_dice(canvas, shown, f"= {sum(shown)}" if len(shown) > 1 else "")
    return canvas.finished()


def _draw_tile(canvas: Canvas, x: float, foot: float, tile: int, is_open: bool, just_shut: bool) -> None:
    """Draw an open tile, which stands, or a shut one, which lies low and dark at the foot of its row."""
    if is_open:
        canvas.block(x, foot - OPEN_HEIGHT / 2, TILE_WIDTH, OPEN_HEIGHT, 7, OPEN_TILE, OPEN_EDGE)
        canvas.text(x, foot - OPEN_HEIGHT / 2, str(tile), 34, INK)
    else:
        canvas.block(x, foot - SHUT_HEIGHT / 2, TILE_WIDTH, SHUT_HEIGHT, 7, SHUT_TILE, GOLD if just_shut else SHUT_EDGE)
        canvas.text(x, foot - SHUT_HEIGHT / 2, str(tile), 24, GOLD if just_shut else CHALK)
