"""The pictures of any game, each drawn from its tables, and what the pictures of chapters are made with."""

import math
import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from stb_gym.output import DASHES, SERIES, Style, Table

WIDTH = 9.0  # inches
BARS = 12  # of the dearest mistakes
NEAR = 5  # lengths of the frontier: what is shown beside it
MARKERS = dict(zip(DASHES, ("o", "s", "^", "D"), strict=True))  # by the line that a strategy has elsewhere


def draw_scores(exact: Table, sampled: Table, styles: Mapping[str, Style]) -> Figure:
    """Final scores of the strategies that have a style, from `players.exact_scores` and `players.sampled_scores`."""
    figure, axes = single("Final scores: exact chances (lines) and shares of sampled games (circles)", 4.8)
    for name, style in styles.items():
        colour, line = style.colour, style.linestyle
        axes.plot(values(exact, "score"), values(exact, name), color=colour, ls=line, linewidth=1.6, label=name)
        axes.plot(values(sampled, "score"), values(sampled, name), "o", color=colour, markersize=3.5, fillstyle="none")
    axes.set(xlabel="final score (points)", ylabel="chance", ylim=(0, None))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False)
    return figure


def draw_frontier(corners: Table, known: Table, styles: Mapping[str, Style]) -> Figure:
    """The trade-off of points and the perfect score, from `frontier.frontier` and `players.ranking`."""
    perfect = list(corners.columns)[1]
    points, chance = values(corners, "expected points"), values(corners, perfect)
    figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    figure.suptitle(f"{corners.title}, and what strategies make of it", fontsize=12)
    titles = ("all strategies", "the frontier and what comes near it")[: len(points)]  # a single point has no length
    panels = figure.subplots(1, len(titles), squeeze=False).ravel().tolist()
    for axes, title in zip(panels, titles, strict=True):
        axes.plot(points, chance, "k.-", linewidth=1.2, markersize=4, label="frontier")
        axes.set(xlabel="expected points", ylabel=perfect)
        axes.set_title(title, fontsize=10)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(alpha=0.25)
    for (x, y), names in _by_place(known, perfect).items():
        colour, marker = styles[names[0]].colour, MARKERS[styles[names[0]].dashes]
        near = abs(points - x).min() <= NEAR * np.ptp(points) and chance.min() - y <= NEAR * np.ptp(chance)
        label = textwrap.fill(", ".join(names), 30, break_on_hyphens=False)
        for axes in panels if near else panels[:1]:
            axes.plot(x, y, marker, color=colour, markersize=7, alpha=0.9, label=label)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9, frameon=False
    )
    return figure


def _by_place(known: Table, perfect: str) -> dict[tuple[float, float], list[str]]:
    """The names of strategies by their expected points and chance of the perfect score; some are alike."""
    found: dict[tuple[float, float], list[str]] = {}
    headings = ("strategy", "expected points", perfect)
    for name, *place in zip(*(known.columns[heading].values for heading in headings), strict=True):
        points, chance = (round(value, 9) for value in place)
        found.setdefault((points, chance), []).append(name)
    return found


def draw_mistakes(table: Table, name: str, colour: str) -> Figure:
    """The dearest mistakes of a strategy, from `positions.departures` by cost."""
    dearest = table.take(range(min(BARS, len(table))))
    headings = ("state", "roll", "plays", "best", "loss", "visits", "cost")
    figure, axes = single(f"The dearest mistakes of {name}", 0.42 * len(dearest) + 1.2)
    rows = list(zip(*(dearest.columns[heading].values for heading in headings), strict=True))
    for place, (*_, loss, visits, cost) in enumerate(rows):
        axes.barh(place, cost, color=colour, height=0.65)
        axes.text(cost, place, f" {loss:.3f} points in {visits:.2%} of turns", va="center", fontsize=8)
    words = [f"{state}, roll {roll}\n{plays}; best {best}" for state, roll, plays, best, *_ in rows]
    axes.set_yticks(range(len(rows)), words, fontsize=8)
    axes.set(xlabel="points that the mistake costs in a turn, on average", xlim=(0, 1.35 * rows[0][-1] or 1))
    axes.grid(visible=False, axis="y")
    axes.invert_yaxis()
    return figure


def draw_tournament(table: Table) -> Figure:
    """What the first of two players wins, from `contests.pairings`."""
    names = table.columns["first player"].values
    wins = np.array([table.columns[name].values for name in names]).T
    figure, axes = single(table.title, 0.45 * len(names) + 2.2)
    axes.imshow(wins, cmap="PuOr", vmin=0, vmax=1, aspect="auto")
    for (row, across), win in np.ndenumerate(wins):
        dark = abs(win - 0.5) > 0.3
        axes.text(across, row, f"{100 * win:.1f}", ha="center", va="center", fontsize=8, color="w" if dark else "k")
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="second player, who knows the first score", ylabel="first player, and their wins in percent")
    axes.grid(visible=False)
    return figure


def draw_winning(table: Table) -> Figure:
    """What a lead is worth, from `contests.winning`."""
    figure, axes = single(
        "What a score wins if ties split (solid), and if all tied players win:\n"
        "between the bounds of what the indifferent may do (band), and as it was published (dashed)",
        5,
    )
    after, scores = [heading for heading in table.columns if heading.endswith(" after")], values(table, "score")
    for colour, heading in zip(SERIES, after, strict=False):
        axes.plot(scores, values(table, heading), color=colour, linewidth=1.8, label=heading)
        axes.plot(scores, values(table, f"{heading}, approximation"), "--", color=colour, linewidth=1.2)
        least, most = (values(table, f"{heading}, all win: {end}") for end in ("least", "most"))
        axes.fill_between(scores, least, most, color=colour, alpha=0.25, linewidth=1)
    axes.set(xlabel="score of the one who leads (points)", ylabel="expected share of the win", ylim=(0, 1.02))
    percent(axes)
    axes.legend(frameon=False, title="players")
    return figure


def percent(axes: Axes) -> None:
    """Chances upwards, whole numbers across."""
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def values(table: Table, heading: str) -> NDArray[Any]:
    """A column as an array."""
    return np.array(table.columns[heading].values)


def single(title: str, height: float) -> tuple[Figure, Axes]:
    """A figure of one panel, so many inches high."""
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=12)
    axes.grid(alpha=0.25)
    return figure, axes


def grid(count: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels on common axes, at most three in a row."""
    across = min(3, count)
    down = math.ceil(count / across)
    figure = Figure(figsize=(WIDTH, 2.4 * down + 0.8), layout="constrained")
    figure.suptitle(title, fontsize=12)
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for axes in panels[count:]:
        axes.set_axis_off()
    for axes in panels[:count]:
        axes.grid(alpha=0.25)
    return figure, panels[:count]
