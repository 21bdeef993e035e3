"""Measure how often right learners fail a rung of the ladder in one training, and what a ladder costs.

`python -m tests.check.calibrate LEARNER FIRST LAST` climbs the ladder once with each seed and adds the rows to
docs/results/ladder.csv. Without arguments it prints what the file says.
"""

import csv
import sys
import time
from functools import partial
from pathlib import Path

from sb3_contrib import MaskablePPO
from scipy.stats import binomtest

from stb_gym import check
from stb_gym.check import ladder
from tests.check.tabular import QLearner
from tests.check.zoo import dqn, ppo

PATH = Path(__file__).parents[2] / "docs/results/ladder.csv"
COLUMNS = ("learner", "steps", "seed", "seconds", "failed")


def stock_maskable_ppo(env, discount, seed):
    return MaskablePPO("MlpPolicy", env, gamma=discount, seed=seed, device="cpu")


LEARNERS = {  # and the steps of each training
    "tabular Q-learning": (QLearner, 8192),
    "textbook PPO": (partial(ppo.agent, ppo.PPO), 4096),
    "textbook DQN": (partial(ppo.agent, dqn.DQN), 4096),
    "stock MaskablePPO": (stock_maskable_ppo, 8192),
}


def climb(learner, seed):
    """Climb the ladder with one training on each rung, and return a row."""
    make_agent, steps = LEARNERS[learner]
    ladder.ATTEMPTS = 1
    begun = time.process_time()
    result = check.agent(make_agent, steps=steps, seed=seed)
    failed = "; ".join(case.name for case in result.cases if not case.passed)
    return dict(zip(COLUMNS, (learner, steps, seed, round(time.process_time() - begun), failed), strict=True))


def read():
    with PATH.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def share_that_passes(ladders, failures):
    """Return a lower bound, with 95% confidence, on the share of ladders that pass with three attempts on each rung.

    It is 1 minus the cube of the upper bound of Clopper and Pearson for ladders with one attempt. In the worst case all
    failures belong to one rung; if they are spread over several, three attempts fail less often.
    """
    return 1 - binomtest(failures, ladders, alternative="less").proportion_ci(0.95).high ** 3


if __name__ == "__main__":
    if sys.argv[1:]:
        learner, first, last = sys.argv[1:]
        for seed in range(int(first), int(last) + 1):
            row = climb(learner, seed)
            with PATH.open("a", encoding="utf-8", newline="") as file:
                csv.DictWriter(file, COLUMNS, lineterminator="\n").writerow(row)
            print(*row.values(), flush=True)
    for learner in LEARNERS:
        rows = [row for row in read() if row["learner"] == learner]
        failed = [row["failed"] for row in rows if row["failed"]]
        least = share_that_passes(len(rows), len(failed)) if rows else 0.0
        seconds = sum(int(row["seconds"]) for row in rows) / max(len(rows), 1)
        print(
            f"{learner}: {len(rows)} ladders, {len(failed)} failed {failed}, {seconds:.0f} s, at least {least:.4f} pass"
        )
