"""Pictures of a study: for each task how agents learn, and for all tasks together how good they are at the end."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FormatStrFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from agents.presets import STANDARD, Presets
from stb_gym.measure import NORMAL_95
from stb_gym.solver import objective_of
from training.ledger import CurvePoint, Ledger, Row
from training.palette import Style, styles_of
from training.pictured import OF_NO_LENGTH, agent_in_words, pictured, shares_by_agent
from training.plots import LEAST_REGRET, regret_of, save
from training.statistics import interquartile_interval, interquartile_mean, interval

LETTERS = 80  # of the names of agents, in one line below a picture
CROWDED = 3.5  # powers of ten along an axis from which on only these are labelled

T = TypeVar("T")
Curves = list[list[CurvePoint]]
Number = Callable[[CurvePoint], float]


class Panel(NamedTuple):
    """One of the graphs of a picture.

    Attributes:
        title: what `y` is.
        y: the number drawn upwards.
        x: the number drawn to the right, on a logarithmic axis.
        along: what `x` is, "steps" or "minutes".
        logarithmic: whether the axis of `y` is.
        noise: the standard error of `y`, 0 where it is exact.
    """

    title: str
    y: Number
    x: Number = lambda point: point.steps
    along: str = "steps"
    logarithmic: bool = True
    noise: Number = lambda point: 0.0


def plot_study(folder: Path, presets: Presets) -> list[Path]:
    """Write the pictures of a study into its folder, see `training.pictured`; returns their paths.

    Lines are interquartile means over seeds, bands their 95 % intervals.
    """
    ledger = Ledger(folder)
    by_kind = pictured(ledger.rows.values())
    paths = []
    for kind, panels in (("", _panels), ("-ablations", _ablation_panels), ("-stock", _ablation_panels)):
        for task, of_task in groupby(by_kind[kind], lambda row: row.task):
            by_agent = {
                name: [ledger.curves[row.run] for row in seeds] for name, seeds in groupby(of_task, agent_in_words)
            }
            paths.append(folder / f"{task}{kind}.png")
            points = (point for curves in by_agent.values() for curve in curves for point in curve)
            _plot_task(paths[-1], by_agent, panels(points, _unit(presets, task)), _draw)
    for task, of_task in groupby(by_kind["-budgets"], lambda row: row.task):
        runs = list(of_task)
        if trainings := _trainings(runs, ledger):
            paths.append(folder / f"{task}-budgets.png")
            points = (point for row in runs for point in ledger.curves[row.run])
            _plot_task(paths[-1], trainings, _panels(points, _unit(presets, task))[:2], _draw_trainings)
    paths.append(folder / "profile.png")
    _plot_profile(paths[-1], by_kind[""])
    return paths


def _unit(presets: Presets, task: str) -> str:
    return objective_of(presets.tasks[task].game(), presets.tasks[task].objective).unit


def _trainings(rows: list[Row], ledger: Ledger) -> dict[str, list[Curves]]:
    """By agent the curves of trainings of different lengths, the shortest first; empty if none was trained for several.

    Args:
        rows: runs of one task.
        ledger: their measurements.
    """
    found, several = {}, False
    in_order = sorted(rows, key=lambda row: (row.algorithm, row.steps, row.variant))
    for algorithm, of_algorithm in groupby(in_order, lambda row: row.algorithm):
        by_length = [list(seeds) for _, seeds in groupby(of_algorithm, lambda row: row.variant)]
        curves = [[ledger.curves[row.run] for row in seeds] for seeds in by_length]
        if algorithm in OF_NO_LENGTH:
            curves = [[curve[:end] for curve in curves[-1]] for end in range(2, len(curves[-1][0]) + 1)]
        else:
            several |= len(curves) > 1
        if len(curves) > 1:
            found[agent_in_words(replace(by_length[0][0], variant=STANDARD))] = curves
    return found if several else {}


def _panels(curves: Iterable[CurvePoint], unit: str) -> list[Panel]:
    regret = _regret_panel(curves, unit)
    return [
        regret,
        regret._replace(x=lambda point: point.seconds / 60, along="minutes"),
        Panel("choices in play that are not optimal", lambda point: 1 - point.agreement_by_visits),
        Panel(f"error of the learner's values ({unit})", lambda point: point.value_error),
    ]


def _ablation_panels(curves: Iterable[CurvePoint], unit: str) -> list[Panel]:
    points = list(curves)
    illegal = Panel("turns ended illegally\n(none with masks)", lambda point: point.illegal_mass, logarithmic=False)
    return [_regret_panel(points, unit), *([illegal] if any(point.illegal_mass for point in points) else [])]


def _regret_panel(points: Iterable[CurvePoint], unit: str) -> Panel:
    return Panel(f"{regret_of(points)} ({unit})", lambda point: point.regret, noise=lambda point: point.standard_error)


def _plot_task(path: Path, by_agent: Mapping[str, T], panels: list[Panel], draw: Callable[..., None]) -> None:
    styles = styles_of(by_agent)
    lines = (len(panels) + 1) // 2
    figure = Figure(figsize=(11, 0.8 + 3.6 * lines), layout="constrained")
    for place, panel in enumerate(panels):
        axes = figure.add_subplot(lines, min(2, len(panels)), place + 1)
        for agent, curves in by_agent.items():
            draw(axes, agent, styles[agent], curves, panel)
        axes.set(xlabel=panel.along, ylabel=panel.title, xscale="log", yscale="log" if panel.logarithmic else "linear")
        decades = np.ptp(np.log10(axes.get_xlim()))
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < CROWDED else (1,)))
        axes.xaxis.set_major_formatter(EngFormatter(sep="") if panel.along == "steps" else FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.25)
    zero = min(np.min(line.get_ydata()) for line in figure.axes[0].get_lines()) <= LEAST_REGRET
    figure.suptitle(path.stem + (f" (0 is drawn as {LEAST_REGRET:g})" if zero else ""))
    columns = 5 if sum(map(len, by_agent)) <= LETTERS else 2
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=columns)
    save(path, figure)


def _draw(axes: Any, agent: str, style: Style, curves: Curves, panel: Panel) -> None:
    """Draw the line and the band of an agent, from the first measurement after the start on.

    The band of several seeds is their interval, which their noise is in; that of one seed is its noise. On an axis that
    is not logarithmic nothing is drawn of an agent whose numbers are all 0.
    """
    place = interquartile_mean(_array(curves, panel.x))
    values = _array(curves, panel.y)
    if panel.logarithmic:
        values = np.maximum(values, LEAST_REGRET)
    elif not values.any():
        return
    axes.plot(place, interquartile_mean(values), color=style.colour, linestyle=style.linestyle, label=agent)
    noise = NORMAL_95 * _array(curves, panel.noise)
    if len(curves) > 1:
        band = interquartile_interval(values)
    elif noise.any():
        band = np.maximum(values - noise, LEAST_REGRET)[0], (values + noise)[0]
    else:
        return
    axes.fill_between(place, *band, color=style.colour, alpha=0.2, linewidth=0)


def _draw_trainings(axes: Any, agent: str, style: Style, trainings: list[Curves], panel: Panel) -> None:
    """Draw a line, and a band, through what trainings of different lengths came to."""
    ends = [[[panel.x(curve[-1]), max(panel.y(curve[-1]), LEAST_REGRET)] for curve in curves] for curves in trainings]
    place, value = np.transpose([interquartile_mean(np.array(seeds)) for seeds in ends])
    low, high = np.transpose([interquartile_interval(np.array(seeds)[:, 1:]) for seeds in ends])[0]
    axes.plot(place, value, color=style.colour, linestyle=style.linestyle, marker=".", label=agent)
    axes.fill_between(place, low, high, color=style.colour, alpha=0.2, linewidth=0)


def _array(curves: Curves, of: Number) -> NDArray[np.float64]:
    """[R, P] a number at every measurement of runs that were measured at the same steps."""
    return np.array([[of(point) for point in curve[1:]] for curve in curves])


def _plot_profile(path: Path, rows: list[Row]) -> None:
    """The share of runs that ended with a regret of at most so much, over the tasks that all agents have learned."""
    by_agent = shares_by_agent(rows)
    common = list(next(iter(by_agent.values()), {}))
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    shares = [share for by_task in by_agent.values() for of_task in by_task.values() for share in of_task]
    highest = np.ceil(np.log10(max(shares, default=0.1) + LEAST_REGRET))
    levels = np.logspace(np.log10(LEAST_REGRET), highest, 401)
    styles = styles_of(sorted(by_agent))
    for agent, style in styles.items() if common else ():
        strata = [np.array(by_agent[agent][task])[:, None] <= levels for task in common]
        axes.plot(levels, _mean_share(strata), color=style.colour, linestyle=style.linestyle, label=agent)
        axes.fill_between(levels, *interval(strata, _mean_share), color=style.colour, alpha=0.2, linewidth=0)
    axes.set(xscale="log", xlabel="regret as a share of that of random play", ylabel="share of runs with at most that")
    axes.margins(x=0)
    axes.set_title(f"after the training on {', '.join(common) or 'no task that all have learned'}")
    axes.grid(alpha=0.25)
    if common:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    save(path, figure)


def _mean_share(strata: list[NDArray[Any]]) -> NDArray[np.float64]:
    """[..., P] the share of seeds, as the mean over tasks, each [..., R, P]."""
    return np.asarray(np.mean([stratum.mean(axis=-2) for stratum in strata], axis=0))
