"""Pictures of a study: for each task how agents learn, and for all tasks together how good they are at the end."""

from collections.abc import Callable
from itertools import cycle, groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FormatStrFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from agents.presets import STANDARD, Presets
from stb_gym.objectives import parse_objective
from training.ledger import CurvePoint, Ledger, Row
from training.plots import COLOURS, LEAST_REGRET, save
from training.results import ABLATIONS, agent_in_words
from training.statistics import interquartile_interval, interquartile_mean, interval

Curves = list[list[CurvePoint]]


def plot_study(folder: Path, presets: Presets) -> list[Path]:
    """Write a picture for every task of a study, and profile.png, into its folder; returns their paths.

    Lines are interquartile means over seeds, bands their 95 % intervals. Where there is the standard variant of an
    algorithm, variants that only train for a longer or a shorter time are left out.
    """
    ledger = Ledger(folder)
    paths = []
    standard = {(row.task, row.algorithm) for row in ledger.rows.values() if row.variant == STANDARD}
    drawn = [
        row
        for row in ledger.rows.values()
        if row.variant in (STANDARD, *ABLATIONS) or (row.task, row.algorithm) not in standard
    ]
    in_order = sorted(drawn, key=lambda row: (row.task, row.agent, row.seed))
    colours = dict(
        zip(sorted({agent_in_words(row) for row in drawn}), cycle(COLOURS), strict=False)
    )  # the same in all pictures
    for name, rows in groupby(in_order, lambda row: row.task):
        by_agent = {agent: [ledger.curves[row.run] for row in seeds] for agent, seeds in groupby(rows, agent_in_words)}
        paths.append(folder / f"{name}.png")
        _plot_task(paths[-1], name, parse_objective(presets.tasks[name].objective).unit, by_agent, colours)
    paths.append(folder / "profile.png")
    _plot_profile(paths[-1], in_order, colours)
    return paths


def _plot_task(path: Path, name: str, unit: str, by_agent: dict[str, Curves], colours: dict[str, str]) -> None:
    panels: list[tuple[str, str, Callable[[CurvePoint], float], Callable[[CurvePoint], float], bool]] = [
        (f"exact regret ({unit})", "steps", lambda point: point.steps, lambda point: point.regret, True),
        (f"exact regret ({unit})", "minutes", lambda point: point.seconds / 60, lambda point: point.regret, True),
        ("choices in play that are not optimal", "steps", lambda point: point.steps, _disagreement, True),
        (f"error of the learner's values ({unit})", "steps", lambda point: point.steps, lambda p: p.value_error, True),
    ]
    if any(point.illegal_mass for curves in by_agent.values() for curve in curves for point in curve):
        panels.append(("turns ended by an illegal action", "steps", lambda p: p.steps, lambda p: p.illegal_mass, False))
    figure = Figure(figsize=(11, 4 * ((len(panels) + 1) // 2)), layout="constrained")
    for place, (title, along, x, y, logarithmic) in enumerate(panels):
        axes = figure.add_subplot((len(panels) + 1) // 2, 2, place + 1)
        for agent, curves in by_agent.items():
            _draw(axes, colours[agent], agent, curves, x, y)
        axes.set(xlabel=along, ylabel=title, xscale="log", yscale="log" if logarithmic else "linear")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(EngFormatter(sep="") if along == "steps" else FormatStrFormatter("%g"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.grid(alpha=0.25)
    figure.suptitle(f"{name} (0 is drawn as {LEAST_REGRET:g})")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    save(path, figure)


def _disagreement(point: CurvePoint) -> float:
    return 1 - point.agreement_by_visits


def _draw(axes: Any, colour: str, agent: str, curves: Curves, x: Any, y: Any) -> None:
    """An algorithm's line and band, from the first measurement after the start on."""
    place = interquartile_mean(_array(curves, x))
    values = np.maximum(_array(curves, y), LEAST_REGRET)
    axes.plot(place, interquartile_mean(values), color=colour, label=agent)
    if len(curves) > 1:
        axes.fill_between(place, *interquartile_interval(values), color=colour, alpha=0.2, linewidth=0)


def _array(curves: Curves, of: Callable[[CurvePoint], float]) -> NDArray[np.float64]:
    """[R, P] a number at every measurement of runs that were measured at the same steps."""
    return np.array([[of(point) for point in curve[1:]] for curve in curves])


def _plot_profile(path: Path, rows: list[Row], colours: dict[str, str]) -> None:
    """The share of runs that ended with a regret of at most so much, over the tasks that all agents have learned."""
    by_agent: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row.variant not in ABLATIONS:
            by_agent.setdefault(agent_in_words(row), {}).setdefault(row.task, []).append(1 - row.normalised_score)
    common = [
        task for task in dict.fromkeys(row.task for row in rows) if all(task in each for each in by_agent.values())
    ]
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    levels = np.logspace(-6, -1, 201)
    for agent, by_task in sorted(by_agent.items()):
        strata = [np.array(by_task[task])[:, None] <= levels for task in common]
        if strata:
            axes.plot(levels, _mean_share(strata), color=colours[agent], label=agent)
            axes.fill_between(levels, *interval(strata, _mean_share), color=colours[agent], alpha=0.2, linewidth=0)
    axes.set(xscale="log", xlabel="regret as a share of that of random play", ylabel="share of runs with at most that")
    axes.set_title(f"after the training on {', '.join(common) or 'no task that all have learned'}")
    axes.grid(alpha=0.25)
    if common:
        axes.legend(fontsize=8)
    save(path, figure)


def _mean_share(strata: list[NDArray[Any]]) -> NDArray[np.float64]:
    """[..., P] the share of seeds, as the mean over tasks, each [..., R, P]."""
    return np.asarray(np.mean([stratum.mean(axis=-2) for stratum in strata], axis=0))
