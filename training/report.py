"""Reports: a page of HTML, a page of Markdown and pictures of learning curves."""

import base64
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from stb_gym.games import title
from stb_gym.measure import read_policy
from stb_gym.output import Column, Table, write_aside, write_text
from stb_gym.plots import COLOURS, LINESTYLES
from training.results import Task, by_agent, by_task, curve_over_seeds, read_run

MISTAKES = 6  # in a table
BASELINES = ("random", "greedy-step", "fewest-then-biggest", "threes-only")  # drawn as lines, where a task has them
LEAST = 1e-7  # a logarithmic axis has no 0: smaller values are drawn there
SERIES = [(colour, style) for style in LINESTYLES for colour in COLOURS[:6]]  # black and yellow need one background
INK = {False: ("#1b1b1b", "#ffffff"), True: ("#f1ede4", "#211f1c")}  # of words and background, light and dark
LABEL = 0.18  # inches: height of a name


def write_report(
    out: Path,
    tasks: Mapping[str, tuple[Task, pd.DataFrame]],
    rows: Mapping[str, pd.DataFrame],
    tables: Mapping[str, Table],
    folders: Iterable[Path],
) -> None:
    """Write report.html, README.md and two pictures for each task: NAME.png and, for dark pages, NAME-dark.png.

    Args:
        out: the folder.
        tasks: the tasks with their measurements, by name.
        rows: what `compare.compare_agents` returned for each of them.
        tables: the same as tables for people.
        folders: runs whose costliest mistakes are listed, if they have a policy.
    """
    sections = {}
    for name, (task, measurements) in tasks.items():
        curves = {agent: curve_over_seeds(runs, task.metric) for agent, runs in by_agent(measurements).items()}
        shown = rows[name][rows[name]["agent"].isin(BASELINES)]
        lines = dict(zip(shown["agent"], shown[task.metric], strict=True))
        section: dict[str, Any] = {
            "title": f"{title(task.game)}; objective {task.objective.name}",
            "caption": f"{task.metric.capitalize()} against steps: {name}",
            "table": tables[name],
            "mistakes": {},
        }
        for picture, dark in ((name, False), (f"{name}-dark", True)):
            path = out / f"{picture}.png"
            draw_curves(path, curves, lines, task.heading, dark=dark)
            section["dark" if dark else "light"] = base64.b64encode(path.read_bytes()).decode("ascii")
        sections[name] = section
    for folder in folders:
        if (folder / "policy.npz").exists():
            [name] = by_task(read_run(folder))
            if name in sections:
                sections[name]["mistakes"][str(folder)] = mistakes_table(folder)
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    pages = jinja2.Environment(loader=loader, autoescape=lambda name: "html" in str(name), trim_blocks=True)
    for page in ("report.html", "README.md"):
        write_text(out / page, pages.get_template(f"{page}.j2").render(sections=sections))


def mistakes_table(folder: Path) -> Table:
    """Return the departures of a run from perfect play that cost most."""
    evaluation = read_policy(folder).evaluate()
    departures = pd.DataFrame(evaluation.departures()).nlargest(MISTAKES, "cost")
    columns = {name: Column("", departures[name].tolist()) for name in ("state", "roll", "plays", "best")}
    columns[f"loss ({evaluation.optimum.objective.unit})"] = Column(".3g", departures["loss"].tolist())
    columns["visits per turn"] = Column(".3g", departures["visits"].tolist())
    columns["share of the regret"] = Column(".2%", (departures["cost"] / evaluation.regret).tolist())
    return Table(columns)


def draw_curves(
    path: Path, curves: Mapping[str, pd.DataFrame], lines: Mapping[str, float], ylabel: str, *, dark: bool = False
) -> None:
    """Draw learning curves on logarithmic axes, each with its interval over seeds and its name at the right.

    Args:
        path: the PNG to write.
        curves: curves of agents by name, see `results.curve_over_seeds`. Measurements before the first step are left
            out.
        lines: values drawn as dotted lines, by name.
        ylabel: the label of the y axis.
        dark: draw on a dark background.
    """
    ink, background = INK[dark]
    inked = ["text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"]
    style: Any = dict.fromkeys(inked, ink) | dict.fromkeys(["axes.facecolor", "figure.facecolor"], background)
    with rc_context(style):
        height = max(4.4, 1 + LABEL * (len(curves) + len(lines)))  # inches
        figure = Figure(figsize=(8, height), layout="constrained")
        axes: Any = figure.add_subplot()
        ends: dict[str, tuple[float, float, str]] = {}
        for (name, curve), (colour, dashes) in zip(curves.items(), SERIES * len(curves), strict=False):
            drawn = curve[curve["steps"] > 0].clip(lower=LEAST)
            if drawn.empty:
                continue
            axes.plot(drawn["steps"], drawn["mean"], color=colour, linestyle=dashes, linewidth=1.6)
            axes.fill_between(drawn["steps"], drawn["low"], drawn["high"], color=colour, alpha=0.2, linewidth=0)
            ends[name] = (drawn["steps"].iloc[-1], drawn["mean"].iloc[-1], colour)
        axes.set(xscale="log", yscale="log", xlabel="steps", ylabel=ylabel)
        right = axes.get_xlim()[1]
        for name, value in lines.items():
            axes.axhline(value, color=ink, linestyle=":", linewidth=1)
            ends[name] = (right, value, ink)
        axes.set_xlim(right=right)
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        to_axes = axes.transData + axes.transAxes.inverted()
        points = np.array([(x, y) for x, y, _ in ends.values()]).reshape(-1, 2)
        places = spread(to_axes.transform(points)[:, 1], LABEL / (height - 0.8))
        for (name, (x, y, colour)), place in zip(ends.items(), places, strict=True):
            leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (0, 0.5)}  # from the first letter
            where = {"xytext": (1.03, place), "textcoords": "axes fraction", "va": "center", "fontsize": 8.5}
            axes.annotate(name, (x, y), arrowprops=leader, **where)
        with write_aside(path) as aside:
            figure.savefig(aside, dpi=130, metadata={"Software": None})


def spread(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Move heights [K] apart, in their order, until any two differ by `gap` or more and none is above 1."""
    order = heights.argsort(kind="stable")
    offset = gap * np.arange(len(order))
    raised = np.maximum.accumulate(heights[order] - offset) + offset
    places = np.empty_like(heights)
    places[order] = np.minimum(raised, 1 - offset[::-1])
    return places
