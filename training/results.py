"""The page of a study's results, in Markdown: `python -m training.results docs/results`."""

import shlex
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import tyro

from agents.config import Config, Task
from agents.presets import FILE, Presets, read_presets
from stb_gym import RegretMeter
from stb_gym.games import check_choice
from stb_gym.output import Column, Table
from stb_gym.solver import Measured
from training.arguments import answer, answered, read_arguments
from training.commands import evaluate_command, train_command
from training.compare import scripted
from training.ledger import Ledger, Row
from training.pictured import PICTURES, agent_in_words, picture_in_words, profile_in_words, regret_in_words
from training.statistics import interquartile_interval, mean_of_seeds
from training.tables import markdown

RESULTS = Path(__file__).resolve().parents[1] / "docs" / "results"
ABOUT = """\
# Results

How close agents come to perfect play. Regret, in points (in chance where the objective is to shut the box), is what the
greedy policy loses against perfect play; for agents it is the interquartile mean over the seeds, with its 95 %
bootstrap interval (of three seeds that is hardly more than their range). Minutes are those of the processor, of one
process in one thread of torch, measuring included; what else a machine does is not in them.

Agents learn from play alone; the exact values only measure them. PPO and DQN see observations and masks, nothing else,
and no parameter of theirs belongs to a single position. "200k", "1m", "10m", "quick" and "long" are trainings of other
lengths, with the settings that fit these. "no masks", "double", "quantiles" and "unpooled", in which moves that led to
the same do not share what came after, change one part of an agent. Learners of afterstates, tabular or a network, are
also given where every move leads. So is the limit, which counts the rolls that it sees and plays the counted game
perfectly: who saw the same rolls can hardly play better, unless it learns of one state from others, as a network does.
What others lose beyond it is due to the algorithm, the rest to the rolls. It counts them state by state, or, as "shared
dice", together, as who knows that all states throw the same dice.

Stock agents are classes of stable-baselines3 and sb3-contrib as they are, with their default settings on one
environment from `gym.make`; "scaled" multiplies its rewards by 1/45 on nine tiles, by 1/30 in Threes, and "million" is
five times as long. Tuned agents are the same classes with other settings: more environments, a features extractor with
layer normalisation, a learning rate that falls to 0. Without masks an illegal action ends the turn with the worst
score: the tables say how many turns of such agents end so.
"""
OF_THESE = """\
Made from `runs.csv` and `curves.csv` by `python -m training.results docs/results`. Those are made by
`python -m training.study reference` and `python -m training.study stock`, which train all of it over the cores at hand
and go on where they were stopped; `python -m training.merge` brings the results of both together. The pictures of
mistakes are made by `python -m training.mistakes ppo-TASK dqn-TASK --out docs/results/TASK-mistakes.png` from the kept
policies: a near tie is a choice that loses less than 1 % of what random play loses in a turn, and a rare position one
that is met less than once in 1,000 turns.

Minutes of tabular learners, but for those of seeds 0 and 1, and most of stock agents after 200 thousand steps were
taken by the clock of a machine that was also at other work. On The 300 other trainings ran beside, which slows them.
The million steps of QR-DQN were made on a slower machine, those of seed 0 in more than an hour. The other seeds took a
quarter of that or less: the library's loss was compiled by `torch.compile` and, but for one run, Adam was PyTorch's
fused one and denormal numbers were taken as 0. This is the same arithmetic, rounded as on another processor.

PPO and DQN were trained on all boxes but The 300, and on Threes, before their exploration and replay had random numbers
of their own. So their commands come to other numbers now, with the same seed, which differ from those here as seeds do.
"""
SAMPLED = """\
Where positions are too many for a table, regret is sampled, and its standard error stands after "±": the mean over
10,000 turns of each run of what their choices lose, which is known exactly, so that it has no bias and little noise.
Choices that are optimal, and turns that ended illegally, are counted in the same turns. What random play and rules of
thumb lose there is known exactly, too, but takes a minute: `stb-gym list shut-the-box --tiles 24 --dice 4`.
"""
HEADINGS = (
    "agent",
    "regret",
    "of the optimum",
    "choices optimal",
    "ended illegally",
    "seeds",
    "steps",
    "minutes",
    "command",
)


@dataclass(frozen=True)
class Arguments:
    """Print the page of a study's results in Markdown."""

    folder: tyro.conf.Positional[Path]
    """Folder of the study, of which runs.csv and curves.csv are needed."""
    presets: Path = FILE
    """File of the presets."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.results")

    def work() -> None:
        answer(results_page(options.folder, read_presets(options.presets)).removesuffix("\n"))

    return answered("training.results", work)


def results_page(folder: Path, presets: Presets) -> str:
    """The tables of all tasks, with the pictures that are in the folder.

    Raises:
        ValueError: as `results_tables` does.
    """
    rows = list(Ledger(folder).rows.values())
    sampled = any(row.turns for row in rows)
    parts = [ABOUT.strip(), OF_THESE.strip() if folder.resolve() == RESULTS else "", SAMPLED.strip() if sampled else ""]
    for task, table in results_tables(folder, presets).items():
        parts += [f"## {task}", markdown(table)]
        for kind in PICTURES:
            if (folder / f"{task}{kind}.png").exists():
                parts.append(f"![{picture_in_words(kind, task, presets.tasks[task].game(), rows)}]({task}{kind}.png)")
    if (folder / "profile.png").exists():
        parts.append(f"![{profile_in_words(rows)}](profile.png)")
    return "\n\n".join(filter(None, parts)) + "\n"


def results_tables(folder: Path, presets: Presets) -> dict[str, Table]:
    """For every task the agents, the worst of them first.

    Before them, where regret is exact, are random play and the best strategy that is not perfect. Numbers of
    an agent are interquartile means over its seeds; that of the regret is followed by its 95 % interval.

    Raises:
        ValueError: if there are no runs in the folder, its files are damaged, or a run is not of the preset that its
            command in the table trains.
    """
    rows = list(Ledger(folder).rows.values())
    if not rows:
        raise ValueError(f"there are no runs in {folder}")
    for row in rows:
        config_of(row, folder, presets)
    tables = {}
    for name, task in presets.tasks.items():
        of_task = sorted((row for row in rows if row.task == name), key=lambda row: (row.agent, row.seed))
        if of_task:
            groups = [list(group) for _, group in groupby(of_task, key=lambda row: row.agent)]
            agents = [_agent_line(group, folder, presets) for group in sorted(groups, key=_regret, reverse=True)]
            strategies = [] if any(row.turns for row in of_task) else _strategy_lines(task)
            columns = zip(*strategies, *agents, strict=True)
            tables[name] = Table(
                {heading: Column("", list(cells)) for heading, cells in zip(HEADINGS, columns, strict=True)}
            )
    return tables


def config_of(row: Row, folder: Path, presets: Presets) -> Config:
    """The configuration of a run in a folder, as its preset has it.

    Raises:
        ValueError: if the run was trained with another one.
    """
    check_choice(f"task of {row.run} in {folder}", row.task, list(presets.tasks))
    config = presets.config(row.algorithm, presets.tasks[row.task], row.variant, row.seed)
    if config.digest() != row.config:
        raise ValueError(f"{row.run} in {folder} was trained with other settings than its preset has now")
    return config


def _regret(rows: list[Row]) -> float:
    return mean_of_seeds([row.regret for row in rows])


def _strategy_lines(task: Task) -> list[tuple[str, ...]]:
    """The lines of random play and of the best strategy that is not perfect."""
    found = scripted(RegretMeter(task.game(), task.objective).optimum)
    imperfect = [each for each in found if found[each].regret > 0]
    best = min(imperfect, key=lambda each: found[each].regret, default="random")
    return [_strategy_line(task, each, found[each]) for each in dict.fromkeys(("random", best))]


def _strategy_line(task: Task, strategy: str, evaluation: Measured) -> tuple[str, ...]:
    return (
        strategy,
        regret_in_words(evaluation.regret),
        f"{evaluation.regret / abs(evaluation.optimum.value):.4%}",
        f"{evaluation.agreement_by_visits:.2%}" if evaluation.agreement_by_visits is not None else "",
        *("", "", "", ""),
        f"`{shlex.join([*evaluate_command(task), '--policy', strategy])}`",
    )


def _agent_line(rows: list[Row], folder: Path, presets: Presets) -> tuple[str, ...]:
    first, regret = rows[0], _regret(rows)
    ends = [regret_in_words(end[0]) for end in interquartile_interval(np.array([[row.regret] for row in rows]))]
    config = config_of(first, folder, presets)
    command = train_command(config, first.variant, presets)
    if len(rows) > 1:
        command[-1] = "S"
    return (
        agent_in_words(first),
        f"**{regret_in_words(regret)}**{_noise(rows)}" + (f" ({ends[0]} to {ends[1]})" if len(rows) > 1 else ""),
        f"{regret / abs(first.optimum):.4%}",
        f"{mean_of_seeds([row.agreement_by_visits for row in rows]):.2%}",
        f"{mean_of_seeds([row.illegal_mass for row in rows]):.2%}" if config.illegal == "end" else "",
        _in_words([row.seed for row in rows]),
        f"{float(f'{first.steps / 1e6:.3g}'):,.7g}M",  # three figures, never with an exponent
        f"{mean_of_seeds([row.seconds for row in rows]) / 60:.1f}",
        f"`{shlex.join(command)}`",
    )


def _noise(rows: list[Row]) -> str:
    """The standard error of a mean of regrets, if they were sampled."""
    error = float(np.linalg.norm([row.standard_error for row in rows])) / len(rows)
    return f" ± {regret_in_words(error)}" if any(row.turns for row in rows) else ""


def _in_words(seeds: list[int]) -> str:
    """Seeds in ascending order, in words: "0 to 2", or "0, 2, 3"."""
    together = len(seeds) > 1 and seeds == list(range(seeds[0], seeds[0] + len(seeds)))
    return f"{seeds[0]} to {seeds[-1]}" if together else ", ".join(map(str, seeds))


if __name__ == "__main__":
    sys.exit(main())
