"""The folder of a run: what was trained, how it went and how good the result is.

config.json    the configuration, see `agents.presets.Config`, and the format of the folder
curve.csv      one row per measurement
weights.pt     what the learner learned
policy.npz     the greedy policy of the last measurement, which `stb_gym.load_policy` reads without a network
policies.npz   the greedy policies of all measurements; both only where the game fits into tables
tensorboard/   the files of TensorBoard, and wandb.json and mlflow.json the id of the run there: only of runs with a log
result.json    how good the last measurement is, whether the run is finished and made an update, and the SHA-256 of
               curve.csv and weights
checkpoint.pt  everything that is needed to continue, and then its SHA-256; removed at the end

Files are written whole or not at all. They are compared with their SHA-256, and nothing in them is executed. A folder
that an earlier version wrote is neither read nor changed.
"""

import io
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import torch
from filelock import FileLock, Timeout

from agents.common import Learner
from agents.presets import Config
from agents.self_play import SelfPlay
from stb_gym import save_policy
from stb_gym.checks import check_integer
from stb_gym.files import read_bytes, read_json, read_sealed, reading, write_bytes, write_json, write_sealed, write_text
from stb_gym.measure import load_policies, save_policies
from stb_gym.solver import Policy
from training.logs import logging_to
from training.measurement import ILLEGAL, measure

FORMAT = 2  # version of the folder; the first versions wrote no number
FILES = ("config.json", "curve.csv", "weights.pt", "policy.npz", "policies.npz", "result.json", "checkpoint.pt")
IN_CURVE = {  # columns of what was learned for single turns, and their values where a measurement has none
    "regret": math.nan, "value": math.nan, "agreement": math.nan, "agreement_by_visits": math.nan,
    "shut_probability": math.nan, "illegal_mass": math.nan, "turns": 0, "standard_error": 0.0,
    "value_error": math.nan,
}  # fmt: skip


class Run:
    """The folder of a run; its files are read when a method is called.

    Every method raises a ValueError that names the file if it is missing or damaged.

    Args:
        folder: the folder.

    Attributes:
        folder: the folder.
        config: the configuration.

    Raises:
        ValueError: if there is no run, or if an earlier version wrote it.

    Example:
        >>> from training.run import Run
        >>> Run("runs/ppo-nine-tiles-quick-0").curve()["regret"]  # doctest: +SKIP
    """

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        refuse_earlier_version(self.folder)
        if not (self.folder / "config.json").exists() and [*self.folder.glob("*/config.json")]:
            raise ValueError(f"{folder} is not a run, but holds runs: name {folder}/* or one of them")
        with reading(self.folder / "config.json") as path:
            entries = read_json(path)
            self.config = Config.from_json({name: entries[name] for name in entries if name != "format"})

    def curve(self) -> pd.DataFrame:
        """Return the measurements, one row for each, with `steps` and `seconds` and the columns of the run."""
        with reading(self.folder / "curve.csv") as path:
            curve = pd.read_csv(self._content(path))
            measured = ["steps", "seconds", "regret" if self.config.opponents is None else "gain"]
            if curve.empty or not np.isfinite(curve[measured].to_numpy(np.float64)).all():
                raise ValueError("it has no measurements, or they are not finite")
            return curve

    def result(self) -> dict[str, Any]:
        """Return the numbers of the last measurement, whether the run is `finished`, and whether it ever `updated`."""
        with reading(self.folder / "result.json") as path:
            result = read_json(path)
            if "finished" not in result:
                raise ValueError("it does not say whether the run is finished")
            return result

    def learner(self) -> Learner:
        """Return the learner with what it had learned at the last measurement."""
        learner = self.config.make_learner(self.config.make_envs())
        with reading(self.folder / "weights.pt") as path:
            weights = torch.load(self._content(path), map_location="cpu", weights_only=True)
            learner.load_state_dict(learner.state_dict() | weights)
        return learner

    def _content(self, path: Path) -> io.BytesIO:
        """Return the content of a file, compared with its SHA-256 if result.json is there to have it."""
        result = self.result() if (self.folder / "result.json").exists() else {}
        return io.BytesIO(read_bytes(path, result.get("sha256_of", {}).get(path.name)))


def refuse_earlier_version(folder: Path) -> None:
    """Raise ValueError if an earlier version wrote the run in a folder; do nothing if its config.json is unreadable."""
    try:
        entries = read_json(folder / "config.json")
    except (OSError, ValueError, MemoryError):
        return
    if entries.get("format") != FORMAT:
        raise ValueError(f"{folder} holds a run of an earlier version: train again, in another folder (--out)")


@contextmanager
def locked(folder: Path, wait: float = 0.0) -> Iterator[None]:
    """Keep other processes from writing to a folder, which is made if necessary.

    Args:
        folder: the folder.
        wait: seconds to wait for another process.

    Raises:
        ValueError: if another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(folder / ".lock", timeout=wait):
            yield
    except Timeout:
        raise ValueError(f"{folder} is in use by another process") from None


def clear(folder: Path, overwrite: bool) -> None:
    """Remove the run in a folder if `overwrite` is true; otherwise raise ValueError if there is one.

    A run of an earlier version is never removed.
    """
    existing = [folder / name for name in FILES if (folder / name).exists()]
    if existing:
        if not overwrite:
            raise ValueError(f"{folder} holds a run: add --resume or --overwrite, or name another folder by --out")
        refuse_earlier_version(folder)
        with locked(folder):
            for path in existing:
                path.unlink()


def train(
    config: Config,
    folder: str | Path,
    measurements: int = 40,
    *,
    device: str = "cpu",
    wait: float = 0.0,
    log: str | None = None,
    progress: Callable[[int, float | None], None] = lambda steps, result: None,
) -> None:
    """Train one run. Measure it at the start, and then `measurements` times, the last time at the end.

    An interrupted run continues: on the CPU its result is that of an undisturbed run. It begins again if its learner
    cannot continue (`Learner.resumes`). A finished run is left as it is.

    Args:
        config: the configuration.
        folder: the folder of the run.
        measurements: the number of measurements, at equal distances; no more than the run has rollouts.
        device: where the networks are, such as "cuda".
        wait: seconds to wait for another process that writes to the folder.
        log: where measurements are logged, see `training.logs.logging_to`.
        progress: called with the steps so far and the regret or gain; with None between measurements.

    Raises:
        ValueError: if the folder holds a damaged run or one of another configuration; if another process writes to it;
            or if learning diverges.
    """
    folder = Path(folder)
    check_integer("measurements", measurements, 1, 10**6)
    torch.set_num_threads(1)  # the networks are small, and a run is repeatable
    with locked(folder, wait):
        if _is_finished(config, folder):
            return
        write_json(folder / "config.json", {"format": FORMAT, **config.to_json()})
        training = _Training(config, folder, device)
        rows, learner = training.rows, training.learner
        learner.parts = measurements

        def measurements_due() -> int:
            return learner.reached * measurements // config.steps

        measured = measurements_due()  # if the run continues

        with logging_to(log, folder, config, rows[-1]["steps"] if rows else None) as write_log:

            def measure_and_log(finished: bool = False) -> None:
                nonlocal measured
                result = training.measure(finished)
                measured = measurements_due()
                write_log(rows[-1])
                progress(learner.num_steps, result)

            def before_rollout() -> None:
                progress(learner.num_steps, None)
                if not rows or (measurements_due() > measured and learner.num_steps > rows[-1]["steps"]):
                    measure_and_log()

            learner.learn(config.steps, before_rollout)
            measure_and_log(finished=True)


def _is_finished(config: Config, folder: Path) -> bool:
    """Return whether a folder holds a finished run; raise ValueError if it holds a run that cannot be continued."""
    if not any((folder / name).exists() for name in FILES):
        return False
    run = Run(folder)
    if run.config != config:
        raise ValueError(f"{folder} holds a run of another configuration: name another folder by --out")
    if not (folder / "result.json").exists():
        return False
    if run.result()["finished"]:
        (folder / "checkpoint.pt").unlink(missing_ok=True)  # left by a process that was killed at the end
        return True
    return False


class _Training:
    """A run in progress: its learner, and the files of its folder. It begins with the folder's checkpoint, if any.

    Args:
        config: the configuration.
        folder: the folder.
        device: where the networks are.

    Attributes:
        learner: the learner.
        rows: the rows of the curve so far.

    Raises:
        ValueError: if a checkpoint cannot be read. The file is kept.
    """

    def __init__(self, config: Config, folder: Path, device: str):
        envs = config.make_envs()
        self.config, self.folder = config, folder
        self.learner = config.make_learner(envs, device)
        self.self_play = None if config.opponents is None else SelfPlay(envs, config.opponents)
        self.rows: list[dict[str, Any]] = []
        self.policies: dict[int, Policy] = {}
        if (folder / "checkpoint.pt").exists():
            self._resume()
        self.began = time.process_time() - (self.rows[-1]["seconds"] if self.rows else 0)

    def _resume(self) -> None:
        with reading(self.folder / "checkpoint.pt") as path:
            state = torch.load(io.BytesIO(read_sealed(path)), map_location="cpu", weights_only=True)
            self.learner.load_state_dict(state["learner"])
            if self.self_play is not None:
                self.self_play.load_state_dict(state["self_play"])
            self.rows = state["rows"]
        if (self.folder / "policies.npz").exists():  # later measurements are made again
            policies = load_policies(self.folder / "policies.npz", self.config.game(), ILLEGAL, self.config.objective)
            self.policies = {key: policy for key, policy in policies.items() if key <= self.learner.num_steps}

    def measure(self, finished: bool) -> float:
        """Measure the learner, add a row to the curve, and write the files of the run.

        A row with the same number of steps is replaced.

        Args:
            finished: whether the learner has used its budget.

        Returns:
            The regret, or the gain in a round.

        Raises:
            ValueError: if the weights are not finite.
        """
        steps, state = self.learner.num_steps, self.learner.state_dict()
        weights = {name: state[name] for name in self.learner.WEIGHTS}
        if not _is_finite(weights):
            raise ValueError(f"learning has diverged: after {steps:,} steps the weights are not finite")
        row: dict[str, Any] = {"steps": steps, "seconds": round(time.process_time() - self.began, 3)}
        result = {"finished": finished, **row}
        if self.self_play is None:
            greedy = self._measure_turn()
            row |= {name: greedy.get(name, default) for name, default in IN_CURVE.items()}
            result |= {"greedy": greedy}
        else:
            gains = self.self_play.measure(self.learner)
            row |= gains
            result |= gains
        if self.rows and self.rows[-1]["steps"] == steps:
            self.rows.pop()
        self.rows.append(row | {f"train/{name}": value for name, value in self.learner.figures.items()})
        curve = pd.DataFrame(self.rows).to_csv(index=False, lineterminator="\n")
        updated = any(name.startswith("train/") for row in self.rows for name in row)
        result["updated"] = updated or (not self.learner.reports_updates and steps > 0)
        result["sha256_of"] = {
            "curve.csv": write_text(self.folder / "curve.csv", curve),
            "weights.pt": write_bytes(self.folder / "weights.pt", _content_of(weights)),
        }
        write_json(self.folder / "result.json", result)
        if finished:
            (self.folder / "checkpoint.pt").unlink(missing_ok=True)
        elif self.learner.resumes:
            self_play = None if self.self_play is None else self.self_play.state_dict()
            checkpoint = {"learner": state, "self_play": self_play, "rows": self.rows}
            write_sealed(self.folder / "checkpoint.pt", _content_of(checkpoint))
        return row["regret" if self.self_play is None else "gain"]

    def _measure_turn(self) -> dict[str, Any]:
        """Measure the greedy policy of single turns and return its summary; save the policy if it is exact."""
        config, folder = self.config, self.folder
        found = measure(config, self.learner)
        if found.policy is not None:
            self.policies[self.learner.num_steps] = found.policy
            save_policy(folder / "policy.npz", config.game(), found.policy, ILLEGAL, config.objective)
            save_policies(folder / "policies.npz", config.game(), self.policies, config.objective)
        return found.summary()


def _content_of(state: Mapping[str, Any]) -> bytes:
    """Return the bytes that torch saves; it would report a full disk as a RuntimeError."""
    content = io.BytesIO()
    torch.save(state, content)
    return content.getvalue()


def _is_finite(weights: Any) -> bool:
    if isinstance(weights, Mapping):
        return all(map(_is_finite, weights.values()))
    return bool(torch.as_tensor(weights).isfinite().all())
