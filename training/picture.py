"""Draw the learning curves of one agent beside random play and one greedy step, as a PNG and as text."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator

from stb_gym.files import write_aside
from stb_gym.plots import regret_curves
from training.compare import baselines
from training.report import rounded
from training.results import by_task, curve_over_seeds, read_measurements

PICTURE = "curve.png"  # in the folder of the first run
MARKED = {"random": ":", "greedy-step": "--"}  # baselines and their line styles


def draw_runs(folders: Iterable[Path], path: Path) -> tuple[str, str]:
    """Draw the median regret of runs and its interval against steps, on logarithmic axes.

    Args:
        folders: finished runs of one configuration, which differ by their seeds.
        path: the PNG.

    Returns:
        A sentence about the first and the last regret, and the picture as a text, without the interval; see
        `curve_as_text`.
    """
    [(task, measurements)] = by_task(read_measurements(folders)).values()
    name = measurements["algorithm"].iloc[0]
    curve = curve_over_seeds(measurements, task.metric)
    known = baselines(task) if task.metric == "regret" else {}
    levels = {marked: known[marked].regret for marked in MARKED if marked in known}
    figure = Figure((7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    regret_curves({name: (curve["steps"], curve["median"])}, axes)
    axes.fill_between(curve["steps"], curve["low"], curve["high"], alpha=0.2)
    for marked, level in levels.items():
        axes.axhline(level, color="grey", linestyle=MARKED[marked], label=marked)
    axes.set_ylabel(task.heading)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(lambda value, _: rounded(value))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.minorticks_off()
    axes.legend(edgecolor="none", framealpha=1)
    with write_aside(path) as aside:
        figure.savefig(aside, format="png", dpi=120)
    first, last = curve.iloc[0], curve.iloc[-1]
    seeds = measurements["seed"].nunique()
    values = f"{rounded(first['median'])} to {rounded(last['median'])} in {last['steps']:,.0f} steps"
    note = f" (median of {seeds} seeds)" if seeds > 1 else ""
    return f"The {task.heading} of {name} goes from {values}{note}.", curve_as_text(curve, levels)


def curve_as_text(curve: pd.DataFrame, levels: Mapping[str, float], width: int = 60, height: int = 15) -> str:
    """Return a picture of characters: the median of a curve against steps, both on logarithmic axes.

    Args:
        curve: the columns `steps` and `median`, as `results.curve_over_seeds` returns them. What is 0 has no logarithm
            and is left out.
        levels: numbers that are marked by a dotted line, by name.
        width: the characters of a line, without its label.
        height: the number of lines.
    """
    shown = curve[(curve["steps"] > 0) & (curve["median"] > 0)]
    if len(shown) < 2:
        return "there are too few numbers above 0 to draw"
    steps, medians = shown["steps"].to_numpy(), shown["median"].to_numpy()
    heights = [*medians, *(level for level in levels.values() if level > 0)]

    def row_of(regret: Any) -> Any:
        share = np.log(max(heights) / regret) / max(np.log(max(heights) / min(heights)), 1e-9)
        return np.rint(share * (height - 1)).astype(int)

    labels = {row_of(median).item(): rounded(median) for median in (medians[0], medians.min(), medians[-1])}
    canvas = np.full((height, width), " ")
    for name, level in levels.items():
        if level > 0:
            labels[row_of(level).item()] = f"{name} {rounded(level)}"
            canvas[row_of(level)] = "."
    at = np.geomspace(steps[0], steps[-1], width)
    canvas[row_of(np.exp(np.interp(np.log(at), np.log(steps), np.log(medians)))), np.arange(width)] = "*"
    margin = max(map(len, labels.values()))
    lines = [f"{labels.get(row, ''):>{margin}} |{''.join(line)}" for row, line in enumerate(canvas)]
    first, last = f"{steps[0]:,}", f"{steps[-1]:,} steps"
    return "\n".join([*map(str.rstrip, lines), f"{'':{margin}}  {first}{last:>{width - len(first)}}"])
