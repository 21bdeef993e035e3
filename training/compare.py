"""Compare agents: `python -m training.compare RUNS... [--out FOLDER]` makes one table, or a report with pictures.

The table also has policies that need no training: random play, the named strategies of the game, and one greedy step on
the exact action values of random play.
"""

import json as json_text
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]

from agents.baselines import greedy_step
from agents.presets import STANDARD, make_settings, read_preset, task_name
from stb_gym.cli import flag_of_rule
from stb_gym.games import check_choice, fits
from stb_gym.output import Column, Table, from_json, say
from stb_gym.solver import Evaluation
from stb_gym.solving import solve, strategies, strategy
from training.commands import run_command
from training.report import write_report
from training.results import (
    Task,
    bootstrap_interval,
    by_agent,
    by_task,
    interquartile_mean,
    read_measurements,
    save_results,
)


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command("training.compare", compare, words)


def compare(
    *runs: Path, out: Path | None = None, save: Path | None = None, task: str | None = None, json: bool = False
) -> None:
    """Compare runs and results: print a table for each task, or write a report.

    A game of your own needs --import MODULE.

    Args:
        runs: folders of runs, and results files that --save wrote.
        out: folder for report.html, README.md and the pictures.
        save: file for all measurements, whose name ends in .csv.gz.
        task: compare only the runs of this task, such as nine-tiles.
        json: print the tables as JSON.
    """
    measurements = read_measurements(runs)
    tasks = by_task(measurements)
    if task is not None:
        check_choice("task", task, list(tasks))
        tasks = {task: tasks[task]}
        measurements = tasks[task][1]
    rows = {name: compare_agents(each, frame) for name, (each, frame) in tasks.items()}
    if save is not None:
        save_results(save, measurements)
    if out is not None:
        tables = {name: table_of(tasks[name][0], frame) for name, frame in rows.items()}
        write_report(out, tasks, rows, tables, [path for path in runs if path.is_dir()])
    if json:
        answer = {name: frame.astype(object).where(frame.notna(), None) for name, frame in rows.items()}
        say(json_text.dumps({name: frame.to_dict("records") for name, frame in answer.items()}, indent=2))
    else:
        for name, frame in rows.items():
            say(f"{name}\n\n{table_of(tasks[name][0], frame.drop(columns=['command', 'settings']))}\n")


def compare_agents(task: Task, measurements: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every agent and every baseline of a task, best first.

    Args:
        task: the task.
        measurements: those of its runs.

    Returns:
        The columns agent, steps, minutes (of the processor, per seed), the metric of the task (the interquartile mean
        over seeds), low and high (the ends of its interval), interval (in words), of_optimum (the regret as a share of
        the optimal value), choices_optimal and illegal_ends (shares), seeds, command and settings. Baselines have no
        steps, and rounds have no shares.
    """
    rows = [_agent_row(task, name, runs) for name, runs in by_agent(measurements).items()]
    if task.metric == "regret" and fits(task.game):
        for name, evaluation in baselines(task).items():
            row = {"agent": name, "regret": evaluation.regret, "choices_optimal": evaluation.agreement_by_visits}
            row |= {"of_optimum": evaluation.regret / abs(evaluation.optimum.value), "illegal_ends": 0.0}
            rows.append(row)
    return pd.DataFrame(rows).sort_values(task.metric, kind="stable", ignore_index=True)


def _agent_row(task: Task, name: str, runs: pd.DataFrame) -> dict[str, Any]:
    last = runs.sort_values(["seed", "steps"]).groupby("seed").tail(1)
    row: dict[str, Any] = {"agent": name, "steps": int(last["steps"].max())}
    means = {"minutes": "seconds", task.metric: task.metric}
    if task.metric == "regret":
        means |= {"choices_optimal": "agreement_by_visits", "illegal_ends": "illegal_mass"}
    for key, column in means.items():
        row[key] = float(interquartile_mean(last[column].to_numpy(float)))
    row["minutes"] /= 60
    if len(last) > 1:
        row["low"], row["high"] = bootstrap_interval(last[task.metric].to_numpy(float)).tolist()
        row["interval"] = f"{row['low']:.4g} to {row['high']:.4g}"
    if task.metric == "regret":
        optimal_utility = task.objective.sign * last["value"].iloc[0] + last["regret"].iloc[0]
        row["of_optimum"] = row["regret"] / abs(optimal_utility)
    agent, seeds = last.iloc[0], last["seed"].tolist()
    settings = ", ".join(f"{key} {value}" for key, value in from_json(agent["settings"]).items())
    return {**row, "seeds": len(seeds), "command": train_command(task, agent, seeds), "settings": settings}


def train_command(task: Task, agent: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """Return the command that trains an agent, or "" if there is no such algorithm or variant any more.

    Args:
        task: the task.
        agent: the values of `results.AGENT`.
        seeds: the seeds.
    """
    name = task_name(task.env, task.arguments)
    try:
        preset = read_preset(agent["algorithm"], name, agent["variant"])
        steps = preset.pop("steps", None)
        settings = asdict(make_settings(agent["algorithm"], preset))
    except ValueError:
        return ""
    words = ["python", "-m", "training.train", agent["algorithm"]]
    if name is not None:
        words += ["--task", name]
    else:
        module = type(task.game).__module__
        words += ["--env", task.env] if module.startswith("stb_gym.") else ["--import", module, "--env", task.env]
        for rule, value in task.arguments.items():
            words += [f"--{flag_of_rule(rule)}", value if isinstance(value, str) else json_text.dumps(value)]
    if task.opponents:
        words += ["--players", task.players, "--opponents", task.opponents]
    if agent["variant"] != STANDARD:
        words += ["--variant", agent["variant"]]
    if agent["budget"] != steps:
        words += ["--steps", str(agent["budget"])]
    for setting, value in from_json(agent["settings"]).items():
        if setting not in settings or settings[setting] != value:
            words += [f"--settings.{setting.replace('_', '-')}", json_text.dumps(value)]
    return shlex.join([*words, "--seeds", ",".join(map(str, seeds))])


# Baselines that need no training


def baselines(task: Task) -> dict[str, Evaluation]:
    """Evaluate random play, the strategies that are not perfect play, and the greedy step, by name."""
    optimum = solve(task.game, task.objective)
    names = [
        name for name in strategies(task.game) if name not in ("optimal", "worst", f"optimal-{task.objective.name}")
    ]
    policies = {name: strategy(task.game, name) for name in names}
    policies["greedy-step"] = greedy_step(task.game, task.objective)
    return {name: optimum.evaluate(policy) for name, policy in policies.items()}


# The table


def table_of(task: Task, rows: pd.DataFrame) -> Table:
    """Return the rows of `compare_agents` as a table for people."""
    formats = {
        "agent": ("agent", ""),
        "steps": ("steps", ",.0f"),
        "minutes": ("processor minutes", ".1f"),
        task.metric: (task.heading, ".4g"),
        "interval": ("95% interval over seeds", ""),
        "of_optimum": ("share of the optimum lost", ".4%"),
        "choices_optimal": ("choices optimal", ".2%"),
        "illegal_ends": ("illegal ends", ".2%"),
        "seeds": ("seeds", ".0f"),
        "command": ("command", ""),
        "settings": ("settings", ""),
    }
    columns = {}
    for name, (heading, form) in formats.items():
        if name in rows:
            values = rows[name].astype(object)
            columns[heading] = Column(form, values.where(values.notna(), None).tolist())
    return Table(columns)


if __name__ == "__main__":
    sys.exit(main())
