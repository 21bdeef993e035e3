"""Train an agent on tasks, with budgets and seeds, and measure each training."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import torch

from agents.registry import LEARNERS
from stb_gym.checks import check_choice
from stb_gym.cli import imported
from training.study import fill_table
from training.suite.learners import RepositoryAgent
from training.suite.tasks import BUDGETS, SuiteTask

KEY = ["agent", "task", "budget", "seed"]
NUMBERS = ["regret", "score", "seconds"]


def sweep(
    agent: str,
    tasks: Mapping[str, SuiteTask],
    out: Path,
    budgets: Sequence[str],
    seeds: int,
    workers: int = 1,
    ray: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Run the trainings that a results file lacks; their measurements are added to it as they end.

    Args:
        agent: one of `agents.registry.LEARNERS`, or a function as MODULE:NAME. It is called with an environment and a
            seed, and returns an agent with `learn(steps)` and stable-baselines3's `predict`.
        tasks: tasks by name.
        out: the results file, .csv.gz.
        budgets: keys of `BUDGETS`.
        seeds: how many seeds.
        workers: how many trainings run at a time.
        ray: as in `training.study.run_study`.

    Returns:
        The results of the agent: a row for each training.

    Raises:
        ValueError: if there is no such agent, the results file is damaged, or a training failed.
    """
    maker_of(agent)
    keys = [(agent, task, budget, seed) for budget in budgets for task in tasks for seed in range(seeds)]
    return fill_table(partial(train, tasks), keys, KEY, NUMBERS, out, workers, ray)


def maker_of(agent: str) -> Callable[..., Any]:
    """Return the function that makes an agent from an environment and a seed.

    Raises:
        ValueError: if there is no such agent.
    """
    if ":" in agent:
        return imported(agent, "the agent")
    check_choice("agent", agent, [*LEARNERS, "MODULE:NAME"])
    return partial(RepositoryAgent, agent)


def train(tasks: Mapping[str, SuiteTask], agent: str, name: str, budget: str, seed: int) -> list[float]:
    """Train and measure an agent; return its regret, its score and the seconds."""
    torch.set_num_threads(1)
    began = time.process_time()
    learner = maker_of(agent)(tasks[name].make(), seed)
    learner.learn(BUDGETS[budget])
    seconds = time.process_time() - began
    found = tasks[name].measure(learner)
    return [found.regret, 1 - found.normalised_score, seconds]
