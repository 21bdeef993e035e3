"""How does regret fall with simulations? `python -m training.experiments.planning` measures planners exactly.

A planner answers once at every position, and its answers are one policy. They are drawn independently, so the mean
regret over seeds is that of the planner that plans anew at every move. Regrets are added to a .csv.gz file as runs end;
the same command continues. `python -m docs.results` writes them as a table and draws them.
"""

import sys
from itertools import product
from typing import Any

import gymnasium as gym

from agents.planning import Rollouts, TreeSearch
from stb_gym import RegretMeter
from training.experiments.table import Keys, table_command

KEY = ["task", "simulations", "planner", "seed"]
TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "Seven tiles": ("stb_gym/ShutTheBox-v0", {"tiles": 7}),
    "Threes with four dice": ("stb_gym/Threes-v0", {"dice": 4}),
}
PLANNERS = {"tree search": TreeSearch, "one-step rollouts": Rollouts}
SIMULATIONS = (10, 30, 100, 300, 1000, 3000, 10_000)
AT_ONCE = 1024  # positions


def keys(seeds: int) -> Keys:
    """Return the keys of all trainings."""
    return [(*names, seed) for names in product(TASKS, SIMULATIONS, PLANNERS) for seed in range(seeds)]


def regret_of(task: str, simulations: int, planner: str, seed: int) -> list[float]:
    """Return the exact regret of a planner."""
    env, arguments = TASKS[task]
    meter = RegretMeter(gym.make(env, **arguments))
    choices = int((meter.solution.tables.choices > 1).sum())
    envs = gym.make_vec(env, min(choices, AT_ONCE), **arguments)
    return [meter(PLANNERS[planner](envs, simulations, seed=seed).act, deterministic=False).regret]


main = table_command("planning", regret_of, keys, KEY, ["regret"])

if __name__ == "__main__":
    sys.exit(main())
