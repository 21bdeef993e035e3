"""Why do agents lose? `python -m training.experiments.diagnoses` trains them and splits their regret.

Diagnoses are added to a .csv.gz file as trainings end; the same command continues. `python -m docs.results` draws them.
"""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, PPO

from agents.presets import TASKS, configure
from agents.registry import LEARNERS
from agents.sb3 import StockLearner
from stb_gym import RecordVisits, RegretMeter, VectorRecordVisits, diagnose
from stb_gym.console import say
from training.commands import run_command
from training.study import fill_table

STEPS = 200_000
FIT_STEPS = 1000
KEY = ["agent", "task", "seed"]
PARTS = ["exploration", "sampling", "representation", "optimisation"]
STUDIED = ("nine-tiles", "threes")
OURS: dict[str, tuple[str, dict[str, Any]]] = {  # algorithms, and settings that differ from their presets
    "fitted-q": ("fitted-q", {}),
    "fitted-q with 16 updates a step": ("fitted-q", {"gradient_steps": 16}),
    "dqn": ("dqn", {}),
    "ppo": ("ppo", {}),
    "ppo without entropy bonus": ("ppo", {"entropy_weight": 0.0}),
}
STOCK = {name: learner.model_class for name, learner in LEARNERS.items() if issubclass(learner, StockLearner)}
MODELS: dict[str, Callable[..., Any]] = STOCK | {
    "sb3-qr-dqn": QRDQN,
    "sb3-ppo with entropy bonus": partial(PPO, ent_coef=0.3),
    "sb3-a2c with entropy bonus": partial(A2C, ent_coef=0.3),
    "sb3-maskable-ppo with entropy bonus": partial(MaskablePPO, ent_coef=0.3),
}
CHANGES = (  # pairs of agents that differ in masks, in a bonus for exploration, or in the number of updates
    ("sb3-ppo", "sb3-maskable-ppo"),
    ("sb3-ppo", "sb3-ppo with entropy bonus"),
    ("sb3-a2c", "sb3-a2c with entropy bonus"),
    ("sb3-maskable-ppo", "sb3-maskable-ppo with entropy bonus"),
    ("ppo without entropy bonus", "ppo"),
    ("fitted-q", "fitted-q with 16 updates a step"),
)


def diagnoses(*, seeds: int = 5, workers: int = 1, out: Path = Path("runs/diagnoses.csv.gz")) -> None:
    """Run and diagnose the trainings that the file lacks.

    Args:
        seeds: How many seeds of each agent and task to train.
        workers: How many are trained at a time.
        out: The .csv.gz file.
    """
    keys = [(agent, task, seed) for agent in (*OURS, *MODELS) for seed in range(seeds) for task in STUDIED]
    fill_table(train, keys, KEY, PARTS, out, workers)
    say(f"{out} is complete")


def train(agent: str, task: str, seed: int) -> list[float]:
    """Train and diagnose an agent; return the parts of its regret.

    The representation of our own learners is a part of their optimisation.
    """
    torch.set_num_threads(1)
    env, arguments = TASKS[task]
    if agent in MODELS:
        single = RecordVisits(gym.make(env, **arguments))
        model = MODELS[agent]("MlpPolicy", single, seed=seed, device="cpu").learn(STEPS)
        found = diagnose(RegretMeter(single, illegal="end"), model, single.visits, fit_steps=FIT_STEPS)
    else:
        algorithm, settings = OURS[agent]
        config = configure(algorithm, env, arguments, "200k", seed=seed, settings=settings)
        envs = VectorRecordVisits(config.make_envs())
        learner = config.make_learner(envs)
        learner.learn(STEPS)
        found = diagnose(RegretMeter(envs), learner.act, envs.visits)
    return [found.summary().get(part, 0.0) for part in PARTS]


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.diagnoses", diagnoses, None, "the same command continues"))
