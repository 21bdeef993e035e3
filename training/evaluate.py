"""Measure a run again from its weights: `python -m training.evaluate runs/ppo-nine-tiles-0`."""

import json as json_text
import sys
from functools import partial
from pathlib import Path

from agents.registry import is_custom
from stb_gym.console import Column, Table, say
from stb_gym.measure import SampledEvaluation, read_policy
from training.commands import run_command
from training.compare import baselines
from training.measurement import Measurement, measure
from training.results import NEVER_UPDATED, TrainingTask
from training.run import Run

SHOWN = ("value", "regret", "normalised_score", "agreement_by_visits")


def evaluate(run: Path, /, *, turns: int | None = None, json: bool = False) -> None:
    """Measure a run again from its weights, beside the named strategies of a game that fits into tables.

    An agent MODULE:NAME is measured by its last policy. With --turns, or if the game does not fit into tables, it plays
    as it was saved; this needs --import MODULE.

    Args:
        run: Folder of a run.
        turns: Play this many turns, whatever the size of the game; losses of choices are exact.
        json: Print JSON instead of a table.
    """
    stored = Run(run)
    config, result = stored.config, stored.result()
    if config.opponents is not None:
        raise ValueError(f"{run} learned rounds: training.compare shows its gains")
    if not result["finished"]:
        say(f"{run} is not finished: {result['steps']:,} of {config.steps:,} steps", error=True)
    elif not result.get("updated", True):
        say(f"{run} {NEVER_UPDATED}", error=True)
    if is_custom(config.algorithm) and turns is None and (run / "policy.npz").exists():
        found = Measurement(read_policy(run / "policy.npz").evaluate())  # without the code of the agent
    else:
        found = measure(config, stored.learner(), turns)
    summaries = {"greedy": found.summary()}
    if json:
        about = {"run": str(run), "config": config.to_json()}
        say(json_text.dumps(about | {name: result[name] for name in ("finished", "steps")} | summaries))
        return
    strategies = baselines(TrainingTask(config.env, config.arguments))
    summaries |= {name: evaluation.summary() for name, evaluation in strategies.items()}
    ranked = sorted(summaries.items(), key=lambda pair: pair[1]["regret"])
    loss = f"{found.greedy.regret:.5f} {found.greedy.optimum.objective.unit} a turn"
    if isinstance(found.greedy, SampledEvaluation):
        low, high = found.greedy.interval
        loss += f" (95% interval: {low:.5f} to {high:.5f})"
    say(f"After {result['steps']:,} steps, {run} loses {loss} against perfect play.\n", wrapped=True)
    columns = {"policy": Column("", ["this run" if name == "greedy" else name for name, _ in ranked])}
    for name in SHOWN:
        columns[name.replace("_", " ")] = Column("z.5f", [summary.get(name) for _, summary in ranked])
    say(Table(columns))


main = partial(run_command, "training.evaluate", evaluate)


if __name__ == "__main__":
    sys.exit(main())
