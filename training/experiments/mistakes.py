"""Which mistakes cost an agent most? `python -m training.experiments.mistakes runs/*-nine-tiles-1m-0` lists them.

The page of curves shows them.
"""

import sys
from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]

from stb_gym.files import write_text
from stb_gym.measure import read_policy
from training.commands import run_command
from training.report import costliest
from training.results import TrainingTask
from training.run import Run


def mistakes(*runs: Path, out: Path = Path("runs/mistakes.csv")) -> None:
    """Write the costliest mistakes of runs.

    Args:
        runs: Folders of runs, one for each agent.
        out: The .csv file, which is replaced.
    """
    if not runs:
        raise ValueError("name at least one run")
    found = []
    for run in runs:
        config = Run(run).config
        agent = {"algorithm": config.algorithm, "variant": config.variant}
        costs = costliest(read_policy(run).evaluate())
        found.append(costs.assign(task=TrainingTask(config.env, config.arguments).name, **agent))
    write_text(out, pd.concat(found).to_csv(index=False, float_format="%.4g", lineterminator="\n"))


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.mistakes", mistakes))
