"""Reports of runs: a table, and a page of learning curves."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]

from agents.presets import STANDARD, configure
from agents.registry import LEARNERS, is_custom
from stb_gym.cli import flag_of_rule
from stb_gym.console import Column, Table
from stb_gym.explorer.page import COLOURS, DASHES
from stb_gym.files import from_json, write_text
from stb_gym.solver import Evaluation
from training.results import TrainingTask, by_agent, curve_over_seeds

HERE = Path(__file__).parent
MISTAKES = 5  # mistakes that are listed
ZERO = 5e-6  # smaller numbers are printed as 0
BASELINES = ("random", "greedy-step", "fewest-then-biggest", "threes-only")  # drawn as lines, where a task has them


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
    page, style, script = ((HERE / f"curves.{kind}").read_text(encoding="utf-8") for kind in ("html", "css", "js"))
    data = json.dumps(tasks).replace("<", "\\u003c")  # "</script>" would end the script
    for hole, text in {"style": style, "data": data, "script": script}.items():
        page = page.replace(f"<!-- {hole} -->", text, 1)
    write_text(path, page)


def curves_of(
    title: str,
    task: TrainingTask,
    measurements: pd.DataFrame,
    lines: Mapping[str, float],
    mistakes: Callable[["pd.Series[Any]"], pd.DataFrame | None],
) -> dict[str, Any]:
    """Return what the page of curves shows of a task, for JSON.

    Args:
        title: the name of the task for readers.
        task: the task.
        measurements: those of its runs.
        lines: regrets of policies that did not learn, by name; only those in BASELINES are drawn.
        mistakes: a function from the first measurement of an agent to the rows of `costliest`, or None.
    """
    agents = []
    for steps, equal in measurements.groupby("made"):
        for name, runs in by_agent(equal).items():
            first, seeds = runs.iloc[0], runs["seed"].unique().tolist()
            made = mistakes(first)
            curve = curve_over_seeds(runs, task.metric)
            curve["minutes"] = curve.pop("seconds") / 60
            learner = LEARNERS.get(first["algorithm"])
            agent = {
                "name": name,
                "group": "library" if learner and learner.of_library else "ours",
                "budget": steps,
                "seeds": len(seeds),
                "command": train_command(task, first, seeds),
                "mistakes": None if made is None else made.to_dict("records"),
            }
            agents.append(agent | curve.map(_shortened).assign(steps=curve["steps"]).to_dict("list"))
    shown = {name: lines[name] for name in BASELINES if name in lines}
    return {"title": title, "unit": task.heading, "agents": agents, "lines": shown}


def _shortened(value: float) -> float:
    """Return a number with four significant digits, and 0 for less than 0.000005."""
    return float(f"{value:.4g}") if value >= ZERO else 0.0


def train_command(task: TrainingTask, agent: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """Return the command that trains an agent, or "" if there is no such algorithm or variant any more.

    Args:
        task: the task.
        agent: the values of `results.AGENT`.
        seeds: the seeds.
    """
    algorithm, variant, steps = agent["algorithm"], agent["variant"], int(agent["budget"])
    try:
        preset = {}
        if not is_custom(algorithm):
            preset = configure(algorithm, task.env, task.arguments, variant, steps=steps).to_json()["settings"]
    except ValueError:
        return ""
    words = ["python", "-m", "training.train", algorithm, "--env", task.env, *task.import_flag]
    for rule, value in task.arguments.items():
        words += [f"--{flag_of_rule(rule)}", value if isinstance(value, str) else json.dumps(value)]
    if task.opponents:
        words += ["--players", task.players, "--opponents", task.opponents]
    if variant != STANDARD:
        words += ["--variant", variant]
    for setting, value in from_json(agent["settings"]).items():
        if preset.get(setting) != value:
            words += [f"--settings.{setting.replace('_', '-')}", json.dumps(value)]
    return shlex.join([*words, "--steps", str(steps), "--seeds", ",".join(map(str, seeds))])


def table_of(task: TrainingTask, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the rows of `compare.compare_agents` as a table for people, without the commands."""
    formats: dict[str, tuple[str, Any]] = {
        "agent": ("agent", ""),
        "steps": ("steps", ",d"),
        "seeds": ("seeds", "d"),
        "seconds": ("processor seconds", ",.0f"),
        task.metric: (task.heading, rounded),
        "interval": ("interval of the median", ""),
        "agreement_by_visits": ("moves optimal", ".2%"),
        "value_error": (f"value error ({task.objective.unit})", rounded),
        "illegal_mass": ("illegal ends", ".2%"),
        "exploitability": ("exploitability", rounded),
    }
    columns = {}
    for name, (heading, form) in formats.items():
        values = [_interval(row) if name == "interval" else row.get(name) for row in rows]
        if any(value not in (None, "") for value in values):
            columns[heading] = Column(form, values)
    return Table(columns)


def _interval(row: Mapping[str, Any]) -> str:
    """Return the interval of the median over seeds, and how often such intervals contain it; "" for one seed."""
    return f"{rounded(row['low'])} to {rounded(row['high'])} ({row['coverage']:.0%})" if "low" in row else ""


def rounded(number: float) -> str:
    """Return a number with two significant digits or all of an integer; 0 if its size is less than 0.000005."""
    if abs(number) >= 100:
        return f"{number:.0f}"
    return f"{Decimal(f'{number:.1e}'):f}" if abs(number) >= ZERO else "0"


def costliest(evaluation: Evaluation) -> pd.DataFrame:
    """Return the departures from perfect play that cost most in a turn, with their losses and expected visits."""
    departures = pd.DataFrame(evaluation.departures()).query("cost > 0").nlargest(MISTAKES, "cost")
    return departures[["afterstate", "roll", "plays", "best", "loss", "visits"]]
