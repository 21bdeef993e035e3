"""The table of a study's results, in Markdown: `python -m training.results docs/results`."""

import shlex
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import tyro

from agents.config import Config, Task
from agents.presets import STANDARD, Presets, read_presets
from stb_gym import STRATEGIES, evaluate, strategy
from training.ledger import Ledger, Row
from training.statistics import interquartile_interval, interquartile_mean
from training.train import train_command

HEAD = "| task | agent | regret | of the optimum | choices optimal | seeds | steps | minutes | command |"
NAMES = {
    "ppo": "PPO",
    "dqn": "DQN",
    "qrdqn": "QR-DQN",
    "q-learning": "Q-learning, tabular",
    "afterstates": "afterstates, tabular",
}
MASKED = ("ppo", "dqn", "qrdqn")
NO_MASKS = "no-masks"


@dataclass(frozen=True)
class Arguments:
    """Print the table of a study in Markdown."""

    folder: tyro.conf.Positional[Path]
    """Folder of the study, of which runs.csv is needed."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = tyro.cli(Arguments, args=arguments, prog="training.results")
    try:
        print(results_table(options.folder, read_presets()))
    except (ValueError, OSError) as error:
        print(f"training.results: {error}", file=sys.stderr)
        return 2
    return 0


def results_table(folder: Path, presets: Presets) -> str:
    """For every task random play and the best strategy, then the agents, the better before the worse.

    Of an agent the interquartile mean of the regret over seeds with its 95 % interval, and that of the other numbers.

    Raises:
        ValueError: if there are no runs in the folder, its files are damaged, or a run is not of the preset that its
            command in the table trains.
    """
    rows = list(Ledger(folder).rows.values())
    if not rows:
        raise ValueError(f"there are no runs in {folder}")
    lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
    for name, task in presets.tasks.items():
        of_task = sorted((row for row in rows if row.task == name), key=lambda row: row.agent)
        if not of_task:
            continue
        groups = [list(group) for _, group in groupby(of_task, key=lambda row: row.agent)]
        for row in of_task:
            if row.config != presets.config(row.algorithm, task, row.variant, row.seed).digest():
                raise ValueError(f"{row.run} in {folder} is not of its preset: python -m training.study runs it again")
        lines += _strategy_lines(name, task)
        for group in sorted(groups, key=_regret, reverse=True):
            lines.append(_agent_line(name, presets.config(group[0].algorithm, task, group[0].variant), group))
    return "\n".join(lines)


def _regret(rows: list[Row]) -> float:
    return _mean([row.regret for row in rows])


def _mean(values: list[float]) -> float:
    return float(interquartile_mean(np.array(values)[:, None])[0])


def _strategy_lines(name: str, task: Task) -> list[str]:
    """Random play, and the best of the strategies that are not perfect."""
    game = task.game()
    found = {each: evaluate(game, strategy(game, each), task.objective) for each in STRATEGIES[game.name]}
    best = min((each for each in found if found[each].regret > 0), key=lambda each: found[each].regret)
    lines = []
    for each in dict.fromkeys(("random", best)):
        command = shlex.join([*evaluate_command(task), "--strategy", each])
        share = found[each].regret / abs(found[each].optimum.value)
        lines.append(
            f"| {name} | {each} | {found[each].regret:.4f} | {share:.3%} | {found[each].agreement_by_visits:.2%} "
            f"| | | | `{command}` |"
        )
    return lines


def _agent_line(name: str, config: Config, rows: list[Row]) -> str:
    first = rows[0]
    regret = _regret(rows)
    low, high = interquartile_interval(np.array([[row.regret] for row in rows]))
    spread = f" ({low[0]:.4f} to {high[0]:.4f})" if len(rows) > 1 else ""
    seeds = f"0 to {len(rows) - 1}" if len(rows) > 1 else "0"
    command = shlex.join([*train_command(config, first.variant)[:-1], "S" if len(rows) > 1 else "0"])
    return (
        f"| {name} | {agent_in_words(first)} | **{regret:.4f}**{spread} | {regret / abs(first.optimum):.3%} "
        f"| {_mean([row.agreement_by_visits for row in rows]):.2%} | {seeds} | {first.steps / 1e6:.3g}M "
        f"| {_mean([row.seconds for row in rows]) / 60:.1f} | `{command}` |"
    )


def evaluate_command(task: Task) -> list[str]:
    """The words of the command that evaluates a strategy or a policy on a task, but for which."""
    words = ["stb-gym", "evaluate", task.game().name]
    words += [word for rule, value in task.rules.items() for word in (f"--{rule}", str(value))]
    return [*words, *(["--objective", task.objective] if task.objective != "score" else [])]


def agent_in_words(row: Row) -> str:
    """The algorithm and the variant of a run."""
    masked = "masked " if row.algorithm in MASKED and row.variant != NO_MASKS else ""
    variant = "" if row.variant == STANDARD else f", {row.variant.replace('-', ' ')}"
    return f"{masked}{NAMES[row.algorithm]}{variant}"


if __name__ == "__main__":
    sys.exit(main())
