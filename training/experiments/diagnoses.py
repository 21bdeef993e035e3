"""Why do agents lose? `python -m training.experiments.diagnoses` trains them and splits their regret.

Diagnoses are added to a .csv.gz file as trainings end; the same command continues. `python -m docs.results` draws them.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import pandas as pd  # type: ignore[import-untyped]
import torch
from joblib import Parallel, delayed  # type: ignore[import-untyped]
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO

from agents.presets import TASKS, configure
from stb_gym import RecordVisits, RegretMeter, VectorRecordVisits, diagnose
from stb_gym.output import Progress, say
from training.commands import run_command
from training.results import read_numbers, save_results

STEPS = 200_000
FIT_STEPS = 1000
KEY = ["agent", "task", "seed"]
PARTS = ["exploration", "sampling", "representation", "optimisation"]
STUDIED = ("nine-tiles", "threes")
LEARNERS: dict[str, tuple[str, dict[str, Any]]] = {  # algorithms, and settings that differ from their presets
    "fitted-q": ("fitted-q", {}),
    "dqn": ("dqn", {}),
    "ppo": ("ppo", {}),
    "ppo without entropy bonus": ("ppo", {"entropy_weight": 0.0}),
}
STOCK: dict[str, Callable[..., Any]] = {
    "sb3-ppo": PPO,
    "sb3-maskable-ppo": MaskablePPO,
    "sb3-a2c": A2C,
    "sb3-dqn": DQN,
    "sb3-qr-dqn": QRDQN,
    "sb3-maskable-ppo with entropy bonus": partial(MaskablePPO, ent_coef=0.3),
}


def diagnoses(*, seeds: int = 5, workers: int = 1, out: Path = Path("runs/diagnoses.csv.gz")) -> None:
    """Train what the file does not have yet, and diagnose it.

    Args:
        seeds: how many seeds of each agent and task to train.
        workers: how many are trained at a time.
        out: the .csv.gz file.
    """
    done = read_numbers(out, KEY) if out.exists() else pd.DataFrame(columns=[*KEY, *PARTS])
    trained = {*done.set_index(KEY).index}
    keys = [(agent, task, seed) for agent in (*LEARNERS, *STOCK) for seed in range(seeds) for task in STUDIED]
    missing = [key for key in keys if key not in trained]
    with Progress("training", len(missing), "runs") as progress:
        ended = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(train)(*key) for key in missing)
        for count, row in enumerate(ended, 1):
            done.loc[len(done)] = row
            save_results(out, done)
            progress.tell(count)
    say(f"{out} is complete")


def train(agent: str, task: str, seed: int) -> tuple[Any, ...]:
    """Train and diagnose an agent; return its row of the file.

    The representation of our own learners is a part of their optimisation.
    """
    torch.set_num_threads(1)
    env, arguments = TASKS[task]
    if agent in STOCK:
        single = RecordVisits(gym.make(env, **arguments))
        model = STOCK[agent]("MlpPolicy", single, seed=seed, device="cpu").learn(STEPS)
        found = diagnose(RegretMeter(single, illegal="end"), model, single.visits, fit_steps=FIT_STEPS)
    else:
        algorithm, settings = LEARNERS[agent]
        config = configure(algorithm, env, arguments, "200k", seed=seed, settings=settings)
        envs = VectorRecordVisits(config.make_envs())
        learner = config.make_learner(envs)
        learner.learn(STEPS)
        found = diagnose(
            RegretMeter(envs),
            lambda observations, masks: learner.probabilities(observations, masks).argmax(axis=1),
            envs.visits,
        )
    return agent, task, seed, *(found.summary().get(part, 0.0) for part in PARTS)


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.diagnoses", diagnoses, None, "the same command continues"))
