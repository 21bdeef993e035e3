"""Run the protocol for an agent: `python -m training.suite my_module:make_agent`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from agents.registry import LEARNERS
from stb_gym.checks import check_choice
from stb_gym.console import say
from training.commands import run_command
from training.suite.score import draw, number, table
from training.suite.sweep import sweep
from training.suite.tasks import BUDGETS, SEEDS, TASKS

Agent = Annotated[
    str,
    Parameter(
        help="A function MODULE:NAME from an environment and a seed to an agent with learn and predict, or one of "
        f"{', '.join(LEARNERS)}."
    ),
]


def suite(
    agent: Agent,
    /,
    *,
    budgets: str = "200k",
    seeds: int = SEEDS,
    workers: int = 1,
    ray: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    out: Path = Path("runs/suite"),
) -> None:
    """Train an agent on the eight tasks of exact-8, measure it, and print one number.

    Args:
        agent: A function MODULE:NAME from an environment and a seed to an agent with learn and predict, or one of
            `agents.registry.LEARNERS`.
        budgets: Steps of a training: 200k, 1m or 200k,1m.
        seeds: How many seeds; the protocol has 5.
        workers: Trainings that run at a time.
        ray: Train on a Ray cluster: that of this machine, or the one at an address.
        out: Folder of results.csv.gz, which the same command continues, and of a picture.
    """
    chosen = budgets.split(",")
    for budget in chosen:
        check_choice("budget", budget, list(BUDGETS))
    out.mkdir(parents=True, exist_ok=True)
    results = sweep(agent, TASKS, out / "results.csv.gz", chosen, seeds, workers, ray)
    say(f"{table(results)}\n")
    for budget, of_budget in results.groupby("budget", sort=False):
        found, low, high = number(of_budget)
        seed_word = "seed" if seeds == 1 else "seeds"
        say(f"exact-8 at {budget} steps, {seeds} {seed_word}: {found:.3f} ({low:.3f} to {high:.3f})")
    picture = out / f"{agent.replace(':', '.')}.png"
    draw(results, picture)
    say(f"wrote {picture}", error=True)


if __name__ == "__main__":
    sys.exit(run_command("training.suite", suite, how_to_continue="the same command continues"))
