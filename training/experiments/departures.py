"""Measure what each departure of PPO, DQN and fitted Q iteration is worth: `python -m training.experiments.departures`.

The learners are trained by the presets, as they are and with single changes. Regrets are added to a .csv.gz file as
trainings end; the same command continues. `python -m docs.results` writes them as a table.
"""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import gymnasium as gym
import numpy as np
import torch

from agents.common import Episodes, Transition, Unary
from agents.ppo import perceptron
from agents.presets import TASKS, configure
from stb_gym.arrays import IntArray
from stb_gym.console import say
from training.commands import run_command
from training.run import train_and_measure
from training.study import fill_table

STUDIES = ("nine-tiles 1m", "nine-tiles 10m", "twelve-tiles 10m", "threes 1m")  # task and variant
KEY = ["algorithm", "change", "study", "seed"]


def not_unary(space: gym.spaces.Box) -> Unary:
    """Return a layer that passes observations on as they are, as `Unary` does if they are not bounded."""
    return Unary(gym.spaces.Box(-np.inf, np.inf, space.shape))


def unary_perceptron(_: int, *rest: Any) -> torch.nn.Module:
    """Return PPO's network for the observations of Threes in unary."""
    unary = Unary(gym.make("stb_gym/Threes-v0").observation_space)
    return torch.nn.Sequential(unary, perceptron(unary.size, *rest))


class ScaledEpisodes(Episodes):
    """Divides rewards by the largest absolute reward."""

    def step(self, action: IntArray) -> Transition:
        """See `Episodes`."""
        transition = super().step(action)
        return transition._replace(reward=transition.reward / abs(self.envs.rewards).max())  # type: ignore[attr-defined]


CHANGES: dict[tuple[str, str], dict[str, Any]] = {  # what is replaced, by algorithm and change
    ("ppo", "none"): {},
    ("ppo", "observations in unary"): {"agents.ppo.perceptron": unary_perceptron},
    ("ppo", "scaled rewards"): {"agents.ppo.Episodes": ScaledEpisodes},
    ("dqn", "none"): {},
    ("dqn", "observations not in unary"): {"agents.dqn.Unary": not_unary},
    ("fitted-q", "none"): {},
    ("fitted-q", "observations not in unary"): {"agents.dqn.Unary": not_unary},
    ("fitted-q", "rewards not scaled"): {"agents.fitted_q.FittedQ._scale": property(lambda _: 1.0, lambda *_: None)},
    ("fitted-q", "moves not pooled"): {"agents.fitted_q.linked_moves": lambda *pairs: np.arange(pairs[-1])},
}


def departures(*, seeds: int = 5, workers: int = 1, out: Path = Path("runs/departures.csv.gz")) -> None:
    """Train what the file does not have yet.

    Args:
        seeds: How many seeds of each change to train.
        workers: How many are trained at a time.
        out: The .csv.gz file.
    """
    # Unary, the only change of DQN, changes nothing on tiles, which are 0 or 1.
    on_tiles = [(algorithm, change) for algorithm, change in CHANGES if algorithm != "dqn" and "unary" not in change]
    changes = {study: list(CHANGES) if "threes" in study else on_tiles for study in STUDIES}
    keys = [(*name, study, seed) for study in STUDIES for name in changes[study] for seed in range(seeds)]
    fill_table(train, keys, KEY, ["regret"], out, workers)
    say(f"{out} is complete")


def train(algorithm: str, change: str, study: str, seed: int) -> list[float]:
    """Train a learner with a change; return its regret."""
    torch.set_num_threads(1)
    task, variant = study.split()
    with ExitStack() as changes:
        for name, replacement in CHANGES[algorithm, change].items():
            changes.enter_context(patch(name, replacement, create=True))
        config = configure(algorithm, *TASKS[task], variant, seed=seed)
        return [train_and_measure(config).greedy.regret]


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.departures", departures, None, "the same command continues"))
