"""Measure what single changes of an algorithm are worth: `python -m training.experiments.departures [--task NAME]`.

Every departure is trained with several seeds. The table is printed, and written in Markdown. Interrupted runs continue.
"""

import sys
from pathlib import Path
from typing import Any

from agents.presets import TASKS, configure
from stb_gym.games import check_choice
from training.commands import run_command
from training.compare import compare
from training.study import run_study

DEPARTURES: tuple[tuple[str, dict[str, Any]], ...] = (  # the algorithm, and the settings that differ from its preset
    ("fitted-q", {}),
    ("fitted-q", {"pooled": False}),
    ("afterstates", {}),
    ("afterstates", {"control_variate": False}),
)


def departures(
    *,
    task: str = "nine-tiles",
    variant: str = "quick",
    seeds: int = 3,
    workers: int = 1,
    out: Path = Path("runs/departures"),
) -> None:
    """Train departures from the algorithms, and compare them.

    Args:
        task: a task of agents/presets.py.
        variant: the variant of the preset that they depart from.
        seeds: how many seeds of each departure to train.
        workers: how many runs are trained at a time.
        out: folder of the runs and of README.md.
    """
    check_choice("task", task, list(TASKS))
    runs = {}
    for algorithm, settings in DEPARTURES:
        for seed in range(seeds):
            words = [algorithm, *(f"{name}-{value}" for name, value in settings.items()), task, variant, f"{seed}"]
            runs[out / "-".join(words)] = configure(algorithm, *TASKS[task], variant, seed=seed, settings=settings)
    for folder, failure in run_study(runs, workers=workers).items():
        raise ValueError(f"{folder} failed: {failure}")
    compare(*runs, out=out)


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.departures", departures, None, "the same command continues"))
