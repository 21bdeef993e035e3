"""Measure what single changes of an algorithm are worth: `python -m training.experiments.departures [--task NAME]`.

Every departure is trained with several seeds, and the table is printed in Markdown. Interrupted runs continue.
"""

import sys
from pathlib import Path
from typing import Any

from agents.presets import TASKS, configure
from stb_gym.games import check_choice, check_integer
from stb_gym.output import Progress, say
from training.commands import run_command
from training.compare import compare_agents, table_of
from training.report import markdown
from training.results import by_task, read_measurements
from training.run import train

DEPARTURES: tuple[tuple[str, dict[str, Any]], ...] = (  # the algorithm, and the settings that differ from its preset
    ("fitted-q", {}),
    ("fitted-q", {"pooled": False}),
    ("fitted-q", {"weighting": 0.0}),
    ("fitted-q", {"weighting": 1.0}),
)


def departures(
    *, task: str = "nine-tiles", variant: str = "quick", seeds: int = 3, out: Path = Path("runs/departures")
) -> None:
    """Train departures from the algorithms, and print their table.

    Args:
        task: a task of agents/presets.py.
        variant: the variant of the preset that they depart from.
        seeds: how many seeds of each departure to train.
        out: folder of the runs.
    """
    check_choice("task", task, list(TASKS))
    check_integer("seeds", seeds, 1, 1000)
    folders = []
    with Progress("departures", len(DEPARTURES) * seeds, "runs") as progress:
        for algorithm, settings in DEPARTURES:
            for seed in range(seeds):
                words = [algorithm, *(f"{name}-{value}" for name, value in settings.items()), task, variant, str(seed)]
                folders.append(out / "-".join(words))
                config = configure(algorithm, *TASKS[task], variant, seed=seed, settings=settings)
                train(config, folders[-1], resume=True)
                progress.tell(len(folders), note=folders[-1].name)
    for trained_on, measurements in by_task(read_measurements(folders)).values():
        rows = compare_agents(trained_on, measurements)
        say(markdown(table_of(trained_on, rows[rows["trained"]])))


def main(words: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command("training.experiments.departures", departures, words, "the same command continues")


if __name__ == "__main__":
    sys.exit(main())
