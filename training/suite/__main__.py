"""Run the protocol for an agent: `python -m training.suite my_module:make_agent`."""

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from stb_gym.checks import check_choice, check_integer
from stb_gym.console import say
from training.commands import run_command
from training.suite import entries
from training.suite.environment import TRACKS
from training.suite.learners import TRACKS_OF_LEARNERS
from training.suite.score import number, table
from training.suite.sweep import sweep
from training.suite.tasks import BUDGETS, DEVELOPMENT, SEEDS, tasks_of

Agent = Annotated[
    str,
    Parameter(
        help="A function MODULE:NAME from an environment and a seed to an agent with learn and predict, or one of "
        f"{', '.join(TRACKS_OF_LEARNERS)}."
    ),
]


def suite(
    agent: Agent,
    /,
    *,
    edition: str = DEVELOPMENT,
    track: str | None = None,
    budgets: str = "200k",
    seeds: int = SEEDS,
    workers: int = 1,
    ray: Annotated[list[str] | None, Parameter(consume_multiple=True)] = None,
    out: Path = Path("runs/suite"),
) -> None:
    """Train an agent on eight tasks, measure it exactly, and print one number.

    Args:
        agent: A function MODULE:NAME from an environment and a seed to an agent with learn and predict, or a learner.
        edition: The number of an edition, or development for the tasks that are never ranked.
        track: What the agent may know: rules, afterstates, masks or observations; masks by default.
        budgets: Steps of a training: 200k, 1m or 200k,1m.
        seeds: How many seeds; the protocol has 10.
        workers: Trainings that run at a time.
        ray: Train on a Ray cluster: that of this machine, or the one at an address.
        out: Folder of the entries, which the same command continues.
    """
    tasks = tasks_of(edition)
    track = track or TRACKS_OF_LEARNERS.get(agent, "masks")
    check_choice("track", track, list(TRACKS))
    chosen = budgets.split(",")
    for budget in chosen:
        check_choice("budget", budget, list(BUDGETS))
    entry = out / edition / track / agent.replace(":", ".")
    check_integer("seeds", seeds, 1, 1000)
    sweep(agent, tasks, track, entry, chosen, seeds, workers, ray)
    rows = entries.grade(entry, tasks)
    rows = rows[rows["budget"].isin(chosen) & (rows["seed"] < seeds)]
    for budget, of_budget in rows.groupby("budget", sort=False):
        found = number(of_budget)
        interval = f"{found.low:.2f} to {found.high:.2f}" if seeds > 1 else "of one seed"
        say(
            f"exact-8, {edition}: after {BUDGETS[str(budget)]:,} steps {agent} has {found.mean:.2f} ({interval}), "
            f"where random play has 0 and a tenth of its regret -1. Its worst task is {found.worst} with "
            f"{found.worst_mean:.2f}.",
            wrapped=True,
        )
    say(f"\n{table(rows)}")
    say(f"wrote {entry}", error=True)


if __name__ == "__main__":
    sys.exit(run_command("training.suite", suite, how_to_continue="the same command continues"))
