"""Charts as SVG: lines, dots, bars and bands on panels, in colours that follow a light or a dark scheme."""

import math
from collections.abc import Iterable, Sequence
from html import escape

Numbers = Iterable[float]
Ends = tuple[float, float]

WIDTH, HEIGHT = 480, 260  # of a panel, in the units of SVG; pages show them larger or smaller
LEFT, RIGHT, TOP, BOTTOM = 50, 14, 26, 42  # around what is drawn
TITLE = 20
INK = "var(--ink)"


class Panel:
    """A pair of axes, and what is drawn on them.

    Args:
        x, y: the ends of the axes.
        across, up: what they count.
        title: what stands above.
        percent: whether the numbers upwards are shares.
        size: width and height.
        whole: whether ticks across are whole numbers only.
        bare: whether there are no ticks at all.
    """

    def __init__(
        self,
        x: Ends,
        y: Ends,
        across: str = "",
        up: str = "",
        title: str = "",
        percent: bool = False,
        size: tuple[int, int] = (WIDTH, HEIGHT),
        whole: bool = True,
        bare: bool = False,
    ):
        self.width, self.height = size
        self.x, self.y = _wide(x), _wide(y)
        self.top = TOP + TITLE * bool(title)
        self.parts: list[str] = []
        self._text(self.width - RIGHT, self.height - 6, across, "end", "soft")
        self._text(2, self.top - 10, up, "start", "soft")
        self._text(2, 15, title, "start", "title")
        if not bare:
            self._ticks(percent, whole)

    def _ticks(self, percent: bool, whole: bool) -> None:
        """Round numbers on both axes."""
        for tick in ticks(*self.y, 4 if self.height > HEIGHT / 2 else 2):
            kind = "zero" if tick == 0 and self.y[0] < 0 else "grid"
            self._add(f'<path class="{kind}" d="M{LEFT} {self._down(tick)}H{self.width - RIGHT}"/>')
            self._text(LEFT - 6, self._down(tick) + 4.5, _number(tick, percent), "end", "soft")
        for tick in ticks(*self.x, 6 if self.width > WIDTH / 2 else 4, 1 if whole else 0):
            self._text(self._right(tick), self.height - BOTTOM + 18, _number(tick), "middle", "soft")

    def line(self, xs: Numbers, ys: Numbers, colour: str, dashes: Sequence[float] = ()) -> None:
        """A line through points; `dashes` as in `stb_gym.output.Style`."""
        self._add(f'<path style="color:{colour}"{dashed(dashes)} d="{self._through(xs, ys)}"/>')

    def band(self, xs: Sequence[float], low: Sequence[float], high: Sequence[float], colour: str) -> None:
        """What lies between two lines."""
        around = self._through([*xs, *reversed(xs)], [*low, *reversed(high)])
        self._add(f'<path class="band" style="color:{colour}" d="{around}Z"/>')

    def dots(self, xs: Numbers, ys: Numbers, colour: str, radius: float = 4, hollow: bool = False) -> None:
        """Dots."""
        for x, y in zip(xs, ys, strict=True):
            self._add(dot(self._right(x), self._down(y), colour, radius, hollow))

    def bar(self, left: float, right: float, low: float, high: float, colour: str) -> None:
        """A bar between two places across and two upwards."""
        x, y = self._right(left), self._down(max(low, high))
        width, height = self._right(right) - x, self._down(min(low, high)) - y
        self._add(
            f'<rect style="color:{colour}" x="{x}" y="{y}" width="{max(width - 1, 0.5):.1f}" height="{height:.1f}"/>'
        )

    def say(self, x: float, y: float, text: str, kind: str = "", anchor: str = "middle") -> None:
        """Words at a place: around it, or where they start or end."""
        self._text(self._right(x), self._down(y) + 4.5, text, anchor, kind)

    def __str__(self) -> str:
        """The panel as an <svg>."""
        box = f'viewBox="0 0 {self.width} {self.height}"'
        return f'<svg class="chart" {box} aria-hidden="true">{"".join(self.parts)}</svg>'

    def _add(self, part: str) -> None:
        self.parts.append(part)

    def _text(self, x: float, y: float, text: str, anchor: str, kind: str) -> None:
        if text:
            self._add(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>')

    def _right(self, x: float) -> float:
        low, high = self.x
        return round(LEFT + (x - low) / (high - low) * (self.width - LEFT - RIGHT), 1)

    def _down(self, y: float) -> float:
        low, high = self.y
        return round(self.height - BOTTOM - (y - low) / (high - low) * (self.height - BOTTOM - self.top), 1)

    def _through(self, xs: Numbers, ys: Numbers) -> str:
        return "M" + "L".join(f"{self._right(x)} {self._down(y)}" for x, y in zip(xs, ys, strict=True))


def ticks(low: float, high: float, most: int, least_step: float = 0) -> list[float]:
    """Round numbers from `low` to `high`, about as many as `most`.

    >>> ticks(0, 45, 5), ticks(-0.02, 0.013, 4)
    ([0.0, 10.0, 20.0, 30.0, 40.0], [-0.02, -0.01, 0.0, 0.01])
    """
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    step = next(factor * power for factor in (1, 2, 5, 10) if (high - low) / (factor * power) <= most)
    step = max(step, least_step)
    first = math.ceil(low / step - 1e-9)
    return [round(step * count, 12) for count in range(first, math.floor(high / step + 1e-9) + 1)]


def ramp(place: float) -> str:
    """A colour between the one of few (0) and the one of many (1), for numbers that have an order."""
    return f"color-mix(in oklab, var(--few), var(--many) {100 * place:.0f}%)"


def dashed(dashes: Sequence[float]) -> str:
    """The attribute of a dashed line; `dashes` as in `stb_gym.output.Style`."""
    return f' stroke-dasharray="{" ".join(f"{2 * length:g}" for length in dashes)}"' if dashes else ""


def dot(x: float, y: float, colour: str, radius: float, hollow: bool) -> str:
    """A dot, full or hollow."""
    ring = ";fill:var(--ground);stroke:currentColor;stroke-width:2" if hollow else ""
    return f'<circle style="color:{colour}{ring}" cx="{x}" cy="{y}" r="{radius}"/>'


def _wide(ends: Ends) -> Ends:
    """Ends that are not the same."""
    low, high = (float(end) for end in ends)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _number(value: float, percent: bool = False) -> str:
    return (
        f"{100 * value:.6g}%".replace("-", "\N{MINUS SIGN}")
        if percent
        else f"{value:.6g}".replace("-", "\N{MINUS SIGN}")
    )
