"""Train a learner in rounds, against itself or others, and measure it exactly: `python -m training.rounds ppo ...`.

In self-play the measure is how exploitable the learner is, seat by seat, while it learns.
"""

import json
import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Literal

import torch
import tyro

from agents.presets import FILE, read_presets
from stb_gym.output import Column, Progress, Table, write_text
from training.arguments import answer, answered, read_arguments
from training.commands import task_name
from training.entries import remove_leftovers
from training.round_run import CHECKPOINT, CONFIG, Measurement, RoundConfig, RoundTraining
from training.run_writer import alone
from training.statistics import mean_of_seeds
from training.train import task_from_flags

COLUMNS = (
    ("players", "d"),
    ("opponents", ""),
    ("largest gain of a seat", ".6f"),
    ("from", ".6f"),
    ("to", ".6f"),
    ("if any self plays", ".6f"),
    ("seeds", "d"),
    ("steps", ",.0f"),
    ("minutes", ".1f"),
)


@dataclass(frozen=True)
class Arguments:
    """Train a learner in rounds of several players, and measure exactly what each seat could gain by a best response.

    There is a training for every number of players, opponents and seed. Those that were interrupted go on, and those
    that are finished are not made again.
    """

    algorithm: tyro.conf.Positional[Literal["ppo", "dqn", "afterstate-network"]]
    """Masked PPO, masked DQN or a network of afterstates."""
    env: str = "stb_gym/ShutTheBox-v0"
    """Environment of the turn, by its id."""
    players: tuple[int, ...] = (2,)
    """How many play."""
    opponents: tuple[str, ...] = ("naive",)
    """Whom it plays: naive (its newest self), fictitious (any of its selves), league (mostly the newest), or a strategy
    by its name, such as optimal."""
    ties: str = "split"
    """Tie rule: split, all-win or nobody."""
    variant: str = "round"
    """Variant of the preset."""
    steps: int | None = None
    """Steps of all environments together (default: those of the preset)."""
    presets: Path = FILE
    """File of the presets."""
    settings: dict[str, bool | int | float] = field(default_factory=dict)
    """Settings that differ from those of the preset, as names and values: --settings width 64 learning_rate 0.001."""
    seeds: tuple[int, ...] = (0,)
    """Seeds of the dice, the network and the exploration."""
    out: Path = Path("runs/rounds")
    """Folder of the trainings, each of which has a folder there."""
    measurements: int = 40
    """How often it is measured and, in self-play, a newer self made."""
    checkpoint_seconds: float = 60.0
    """The least processor time between two checkpoints, which are saved at measurements."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options, flags = read_arguments(Arguments, arguments, "training.rounds", rules=True)
    torch.set_num_threads(1)  # with one, the same command gives the same weights, bit by bit

    def work() -> None:
        found: dict[tuple[int, str], list[Measurement]] = {}
        for name, config in planned(options, flags).items():
            last = train_rounds(config, options.out / name, options.checkpoint_seconds)
            found.setdefault((config.players, config.opponents), []).append(last)
        answer(summary(found))

    return answered("training.rounds", work, "the same command goes on from the last checkpoint")


def planned(options: Arguments, flags: list[str]) -> dict[str, RoundConfig]:
    """What is to be trained, by the name of its folder.

    Raises:
        ValueError: naming the first entry that is not allowed.
    """
    task, presets = task_from_flags(options.env, None, flags), read_presets(options.presets)
    name, ties = presets.name(task) or task_name(task), [options.ties] if options.ties != "split" else []
    made = {}
    for players, opponents, seed in product(options.players, options.opponents, options.seeds):
        learner = presets.config(options.algorithm, task, options.variant, seed, options.steps, options.settings)
        words = [options.algorithm, name, f"{players}-players", opponents, *ties, str(seed)]
        made["-".join(words)] = RoundConfig(learner, players, opponents, options.ties, options.measurements)
    if not made:
        raise ValueError("players, opponents and seeds each need a value, or there is nothing to train")
    if not 0 <= options.checkpoint_seconds < math.inf:
        raise ValueError(f"checkpoint-seconds must be a number, 0 or more, not {options.checkpoint_seconds}")
    return made


def summary(found: Mapping[tuple[int, str], Sequence[Measurement]]) -> Table:
    """A row for every number of players and opponents: interquartile means over the seeds, of gains the range, too."""
    rows = []
    for (players, opponents), seeds in found.items():
        gains = [last["gain"] for last in seeds]
        average = _mean(seeds, "gain_of_average") if "gain_of_average" in seeds[0] else None
        made = _mean(seeds, "steps"), _mean(seeds, "seconds") / 60
        rows.append((players, opponents, _mean(seeds, "gain"), min(gains), max(gains), average, len(seeds), *made))
    columns = zip(*rows, strict=True)
    return Table({heading: Column(form, list(c)) for (heading, form), c in zip(COLUMNS, columns, strict=True)})


def _mean(seeds: Sequence[Measurement], name: str) -> float:
    return mean_of_seeds([last[name] for last in seeds])


def train_rounds(config: RoundConfig, folder: Path, checkpoint_seconds: float = 60.0) -> Measurement:
    """Train in rounds, or go on with it, or look up how it went; returns the last measurement.

    Args:
        config: what is trained.
        folder: the folder of the training.
        checkpoint_seconds: the least processor time between two checkpoints.

    Raises:
        ValueError: if the folder holds another training or another process writes to it, a file in it is damaged, or
            learning diverges.
    """
    with alone(folder, waits=False):
        training, text = RoundTraining(config), json.dumps(asdict(config), indent=2) + "\n"
        if (folder / CONFIG).exists() and (folder / CONFIG).read_text(encoding="utf-8") != text:
            raise ValueError(f"{folder} holds another training: remove it, or name another folder by --out")
        remove_leftovers(folder)
        write_text(folder / CONFIG, text)
        training.read(folder)
        if not training.is_finished:
            _train(training, folder, checkpoint_seconds)
        return training.measured[-1]


def _train(training: RoundTraining, folder: Path, checkpoint_seconds: float) -> None:
    learner, steps = training.learner, training.config.learner.steps
    began = time.process_time() - (training.measured[-1]["seconds"] if training.measured else 0)
    saved = time.process_time()
    with Progress(folder.name, steps, "steps", initial=learner.num_timesteps) as progress:

        def measure() -> None:
            nonlocal saved
            note = in_words(training.measure(time.process_time() - began))
            due = not training.is_finished and time.process_time() - saved >= checkpoint_seconds
            training.write(folder, due)
            saved = time.process_time() if due else saved
            progress.tell(min(learner.num_timesteps, steps), note=note)

        def before_rollout() -> None:
            progress.tell(learner.num_timesteps)
            if training.is_due:
                measure()

        learner.learn_until(steps, before_rollout)
        measure()
    (folder / CHECKPOINT).unlink(missing_ok=True)


def in_words(found: Measurement) -> str:
    """A measurement in words."""
    seats = ", ".join(f"{found[name]:.6f}" for name in found if name.startswith("gain_") and name[-1].isdigit())
    average = f"; of the average of its selves {found['gain_of_average']:.6f}" if "gain_of_average" in found else ""
    made = f"{found['steps']:,} steps, {found['seconds'] / 60:.1f} minutes"
    return f"gain {found['gain']:.6f} (by seat {seats}){average} after {made}"


if __name__ == "__main__":
    sys.exit(main())
