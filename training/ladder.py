"""How far from perfect play does learning stay as a solved game grows? `python -m training.ladder runs/ladder`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tyro
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from agents.presets import FILE, Presets, read_presets
from stb_gym.games import Game, rolls
from stb_gym.large import boards_of
from stb_gym.output import Column, Table
from training.arguments import answer, answered, read_arguments
from training.ledger import Ledger, Row
from training.palette import styles_of
from training.pictured import agent_in_words
from training.plots import save
from training.tables import markdown

PICTURE = "ladder.png"
DIFFERENCES = {" no masks": " without masks", " own": ", own settings"}  # what variants of the ladder are called
LEAST_SHARE = 1e-5  # a share of 0, which the axis does not have, is drawn there


@dataclass(frozen=True)
class Arguments:
    """Print what agents lose on boxes of rising size, where random play loses 100 %, in Markdown, and draw it."""

    folder: tyro.conf.Positional[Path]
    """Folder of a study whose tasks are boxes, of which runs.csv and curves.csv are needed; the picture is written
    there, as ladder.png."""
    presets: Path = FILE
    """File of the presets."""


class Rung(NamedTuple):
    """A box, and what agents came to on it.

    Attributes:
        task: its name.
        positions: boards times rolls.
        actions: moves there are in all, legal or not.
        optimum: points of perfect play.
        shares: [seeds] the regrets of each agent as shares of that of random play, by its name.
    """

    task: str
    positions: int
    actions: int
    optimum: float
    shares: Mapping[str, Sequence[float]]

    def mean(self, agent: str) -> float:
        """The mean of the shares of an agent over its seeds."""
        return float(np.mean(self.shares[agent]))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.ladder")

    def work() -> None:
        ladder = rungs(list(Ledger(options.folder).rows.values()), read_presets(options.presets))
        plot_ladder(options.folder / PICTURE, ladder)
        answer(markdown(ladder_table(ladder)))

    return answered("training.ladder", work)


def rungs(rows: Sequence[Row], presets: Presets) -> list[Rung]:
    """The boxes that were trained on, the smallest first.

    Raises:
        ValueError: if there are no runs, a task is not among the presets, or it is no box that is solved by boards.
    """
    if not rows:
        raise ValueError("there are no runs")
    found = []
    for task, of_task in groupby(sorted(rows, key=lambda row: (row.task, row.agent, row.seed)), lambda row: row.task):
        if task not in presets.tasks:
            raise ValueError(f"there is no task {task!r} in {presets.file}")
        runs, game = list(of_task), presets.tasks[task].game()
        shares = {agent: [1 - row.normalised_score for row in seeds] for agent, seeds in groupby(runs, agent_on_ladder)}
        found.append(Rung(task, positions(game), len(game.actions), runs[0].optimum, shares))
    return sorted(found, key=lambda rung: rung.positions)


def agent_on_ladder(row: Row) -> str:
    """The algorithm of a run and what is different about it, such as "PPO without masks"."""
    name, _, variant = agent_in_words(row).partition(", ladder")
    return name + DIFFERENCES.get(variant, variant)


def positions(game: Game) -> int:
    """Boards times rolls.

    >>> from stb_gym import ShutTheBox
    >>> f"{positions(ShutTheBox(tiles=24, dice=4)):,}"
    '352,321,536'
    """
    return 2 ** len(boards_of(game).bits) * len(rolls(game, game.dice).counts)


def agents_of(ladder: Sequence[Rung]) -> list[str]:
    """The agents of any rung, by name."""
    return sorted({agent for rung in ladder for agent in rung.shares})


def ladder_table(ladder: Sequence[Rung]) -> Table:
    """A column for every box, and a row for every agent: its mean regret as a share of that of random play."""
    agents = agents_of(ladder)
    columns = {"": Column("", ["positions", "actions", "perfect play", *agents])}
    for rung in ladder:
        box = [f"{rung.positions:,}", f"{rung.actions:,}", f"{rung.optimum:.3f}"]
        shares = [f"{rung.mean(agent):.3%}" if agent in rung.shares else None for agent in agents]
        columns[rung.task] = Column(str, [*box, *shares])
    return Table(columns)


def plot_ladder(path: Path, ladder: Sequence[Rung]) -> None:
    """Draw regret against the size of boxes: a line for each agent, a dot for each seed."""
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for agent, style in styles_of(agents_of(ladder)).items():
        on = [rung for rung in ladder if agent in rung.shares]
        means = [max(rung.mean(agent), LEAST_SHARE) for rung in on]
        places = [rung.positions for rung in on]
        [line] = axes.plot(places, means, color=style.colour, linestyle=style.linestyle, label=agent)
        if len(on) == 1:  # which is no line
            line.set(marker="o", markersize=9, fillstyle="none")
        seeds = [(rung.positions, max(share, LEAST_SHARE)) for rung in on for share in rung.shares[agent]]
        axes.plot(*zip(*seeds, strict=True), ".", color=style.colour)
    axes.set(xscale="log", yscale="log", xlabel="positions", ylabel="regret as a share of that of random play")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    for rung in ladder:
        axes.annotate(rung.task, (rung.positions, 1.01), xycoords=("data", "axes fraction"), ha="center", fontsize=8)
    axes.grid(alpha=0.25)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    save(path, figure)


if __name__ == "__main__":
    sys.exit(main())
