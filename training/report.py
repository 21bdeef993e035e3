"""Reports: a page of learning curves, a page of Markdown, and pictures."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle, pairwise, product
from json import dumps
from pathlib import Path
from typing import Any

import jinja2
import matplotlib
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator
from numpy.typing import NDArray

from agents.presets import STANDARD, configure
from stb_gym.cli import flag_of_rule
from stb_gym.explorer.page import COLOURS, DASHES
from stb_gym.games import title
from stb_gym.measure import read_policy
from stb_gym.output import Column, Table, from_json, write_aside, write_text
from stb_gym.plots import LINESTYLES
from stb_gym.solver import Evaluation
from training.results import AGENT, TASK, Task, by_agent, curve_over_seeds, read_run

HERE = Path(__file__).parent
MISTAKES = 5  # that are listed
BASELINES = ("random", "greedy-step", "fewest-then-biggest", "threes-only")  # drawn as lines, where a task has them
LEAST = 1e-6  # a logarithmic axis has no 0: smaller values are drawn there
SERIES = [(colour, style) for style in LINESTYLES for colour in COLOURS]
LABEL = 0.045  # height of a name as a share of that of the axes
SCHEMES = {"": ("#ffffff", "#1b1b1b", "#e2dbcf"), "-dark": ("#171614", "#f1ede4", "#3b3731")}  # ground, ink and lines


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
    sections, shown = {}, {}
    saved = [(read_run(folder).iloc[0], folder) for folder in folders if (folder / "policy.npz").exists()]
    mistakes = {tuple(run[[*TASK, *AGENT]]): costliest(read_policy(folder).evaluate()) for run, folder in saved[::-1]}
    for name, (task, measurements) in tasks.items():
        curves = {agent: curve_over_seeds(runs, task.metric) for agent, runs in by_agent(measurements).items()}
        lines = {row["agent"]: row[task.metric] for row in rows[name] if row["agent"] in BASELINES}
        draw_curves(out / f"{name}.png", curves, lines, task.heading)
        sections[name] = {
            "title": f"{title(task.game)}; objective {task.objective.name}",
            "caption": f"{task.metric.capitalize()} against steps: {name}",
            "columns": table_of(task, rows[name]).columns,
            "commands": {row["agent"]: row.get("command", "") for row in rows[name]},
        }
        shown[name] = curves_of(name, task, measurements, lines, lambda run: mistakes.get(tuple(run[[*TASK, *AGENT]])))
    write_text(out / "README.md", _filled("README.md.j2", sections=sections))
    write_page(out / "report.html", shown)


def _filled(template: str, **words: Any) -> str:
    """Return a template of this folder with words in it."""
    escape = jinja2.select_autoescape(["html.j2"])
    pages = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=escape, trim_blocks=True)
    return pages.get_template(template).render(words)


def write_page(path: Path, tasks: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a page of learning curves that needs no other file.

    Args:
        path: the HTML file.
        tasks: what `curves_of` returned, by the names of tasks.
    """
    names = dict.fromkeys(agent["name"] for task in tasks.values() for agent in task["agents"])
    looks = dict(zip(names, cycle(product(DASHES, COLOURS)), strict=False))
    for task in tasks.values():
        for agent in task["agents"]:
            agent["dashes"], agent["colour"] = looks[agent["name"]]
    script, style = ((HERE / f"curves.{kind}").read_text(encoding="utf-8") for kind in ("js", "css"))
    data = dumps(tasks).replace("<", "\\u003c")  # which could end the script
    write_text(path, _filled("curves.html.j2", tasks=data, script=script, style=style))


def curves_of(
    heading: str,
    task: Task,
    measurements: pd.DataFrame,
    lines: Mapping[str, float],
    mistakes: Callable[["pd.Series[Any]"], pd.DataFrame | None],
) -> dict[str, Any]:
    """Return what the page of curves shows of a task, for JSON.

    Args:
        heading: the name of the task for readers.
        task: the task.
        measurements: those of its runs.
        lines: values of policies that did not learn, by name.
        mistakes: returns the rows of `costliest`, if they are known, for the first measurement of an agent.
    """
    agents = []
    for budget, equal in measurements.groupby("budget"):
        for name, runs in by_agent(equal).items():
            first, seeds = runs.iloc[0], runs["seed"].unique().tolist()
            made = mistakes(first)
            agent = {
                "name": name,
                "group": "library" if first["algorithm"].startswith("sb3-") else "ours",
                "budget": budget,
                "seeds": len(seeds),
                "command": train_command(task, first, seeds),
                "mistakes": None if made is None else made.to_dict("records"),
            }
            curve = curve_over_seeds(runs, task.metric).assign(minutes=lambda curve: curve.pop("seconds") / 60)
            agents.append(
                agent | curve.map(lambda value: float(f"{value:.4g}")).assign(steps=curve["steps"]).to_dict("list")
            )
    return {"title": heading, "unit": task.heading, "agents": agents, "lines": lines}


def train_command(task: Task, agent: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """Return the command that trains an agent, or "" if there is no such algorithm or variant any more.

    Args:
        task: the task.
        agent: the values of `results.AGENT`.
        seeds: the seeds.
    """
    algorithm, variant, steps = agent["algorithm"], agent["variant"], int(agent["budget"])
    try:
        preset = configure(algorithm, task.env, task.arguments, variant, steps=steps).to_json()["settings"]
    except ValueError:
        return ""
    words = ["python", "-m", "training.train", algorithm, "--env", task.env]
    module = type(task.game).__module__
    if not module.startswith("stb_gym."):
        words += ["--import", module]
    for rule, value in task.arguments.items():
        words += [f"--{flag_of_rule(rule)}", value if isinstance(value, str) else dumps(value)]
    if task.opponents:
        words += ["--players", task.players, "--opponents", task.opponents]
    if variant != STANDARD:
        words += ["--variant", variant]
    for setting, value in from_json(agent["settings"]).items():
        if preset.get(setting) != value:
            words += [f"--settings.{setting.replace('_', '-')}", dumps(value)]
    return shlex.join([*words, "--steps", str(steps), "--seeds", ",".join(map(str, seeds))])


def table_of(task: Task, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the rows of `compare.compare_agents` as a table for people, without the commands."""
    formats: dict[str, tuple[str, Any]] = {
        "agent": ("agent", ""),
        "steps": ("steps", ",d"),
        "seconds": ("processor seconds", ",.0f"),
        task.metric: (task.heading, rounded),
        "low": ("95% interval: from", rounded),
        "high": ("to", rounded),
        "agreement_by_visits": ("choices optimal", ".2%"),
        "illegal_mass": ("illegal ends", ".2%"),
        "seeds": ("seeds", "d"),
    }
    columns = {}
    for name, (heading, form) in formats.items():
        if any(name in row for row in rows):
            columns[heading] = Column(form, [row.get(name) for row in rows])
    return Table(columns)


def rounded(number: float) -> str:
    """Return a number with two significant digits, and 0 for less than 0.000005."""
    return np.format_float_positional(number, 2, fractional=False, trim="-") if number >= 5e-6 else "0"


def costliest(evaluation: Evaluation) -> pd.DataFrame:
    """Return the departures from perfect play that cost most in a turn, with their losses and expected visits."""
    departures = pd.DataFrame(evaluation.departures()).nlargest(MISTAKES, "cost")
    return departures[["state", "roll", "plays", "best", "loss", "visits"]]


def draw_curves(path: Path, curves: Mapping[str, pd.DataFrame], lines: Mapping[str, float], ylabel: str) -> None:
    """Draw learning curves on logarithmic axes, each with its interval over seeds and its name at the right.

    Args:
        path: the PNG to write, see `draw`.
        curves: curves of agents by name, see `results.curve_over_seeds`. Measurements before the first step are left
            out.
        lines: values drawn as dotted lines, by name.
        ylabel: the label of the y axis.
    """

    def fill(figure: Figure) -> None:
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
        axes.grid(alpha=0.6)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.yaxis.set_major_formatter(lambda value, _: rounded(value) if value >= LEAST else "")
        axes.minorticks_off()
        decades = np.ptp(np.log10(axes.get_ylim()))
        places = spread(np.log10([y for _, y, _ in ends.values()]), decades * LABEL)
        for (name, (x, y, colour)), place in zip(ends.items(), places, strict=True):
            leader = {"arrowstyle": "-", "color": colour, "linewidth": 0.7, "relpos": (0, 0.5)}  # from the first letter
            where = {"xytext": (1.03, 10**place), "textcoords": axes.get_yaxis_transform(), "va": "center"}
            axes.annotate(name, (x, y), arrowprops=leader, fontsize=8.5, **where)

    draw(path, (8, 4.8), fill)


def draw(path: Path, size: tuple[float, float], fill: Callable[[Figure], None]) -> None:
    """Draw a picture for light pages, NAME.png, and one for dark pages, NAME-dark.png.

    Args:
        path: where NAME.png is.
        size: width and height in inches.
        fill: draws on an empty figure.
    """
    for suffix, (ground, ink, line) in SCHEMES.items():
        style: dict[Any, str] = dict.fromkeys(["text.color", "axes.labelcolor", "xtick.color", "ytick.color"], ink)
        style |= dict.fromkeys(["figure.facecolor", "axes.facecolor", "legend.facecolor"], ground)
        style |= dict.fromkeys(["axes.edgecolor", "grid.color", "legend.edgecolor"], line)
        with matplotlib.rc_context(style):
            figure = Figure(size, layout="constrained")
            fill(figure)
            with write_aside(path.with_stem(path.stem + suffix)) as aside:
                figure.savefig(aside, dpi=130, metadata={"Software": None})


def spread(heights: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Raise heights [K] until any two differ by `gap` or more; their order stays."""
    places = heights.copy()
    for lower, upper in pairwise(heights.argsort(kind="stable")):
        places[upper] = max(places[upper], places[lower] + gap)
    return places
