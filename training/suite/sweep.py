"""Train an agent on tasks, with budgets and seeds, and measure each training."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
from joblib import Parallel, delayed  # type: ignore[import-untyped]

from agents.presets import ALGORITHMS
from stb_gym.cli import imported
from stb_gym.games import check_choice
from stb_gym.output import Progress, reason
from training.results import read_numbers, save_results
from training.study import on_ray
from training.suite.learners import RepositoryAgent
from training.suite.tasks import BUDGETS, Task

KEY = ["agent", "task", "budget", "seed"]
NUMBERS = ["regret", "score", "seconds"]


def sweep(
    agent: str,
    tasks: Mapping[str, Task],
    out: Path,
    budgets: Sequence[str],
    seeds: int,
    workers: int = 1,
    ray: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Train and measure what a results file does not have yet; results are added to it as trainings end.

    Args:
        agent: one of `agents.presets.ALGORITHMS`, or a function as MODULE:NAME. It is called with an environment and a
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
    known = read_numbers(out, KEY) if out.exists() else pd.DataFrame(columns=[*KEY, *NUMBERS])
    done = set(known[KEY].itertuples(index=False, name=None))
    keys = [(agent, task, budget, seed) for budget in budgets for task in tasks for seed in range(seeds)]
    missing = [(key, tasks[key[1]]) for key in keys if key not in done]
    if ray is None:
        ended = Parallel(n_jobs=workers, return_as="generator_unordered")(delayed(train)(*each) for each in missing)
    else:
        ended = on_ray(train, missing, "cpu", *ray)
    failures = []
    with Progress("training", len(missing), "runs") as progress:
        for count, (key, result) in enumerate(ended, 1):
            if isinstance(result, str):
                failures.append(f"{' '.join(map(str, key[1:]))}: {result}")
            else:
                known.loc[len(known)] = [*key, *result]
                save_results(out, known)
            progress.tell(count)
    if failures:
        raise ValueError(f"{len(failures)} of {len(missing)} trainings failed, the first: {failures[0]}")
    return known.set_index(KEY).loc[keys].reset_index()


def maker_of(agent: str) -> Callable[..., Any]:
    """Return the function that makes an agent from an environment and a seed.

    Raises:
        ValueError: if there is no such agent.
    """
    if ":" in agent:
        made: Callable[..., Any] = imported(agent, "the agent")
        return made
    check_choice("agent", agent, [*ALGORITHMS, "MODULE:NAME"])
    return partial(RepositoryAgent, agent)


def train(key: tuple[str, str, str, int], task: Task) -> tuple[tuple[Any, ...], list[float] | str]:
    """Train and measure an agent; return its regret, its score and the seconds, or why it failed."""
    agent, _, budget, seed = key
    began = time.process_time()
    try:
        learner = maker_of(agent)(task.make(), seed)
        learner.learn(BUDGETS[budget])
        seconds = time.process_time() - began
        found = task.measure(learner)
        return key, [found.regret, 1 - found.normalised_score, seconds]
    except Exception as error:  # whatever an agent does, other trainings go on
        return key, reason(error)
