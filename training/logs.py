"""Log the measurements of a run to TensorBoard or Weights & Biases as well."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

from agents.presets import Config

Row = dict[str, float]


@contextmanager
def open_logs(
    names: Sequence[str], folder: Path, config: Config, rows: Sequence[Row]
) -> Iterator[Callable[[Row], None]]:
    """Yield a function that logs a row of the curve under the names of its columns.

    Args:
        names: of the logs: "tensorboard", "wandb".
        folder: the folder of the run.
        config: its configuration.
        rows: the rows that were logged before the run was interrupted; later entries of a log are forgotten.

    Raises:
        ImportError: if a log is not installed.
    """
    loggers: list[Callable[[Row, int], Any]] = []
    with ExitStack() as stack:
        if "tensorboard" in names:
            from torch.utils.tensorboard import SummaryWriter

            after = int(rows[-1]["steps"]) + 1 if rows else 0
            writer = stack.enter_context(SummaryWriter(str(folder / "tensorboard"), purge_step=after))
            loggers.append(lambda row, steps: [writer.add_scalar(name, row[name], steps) for name in row])
        if "wandb" in names:
            import wandb

            identity = f"{folder.name}-{crc32(bytes(folder.resolve()))}"
            run = stack.enter_context(wandb.init(project="stb_gym", id=identity, resume="allow", dir=str(folder)))
            run.config.update(config.to_json(), allow_val_change=True)
            loggers.append(lambda row, steps: run.log(row, step=steps))

        def log(row: Row) -> None:
            numbers = {name: value for name, value in row.items() if not math.isnan(value)}
            for logger in loggers:
                logger(numbers, int(row["steps"]))

        yield log
