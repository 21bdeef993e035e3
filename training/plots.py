"""Pictures of runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, MaxNLocator

from stb_gym import SampledEvaluation
from stb_gym.exact import Measured
from stb_gym.measure import NORMAL_95
from stb_gym.output import styles_of, write_aside
from training.run import Point

NAMES_PER_ROW = 3  # below a picture
LEAST_REGRET = 1e-6  # a regret of 0, which the axis does not have, is drawn there


def plot_regret(path: Path, curves: Mapping[str, Sequence[Point]], strategies: Mapping[str, float], unit: str) -> None:
    """Draw the regret of runs against their steps, on a logarithmic axis, with the 95 % interval of a sampled one.

    Args:
        path: the PNG to write.
        curves: measurements by name of the run.
        strategies: regret of strategies by name, drawn as horizontal lines; those too near another are left out.
        unit: of the regret.
    """
    figure, axes = _figure(len(curves), height=4.5)
    for name, style in styles_of(curves).items():
        steps = [point.steps for point in curves[name]]
        line = {"color": style.colour, "linestyle": style.linestyle}
        axes.plot(steps, [max(point.regret, LEAST_REGRET) for point in curves[name]], **line, label=name)
        _draw_noise(axes, style.colour, curves[name])
        exploring = [max(point.exploring_regret, LEAST_REGRET) for point in curves[name]]
        axes.plot(steps, exploring, **line, linewidth=0.7)
    for name, regret in _apart(strategies).items():
        axes.axhline(regret, color="#8a8a8a", linewidth=0.8, linestyle=":")
        axes.annotate(name, (1.01, regret), xycoords=("axes fraction", "data"), va="center", fontsize=8)
    axes.set(yscale="log", xlabel="steps", ylabel=f"{regret_of(chain(*curves.values()))} ({unit})")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.margins(x=0)
    axes.grid(alpha=0.25)
    least = min(point.regret for points in curves.values() for point in points)
    zero = f" (0 is drawn as {LEAST_REGRET:g})" if least < LEAST_REGRET else ""
    axes.set_title(f"greedy; thin lines: while exploring{zero}", fontsize=9)
    _name_below(figure)
    save(path, figure)


def regret_of(points: Iterable[Point]) -> str:
    """What the regrets of measurements are: "exact regret", or sampled."""
    sampled = {point.turns > 0 for point in points}
    if sampled == {True}:
        return "regret, sampled with exact losses"
    return "regret, exact or sampled with exact losses" if any(sampled) else "exact regret"


def _draw_noise(axes: Any, colour: str, points: Sequence[Point]) -> None:
    """Draw the 95 % intervals of the regrets that were sampled."""
    if any(point.turns for point in points):
        ends = [[point.regret + sign * NORMAL_95 * point.standard_error for point in points] for sign in (-1, 1)]
        axes.fill_between(
            [point.steps for point in points], *np.maximum(ends, LEAST_REGRET), color=colour, alpha=0.2, linewidth=0
        )


def _apart(strategies: Mapping[str, float]) -> dict[str, float]:
    """The strategies whose names do not overlap on the axis, lowest regret first."""
    kept: dict[str, float] = {}
    for name, regret in sorted(strategies.items(), key=lambda entry: entry[1]):
        if regret > 1.4 * max(kept.values(), default=0):
            kept[name] = regret
    return kept


def plot_scores(path: Path, evaluations: Mapping[str, Measured]) -> None:
    """Draw the distributions of the final scores of policies.

    Args:
        path: the PNG to write.
        evaluations: of the policies, by name.
    """
    figure, axes = _figure(len(evaluations), height=3.5)
    for name, style in styles_of(evaluations).items():
        scores, line = evaluations[name].score_distribution, {"color": style.colour, "linestyle": style.linestyle}
        axes.plot(list(scores), list(scores.values()), **line, marker=".", linewidth=1, markersize=4, label=name)
    exact = not any(isinstance(each, SampledEvaluation) for each in evaluations.values())
    label = "exact probability" if exact else "probability, of agents as sampled"
    axes.set(xlabel="final score (points)", ylabel=label)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.25)
    _name_below(figure)
    save(path, figure)


def _figure(names: int, height: float) -> tuple[Figure, Any]:
    """A figure and its axes: `height` inches high, and as much higher as the names below it need."""
    figure = Figure(figsize=(8, height + 0.25 * math.ceil(names / NAMES_PER_ROW)), layout="constrained")
    return figure, figure.add_subplot()


def _name_below(figure: Figure) -> None:
    labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=NAMES_PER_ROW, fontsize=8)


def save(path: Path, figure: Figure) -> None:
    """Write a picture as PNG, whole or not at all."""
    with write_aside(path) as aside:
        figure.savefig(aside, dpi=130)
