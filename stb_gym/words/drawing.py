"""Pictures of positions as the page shows them: a box lined with felt, tiles in a tray, dice, and words about them.

Pictures are drawn with Pillow, which is loaded when something is drawn and comes with `stb-gym[render]`. Lengths are in
pixels of the finished picture; places are distances from the left and from the top.
"""

from collections.abc import Sequence
from importlib import import_module
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.messages import LONGEST_MESSAGE, shortened

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
        self._image = needed("PIL.Image", "Pillow", "pictures").new("RGB", (width * SCALE, height * SCALE), colour)
        self._draw = needed("PIL.ImageDraw", "Pillow", "pictures").Draw(self._image)
        self._font = needed("PIL.ImageFont", "Pillow", "pictures").load_default

    def block(self, x: float, y: float, width: float, height: float, radius: float, colour: Colour) -> None:
        """Draw a rectangle with round corners around (x, y)."""
        left, top = (x - width / 2) * SCALE, (y - height / 2) * SCALE
        right, bottom = left + width * SCALE - 1, top + height * SCALE - 1
        self._draw.rounded_rectangle((left, top, right, bottom), radius * SCALE, colour)

    def text(
        self, x: float, y: float, words: str, size: float, colour: Colour, anchor: str = "mm", room: float = inf
    ) -> None:
        """Write words at (x, y), smaller if they need more than `room`.

        Args:
            x: where they begin ("lm"), end ("rm") or have their middle ("mm"), by `anchor`.
            y: where their middle is.
            words: one line; the end of very long ones is left out.
            size: the height of the font.
            colour: their colour.
            anchor: which point of the words is at (x, y), as Pillow names it.
            room: the largest width.
        """
        words = shortened(words, LONGEST_MESSAGE)
        font = self._font(size * SCALE)
        width = font.getlength(words) / SCALE
        if width > room:
            font = self._font(max(size * room / width, SMALLEST) * SCALE)
        self._draw.text((x * SCALE, y * SCALE), words, colour, font, anchor)

    def finished(self) -> Picture:
        """Return the picture as a new array."""
        return np.array(self._image.reduce(SCALE))


# Colours (red, green, blue), those of web/src/style/felt.css.
WALNUT, FELT, TRAY = (112, 70, 42), (36, 99, 76), (46, 31, 22)
IVORY, IVORY_EDGE, INK = (250, 247, 239), (206, 200, 186), (58, 34, 20)
SHUT, CHALK, CREAM = (74, 51, 36), (217, 194, 166), (251, 248, 239)
BLANK = (104, 146, 128)  # a die that is not thrown yet
SHADOW = (18, 62, 46)

# Lengths in pixels, even ones for the sake of video files.
EDGE, BAR, GAP, DICE_HEIGHT, LEAST_WIDTH = 12, 44, 6, 104, 420
MIDDLE_OF_DICE = EDGE + 60  # distance from the bottom
DIE_PITCH, DIE, PIP_PITCH, PIP, SUM_ROOM = 76, 60, 17, 11, 92
TILE_PITCH, TILE_WIDTH, TILE_HEIGHT, TILE_ROW = 58, 50, 88, 104
RADIUS, DROP = 8, 4  # of tiles; the height of their lower edges
POINTS_HEIGHT = 124
LINE = 30  # the height of a line of text below a picture
LONGEST_ROW = 12  # tiles

# Where each face has its pips: places in a square of three rows and three columns, numbered from 0 row by row.
PIPS = {1: (4,), 2: (2, 6), 3: (2, 4, 6), 4: (0, 2, 6, 8), 5: (0, 2, 4, 6, 8), 6: (0, 2, 3, 5, 6, 8)}


def board_picture(
    tiles: int, dice: int, board: int, shown: Sequence[int], slots: int, caption: str, score: str
) -> Picture:
    """Return a picture of a board and the dice; more than twelve tiles stand in two rows.

    Args:
        tiles: how many tiles there are, open or shut.
        dice: how many dice are in hand.
        board: the open tiles, as a bit mask.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        slots: the number of dice of the largest throw.
        caption: the line above the board.
        score: the points, in words.
    """
    rows = -(-tiles // LONGEST_ROW)
    a_row = -(-tiles // rows)
    canvas = empty_box(max(a_row * TILE_PITCH, slots * DIE_PITCH + 2 * SUM_ROOM), rows * TILE_ROW, caption, score)
    places = canvas.width / 2 + (np.arange(a_row) - (a_row - 1) / 2) * TILE_PITCH
    canvas.block(canvas.width / 2, BAR + rows * TILE_ROW / 2, a_row * TILE_PITCH + 10, rows * TILE_ROW, 12, TRAY)
    for i in range(tiles):
        x, y = places[i % a_row], BAR + (i // a_row + 0.5) * TILE_ROW
        if board >> i & 1:
            canvas.block(x, y + DROP / 2, TILE_WIDTH, TILE_HEIGHT + DROP, RADIUS, IVORY_EDGE)
            canvas.block(x, y, TILE_WIDTH, TILE_HEIGHT, RADIUS, IVORY)
            canvas.text(x, y, str(i + 1), 34, INK)
        else:
            canvas.block(x, y + DROP, TILE_WIDTH, TILE_HEIGHT - DROP, RADIUS, SHUT)
            canvas.text(x, y + DROP, str(i + 1), 28, CHALK)
            canvas.block(x, y + DROP + 2, 30, 2, 1, CHALK)  # strikes the number through
    draw_dice(canvas, dice, shown, f"= {sum(shown)}" if len(shown) > 1 else "")
    return canvas.finished()


def points_picture(
    points: int, dice: int, shown: Sequence[int], slots: int, caption: str, labels: Sequence[str] = ()
) -> Picture:
    """Return a picture of the points and the dice.

    Args:
        points: the number above the dice.
        dice: how many dice are in hand.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        slots: the number of dice of the largest throw.
        caption: the line above the points.
        labels: what is written below each die.
    """
    canvas = empty_box(slots * DIE_PITCH + SUM_ROOM, POINTS_HEIGHT, caption)
    y = BAR + POINTS_HEIGHT / 2
    canvas.text(canvas.width / 2, y - 10, str(points), 64, CREAM)
    canvas.text(canvas.width / 2, y + 42, "points", 20, CREAM)
    draw_dice(canvas, dice, shown, labels=labels)
    return canvas.finished()


def drawn_dice(faces: Sequence[int]) -> str:
    """Return a text of five lines that shows dice side by side, with pips or, above 6, a number."""
    lines = ["  ".join(["╭─────╮"] * len(faces))]
    for row in range(3):
        inner = []
        for face in faces:
            pips = " ".join("●" if 3 * row + column in PIPS.get(face, ()) else " " for column in range(3))
            inner.append(f"{face:^5}" if face not in PIPS and row == 1 else pips)
        lines.append("  ".join(f"│{each}│" for each in inner))
    return "\n".join([*lines, lines[0].translate(str.maketrans("╭╮", "╰╯"))])


def below(picture: Picture, lines: list[str]) -> Picture:
    """Return a picture with lines of text below it; its size depends only on the number of lines."""
    width = picture.shape[1]
    canvas = Canvas(width, LINE * len(lines) + 12, TRAY)
    for place, line in enumerate(lines):
        canvas.text(16, 6 + LINE * (place + 0.5), line, 22, CREAM, "lm", width - 32)
    return np.concatenate((picture, canvas.finished()))


def empty_box(room: int, height: int, caption: str, score: str = "") -> Canvas:
    """Return a canvas with a box: a frame, and felt with two lines of text.

    Args:
        room: the width of its contents.
        height: the height of what is above the dice.
        caption: a line about the position, such as the last move; at the top, on the left.
        score: the points so far; at the top, on the right.
    """
    width = max(room + 20, LEAST_WIDTH) + 2 * EDGE
    canvas = Canvas(width, BAR + height + GAP + DICE_HEIGHT + EDGE, WALNUT)
    inside = width - 2 * EDGE
    canvas.block(width / 2, canvas.height / 2, inside, canvas.height - 2 * EDGE, 10, FELT)
    caption_room = inside * (3 / 4 if score else 1) - 20
    canvas.text(EDGE + 10, (EDGE + BAR) / 2, caption, 21, CREAM, "lm", caption_room)
    canvas.text(width - EDGE - 10, (EDGE + BAR) / 2, score, 21, CREAM, "rm", inside / 4)
    return canvas


def draw_dice(canvas: Canvas, dice: int, shown: Sequence[int], total: str = "", labels: Sequence[str] = ()) -> None:
    """Draw dice on the felt, and their total. A die shows pips or, above 6, a number.

    Args:
        canvas: the box.
        dice: how many dice are in hand; they are blank if nothing is thrown.
        shown: the faces of the dice just thrown; empty when nothing is thrown.
        total: the text on their right.
        labels: the text below each.
    """
    y = canvas.height - MIDDLE_OF_DICE
    faces = shown or (None,) * dice
    places = canvas.width / 2 + (np.arange(len(faces)) - (len(faces) - 1) / 2) * DIE_PITCH
    for face, x in zip(faces, places, strict=True):
        if face is None:
            canvas.block(x, y, DIE, DIE, 14, BLANK)
            continue
        canvas.block(x + 1, y + 4, DIE, DIE, 14, SHADOW)
        canvas.block(x, y + 1, DIE, DIE + 2, 14, IVORY_EDGE)
        canvas.block(x, y, DIE, DIE, 14, IVORY)
        if face not in PIPS:
            canvas.text(x, y, str(face), 34, INK)
        for place in PIPS.get(face, ()):
            row, column = place // 3 - 1, place % 3 - 1
            canvas.block(x + column * PIP_PITCH, y + row * PIP_PITCH, PIP, PIP, PIP / 2, INK)
    for label, x in zip(labels, places, strict=False):
        canvas.text(x, y + DIE / 2 + 12, label, 15, CREAM)
    if total:
        canvas.text(places[-1] + DIE / 2 + 16, y, total, 34, CREAM, "lm", SUM_ROOM - 16)
