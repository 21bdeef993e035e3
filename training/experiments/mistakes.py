"""Which mistakes cost an agent most? `python -m training.experiments.mistakes` trains agents and lists them.

Each agent is trained once on nine tiles, with a million steps. Its mistakes are added to a .csv file when its training
ends; the same command continues. The page of curves shows them.
"""

import sys
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import torch

from agents.presets import TASKS, configure
from stb_gym.output import say, write_text
from training.commands import run_command
from training.report import costliest
from training.run import train_and_measure

TASK, VARIANT = "nine-tiles", "1m"
AGENTS = (
    "afterstates", "certainty-equivalence", "fitted-q", "ppo", "dqn", "tabular-afterstates", "q-learning",
    "monte-carlo", "sb3-maskable-ppo-tuned", "sb3-maskable-ppo", "sb3-ppo", "sb3-a2c", "sb3-dqn",
)  # fmt: skip


def mistakes(*agents: str, out: Path = Path("runs/mistakes.csv")) -> None:
    """Train the agents that the file does not have yet, and add their mistakes.

    Args:
        agents: Names of algorithms (default: all).
        out: The .csv file.
    """
    torch.set_num_threads(1)
    found = pd.read_csv(out) if out.exists() else pd.DataFrame(columns=["task", "algorithm", "variant"])
    for agent in agents or AGENTS:
        if agent not in {*found["algorithm"]}:
            config = configure(agent, *TASKS[TASK], VARIANT, seed=0)
            evaluation: Any = train_and_measure(config).greedy
            found = pd.concat([found, costliest(evaluation).assign(task=TASK, algorithm=agent, variant=VARIANT)])
            write_text(out, found.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
            say(f"{agent} is trained")


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.mistakes", mistakes, None, "the same command continues"))
