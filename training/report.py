"""Reports: a page of HTML, a page of Markdown and pictures of learning curves."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import jinja2
import matplotlib.style
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib import rcParams
from matplotlib.figure import Figure
from numpy.typing import NDArray

from stb_gym.games import title
from stb_gym.measure import read_policy
from stb_gym.output import Column, Table, write_aside, write_text
from stb_gym.plots import COLOURS, LINESTYLES
from training.results import Task, by_agent, curve_over_seeds

MISTAKES = 6  # in a table
BASELINES = ("random", "greedy-step", "fewest-then-biggest", "threes-only")  # drawn as lines, where a task has them
LEAST = 1e-7  # a logarithmic axis has no 0: smaller values are drawn there
SERIES = [(colour, style) for style in LINESTYLES for colour in COLOURS[:6]]  # black and yellow need one background
LABEL = 0.045  # height of a name as a share of that of the axes


def write_report(
    out: Path,
    tasks: Mapping[str, tuple[Task, pd.DataFrame]],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    folders: Iterable[Path],
) -> None:
    """Write report.html, README.md and two pictures for each task: NAME.png and, for dark pages, NAME-dark.png.

    Args:
        out: the folder.
        tasks: the tasks with their measurements, by name.
        rows: what `compare.compare_agents` returned for each of them.
        folders: folders of runs whose costliest mistakes are listed, if they have a policy; others are skipped.
    """
    sections = {}
    for name, (task, measurements) in tasks.items():
        curves = {agent: curve_over_seeds(runs, task.metric) for agent, runs in by_agent(measurements).items()}
        lines = {row["agent"]: row[task.metric] for row in rows[name] if row["agent"] in BASELINES}
        draw_curves(out / f"{name}.png", curves, lines, task.heading)
        draw_curves(out / f"{name}-dark.png", curves, lines, task.heading, dark=True)
        sections[name] = {
            "title": f"{title(task.game)}; objective {task.objective.name}",
            "caption": f"{task.metric.capitalize()} against steps: {name}",
            "columns": table_of(task, rows[name]).columns,
            "commands": {row["agent"]: row.get("command", "") for row in rows[name]},
        }
    mistakes = {str(folder): mistakes_table(folder) for folder in folders if (folder / "policy.npz").exists()}
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    pages = jinja2.Environment(loader=loader, autoescape=jinja2.select_autoescape(["html.j2"]), trim_blocks=True)
    for page in ("report.html", "README.md"):
        write_text(out / page, pages.get_template(f"{page}.j2").render(sections=sections, mistakes=mistakes))


def table_of(task: Task, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the rows of `compare.compare_agents` as a table for people, without the commands."""
    formats = {
        "agent": ("agent", ""),
        "steps": ("steps", ",d"),
        "seconds": ("processor seconds", ",.0f"),
        task.metric: (task.heading, ".4g"),
        "low": ("95% interval: from", ".4g"),
        "high": ("to", ".4g"),
        "agreement_by_visits": ("choices optimal", ".2%"),
        "illegal_mass": ("illegal ends", ".2%"),
        "seeds": ("seeds", "d"),
    }
    columns = {}
    for name, (heading, form) in formats.items():
        if any(name in row for row in rows):
            columns[heading] = Column(form, [row.get(name) for row in rows])
    return Table(columns)


def mistakes_table(folder: Path) -> Table:
    """Return the departures of a run from perfect play that cost most; the cost of a turn is visits times loss."""
    departures = pd.DataFrame(read_policy(folder).evaluate().departures()).nlargest(MISTAKES, "cost")
    formats = {"state": "", "roll": "", "plays": "", "best": "", "loss": ".3g", "visits": ".3g", "cost": ".3g"}
    return Table({name: Column(form, departures[name].tolist()) for name, form in formats.items()})


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
    with matplotlib.style.context("dark_background" if dark else "default"):
        figure = Figure(figsize=(8, 4.8), layout="constrained")
        axes: Any = figure.add_subplot(xscale="log", yscale="log", xlabel="steps", ylabel=ylabel)
        ends: dict[str, tuple[float, float, str]] = {}
        for (name, curve), (colour, dashes) in zip(curves.items(), SERIES * len(curves), strict=False):
            drawn = curve[curve["steps"] > 0].clip(lower=LEAST)
            if not drawn.empty:
                axes.plot(drawn["steps"], drawn["mean"], color=colour, linestyle=dashes)
                axes.fill_between(drawn["steps"], drawn["low"], drawn["high"], color=colour, alpha=0.2, linewidth=0)
                ends[name] = (drawn["steps"].iloc[-1], drawn["mean"].iloc[-1], colour)
        ink = rcParams["text.color"]
        for name, value in lines.items():
            drawn_at = max(value, LEAST)
            axes.axhline(drawn_at, color=ink, linestyle=":")
            ends[name] = (axes.get_xlim()[1], drawn_at, ink)
        axes.grid(alpha=0.25)
        decades = np.ptp(np.log10(axes.get_ylim()))
        places = spread(np.log10([y for _, y, _ in ends.values()]), decades * LABEL)
        for (name, (x, y, colour)), place in zip(ends.items(), places, strict=True):
            leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (0, 0.5)}  # from the first letter
            where = {"xytext": (1.03, 10**place), "textcoords": axes.get_yaxis_transform(), "va": "center"}
            axes.annotate(name, (x, y), arrowprops=leader, fontsize=8.5, **where)
        with write_aside(path) as aside:
            figure.savefig(aside, dpi=130, metadata={"Software": None})


def spread(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Raise heights [K] until any two differ by `gap` or more; their order stays."""
    places = heights.copy()
    for lower, upper in pairwise(heights.argsort(kind="stable")):
        places[upper] = max(places[upper], places[lower] + gap)
    return places
