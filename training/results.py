"""The README's table from the results in a folder of runs: `python -m training.results docs/results`."""

import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import median

import tyro

from agents.config import ALGORITHMS, Config
from stb_gym import STRATEGIES, evaluate, strategy
from training.run import Run

HEAD = "| environment | agent | regret | gap closed | choices optimal | seconds | by the command |"


@dataclass(frozen=True)
class Arguments:
    """Print a table of runs, of which config.json and result.json are needed, in Markdown."""

    folder: tyro.conf.Positional[Path]
    """Folder of the runs' folders."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = tyro.cli(Arguments, args=arguments, prog="training.results")
    try:
        print(results_table(options.folder))
    except (ValueError, OSError) as error:
        print(f"training.results: {error}", file=sys.stderr)
        return 2
    return 0


def results_table(folder: Path) -> str:
    """A row for every strategy and, as medians over seeds, for every algorithm, by environment.

    Of the strategies those that are no worse than random play and not perfect.

    Raises:
        ValueError: if there are no runs in the folder, or one is damaged, not finished or not of default settings.
    """
    runs = [Run.open(path.parent) for path in sorted(folder.glob("*/config.json"))]
    if not runs:
        raise ValueError(f"there are no runs in {folder}")
    for run in runs:
        settings_class, _ = ALGORITHMS[run.config.algorithm]
        if run.config != Config(run.config.algorithm, run.config.env, settings_class(), seed=run.config.seed):
            raise ValueError(f"the run in {run.folder} is not of the settings that its command in the table has")
        if not run.result()["finished"]:
            raise ValueError(f"the run in {run.folder} is not finished")
    rows = [HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
    for env, of_env in groupby(sorted(runs, key=lambda run: run.config.env), key=lambda run: run.config.env):
        tasks = sorted(of_env, key=lambda run: run.config.algorithm, reverse=True)
        rows += _strategy_rows(env, tasks[0])
        for algorithm, seeds in groupby(tasks, key=lambda run: run.config.algorithm):
            rows.append(_algorithm_row(env, algorithm, list(seeds)))
    return "\n".join(rows)


def _strategy_rows(env: str, run: Run) -> list[str]:
    game, rows = run.game(), []
    for name in STRATEGIES[game.name]:
        each = evaluate(game, strategy(game, name), run.config.objective)
        numbers = f"{each.regret:.4f} | {each.gap_closed:z.2%} | {each.agreement_by_visits:.2%} |"
        rows.append((each.regret, f"| {env} | {name} | {numbers} | `stb-gym evaluate {game.name} --strategy {name}` |"))
    random = evaluate(game, strategy(game, "random"), run.config.objective).regret
    return [row for regret, row in sorted(rows, reverse=True) if 0 < regret <= random]


def _algorithm_row(env: str, algorithm: str, runs: list[Run]) -> str:
    greedy = [run.result()["greedy"] for run in runs]
    regret, gap_closed, agreement = (
        [each[name] for each in greedy] for name in ("regret", "gap_closed", "agreement_by_visits")
    )
    spread = f"**{median(regret):.4f}** ({min(regret):.4f} to {max(regret):.4f})"
    seconds = f"{median(run.result()['seconds'] for run in runs):.0f}"
    seeds = ", ".join(str(seed) for seed in sorted(run.config.seed for run in runs))
    command = f"`python -m training.train {algorithm} --env {env} --seed S` (S = {seeds})"
    return (
        f"| {env} | masked {algorithm.upper()} | {spread} | {median(gap_closed):.2%} | {median(agreement):.2%} "
        f"| {seconds} | {command} |"
    )


if __name__ == "__main__":
    sys.exit(main())
