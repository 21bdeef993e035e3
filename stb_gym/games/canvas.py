"""A canvas to draw pictures on with Pillow, which is loaded when something is drawn and comes with `stb-gym[render]`.

Lengths are in pixels of the finished picture, places its distances from the left and from the top.
"""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Colour = tuple[int, int, int]  # red, green, blue
Picture = NDArray[np.uint8]  # [height, width, 3]

SCALE = 2  # how much larger things are drawn than they are shown, so that their edges become smooth
SMALLEST = 11  # text of fewer pixels cannot be read


def needed(module: str, library: str, what: str) -> Any:
    """A module of a library that does not come with stb_gym.

    Raises:
        ImportError: saying what needs which library, and how it is installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"{what} need {library}, which is not installed: pip install 'stb-gym[render]'") from error


class Canvas:
    """A picture while it is drawn.

    Args:
        width, height: its size.
        colour: of the whole before anything is drawn.

    Raises:
        ImportError: if Pillow is not installed, saying how it is.
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
        """Write words at (x, y), smaller or in the end cut where there is not enough room for them.

        Args:
            x: how far from the left they begin ("lm"), end ("rm") or have their middle ("mm"), by `anchor`.
            y: how far down their middle is.
            words: in one line.
            size: their height.
            colour: their colour.
            anchor: which point of the words is at (x, y).
            room: how wide they may be; None for any width.

        Returns:
            How wide they are.
        """
        font = _font(size)
        if room is not None and font.getlength(words) > room * SCALE:
            font = _font(max(0.97 * size * room * SCALE / font.getlength(words), SMALLEST))
            while len(words) > 1 and font.getlength(words) > room * SCALE:
                words = f"{words[:-2]}…"
        self._draw.text((x * SCALE, y * SCALE), words, colour, font, anchor)
        return float(font.getlength(words)) / SCALE

    def finished(self) -> Picture:
        """The picture as an array of its own."""
        return np.array(self._image.reduce(SCALE))


def below(picture: Picture, lines: list[str], line_height: int, ink: Colour, paper: Colour) -> Picture:
    """A picture with lines of text below it; of the same size whatever they say."""
    width = picture.shape[1]
    canvas = Canvas(width, line_height * len(lines) + 12, paper)
    for place, line in enumerate(lines):
        canvas.text(16, 6 + line_height * (place + 0.5), line, line_height * 0.72, ink, "lm", width - 32)
    return np.concatenate((picture, canvas.finished()))


def _font(size: float) -> Any:
    return _pillow("ImageFont").load_default(size * SCALE)


def _pillow(module: str) -> Any:
    return needed(f"PIL.{module}", "Pillow", "pictures")
