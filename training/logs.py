"""Log the measurements of a run to TensorBoard, Weights & Biases, MLflow or a function, as it learns.

Each library is imported when it is used. Where its files and servers are follows its own environment variables, such as
WANDB_MODE and MLFLOW_TRACKING_URI; TensorBoard's files are in the folder of the run.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

from agents.custom import named
from agents.presets import Config
from agents.registry import is_custom
from stb_gym.checks import check_choice
from stb_gym.files import read_json, reading, write_json

LOGS = ("tensorboard", "wandb", "mlflow")
PROJECT = "stb-gym"


def check_log(name: str) -> None:
    """Raise ValueError unless `name` is one of LOGS or MODULE:NAME, and ImportError unless its library is installed."""
    if is_custom(name):
        named(name)
        return
    check_choice("log", name, [*LOGS, "MODULE:NAME"])
    if find_spec(name) is None:
        raise ImportError(f"--log {name} needs {name}: pip install {name}")


@contextmanager
def logging_to(
    name: str | None, folder: Path, config: Config, done: int | None
) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Open a log, and close it when the block ends.

    Args:
        name: one of LOGS; or MODULE:NAME, a function that is called with the folder, the steps and a dictionary of
            numbers at each measurement; or None.
        folder: the folder of the run, whose name is the name in the log.
        config: the configuration.
        done: the steps at which the run continues, or None if it begins.

    Yields:
        A function that logs a row of the curve. Numbers of a measurement are named as those of
        `stb_gym.sb3.RegretCallback`, such as exact/regret, and losses as train/loss.
    """
    ids = folder / f"{name}.json"  # the ids of the run in the log
    known = None
    if done is not None and ids.exists():
        with reading(ids) as path:
            known = str(read_json(path)["id"])
    if name is None:
        yield lambda row: None
    elif is_custom(name):
        yield lambda row: named(name)(folder, row["steps"], _numbers(row))
    elif name == "tensorboard":
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(folder / name), purge_step=0 if done is None else done + 1) as writer:

            def write(row: Mapping[str, Any]) -> None:
                for tag, number in _numbers(row).items():
                    writer.add_scalar(tag, number, row["steps"])
                writer.flush()

            yield write
    elif name == "wandb":
        import wandb

        known = known or uuid4().hex
        write_json(ids, {"id": known})
        options = {"project": PROJECT, "name": folder.name, "dir": folder, "config": config.to_json()}
        with wandb.init(id=known, resume="allow", **options) as run:
            yield lambda row: run.log(_numbers(row), step=row["steps"])
    else:
        import mlflow

        mlflow.set_experiment(PROJECT)
        with mlflow.start_run(run_id=known, run_name=folder.name) as run:
            write_json(ids, {"id": run.info.run_id})
            mlflow.log_params(config.to_json())
            yield lambda row: mlflow.log_metrics(_numbers(row), step=row["steps"])


def _numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers of a row by their names in a log."""
    kind = "sampled" if row.get("turns") else "exact"
    others = {"steps", "seconds", "turns"} | ({"standard_error"} if kind == "exact" else set())
    names = {name: name if "/" in name else f"{kind}/{name}" for name in row if name not in others}
    numbers = {name: float(row[column]) for column, name in names.items() if math.isfinite(row[column])}
    return numbers | {"time/seconds": row["seconds"]}
