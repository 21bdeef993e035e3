"""Does regret depend on how positions are shown? `python -m training.experiments.representations` trains learners anew.

The game, its values and the settings stay the same; only the observation differs, see
`stb_gym.envs.RepresentObservation`. "unary" is left out, as our networks encode counts so themselves. Regrets and their
parts are added to a .csv.gz file as trainings end; the same command continues.
"""

import sys
from itertools import product

import torch

from agents.presets import TASKS, configure
from stb_gym import RegretMeter, VectorRecordVisits, diagnose
from stb_gym.envs import REPRESENTATIONS, VectorRepresentObservation
from training.experiments.diagnoses import STUDIED
from training.experiments.table import Keys, table_command

AGENTS = ("ppo", "dqn", "fitted-q")
PLAIN = "as it is"
SHOWN = (PLAIN, *(name for name in REPRESENTATIONS if name != "unary"))
KEY = ["agent", "task", "representation", "seed"]
NUMBERS = ["regret", "exploration", "sampling", "rest"]


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [(*names, seed) for seed, *names in product(range(seeds), AGENTS, STUDIED, SHOWN)]


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


main = table_command("representations", train, keys, KEY, NUMBERS)

if __name__ == "__main__":
    sys.exit(main())
