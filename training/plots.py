"""Pictures of runs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FormatStrFormatter, MaxNLocator, PercentFormatter
from numpy.typing import NDArray

from stb_gym.measure import NORMAL_95, SampledEvaluation
from stb_gym.output import write_aside, write_text
from stb_gym.solver import Measured
from training.palette import Style
from training.run import Point
from training.svg import to_svg

WIDTH = 5.4  # inches: little enough that words can be read on a phone
NAMES_PER_ROW = 2  # below a picture
LEAST_REGRET = 1e-6  # a regret of 0, which the axis does not have, is drawn there


def plot_regret(
    path: Path,
    curves: Mapping[str, Sequence[Point]],
    strategies: Mapping[str, float],
    unit: str,
    styles: Mapping[str, Style],
) -> None:
    """Draw the regret of runs against their steps, on a logarithmic axis, with the 95 % interval of a sampled one.

    Args:
        path: the picture to write.
        curves: measurements by name of the run.
        strategies: regret of strategies by name, drawn as dotted lines; those too near another are left out.
        unit: of the regret.
        styles: the lines of runs and strategies, by name.
    """
    figure, [axes] = _figure(len(curves), height=4.6)
    for name, points in curves.items():
        steps, line = [point.steps for point in points], _line(styles[name])
        axes.plot(steps, [max(point.regret, LEAST_REGRET) for point in points], **line, label=name)
        _draw_noise(axes, styles[name].colour, points)
        exploring = [max(point.exploring_regret, LEAST_REGRET) for point in points]
        axes.plot(steps, exploring, **line, linewidth=0.7)
    for name, regret in _apart(strategies).items():
        axes.axhline(regret, color=styles[name].colour, linewidth=1.2, linestyle=":")
        axes.annotate(name, (1.01, regret), xycoords=("axes fraction", "data"), va="center", fontsize=9)
    axes.set(yscale="log", xlabel="steps", ylabel=f"{regret_of(chain(*curves.values()))} ({unit})")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(FormatStrFormatter("%g"))
    axes.margins(x=0)
    least = min(point.regret for points in curves.values() for point in points)
    zero = f" (0 is drawn as {LEAST_REGRET:g})" if least < LEAST_REGRET else ""
    axes.set_title(f"greedy; thin lines: while exploring{zero}", fontsize=9)
    _name_below(figure, axes)
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


def plot_scores(
    path: Path, optimum: Measured, shape: str, others: Mapping[str, Measured], styles: Mapping[str, Style]
) -> None:
    """Draw the final scores of perfect play, and by how much likelier others are to end worse.

    Args:
        path: the picture to write.
        optimum: perfect play, "optimum" among the styles.
        shape: which of the others stands beside it in the upper graph, which shows chances as they are.
        others: evaluations by name, all but that one in the lower graph, with the 95 % interval of sampled ones.
        styles: the lines of all of them, by name.
    """
    lower = {name: evaluation for name, evaluation in others.items() if name != shape} or others
    figure, [above, below] = _figure(1 + len({shape, *lower}), height=4.6, ratios=(2, 3))
    for name, evaluation in (("optimum", optimum), (shape, others[shape])):
        chances = evaluation.score_distribution
        above.plot(list(chances), list(chances.values()), **_line(styles[name]), marker=".", markersize=4, label=name)
    below.axhline(0, **_line(styles["optimum"]))
    for name, evaluation in lower.items():
        scores, difference, error = ends_worse(evaluation, optimum)
        step = {"drawstyle": "steps-post" if optimum.optimum.game.sign < 0 else "steps-pre"}
        below.plot(scores, difference, **_line(styles[name]), **step, label=name if name != shape else None)
        noise = NORMAL_95 * error
        if noise.any():
            band = {"color": styles[name].colour, "alpha": 0.2, "linewidth": 0, "step": step["drawstyle"][6:]}
            below.fill_between(scores, difference - noise, difference + noise, **band)
    worse = "fewer" if optimum.optimum.game.sign > 0 else "more"
    above.set(ylabel="chance of the score")
    below.set(xlabel="final score (points)", ylabel=f"chance of {worse} points,\nless that of perfect play")
    for axes in (above, below):
        axes.yaxis.set_major_formatter(PercentFormatter(1))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _name_below(figure, above, below)
    save(path, figure)


def ends_worse(evaluation: Measured, optimum: Measured) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """By how much likelier a policy is to end worse than with a score, than perfect play is.

    The area between it and 0 is what the policy loses in points.

    Returns:
        [T] the scores in ascending order, [T] the differences of the chances, and [T] their standard errors, all 0
        where nothing is sampled.
    """
    sign, of_policy, of_best = optimum.optimum.game.sign, evaluation.score_distribution, optimum.score_distribution
    worst_first = sorted({*of_policy, *of_best}, key=lambda score: sign * score)
    chances = np.array([[of.get(score, 0.0) for score in worst_first] for of in (of_policy, of_best)])
    worse = np.clip(np.cumsum(chances, axis=1) - chances, 0, 1)
    turns = evaluation.turns if isinstance(evaluation, SampledEvaluation) else np.inf
    error = np.sqrt(worse[0] * (1 - worse[0]) / turns)
    return np.array(worst_first)[::sign], (worse[0] - worse[1])[::sign], error[::sign]


def _line(style: Style) -> dict[str, Any]:
    return {"color": style.colour, "linestyle": style.linestyle}


def _figure(names: int, height: float, ratios: Sequence[float] = (1,)) -> tuple[Figure, list[Any]]:
    """A figure, `height` inches high and as much higher as the names below it need, and its axes from top to bottom."""
    figure = Figure(figsize=(WIDTH, height + 0.25 * math.ceil(names / NAMES_PER_ROW)), layout="constrained")
    panels = figure.subplots(len(ratios), sharex=True, squeeze=False, height_ratios=ratios).ravel().tolist()
    for axes in panels:
        axes.grid(alpha=0.25)
    return figure, panels


def _name_below(figure: Figure, *panels: Any) -> None:
    lines, names = (
        list(chain(*each)) for each in zip(*(axes.get_legend_handles_labels() for axes in panels), strict=True)
    )
    figure.legend(lines, names, loc="outside lower center", ncols=NAMES_PER_ROW, fontsize=9, frameon=False)


def save(path: Path, figure: Figure) -> None:
    """Write a picture as PNG, or as SVG if it is called so, whole or not at all."""
    if path.suffix == ".svg":
        write_text(path, to_svg(figure))
        return
    with write_aside(path) as aside:
        figure.savefig(aside, dpi=130)
