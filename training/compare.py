"""Compare agents: `python -m training.compare RUNS... [--out FILE]` prints a table and writes a page of curves.

The table also has policies that need no training: random play, the named strategies of the game, and one greedy step on
the exact action values of random play.
"""

import json as json_text
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]

from agents.baselines import greedy_step
from stb_gym.console import say
from stb_gym.games import fits
from stb_gym.measure import read_policy
from stb_gym.solver import Evaluation
from stb_gym.solving import solve, strategies, strategy
from training.commands import run_command
from training.report import costliest, curves_of, rounded, table_of, train_command, write_page
from training.results import TrainingTask, by_agent, by_task, read_measurements, save_results
from training.seeds import coverage, interval

# Columns of the table, if runs have them.
SHOWN = ("agreement_by_visits", "value_error", "illegal_mass", "exploitability")


def compare(*runs: Path, out: Path | None = None, save: Path | None = None, json: bool = False) -> None:
    """Compare runs and results: print a table for each task, and write a page of learning curves.

    A game of your own needs --import MODULE.

    Args:
        runs: Folders of runs, and results files that --save wrote.
        out: HTML file for the page of curves, which needs no other file.
        save: File for all measurements, whose name ends in .csv.gz.
        json: Print the tables as JSON.
    """
    measurements = read_measurements(runs)
    tasks = by_task(measurements)
    rows = {name: compare_agents(task, frame) for name, (task, frame) in tasks.items()}
    if save is not None:
        save_results(save, measurements.drop(columns=["folder", "made"]))
    if out is not None:

        def mistakes(agent: "pd.Series[Any]") -> pd.DataFrame | None:
            policy = Path(agent["folder"], "policy.npz")
            return costliest(read_policy(policy).evaluate()) if agent["folder"] and policy.exists() else None

        lines = {name: {row["agent"]: row[task.metric] for row in rows[name]} for name, (task, _) in tasks.items()}
        write_page(out, {name: curves_of(name, *tasks[name], lines[name], mistakes) for name in tasks})
    if json:
        say(json_text.dumps(rows, indent=2))
    else:
        for name, (task, _) in tasks.items():
            best = next(row for row in rows[name] if "steps" in row)
            value = rounded(best[task.metric])
            say(f"The best agent on {name} is {best['agent']}: its {task.heading} is {value}.\n", wrapped=True)
            say(f"{table_of(task, rows[name])}\n")


def compare_agents(task: TrainingTask, measurements: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row for every agent and every baseline of a task, best first.

    Args:
        task: the task.
        measurements: those of its runs.

    Returns:
        Rows with the entries agent, steps, seeds, command, and medians over seeds: the metric of the task, seconds and
        those of SHOWN. The ends of the metric's interval are low and high, and coverage is the probability that it
        contains the median. Entries that are not known are missing.
    """
    rows: list[dict[str, Any]] = []
    for name, runs in by_agent(measurements).items():
        last = runs.sort_values("steps").groupby("seed").last()
        row = {"agent": name, "steps": int(last["steps"].max()), "seeds": len(last)}
        row |= last.reindex(columns=["seconds", task.metric, *SHOWN]).median().dropna().to_dict()
        if len(last) > 1:
            row["low"], row["high"] = interval(last[task.metric].to_numpy(float)).tolist()
            row["coverage"] = coverage(len(last))
        rows.append(row | {"command": train_command(task, last.iloc[0], last.index)})
    if task.metric == "regret":
        for name, evaluation in baselines(task).items():
            rows.append(
                {"agent": name, "regret": evaluation.regret, "agreement_by_visits": evaluation.agreement_by_visits}
            )
    return sorted(rows, key=lambda row: row[task.metric])


def baselines(task: TrainingTask) -> dict[str, Evaluation]:
    """Evaluate policies that need no training, by name; there are none if the game is too large for tables.

    They are random play, the strategies that are not perfect play, and the greedy step.
    """
    if not fits(task.game):
        return {}
    optimum = solve(task.game, task.objective)
    perfect = ("optimal", "worst", f"optimal-{task.objective.name}")
    policies = {name: strategy(task.game, name) for name in strategies(task.game) if name not in perfect}
    policies["greedy-step"] = greedy_step(task.game, task.objective)
    return {name: optimum.evaluate(policy) for name, policy in policies.items()}


main = partial(run_command, "training.compare", compare)


if __name__ == "__main__":
    sys.exit(main())
