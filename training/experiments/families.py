"""What makes tasks of one size hard? `python -m training.experiments.families` varies one measure at a time.

A family has ten tasks with about as many decisions. One measure varies; the others vary less, and not along with it.
The tasks are chosen from the games of `candidates` by their measures alone, and trained afterwards. Regrets are added
to a .csv.gz file as trainings end; the same command continues. `python -m docs.results` writes the rank correlations.
"""

import json
import math
import random
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from scipy import stats
from scipy.optimize import linear_sum_assignment

from stb_gym import hardness
from stb_gym.arrays import FloatArray
from stb_gym.files import write_text
from stb_gym.solver import UniformRandom, compile_game, solve_tables
from stb_gym.tracking import tracked
from training.experiments.hardness import AGENTS, BUDGET, KEY, NUMBERS, trained
from training.experiments.table import Keys, table_command
from training.results import TrainingTask
from training.suite.tasks import BOX, DICE, grid

Choices = dict[str, list[Any]]
SIZES = 400, 600  # decisions of a task
LEAST_REGRET = 0.02  # least regret of random play, so that shares of it have little noise
CANDIDATES = 12_000
TASKS = 10  # in a family
AIMS = np.linspace(0.05, 0.95, TASKS)  # the ranks in the pool of what varies
VARIED = ("gap", "dice", "horizon", "scarcity")
FILE = Path(__file__).parents[2] / "docs/results/families.csv"


def candidates() -> list[TrainingTask]:
    """Return candidates of any size for the tasks of families."""
    rules: Choices = {"faces": [3, 4, 5, 6, 7, 8]}
    targets = ["at-most:2", "at-most:4", "at-most:8"]
    boxes: Choices = {"tiles": [5, 6, 7, 8, 9, 10, 12], "dice": [1, 2, 3], "match": ["sum", "one-tile", "two-at-most"]}
    begins: Choices = {"open": ["all", "odd", "4-up"], "one_die": ["never", "any-time"], "ending_roll": [None, 4]}
    threes: Choices = {"dice": [3, 4, 5, 6], "free_face": [0, 1, 2, 3, 4]}
    all_tasks = [
        *grid(BOX, **rules, **boxes, **begins, objective=["score", "shut", *targets]),
        *grid(DICE, **rules, **threes, objective=["score", *targets]),
    ]
    return random.Random(0).sample(all_tasks, CANDIDATES)


def measures(task: TrainingTask) -> dict[str, float] | None:
    """Return the measures of a task by the headings of their columns; None if it does not have the size.

    "gap" is the logarithm of the mean action gap; "horizon" the mean moves of a turn of random play; "scarcity" minus
    the logarithm of the chance that random play ends with another reward than the most frequent one.
    """
    try:
        game = task.game
    except ValueError:  # rules that exclude each other
        return None
    if (game.max_states() or 0) > 10 * SIZES[1] or len(compile_game(game).decisions) < SIZES[0]:
        return None
    found = hardness(task.game, task.objective)
    if not (SIZES[0] <= (found.decisions or 0) <= SIZES[1] and found.mean_gap and found.random_regret > LEAST_REGRET):
        return None
    play = solve_tables(task.game, task.objective).evaluate(UniformRandom())
    chances = pd.Series(play.score_distribution)
    of_rewards = chances.groupby(task.objective.utilities(chances.index.to_numpy())).sum()
    return {
        "gap": math.log(found.mean_gap),
        "dice": found.dice_share or 0.0,
        "horizon": play.mean_throws,
        "scarcity": -math.log(max(1 - of_rewards.max(), 1e-9)),
        "1 step": found.shares[0],
        "2 steps": [*found.shares, 0.0][1],
        "look-ahead": found.look_ahead or 0,
        "effective horizon": found.effective_horizon or math.nan,
        "coverage": found.coverage or 0.0,
        "1 / gaps": found.reciprocal_gaps or 0.0,
    }


def chosen(pool: pd.DataFrame) -> dict[str, list[Any]]:
    """Return tasks for each measure of VARIED, which varies evenly in them; the others vary little and independently.

    Measures are compared by their ranks in the pool. Tasks near one centre come first: that of which `costs` are least
    without the correlations. Then single tasks are exchanged as long as that lowers the costs.

    Args:
        pool: the measures of tasks, one row each.
    """
    ranks = pool[[*VARIED]].rank(pct=True)
    families = {}
    for varied in VARIED:
        measure, others = ranks[varied].to_numpy(), ranks.drop(columns=varied).to_numpy()
        ahead = (measure - AIMS[:, None]) ** 2  # [TASKS, pool]
        from_centres = [ahead + ((others - centre) ** 2).sum(axis=1) for centre in others]
        matches = [linear_sum_assignment(distances) for distances in from_centres]
        sums = [distances[match].sum() for distances, match in zip(from_centres, matches, strict=True)]
        picks = matches[int(np.argmin(sums))][1].tolist()
        least, found = costs(measure[picks], others[picks]), True
        while found:
            found = False
            for place, task in product(range(TASKS), set(range(len(pool))) - {*picks}):
                changed = [*picks[:place], task, *picks[place + 1 :]]
                if task not in picks and (cost := costs(measure[changed], others[changed])) < least - 1e-9:
                    picks, least, found = changed, cost, True
        families[varied] = list(pool.index[sorted(picks, key=measure.item)])
    return families


def costs(measure: FloatArray, others: FloatArray) -> float:
    """Return how far tasks are from a family.

    It is the sum of the squared distances of what varies from even steps, of the squared distances of the other
    measures from their means, and of the squares of their rank correlations with what varies.

    Args:
        measure: [TASKS] the rank of what varies.
        others: [TASKS, 3] the ranks of the other measures.
    """
    correlations = np.corrcoef(stats.rankdata(measure), stats.rankdata(others, axis=0), rowvar=False)[0, 1:]
    spread = ((np.sort(measure) - AIMS) ** 2).sum()
    return float(spread + ((others - others.mean(axis=0)) ** 2).sum() + (correlations**2).sum())


def families() -> pd.DataFrame:
    """Return the tasks of all families with their measures, chosen once and then read from FILE.

    The columns are "family", "task" (JSON: the id of the environment and its arguments), and the measures.
    """
    if not FILE.exists():
        tasks = tracked(candidates(), "games measured", "games", CANDIDATES)
        found = {json.dumps([task.env, task.arguments]): measures(task) for task in tasks}
        pool = pd.DataFrame.from_dict({name: each for name, each in found.items() if each}, orient="index")
        rows = [
            pool.loc[names].rename_axis("task").reset_index().assign(family=family)
            for family, names in chosen(pool).items()
        ]
        write_text(FILE, pd.concat(rows).set_index(["family", "task"]).to_csv(float_format="%.6g"))
    return pd.read_csv(FILE)


def correlations(results: pd.DataFrame) -> pd.DataFrame:
    """Return Spearman's rank correlation of what varies in a family with the regret of each learner.

    Args:
        results: rows of the results file.

    Returns:
        The columns "family", "agent", "correlation", "low" and "high".
    """
    scores = results.groupby(["agent", "task"], as_index=False, sort=False)["score"].mean()
    rows = []
    for (family, agent), both in families().merge(scores, on="task").groupby(["family", "agent"], sort=False):
        found = float(both[family].corr(both["score"], "spearman"))
        rows.append((family, agent, found, *interval(found, len(both))))
    return pd.DataFrame(rows, columns=["family", "agent", "correlation", "low", "high"])


def interval(correlation: float, tasks: int) -> tuple[float, float]:
    """Return the 95% interval of Bonett and Wright (2000) of Spearman's rank correlation over some tasks."""
    half = stats.norm.ppf(0.975) * math.sqrt((1 + correlation**2 / 2) / (tasks - 3))
    centre = math.atanh(np.clip(correlation, -0.999, 0.999))
    return math.tanh(centre - half), math.tanh(centre + half)


def predictions(results: pd.DataFrame, splits: int = 200) -> pd.DataFrame:
    """Return how well a fit on one half of the tasks predicts the regret on the other half.

    The fit is a linear regression of the logarithm of the regret, as a share of random play's, on the ranks of all
    measures of VARIED and of the stochastic effective horizon.

    Returns:
        By agent: the "median", "low" and "high" (the middle 95%) over random halves of Spearman's rank correlation
        between prediction and regret.
    """
    scores = results.groupby(["agent", "task"], as_index=False, sort=False)["score"].mean()
    tasks = families().drop_duplicates("task").set_index("task")
    inputs = tasks[[*VARIED, "effective horizon"]].rank(pct=True)
    draws = np.random.default_rng(0)
    rows = {}
    for agent, of_agent in scores.groupby("agent", sort=False):
        measured = np.log(of_agent.set_index("task")["score"].clip(lower=1e-6))
        design = np.column_stack((np.ones(len(measured)), inputs.loc[measured.index]))
        found = []
        for _ in range(splits):
            fitted, held_out = np.array_split(draws.permutation(len(measured)), 2)
            weights = np.linalg.lstsq(design[fitted], measured.iloc[fitted], rcond=None)[0]
            found.append(
                pd.Series(design[held_out] @ weights).corr(pd.Series(measured.to_numpy()[held_out]), "spearman")
            )
        rows[agent] = np.quantile(found, [0.5, 0.025, 0.975])
    return pd.DataFrame.from_dict(rows, orient="index", columns=["median", "low", "high"])


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    tasks = families()["task"].drop_duplicates()
    return [(agent, task, BUDGET, seed) for seed in range(seeds) for agent in AGENTS for task in tasks]


def train(agent: str, name: str, budget: str, seed: int) -> list[float]:
    """Train a learner on a task by its name in FILE; see `training.experiments.hardness.trained`."""
    return trained(TrainingTask(*json.loads(name)), agent, budget, seed)


main = table_command("families", train, keys, KEY, NUMBERS, seeds=3)

if __name__ == "__main__":
    sys.exit(main())
