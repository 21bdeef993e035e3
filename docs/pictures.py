"""Draw pictures of results, each for light and for dark pages."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator
from numpy.typing import NDArray
from PIL import Image

from stb_gym.files import write_aside
from stb_gym.plots import COLOURS, LINESTYLES

LEAST = 1e-6  # smaller values are drawn here, because a logarithmic axis has no 0
SERIES = [(colour, style) for style in LINESTYLES for colour in COLOURS[:6]]  # black and yellow suit only one scheme
LABEL = 0.045  # height of a name as a share of the height of the axes
SCHEMES = {"": ("#ffffff", "#1b1b1b", "#e2dbcf"), "-dark": ("#171614", "#f1ede4", "#3b3731")}  # ground, ink and lines


def draw_curves(
    path: Path, curves: Mapping[str, pd.DataFrame], lines: Mapping[str, float], ylabel: str, xlabel: str = "steps"
) -> None:
    """Draw learning curves on logarithmic axes, each with its interval over seeds and its name at the right.

    Args:
        path: the PNG to write, see `draw`.
        curves: curves of agents by name, see `results.curve_over_seeds`. Measurements at step 0 are left out.
        lines: values drawn as dotted lines, by name.
        ylabel: the label of the y axis.
        xlabel: the label of the x axis.
    """

    def fill(figure: Figure) -> None:
        axes: Any = figure.add_subplot(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
        ends: dict[str, tuple[float, float, str]] = {}
        for (name, curve), (colour, dashes) in zip(curves.items(), SERIES * len(curves), strict=False):
            drawn = curve[curve["steps"] > 0].clip(lower=LEAST)
            if not drawn.empty:
                axes.plot(drawn["steps"], drawn["median"], color=colour, linestyle=dashes)
                axes.fill_between(drawn["steps"], drawn["low"], drawn["high"], color=colour, alpha=0.2, linewidth=0)
                ends[name] = (drawn["steps"].iloc[-1], drawn["median"].iloc[-1], colour)
        ink = rcParams["text.color"]
        for name, value in lines.items():
            drawn_at = max(value, LEAST)
            axes.axhline(drawn_at, color=ink, linestyle=":", linewidth=1)
            ends[name] = (axes.get_xlim()[1], drawn_at, ink)
        axes.grid(alpha=0.6)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        decades = np.ptp(np.log10(axes.get_ylim()))
        if decades < 2:
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(tick)
        axes.minorticks_off()
        label_heights = spread(np.log10([y for _, y, _ in ends.values()]), decades * LABEL)
        for (name, (x, y, colour)), height in zip(ends.items(), label_heights, strict=True):
            leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (0, 0.5)}  # from the first letter
            where = {"xytext": (1.03, 10**height), "textcoords": axes.get_yaxis_transform(), "va": "center"}
            axes.annotate(name, (x, y), arrowprops=leader, fontsize=8.5, **where)

    draw(path, (8, 4.8), fill)


def tick(value: float, _: int | None = None) -> str:
    """Return the label of a tick on a logarithmic axis of regrets."""
    if value < 2 * LEAST:
        return "0" if value > LEAST / 2 else ""
    return np.format_float_positional(value, 3, fractional=False, trim="-")


def draw(path: Path, size: tuple[float, float], fill: Callable[[Figure], None]) -> None:
    """Write a picture for light pages, NAME.png, and one for dark pages, NAME-dark.png.

    Args:
        path: the path of NAME.png.
        size: width and height in inches.
        fill: function that draws on an empty figure.
    """
    for suffix, (ground, ink, line) in SCHEMES.items():
        style: dict[Any, str] = dict.fromkeys(["text.color", "axes.labelcolor", "xtick.color", "ytick.color"], ink)
        style |= dict.fromkeys(["figure.facecolor", "axes.facecolor", "legend.facecolor"], ground)
        style |= dict.fromkeys(["axes.edgecolor", "grid.color", "legend.edgecolor"], line)
        with matplotlib.rc_context(style):
            figure = Figure(size, layout="constrained")
            fill(figure)
            with write_aside(path.with_stem(path.stem + suffix)) as aside:
                figure.savefig(aside, dpi=130)
                Image.open(aside).convert("RGB").quantize().save(aside, optimize=True)


def spread(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Raise heights [K] until any two differ by at least `gap`; keep their order."""
    raised = heights.copy()
    for lower, upper in pairwise(heights.argsort(kind="stable")):
        raised[upper] = max(raised[upper], raised[lower] + gap)
    return raised
