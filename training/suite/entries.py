"""The entries of exact-8: tables of the policies that were learned, which are graded again whenever they are read.

An entry is the folder EDITION/TRACK/AGENT. It has a file for each budget and task, such as 200k-points.npz, with the
policies of all seeds. Nothing else of a training is needed to know its regret exactly.
"""

from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
from filelock import FileLock

from stb_gym.measure import load_policies, save_policies
from stb_gym.solver import Policy, UniformRandom
from stb_gym.solving import solve
from training.results import TrainingTask
from training.suite.environment import TRACKS
from training.suite.score import LEAST
from training.suite.tasks import BUDGETS, tasks_of


def read(folder: Path, budget: str, kind: str, task: TrainingTask) -> dict[int, Policy]:
    """Return the policies [S] of an entry for a budget and a kind of task by seeds; none if it has no such file.

    Raises:
        ValueError: if the file is damaged, or has policies of another task.
    """
    path = folder / f"{budget}-{kind}.npz"
    return load_policies(path, task.game, "end", task.objective) if path.exists() else {}


def add(folder: Path, budget: str, kind: str, task: TrainingTask, seed: int, policy: Policy) -> None:
    """Add the policy [S] of a seed to an entry; other processes may add theirs."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        policies = read(folder, budget, kind, task) | {seed: policy}
        save_policies(folder / f"{budget}-{kind}.npz", task.game, dict(sorted(policies.items())), task.objective)


def grade(folder: Path, tasks: dict[str, TrainingTask]) -> pd.DataFrame:
    """Measure all policies of an entry exactly.

    Args:
        folder: the entry.
        tasks: the tasks of its edition by kind.

    Returns:
        A row for each policy with the columns budget, kind, seed, regret in the task's unit, and score, which is the
        regret as a share of random play's.

    Raises:
        ValueError: if a file is damaged, or has policies of another task.
    """
    rows = []
    for budget in BUDGETS:
        for kind, task in tasks.items():
            optimum = solve(task.game, task.objective)
            random = optimum.evaluate(UniformRandom()).regret
            for seed, policy in read(folder, budget, kind, task).items():
                regret = optimum.evaluate(policy, "end").regret
                rows.append((budget, kind, seed, regret, regret / random))
    return pd.DataFrame(rows, columns=["budget", "kind", "seed", "regret", "score"])


def grade_edition(folder: Path, edition: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the grades of all entries of an edition by track and agent.

    An entry of which half of the policies or more have the least score that counts belongs to the track "rules",
    whatever folder it is in: the solver's do, but not those of a learner whose values have noise.
    """
    graded = {}
    for track in TRACKS:
        for entry in sorted(each for each in (folder / edition / track).glob("*") if each.is_dir()):
            rows = grade(entry, tasks_of(edition))
            solved = rows["score"].le(LEAST).groupby(rows["budget"]).mean()
            graded["rules" if (solved >= 0.5).any() else track, entry.name] = rows
    return graded
