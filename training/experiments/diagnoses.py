"""Why do agents lose? `python -m training.experiments.diagnoses` trains them and splits their regret.

Diagnoses are added to a .csv.gz file as trainings end; the same command continues. `python -m docs.results` draws them.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, PPO

from agents.presets import TASKS, configure
from agents.registry import LEARNERS
from agents.sb3 import StockLearner
from stb_gym import RecordVisits, RegretMeter, VectorRecordVisits, diagnose
from training.experiments.table import Keys, table_command

STEPS = 200_000
FIT_STEPS = 1000
KEY = ["agent", "task", "seed"]
MIN_VISITS = (1, 10, 100)  # how often an action was taken that counts as tried
PARTS = ["exploration", "sampling", "exploration_first", "sampling_first"]
NUMBERS = ["regret", "representation", *(f"{part}_{visits}" for visits in MIN_VISITS for part in PARTS)]
STUDIED = ("nine-tiles", "threes")
OURS: dict[str, tuple[str, dict[str, Any]]] = {  # algorithms, and settings that differ from their presets
    "q-learning": ("q-learning", {}),
    "fitted-q": ("fitted-q", {}),
    "dqn": ("dqn", {}),
    "ppo": ("ppo", {}),
    "ppo without entropy bonus": ("ppo", {"entropy_weight": 0.0}),
}
STOCK = {name: learner.maker for name, learner in LEARNERS.items() if issubclass(learner, StockLearner)}
MODELS: dict[str, Callable[..., Any]] = STOCK | {
    "sb3-qr-dqn": QRDQN,
    "sb3-ppo with entropy bonus": partial(PPO, ent_coef=0.3),
    "sb3-a2c with entropy bonus": partial(A2C, ent_coef=0.3),
    "sb3-maskable-ppo with entropy bonus": partial(MaskablePPO, ent_coef=0.3),
}
CHANGES = (  # pairs of agents that differ in masks or in a bonus for exploration
    ("sb3-ppo", "sb3-maskable-ppo"),
    ("sb3-ppo", "sb3-ppo with entropy bonus"),
    ("sb3-a2c", "sb3-a2c with entropy bonus"),
    ("sb3-maskable-ppo", "sb3-maskable-ppo with entropy bonus"),
    ("ppo without entropy bonus", "ppo"),
)


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [
        (agent, task, seed)
        for agents in (OURS, MODELS)
        for seed in range(seeds)
        for agent in agents
        for task in STUDIED
    ]


def train(agent: str, task: str, seed: int) -> list[float]:
    """Train an agent; return its regret and the parts of it.

    The representation of our own learners is 0: it is a part of the rest.
    """
    torch.set_num_threads(1)
    env, arguments = TASKS[task]
    if agent in MODELS:
        envs: Any = RecordVisits(gym.make(env, **arguments))
        player = MODELS[agent]("MlpPolicy", envs, seed=seed, device="cpu").learn(STEPS)
        meter, fit_steps = RegretMeter(envs, illegal="end"), FIT_STEPS
    else:
        algorithm, settings = OURS[agent]
        config = configure(algorithm, env, arguments, "200k", seed=seed, settings=settings)
        envs = VectorRecordVisits(config.make_envs())
        learner = config.make_learner(envs)
        learner.learn(STEPS)
        player, meter, fit_steps = learner.act, RegretMeter(envs), 0
    fitted = diagnose(meter, player, envs.visits, fit_steps=fit_steps)
    found = [diagnose(meter, player, envs.visits, min_visits=visits) for visits in MIN_VISITS]
    parts = [getattr(each, part) for each in found for part in PARTS]
    return [fitted.evaluation.regret, fitted.representation or 0.0, *parts]


main = table_command("diagnoses", train, keys, KEY, NUMBERS)

if __name__ == "__main__":
    sys.exit(main())
