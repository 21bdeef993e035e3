"""The pictures of the book, each drawn from its tables: what one sees is what they say."""

import math
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from stb_gym.book.table import Table

# Okabe and Ito's colours, which the colour-blind can tell apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
WIDTH = 9.0  # inches
BARS = 12  # of the dearest mistakes
PANELS = 6  # faces of a die that are shown
NEAR = 5  # lengths of the frontier: what is shown beside it
MARKERS = ("o", "s", "^", "D", "v")


def boards(table: Table) -> Figure:
    """What every board costs, from `boxes.states` counted in the sum of the tiles shut."""
    tiles, highest, sums = (_values(table, heading) for heading in ("open tiles", "highest open", "open sum"))
    cost = sums.max() - _values(table, "best")
    numbers = range(1, int(tiles.max()) + 1)
    figure, panels = _panels(len(numbers), "What each board costs, by the number of its open tiles and their mean")
    for axes, number in zip(panels, numbers, strict=True):
        here = tiles == number
        dots = axes.scatter(
            sums[here] / number, cost[here], c=highest[here], cmap="viridis_r", vmin=0.5, vmax=highest.max() + 0.5, s=11
        )
        axes.set_title("1 tile open" if number == 1 else f"{number} tiles open", fontsize=10)
    figure.supxlabel("mean of the open tiles", fontsize=10)
    figure.supylabel("expected sum of the tiles left open, best play", fontsize=10)
    ticks = MaxNLocator(integer=True, min_n_ticks=1)
    figure.colorbar(dots, ax=panels, label="highest open tile", aspect=40, ticks=ticks)
    return figure


def scores(exact: Table, sampled: Table, names: Sequence[str]) -> Figure:
    """The final scores of strategies, from `players.scores` and `players.sampled_scores`."""
    figure, axes = _picture("Final scores: exact chances (lines) and shares of sampled games (circles)", 4.8)
    for colour, name in zip(COLOURS, names, strict=False):
        axes.plot(_values(exact, "score"), _values(exact, name), color=colour, linewidth=1.6, label=name)
        axes.plot(
            _values(sampled, "score"), _values(sampled, name), "o", color=colour, markersize=3.5, fillstyle="none"
        )
    axes.set(xlabel="final score (points)", ylabel="chance", ylim=(0, None))
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False)
    return figure


def frontier(corners: Table, known: Table) -> Figure:
    """The trade-off of few points and score 0, from `frontier.frontier` and `players.strategies`."""
    points, chance = _values(corners, "expected points"), _values(corners, "chance of score 0")
    figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
    figure.suptitle("Few points or a score of 0: what can be had of both, and what strategies make of it", fontsize=12)
    wide, close = figure.subplots(1, 2)
    for axes, title in ((wide, "all strategies"), (close, "the frontier and what comes near it")):
        axes.plot(points, chance, "k.-", linewidth=1.2, markersize=4, label="frontier")
        axes.set(xlabel="expected points", ylabel="chance of score 0")
        axes.set_title(title, fontsize=10)
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.grid(alpha=0.25)
    for number, ((x, y), names) in enumerate(_by_place(known).items()):
        marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
        near = x <= points.max() + NEAR * np.ptp(points) and y >= chance.min() - NEAR * np.ptp(chance)
        label = textwrap.fill(", ".join(names), 30, break_on_hyphens=False)
        for axes in (wide, close) if near else (wide,):
            axes.plot(x, y, marker, color=colour, markersize=7, alpha=0.9, label=label)
    figure.legend(*wide.get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=9, frameon=False)
    return figure


def _by_place(known: Table) -> dict[tuple[float, float], list[str]]:
    """The names of strategies by their expected points and chance of score 0; some are alike."""
    found: dict[tuple[float, float], list[str]] = {}
    headings = ("strategy", "expected points", "chance of score 0")
    for name, *place in zip(*(known.columns[heading].values for heading in headings), strict=True):
        points, chance = (round(value, 9) for value in place)
        found.setdefault((points, chance), []).append(name)
    return found


def mistakes(table: Table, name: str) -> Figure:
    """The dearest mistakes of a strategy, from `positions.departures` by cost."""
    dearest = table.take(range(min(BARS, len(table))))
    headings = ("state", "roll", "plays", "best", "loss", "visits", "cost")
    figure, axes = _picture(f"The dearest mistakes of {name}", 0.42 * len(dearest) + 1.2)
    rows = list(zip(*(dearest.columns[heading].values for heading in headings), strict=True))
    for place, (*_, loss, visits, cost) in enumerate(rows):
        axes.barh(place, cost, color=COLOURS[0], height=0.65)
        axes.text(cost, place, f" {loss:.3f} points in {visits:.2%} of turns", va="center", fontsize=8)
    words = [f"{state}, roll {roll}\n{plays}; best {best}" for state, roll, plays, best, *_ in rows]
    axes.set_yticks(range(len(rows)), words, fontsize=8)
    axes.set(xlabel="points that the mistake costs in a turn, on average", xlim=(0, 1.35 * rows[0][-1] or 1))
    axes.grid(visible=False, axis="y")
    axes.invert_yaxis()
    return figure


def tournament(table: Table) -> Figure:
    """What the first of two players wins, from `contests.tournament`."""
    names = table.columns["first player"].values
    wins = np.array([table.columns[name].values for name in names]).T
    figure, axes = _picture(table.title, 0.45 * len(names) + 2.2)
    axes.imshow(wins, cmap="PuOr", vmin=0, vmax=1, aspect="auto")
    for (row, across), win in np.ndenumerate(wins):
        dark = abs(win - 0.5) > 0.3
        axes.text(across, row, f"{100 * win:.1f}", ha="center", va="center", fontsize=8, color="w" if dark else "k")
    axes.set_xticks(range(len(names)), names, rotation=35, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="second player, who knows the first score", ylabel="first player, and their wins in percent")
    axes.grid(visible=False)
    return figure


def winning(table: Table) -> Figure:
    """The chance that a lead survives, from `contests.winning`."""
    figure, axes = _picture(
        "How often a score survives the players after: equilibrium (solid), approximation (dashed)", 4.8
    )
    after = [heading for heading in table.columns if heading.endswith(" after")]
    for colour, heading in zip(COLOURS, after, strict=False):
        axes.plot(_values(table, "score"), _values(table, heading), color=colour, linewidth=1.8, label=heading)
        approximated = _values(table, f"{heading}, approximation")
        axes.plot(_values(table, "score"), approximated, "--", color=colour, linewidth=1.2)
    axes.set(xlabel="score of the one who leads (points)", ylabel="chance to win or share the win", ylim=(0, 1.02))
    _percent(axes)
    axes.legend(frameon=False, title="players")
    return figure


def beat(table: Table) -> Figure:
    """The greatest chance of a total below a number, from `totals.beat`."""
    figure, axes = _picture("The greatest chance of a total below a number, by the dice left to throw", 4.4)
    for colour, heading in zip(COLOURS, list(table.columns)[1:], strict=False):
        axes.plot(_values(table, "below"), _values(table, heading), "o-", color=colour, markersize=3.5, label=heading)
    axes.set(xlabel="total to stay below (points)", ylabel="greatest chance", ylim=(0, 1.02))
    _percent(axes)
    axes.legend(frameon=False, title="dice")
    return figure


def take_or_rethrow(table: Table) -> Figure:
    """Taking one of two dice or throwing both again, from `totals.take_or_rethrow`."""
    two = table.take(np.flatnonzero(_values(table, "dice left") == 2))
    takes = [heading for heading in table.columns if heading.startswith("take")][:PANELS]
    below, rethrow = _values(two, "below"), _values(two, "rethrow all")
    figure, panels = _panels(len(takes), "Two dice left: take the one that shows a certain face, or throw both again?")
    for axes, heading in zip(panels, takes, strict=True):
        take = _values(two, heading)
        axes.plot(below, take, "o-", color=COLOURS[0], markersize=3.5, label="take it")
        axes.plot(below, rethrow, "s--", color=COLOURS[1], markersize=3.5, label="throw both again")
        axes.set_title(heading, fontsize=10)
        _percent(axes)
    panels[0].legend(frameon=False, fontsize=9)
    figure.supxlabel("total of the two dice to stay below (points)", fontsize=10)
    figure.supylabel("greatest chance", fontsize=10)
    return figure


def _percent(axes: Axes) -> None:
    axes.yaxis.set_major_formatter(PercentFormatter(1))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _values(table: Table, heading: str) -> NDArray[Any]:
    return np.array(table.columns[heading].values)


def _picture(title: str, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.subplots()
    axes.set_title(title, fontsize=12)
    axes.grid(alpha=0.25)
    return figure, axes


def _panels(count: int, title: str) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels on common axes, at most three in a row."""
    across = min(3, count)
    down = math.ceil(count / across)
    figure = Figure(figsize=(WIDTH, 2.4 * down + 0.8), layout="constrained")
    figure.suptitle(title, fontsize=12)
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.set_axis_off()
    for axes in grid[:count]:
        axes.grid(alpha=0.25)
    return figure, grid[:count]
