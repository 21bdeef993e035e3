"""Does regret depend on how positions are shown? `python -m training.experiments.representations` trains learners anew.

The game, its values and the settings stay the same; only the observation differs, see
`stb_gym.envs.RepresentObservation`. "unary" is left out, as our networks encode counts so themselves. Regrets and their
parts are added to a .csv.gz file as trainings end; the same command continues.
"""

import sys
from itertools import product
from pathlib import Path

import torch

from agents.presets import TASKS, configure
from stb_gym import RegretMeter, VectorRecordVisits, diagnose
from stb_gym.console import say
from stb_gym.envs import REPRESENTATIONS, VectorRepresentObservation
from training.commands import run_command
from training.experiments.diagnoses import STUDIED
from training.study import fill_table

AGENTS = ("ppo", "dqn", "fitted-q")
PLAIN = "as it is"
SHOWN = (PLAIN, *(name for name in REPRESENTATIONS if name != "unary"))
KEY = ["agent", "task", "representation", "seed"]
NUMBERS = ["regret", "exploration", "sampling", "rest"]


def representations(*, seeds: int = 5, workers: int = 1, out: Path = Path("runs/representations.csv.gz")) -> None:
    """Run the trainings that the file lacks.

    Args:
        seeds: How many seeds of each learner, task and representation to train.
        workers: How many are trained at a time.
        out: The .csv.gz file.
    """
    names = [(*names, seed) for seed, *names in product(range(seeds), AGENTS, STUDIED, SHOWN)]
    fill_table(train, names, KEY, NUMBERS, out, workers)
    say(f"{out} is complete")


def train(agent: str, task: str, representation: str, seed: int) -> list[float]:
    """Train a learner behind a representation; return its regret and the parts of it."""
    torch.set_num_threads(1)
    config = configure(agent, *TASKS[task], "200k", seed=seed)
    envs = config.make_envs()
    if representation != PLAIN:
        envs = VectorRepresentObservation(envs, representation)
    recorded = VectorRecordVisits(envs)
    learner = config.make_learner(recorded)
    learner.learn(config.steps)
    found = diagnose(RegretMeter(envs), learner.act, recorded.visits)
    return [found.evaluation.regret, found.exploration, found.sampling, found.rest]


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.representations", representations, None, "the same command continues"))
