"""Where a training logs its measurements as it makes them: a file of CSV, TensorBoard, or Weights & Biases.

TensorBoard and Weights & Biases have the numbers of a measurement as `exact/NAME`, or as `sampled/NAME` if it was not
exact, and what the learner tells of its last update, such as its losses, as `train/NAME`. A training that goes on from
a checkpoint makes the measurements after it anew, to the same numbers: no log has them twice.
"""

import hashlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from agents.config import Config
from stb_gym.output import write_text
from training.rows import csv_text
from training.run import Measurement

Log = Callable[[Sequence[Measurement]], None]

CSV, TENSORBOARD = "log.csv", "tensorboard"
PACKAGES = {"csv": "csv", "tensorboard": "torch.utils.tensorboard", "wandb": "wandb"}


def check_logs(names: Sequence[str]) -> None:
    """Raise a ValueError if the package that a log needs is not installed."""
    for name in names:
        try:
            importlib.import_module(PACKAGES[name])
        except ImportError:
            raise ValueError(f"--log {name} needs the package {name}: pip install {name}") from None


@contextmanager
def open_logs(names: Sequence[str], folder: Path, config: Config, measured: Sequence[Measurement]) -> Iterator[Log]:
    """Give a function that is to be called with all measurements of a run whenever there is a new one.

    Args:
        names: of the logs: "csv", "tensorboard", "wandb".
        folder: folder of the run.
        config: what is trained.
        measured: the measurements that were made, and logged, before the training was interrupted.
    """
    kinds = {"csv": _csv, "tensorboard": _tensorboard, "wandb": _wandb}
    with ExitStack() as stack:
        logs = [stack.enter_context(kinds[name](folder, config, measured)) for name in dict.fromkeys(names)]

        def log(measurements: Sequence[Measurement]) -> None:
            for each in logs:
                each(measurements)

        yield log


@contextmanager
def _csv(folder: Path, config: Config, measured: Sequence[Measurement]) -> Iterator[Log]:
    """A file of all measurements, written anew with every one: steps, seconds and the figures of the learner."""

    def log(measurements: Sequence[Measurement]) -> None:
        rows = [{"steps": point.steps, "seconds": point.seconds, **figures} for point, figures, _ in measurements]
        write_text(folder / CSV, csv_text(dict.fromkeys(name for row in rows for name in row), rows))

    yield log


@contextmanager
def _tensorboard(folder: Path, config: Config, measured: Sequence[Measurement]) -> Iterator[Log]:
    """Events that TensorBoard reads; it forgets those of a run that was here before, or went on beyond `measured`."""
    from torch.utils.tensorboard import SummaryWriter

    def log(measurements: Sequence[Measurement]) -> None:
        for name, value in _scalars(measurements[-1]).items():
            writer.add_scalar(name, value, measurements[-1].point.steps)
        writer.flush()

    after = measured[-1].point.steps + 1 if measured else 0
    with SummaryWriter(str(folder / TENSORBOARD), purge_step=after) as writer:
        yield log


@contextmanager
def _wandb(folder: Path, config: Config, measured: Sequence[Measurement]) -> Iterator[Log]:
    """A run of Weights & Biases, which refuses what it has for a step already; WANDB_MODE=offline keeps it here."""
    import wandb

    def log(measurements: Sequence[Measurement]) -> None:
        run.log(_scalars(measurements[-1]), step=measurements[-1].point.steps)

    identity = hashlib.sha256(f"{folder.resolve()} {config.digest()}".encode()).hexdigest()[:16]
    run = wandb.init(
        project="stb_gym",
        name=folder.name,
        id=identity,
        resume="allow" if measured else None,
        dir=str(folder),
        config=config.to_json(),
    )
    with run:
        yield log


def _scalars(measurement: Measurement) -> dict[str, Any]:
    """The numbers of a measurement by the names they have in a log."""
    sampled = measurement.point.turns > 0
    left_out = {"steps", "agreement"} if sampled else {"steps", "turns", "standard_error"}
    numbers = {name: value for name, value in vars(measurement.point).items() if name not in left_out}
    measured = {f"{'sampled' if sampled else 'exact'}/{name}": value for name, value in numbers.items()}
    return measured | {f"train/{name}": value for name, value in measurement.figures.items()}
