"""The command of an experiment whose trainings are the rows of a results file."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stb_gym.console import say
from training.commands import run_command
from training.study import fill_table

Keys = Sequence[tuple[Any, ...]]


def table_command(
    name: str,
    function: Callable[..., Sequence[float]],
    keys: Callable[[int], Keys],
    columns: list[str],
    numbers: list[str],
    seeds: int = 5,
) -> Callable[..., int]:
    """Return the command of an experiment, which runs the trainings that its results file lacks.

    Args:
        name: the name of the module, and of the file.
        function: trains and measures, see `training.study.fill_table`.
        keys: a function from a number of seeds to the keys of all trainings.
        columns: names of the columns of the key.
        numbers: names of the columns of numbers.
        seeds: the number of seeds by default.
    """

    def experiment(*, seeds: int = seeds, workers: int = 1, out: Path = Path(f"runs/{name}.csv.gz")) -> None:
        """Run the trainings that the file lacks.

        Args:
            seeds: How many seeds of each training to run.
            workers: How many run at a time.
            out: The .csv.gz file.
        """
        fill_table(function, keys(seeds), columns, numbers, out, workers)
        say(f"{out} is complete")

    continues = "the same command continues"
    return partial(run_command, f"training.experiments.{name}", experiment, how_to_continue=continues)
