"""Train an agent on the tasks of an edition, and add the policies that it learned to its entry."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from agents.custom import allow, made, named
from agents.registry import check_agent, is_custom
from stb_gym import RegretMeter
from stb_gym.solver import Policy
from training.results import TrainingTask
from training.study import results_of
from training.suite import entries
from training.suite.environment import TaskEnv
from training.suite.learners import TRACKS_OF_LEARNERS, RepositoryAgent
from training.suite.tasks import BUDGETS


def sweep(
    agent: str,
    tasks: dict[str, TrainingTask],
    track: str,
    entry: Path,
    budgets: Sequence[str],
    seeds: int,
    workers: int = 1,
    ray: Sequence[str] | None = None,
) -> None:
    """Run the trainings that an entry lacks; their policies are added to it as they end.

    Args:
        agent: a key of `TRACKS_OF_LEARNERS`, or a function as MODULE:NAME. It is called with an environment and a
            seed, and returns an agent with `learn(steps)` and stable-baselines3's `predict`.
        tasks: tasks by kind.
        track: a key of `TRACKS`.
        entry: the folder of the entry.
        budgets: keys of `BUDGETS`.
        seeds: how many seeds.
        workers: how many trainings run at a time.
        ray: as in `training.study.run_study`.

    Raises:
        ValueError: if there is no such agent, a file is damaged, or, after all others, a training failed.
    """
    maker_of(agent)
    missing = [
        (kind, budget, seed)
        for budget in budgets
        for kind, task in tasks.items()
        for seed in sorted({*range(seeds)} - entries.read(entry, budget, kind, task).keys())
    ]
    for (kind, budget, seed), policy in results_of(partial(train, tasks, track, agent), missing, workers, ray):
        entries.add(entry, budget, kind, tasks[kind], seed, policy)


def maker_of(agent: str) -> Callable[..., Any]:
    """Return the function that makes an agent from an environment and a seed.

    Raises:
        ValueError: if there is no such agent.
    """
    if is_custom(agent):
        allow(agent)
        return partial(made, agent, named(agent))
    check_agent("agent", agent, TRACKS_OF_LEARNERS)
    return partial(RepositoryAgent, agent)


def train(tasks: dict[str, TrainingTask], track: str, agent: str, kind: str, budget: str, seed: int) -> Policy:
    """Train an agent by its name, and return its policy [S]."""
    torch.set_num_threads(1)
    return train_agent(maker_of(agent), tasks[kind], track, BUDGETS[budget], seed)


def train_agent(make_agent: Callable[..., Any], task: TrainingTask, track: str, steps: int, seed: int) -> Policy:
    """Train an agent on a task, and return its policy [S].

    Raises:
        RuntimeError: if it plays more steps.
        ValueError: if it returns probabilities instead of actions.
    """
    learner = make_agent(TaskEnv(task, track, steps), seed)
    learner.learn(steps)
    meter = RegretMeter(task.game, task.objective, illegal="end")
    policy = meter.policy(learner, masked=False if track == "observations" else None)
    if policy.ndim != 1:
        raise ValueError("predict must return actions, not probabilities")
    return policy
