"""Compare agents: `python -m training.compare RUNS... [--out FOLDER]` makes one table, or a report with pictures.

Agents stand beside perfect play's simplest rivals, which need no training: random play, the named strategies of the
game, and one greedy step on the exact action values of random play.
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
from agents.presets import ALGORITHMS, STANDARD, make_settings, read_preset, task_name, variants
from stb_gym.cli import flag_of_rule
from stb_gym.games import check_choice, fits, own_rules
from stb_gym.measure import NORMAL_95
from stb_gym.output import Column, Table, say
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
    return run_command("training.compare", compare, words, "nothing was written")


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
        answer = {name: json_text.loads(frame.to_json(orient="records")) for name, frame in rows.items()}
        say(json_text.dumps(answer, indent=2))
    else:
        for name, frame in rows.items():
            columns = table_of(tasks[name][0], frame).columns
            say(f"{name}\n\n{Table({key: columns[key] for key in columns if key != 'command'})}\n")


def compare_agents(task: Task, measurements: pd.DataFrame) -> pd.DataFrame:
    """Return a row for every agent and every baseline of a task, best first.

    Args:
        task: the task.
        measurements: those of its runs.

    Returns:
        The columns agent, trained, steps, minutes (of the processor, per seed), the metric of the task (the
        interquartile mean over seeds), low and high (the ends of its interval), of_optimum (the metric as a share of
        the optimal value), choices_optimal and illegal_ends (shares), seeds, and command.
    """
    rows = [_agent_row(task, name, runs) for name, runs in by_agent(measurements).items()]
    if task.metric == "regret" and fits(task.game):
        rows += [_baseline_row(name, evaluation) for name, evaluation in baselines(task).items()]
    return pd.DataFrame(rows).sort_values(task.metric, kind="stable", ignore_index=True)


def _agent_row(task: Task, name: str, runs: pd.DataFrame) -> dict[str, Any]:
    last = runs.sort_values("steps").groupby("seed").tail(1).sort_values("seed")
    values = last[task.metric].to_numpy(float)
    low, high = bootstrap_interval(values)
    if len(values) == 1:
        noise = NORMAL_95 * float(last.get("standard_error", pd.Series([0.0])).iloc[0])
        low, high = values[0] - noise, values[0] + noise
    row: dict[str, Any] = {
        "agent": name,
        "trained": True,
        "steps": int(last["steps"].max()),
        "minutes": _mean(last["seconds"]) / 60,
        task.metric: _mean(last[task.metric]),
        "low": float(low),
        "high": float(high),
    }
    if task.metric == "regret":
        optimal_utility = task.objective.sign * last["value"] + last["regret"]
        row["of_optimum"] = row["regret"] / abs(float(optimal_utility.iloc[0]))
        row["choices_optimal"] = _mean(last["agreement_by_visits"])
        row["illegal_ends"] = _mean(last["illegal_mass"])
    return {**row, "seeds": len(values), "command": train_command(task, last.iloc[0], last["seed"].tolist())}


def _mean(values: "pd.Series[float]") -> float:
    return float(interquartile_mean(values.to_numpy(float)))


def train_command(task: Task, agent: Mapping[str, Any], seeds: Sequence[int]) -> str:
    """Return the command that trains an agent, or "" if there is no such algorithm or variant any more.

    Args:
        task: the task.
        agent: the values of `results.AGENT`.
        seeds: the seeds.
    """
    algorithm, variant, named = agent["algorithm"], agent["variant"], task_name(task.env, task.arguments)
    if algorithm not in ALGORITHMS or variant not in variants(algorithm, named):
        return ""
    words = ["python", "-m", "training.train", algorithm]
    if named is None:
        words += ["--env", task.env]
        for name, value in task.arguments.items():
            words += _flag(name, value)
    else:
        words += ["--task", named]
    if task.opponents:
        words += ["--players", task.players, "--opponents", task.opponents]
    if variant != STANDARD:
        words += ["--variant", variant]
    steps, settings = read_preset(algorithm, named, variant)
    if agent["budget"] != steps:
        words += ["--steps", str(agent["budget"])]
    preset = asdict(make_settings(algorithm, settings))
    for name, value in json_text.loads(agent["settings"]).items():
        if name not in preset or preset[name] != value:
            words += [f"--settings.{name.replace('_', '-')}", json_text.dumps(value)]
    together = len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[-1] + 1))
    return shlex.join([*words, "--seeds", f"{seeds[0]}-{seeds[-1]}" if together else ",".join(map(str, seeds))])


def _flag(name: str, value: Any) -> list[str]:
    flag = flag_of_rule(name)
    if isinstance(value, bool):
        return [f"--{flag}" if value else f"--no-{flag}"]
    return [f"--{flag}", ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)]


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


def _baseline_row(name: str, evaluation: Evaluation) -> dict[str, Any]:
    game, objective = evaluation.optimum.game, evaluation.optimum.objective
    rules = [word for rule, value in own_rules(game).items() for word in _flag(rule, value)]
    goal = [] if objective.name == "score" else ["--objective", objective.name]
    command = shlex.join(["stb-gym", "evaluate", game.name, *rules, *goal, "--policy", name])
    return {
        "agent": name,
        "trained": False,
        "regret": evaluation.regret,
        "of_optimum": evaluation.regret / abs(evaluation.optimum.value),
        "choices_optimal": evaluation.agreement_by_visits,
        "illegal_ends": evaluation.illegal_mass,
        "command": "" if name == "greedy-step" else command,
    }


# The table


def table_of(task: Task, rows: pd.DataFrame) -> Table:
    """Return the rows of `compare_agents` as a table for people."""
    formats = {
        "agent": ("agent", ""),
        "steps": ("steps", ",.0f"),
        "minutes": ("processor minutes", ".1f"),
        task.metric: (f"{task.metric} ({task.objective.unit})" if task.metric == "regret" else "largest gain", ".4g"),
        "interval": ("95% interval over seeds", ""),
        "of_optimum": ("share of the optimum lost", ".4%"),
        "choices_optimal": ("choices optimal", ".2%"),
        "illegal_ends": ("illegal ends", ".2%"),
        "seeds": ("seeds", ".0f"),
        "command": ("command", ""),
    }
    columns = {}
    for name, (heading, form) in formats.items():
        if name == "interval":
            values = [
                f"{low:.4g} to {high:.4g}" if low < high else None
                for low, high in zip(rows["low"], rows["high"], strict=True)
            ]
        elif name in rows:
            values = [None if value is None or value != value else value for value in rows[name].astype(object)]
        else:
            continue
        columns[heading] = Column(form, values)
    return Table(columns)


if __name__ == "__main__":
    sys.exit(main())
