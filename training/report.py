"""Reports: a page of HTML, a page of Markdown and a picture for each task, from the tables of `training.compare`."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jinja2
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter
from numpy.typing import NDArray

from stb_gym.games import title, words_of
from stb_gym.measure import mistakes_in_json, read_policy
from stb_gym.output import Column, Table, from_json, write_aside, write_text
from stb_gym.plots import COLOURS, LINESTYLES
from training.results import Task, by_agent, by_task, curve_over_seeds, read_run

MISTAKES = 6  # in a table
LEAST = 1e-7  # a logarithmic axis has no 0: smaller regrets are drawn there
LABEL = 0.18  # inches: height of a name
SERIES = [(colour, style) for style in LINESTYLES for colour in COLOURS[:6]]  # black and yellow need one background
INK = {False: ("#1b1b1b", "#ffffff"), True: ("#f1ede4", "#211f1c")}  # of words and background, light and dark
SHADES = {False: "", True: "-dark"}  # endings of the names of pictures


def write_report(
    out: Path,
    tasks: Mapping[str, tuple[Task, pd.DataFrame]],
    rows: Mapping[str, pd.DataFrame],
    tables: Mapping[str, Table],
    folders: Iterable[Path],
) -> None:
    """Write report.html, README.md and two pictures for each task, one light and one dark.

    Args:
        out: the folder.
        tasks: the tasks with their measurements, by name.
        rows: what `compare.compare_agents` returned for each of them.
        tables: the same as tables for people.
        folders: runs whose costliest mistakes are listed, if they have a policy.
    """
    mistakes = mistakes_of_runs(folders)
    sections = []
    for name, (task, measurements) in tasks.items():
        agents = by_agent(measurements)
        curves = {agent: curve_over_seeds(runs, task.metric) for agent, runs in agents.items()}
        lines = _lines_of_baselines(rows[name]) if task.metric == "regret" else {}
        file = name.replace(", ", "-").replace(" ", "-")
        ylabel = f"regret ({task.objective.unit})" if task.metric == "regret" else "largest gain (expected wins)"
        for dark, ending in SHADES.items():
            draw_curves(out / f"{file}{ending}.png", curves, lines, ylabel, dark=dark)
        settings = {agent: from_json(runs["settings"].iloc[0]) for agent, runs in agents.items()}
        sections.append(
            {
                "name": name,
                "title": f"{title(task.game)}; objective {task.objective.name}",
                "picture": file,
                "caption": f"{task.metric.capitalize()} against steps: {name}",
                "table": tables[name],
                "settings": _settings_table(settings),
                "mistakes": mistakes.get(name, {}),
                "light": _base64(out / f"{file}.png"),
                "dark": _base64(out / f"{file}-dark.png"),
            }
        )
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    pages = jinja2.Environment(loader=loader, autoescape=lambda name: "html" in str(name), trim_blocks=True)
    pages.filters["rows"] = _rows
    pages.filters["markdown"] = markdown
    for template, page in (("report.html.j2", "report.html"), ("report.md.j2", "README.md")):
        write_text(out / page, pages.get_template(template).render(sections=sections))


def _rows(table: Table) -> Iterator[list[tuple[Column, str]]]:
    """Yield every row of a table as pairs of a column and the text of its cell."""
    for cells in zip(*(column.cells() for column in table.columns.values()), strict=True):
        yield list(zip(table.columns.values(), cells, strict=True))


def markdown(table: Table) -> str:
    """Return a table in Markdown; commands, in the last column, are code."""
    lines = [list(table.columns), ["---:" if column.format else "---" for column in table.columns.values()]]
    for row in _rows(table):
        cells = [cell.replace("|", "\\|") for _, cell in row]
        if "command" in table.columns and cells[-1]:
            cells[-1] = f"`{cells[-1]}`"
        lines.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")


def _lines_of_baselines(rows: pd.DataFrame) -> dict[str, float]:
    """Return the regrets of random play, the greedy step and the best other baseline, by name."""
    baselines = rows[~rows["trained"]]
    named = ["random", "greedy-step"]
    others = baselines[~baselines["agent"].isin(named) & (baselines["regret"] > 0)]
    chosen = pd.concat([baselines[baselines["agent"].isin(named)], others.nsmallest(1, "regret")])
    return dict(zip(chosen["agent"], chosen["regret"], strict=True))


def _settings_table(settings: Mapping[str, Mapping[str, Any]]) -> Table:
    words = [", ".join(f"{name} {value}" for name, value in each.items()) for each in settings.values()]
    return Table({"agent": Column("", list(settings)), "settings": Column("", words)})


def mistakes_of_runs(folders: Iterable[Path]) -> dict[str, dict[str, Table]]:
    """Return the costliest mistakes of runs that have a policy, by task and folder."""
    tables: dict[str, dict[str, Table]] = {}
    for folder in folders:
        if (folder / "policy.npz").exists():
            [name] = by_task(read_run(folder))
            tables.setdefault(name, {})[str(folder)] = _mistakes_table(folder)
    return tables


def _mistakes_table(folder: Path) -> Table:
    evaluation = read_policy(folder).evaluate()
    words = words_of(evaluation.optimum.game)
    mistakes = mistakes_in_json(evaluation, MISTAKES)
    plays = [mistake["plays"] for mistake in mistakes]
    return Table(
        {
            "position": Column("", [mistake["node"] for mistake in mistakes]),
            "plays": Column("", ["an illegal action" if move is None else words.move_in_words(move) for move in plays]),
            "best": Column("", [words.move_in_words(mistake["best"]) for mistake in mistakes]),
            f"loses ({evaluation.optimum.objective.unit})": Column(".3g", [mistake["loss"] for mistake in mistakes]),
            "once in turns": Column(",.0f", [1 / mistake["visits"] for mistake in mistakes]),
            "share of the regret": Column(".2%", [mistake["cost"] / evaluation.regret for mistake in mistakes]),
        }
    )


# The picture


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
        height = max(4.4, 1 + LABEL * (len(curves) + len(lines)))
        figure = Figure(figsize=(8, height), layout="constrained")
        axes = figure.add_subplot()
        ends: dict[str, tuple[float, float, str]] = {}
        for (name, curve), (colour, dashes) in zip(curves.items(), SERIES * len(curves), strict=False):
            drawn = curve[curve["steps"] > 0].clip(lower=LEAST)
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
        _label_ends(axes, ends, gap=LABEL / (height - 0.8))
        with write_aside(path) as aside:
            figure.savefig(aside, dpi=130, metadata={"Software": None})


def _label_ends(axes: Any, ends: Mapping[str, tuple[float, float, str]], gap: float) -> None:
    """Write names to the right of the axes, each joined by a thin line to the end of its curve.

    Args:
        axes: the axes.
        ends: x, y and the colour of every end, by name.
        gap: least distance of two names as a share of the height.
    """
    points = [(x, y) for x, y, _ in ends.values()]
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = spread(to_axes.transform(points)[:, 1], gap)
    for (name, (x, y, colour)), height in zip(ends.items(), heights, strict=True):
        leader: dict[str, Any] = {
            "arrowstyle": "-",
            "color": colour,
            "linewidth": 0.7,
            "alpha": 0.7,
            "shrinkA": 2,
            "shrinkB": 0,
        }
        leader["relpos"] = (0, 0.5)  # begins at the left of the name
        where = {"xycoords": "data", "textcoords": "axes fraction", "va": "center", "fontsize": 8.5}
        axes.annotate(name, (x, y), xytext=(1.03, height), arrowprops=leader, **where)


def spread(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Move heights apart until any two differ by `gap`, in the same order and below 1 if there is room."""
    order = np.argsort(heights, kind="stable")
    placed = heights[order].clip(0, 1)
    for place in range(1, len(placed)):
        placed[place] = max(placed[place], placed[place - 1] + gap)
    limit = 1.0
    for place in reversed(range(len(placed))):
        placed[place] = min(placed[place], limit)
        limit = placed[place] - gap
    result = np.empty_like(placed)
    result[order] = placed
    return result
