"""Does hardness predict regret? Train learners on many tasks: `python -m training.experiments.hardness`.

Regrets are added to a .csv.gz file as trainings end; the same command continues. `python -m docs.results` writes the
rank correlations of each measure of hardness with the scores of each learner.
"""

import sys
import time
from functools import cache
from typing import Any

import pandas as pd  # type: ignore[import-untyped]

from stb_gym import hardness
from stb_gym.solving import solve
from training.experiments.table import Keys, table_command
from training.results import TrainingTask
from training.suite import sweep
from training.suite.learners import TRACKS_OF_LEARNERS
from training.suite.tasks import BOX, DICE

KEY = ["agent", "task", "budget", "seed"]
NUMBERS = ["regret", "score", "seconds"]
BUDGET = "200k"
AGENTS = ("certainty-equivalence", "monte-carlo", "q-learning", "afterstates", "fitted-q", "ppo", "dqn")
BOXES: list[dict[str, Any]] = [
    *({"tiles": tiles} for tiles in (6, 7, 8, 9, 10, 12)),
    {"tiles": 10, "faces": 8},
    {"ending_roll": 7},
    {"match": "one-tile"},
    {"one_die": "low-sum"},
]
THREES: list[dict[str, Any]] = [*({"dice": dice} for dice in (3, 4, 5, 6, 7)), {"faces": 4}, {"faces": 8}]
TASKS = {
    " ".join(str(word) for pair in arguments.items() for word in pair): TrainingTask(env, arguments)
    for env, rules, objectives in ((BOX, BOXES, ("score", "shut")), (DICE, THREES, ("score", "at-most:4")))
    for rule in rules
    for objective in objectives
    for arguments in [rule | {"objective": objective}]
}


@cache
def measures(name: str) -> dict[str, float | None]:
    """Return the measures of hardness of a task in TASKS, by the headings of their columns."""
    found = hardness(TASKS[name].game, TASKS[name].objective)
    shares = [*found.shares, 0.0]
    return {
        "1 step": shares[0],
        "2 steps": shares[1],
        "look-ahead": found.look_ahead,
        "effective horizon": found.effective_horizon,
        "decisions": found.decisions,
        "coverage": found.coverage,
        "dice": found.dice_share,
        "mean gap": found.mean_gap,
        "1 / gaps": found.reciprocal_gaps,
    }


def correlations(results: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's rank correlation of every measure with the mean score over seeds, a row for each learner."""
    scores = results.groupby(["agent", "task"], sort=False)["score"].mean().unstack("agent")
    by_task = pd.DataFrame({name: measures(name) for name in scores.index}, dtype=float).T.rank()
    return pd.DataFrame({agent: by_task.corrwith(scores[agent].rank()) for agent in scores}).T


def within_families(results: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of `correlations` over families of tasks: those of one game and one objective."""
    families = results["task"].map(lambda task: f"{TASKS[task].env} {TASKS[task].objective.name}")
    found = [correlations(of_family) for _, of_family in results.groupby(families)]
    return pd.concat(found).groupby(level=0, sort=False).mean()


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [(agent, task, BUDGET, seed) for agent in AGENTS for task in TASKS for seed in range(seeds)]


def train(agent: str, name: str, budget: str, seed: int) -> list[float]:
    """Train a learner on a task of TASKS; see `trained`."""
    return trained(TASKS[name], agent, budget, seed)


def trained(task: TrainingTask, agent: str, budget: str, seed: int) -> list[float]:
    """Train and measure a learner; return its regret, that as a share of random play's, and the seconds."""
    began = time.process_time()
    policy = sweep.train({"task": task}, TRACKS_OF_LEARNERS[agent], agent, "task", budget, seed)
    seconds = time.process_time() - began
    found = solve(task.game, task.objective).evaluate(policy, "end")
    return [found.regret, 1 - found.normalised_score, seconds]


main = table_command("hardness", train, keys, KEY, NUMBERS, seeds=3)

if __name__ == "__main__":
    sys.exit(main())
