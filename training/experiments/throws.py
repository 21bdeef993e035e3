"""How good is a plan for sampled dice? Measure it: `python -m training.experiments.throws`.

The rules are known, and the dice are estimated by the frequencies of rolls. Throws are pooled over all positions, as
the dice are everywhere the same. No learner that finds this out by itself can be expected to do better with as many
throws, so the regret of this plan is the limit of what samples hold. Learners that estimate each position apart, such
as certainty equivalence, need far more.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd  # type: ignore[import-untyped]

import stb_gym
from stb_gym.console import say
from stb_gym.files import write_text
from stb_gym.solver import Solution
from stb_gym.tracking import tracked
from training.commands import run_command

THROWS = (300, 1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
SEEDS = 20


def regret_of_plan(optimum: Solution, throws: int, seed: int) -> float:
    """Return the regret of the policy that is optimal for the frequencies of so many throws.

    Raises:
        ValueError: if the game throws different numbers of dice.
    """
    tables = optimum.tables
    if len(set(tables.dice[tables.dice > 0])) != 1:
        raise ValueError(f"all throws must have the same number of dice, unlike those of {tables.game}")
    thrown = tables.dice[tables.state_origin] > 0
    of_start = tables.state_probability[tables.state_origin == tables.start]  # the same at all afterstates with a throw
    rolls = np.random.default_rng(seed).multinomial(throws, of_start)
    probability = tables.state_probability.copy()
    probability[thrown] = np.resize(rolls / throws, thrown.sum())
    state_values = optimum.objective.utilities(tables.final_score).astype(float)[tables.state_origin]
    after = tables.after_pairs(np.zeros(tables.num_afterstates))
    for _ in tables.levels:
        state_values[tables.decisions] = tables.reduce(np.maximum, after)
        after = tables.after_pairs(np.bincount(tables.state_origin, probability * state_values))
    return optimum.evaluate(tables.greedy(after)).regret


def plan(*, out: Path = Path("runs/throws.csv")) -> None:
    """Plan on nine tiles with several numbers of throws and seeds.

    Args:
        out: The .csv file, which is replaced.
    """
    optimum = stb_gym.solve(stb_gym.ShutTheBox())
    keys = [(throws, seed) for throws in THROWS for seed in range(SEEDS)]
    rows = [
        (throws, seed, regret_of_plan(optimum, throws, seed))
        for throws, seed in tracked(keys, "plans made", "plans", len(keys))
    ]
    found = pd.DataFrame(rows, columns=["throws", "seed", "regret"])
    write_text(out, found.to_csv(index=False, float_format="%.4g", lineterminator="\n"))
    medians = found.groupby("throws")["regret"].median()
    say(f"{SEEDS} plans with {THROWS[-1]:,} throws have a median regret of {medians.iloc[-1]:.2g} points; by throws:")
    say(medians.to_string())


if __name__ == "__main__":
    sys.exit(run_command("training.experiments.throws", plan))
