"""Does what is learned on many boxes carry over to others? `python -m training.many_boxes docs/results`.

A network of afterstates learns from boards with gaps, of some numbers of dice, and is measured, exactly, on whole
boxes, with none of which it ever began. Beside it stand the better rule of thumb, the network before it learned,
networks that learn on that box alone, and the shared one after it went on to learn there.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import torch
import tyro
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from agents.afterstate_network import AfterstateNetwork, AfterstateSettings
from agents.learner import Weights
from agents.many_boxes import DICE, ManyBoxes, boards_with_gaps, preference, whole_box
from agents.presets import read_presets
from stb_gym import ShutTheBox
from stb_gym.games import IntArray, check_integer, entry_of
from stb_gym.large import board_strategy, evaluate_boards, solve_boards
from stb_gym.output import Column, Progress, Table, read_text, write_text
from training.arguments import answer, answered
from training.palette import SERIES
from training.plots import LEAST_REGRET, save
from training.rows import from_csv, to_csv
from training.run_writer import alone
from training.tables import markdown

NAME = "many-boxes"  # of the files
THUMB, SHARED = "rule of thumb", "shared"
AGENTS = (THUMB, "untrained", SHARED, "shared, then this box", "this box, briefly", "this box")
SHORT = 1000  # steps, the fewest that settings are asked for
SLOWER = 0.3  # of the learning rate, where a network goes on to learn on one box

_solved = lru_cache(maxsize=1)(solve_boards)


@dataclass(frozen=True)
class Arguments:
    """Train a network of afterstates on many boxes at once, and measure it exactly on boxes that are none of these.

    What many-boxes.csv says already is not measured again, so that the same command goes on where it was stopped.
    """

    folder: tyro.conf.Positional[Path]
    """Where many-boxes.csv and the picture many-boxes.png are written."""
    boxes: tuple[tuple[int, int], ...] = ((9, 2), (16, 3), (12, 4), (16, 4), (20, 4))
    """Boxes to measure on, each by its tiles and its dice."""
    large: tuple[tuple[int, int], ...] = ((24, 4),)
    """Boxes on which nothing learns: the rule of thumb and the shared network alone are measured there."""
    dice: tuple[int, ...] = (1, 2, 4)
    """Numbers of dice that the shared network learns with."""
    steps: int = 1_000_000
    """Steps of the shared network, and of one that learns on a box alone."""
    brief: int = 125_000
    """Steps of the shared network that goes on to learn on a box, and of one that learns there briefly."""
    seeds: tuple[int, ...] = (0, 1, 2)
    """Seeds of the boards, the dice, the networks and the exploration."""
    json: bool = False
    """Print JSON instead of a table."""


@dataclass(frozen=True)
class Row:
    """An agent on a box.

    Attributes:
        tiles, dice: the box.
        agent: one of AGENTS.
        seed: of its training.
        shared_dice: the numbers of dice on whose boards with gaps it learned, such as "1 2 4"; "" if it did not.
        shared_steps: how many steps were made there.
        steps: how many steps were made on this box.
        optimum: points of perfect play.
        regret: points that the agent loses against it.
    """

    tiles: int
    dice: int
    agent: str
    seed: int
    shared_dice: str
    shared_steps: int
    steps: int
    optimum: float = 0.0
    regret: float = 0.0

    @property
    def share(self) -> float:
        """The regret as a share of the optimum."""
        return self.regret / abs(self.optimum)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = tyro.cli(Arguments, args=arguments, prog="training.many_boxes")
    torch.set_num_threads(1)  # with one, the same command gives the same weights, bit by bit

    def work() -> None:
        plan = planned(options)
        with alone(options.folder, waits=False):
            rows = measured(plan, options.folder / f"{NAME}.csv")
        plot_boxes(options.folder / f"{NAME}.png", rows)
        answer(json.dumps([asdict(row) for row in rows]) if options.json else markdown(boxes_table(rows)))

    return answered("training.many_boxes", work, "the same command goes on with what is not measured yet")


def planned(options: Arguments) -> list[Row]:
    """What is to be measured, seed by seed and box by box.

    Raises:
        ValueError: naming the first argument that is not allowed.
    """
    boxes, shared = options.boxes + options.large, sorted(set(options.dice))
    for dice in (*shared, *(dice for _, dice in boxes)):
        check_integer("dice", dice, 1, DICE)
    for tiles, dice in boxes:
        check_integer(f"tiles of a box with {dice} dice", tiles, 1, whole_box(dice).tiles)
    for name, numbers, least in (("seed", options.seeds, 0), ("steps", (options.steps, options.brief), 1)):
        for number in numbers:
            check_integer(name, number, least, 10**9)
    long, brief = options.steps, options.brief
    made = ((0, 0), (0, 0), (long, 0), (long, brief), (0, brief), (0, long))  # steps on boards with gaps, on the box
    words, agents = " ".join(map(str, shared)), list(zip(AGENTS, made, strict=True))
    rows = [
        Row(*box, agent, 0 if agent == THUMB else seed, words if steps[0] else "", *steps)
        for seed, box, (agent, steps) in product(options.seeds, boxes, agents)
        if box in options.boxes or agent in (THUMB, SHARED)
    ]
    return list(dict.fromkeys(rows))


def measured(plan: Sequence[Row], path: Path) -> list[Row]:
    """The rows of a plan with what is measured, of which a file holds what is so far; a ValueError if it is damaged."""
    found = {replace(row, optimum=0.0, regret=0.0): row for row in _known(path)}
    missing = [row for row in plan if row not in found]
    with Progress("many boxes", len(missing), "rows") as progress:
        for done, row in enumerate(missing, 1):
            found[row] = _measured(row)
            write_text(path, to_csv(list(found.values()), Row))
            note = f"{row.tiles} tiles, {row.dice} dice, {row.agent}: {found[row].share:.2%}"
            progress.tell(done, note=note)
    return [found[row] for row in plan]


def _known(path: Path) -> list[Row]:
    try:
        return from_csv(read_text(path), Row) if path.exists() else []
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def _measured(row: Row) -> Row:
    best = _solved(ShutTheBox(tiles=row.tiles, dice=row.dice))
    if row.agent == THUMB:
        names = entry_of(best.game).heuristics
        regret = min(evaluate_boards(best, board_strategy(best.game, name)).regret for name in names)
    else:
        board = np.array([best.game.start()[0]])
        shared = _shared(row.shared_dice, row.seed, row.shared_steps) if row.shared_steps else None
        regret = evaluate_boards(best, preference(trained({row.dice: board}, row.steps, row.seed, shared))).regret
    return replace(row, optimum=float(best.value), regret=regret)


@lru_cache(maxsize=1)
def _shared(dice: str, seed: int, steps: int) -> Weights:
    return trained(boards_with_gaps([int(number) for number in dice.split()], seed), steps, seed).weights()


def trained(boards: Mapping[int, IntArray], steps: int, seed: int, weights: Weights | None = None) -> AfterstateNetwork:
    """A network that learned from turns that begin with boards, by the settings of the ladder.

    Args:
        boards: by the number of dice, as `ManyBoxes` takes them.
        steps: how many it makes.
        seed: of all that is drawn.
        weights: what it has learned already.
    """
    presets = read_presets()
    budget = max(steps, SHORT)  # who learns nothing more has settings, too
    settings = presets.config("afterstate-network", presets.tasks["the-300"], "ladder", steps=budget).settings
    assert isinstance(settings, AfterstateSettings)
    if weights:
        settings = replace(settings, learning_rate=SLOWER * settings.learning_rate)
    network = AfterstateNetwork(ManyBoxes(boards, settings.num_envs), settings, seed)
    if weights:
        network.load_weights(weights)
    network.learn_until(steps)
    return network


def boxes_table(rows: Sequence[Row]) -> Table:
    """A row for every box: what each agent loses, as a share of perfect play, in the mean over the seeds."""
    optimum = {(row.tiles, row.dice): row.optimum for row in rows}
    columns = {
        "tiles": Column("d", [tiles for tiles, _ in optimum]),
        "dice": Column("d", [dice for _, dice in optimum]),
        "perfect play": Column(".3f", list(optimum.values())),
    }
    agents = {agent: Column(".2%", [_mean(rows, box, agent) for box in optimum]) for agent in AGENTS}
    return Table(columns | agents)


def _mean(rows: Sequence[Row], box: tuple[int, int], agent: str) -> float | None:
    """The mean over the seeds of what an agent loses on a box, if it was measured there."""
    shares = [row.share for row in rows if (row.tiles, row.dice, row.agent) == (*box, agent)]
    return float(np.mean(shares)) if shares else None


def plot_boxes(path: Path, rows: Sequence[Row]) -> None:
    """Draw what agents lose on each box, a dot for each seed."""
    figure = Figure(figsize=(8, 5.5), layout="constrained")
    axes = figure.add_subplot()
    boxes = list(dict.fromkeys((row.tiles, row.dice) for row in rows))
    for place, (agent, colour) in enumerate(zip(AGENTS, SERIES, strict=False)):
        of_agent = [row for row in rows if row.agent == agent]
        across = [boxes.index((row.tiles, row.dice)) + 0.12 * (place - len(AGENTS) / 2 + 0.5) for row in of_agent]
        axes.plot(across, [max(row.share, LEAST_REGRET) for row in of_agent], "o", color=colour, label=agent)
    axes.set_xticks(range(len(boxes)), [f"{tiles} tiles,\n{dice} dice" for tiles, dice in boxes])
    axes.set(yscale="log", ylabel="regret as a share of perfect play")
    axes.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
    axes.grid(axis="y", alpha=0.25)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
    save(path, figure)


if __name__ == "__main__":
    sys.exit(main())
