"""A picture: panels, a legend and what comes out; for a page, or as a file of its own."""

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.pictures.charts import INK, LEFT, Panel, dashed, dot
from stb_gym.output import INK as BLACK
from stb_gym.output import Table

SCHEME = Path(__file__).parent / "scheme.css"  # the colours of pictures, and of the page they stand on
LEGEND_ROW = 22  # units of SVG


class Key(NamedTuple):
    """A line of a legend.

    Attributes:
        name: what is drawn so.
        colour: its colour.
        dashes: those of its line.
        dot: whether it is a dot, hollow if there are dashes.
    """

    name: str
    colour: str
    dashes: Sequence[float] = ()
    dot: bool = False

    def __str__(self) -> str:
        """The line or the dot in an <svg> of its own."""
        line = f'<path style="color:{self.colour};stroke-width:4" d="M0 6H28"{dashed(self.dashes)}/>'
        mark = dot(14, 6, self.colour, 5, bool(self.dashes)) if self.dot else line
        return f'<svg class="chart key" viewBox="0 0 28 12" width="28" height="12" aria-hidden="true">{mark}</svg>'


class Picture(NamedTuple):
    """A picture of a table.

    Attributes:
        panels: what is drawn.
        caption: what one sees, and what comes out.
        keys: the legend.
        across: how many panels stand side by side where there is room.
    """

    panels: Sequence[Panel]
    caption: str
    keys: Sequence[Key] = ()
    across: int = 1

    def to_svg(self) -> str:
        """The picture as the text of a file of its own."""
        width, height = self.panels[0].width, self.panels[0].height
        down = math.ceil(len(self.panels) / self.across)
        across = min(self.across, len(self.panels))
        size = f"{width * across} {height * down + LEGEND_ROW * len(self.keys) + 8}"
        placed = [
            f'<svg x="{place % across * width}" y="{place // across * height}" width="{width}" height="{height}">'
            f"{panel}</svg>"
            for place, panel in enumerate(self.panels)
        ]
        for row, key in enumerate(self.keys):
            y = height * down + LEGEND_ROW * row
            placed.append(f'<svg x="{LEFT}" y="{y}">{key}<text x="36" y="11">{escape(key.name)}</text></svg>')
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {size}" role="img">'
            f"<title>{escape(self.caption)}</title><style>{SCHEME.read_text('utf-8')}</style>"
            f'<rect style="color:var(--ground)" width="100%" height="100%"/>{"".join(placed)}</svg>\n'
        )


def values(table: Table, heading: str) -> NDArray[Any]:
    """A column as an array."""
    return np.array(table.columns[heading].values)


def paint(colour: str) -> str:
    """The colour of an agent on any ground: black is the ink of the page."""
    return INK if colour == BLACK else colour
