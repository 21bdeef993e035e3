"""Writes the folder of a run, all of it again at every measurement, and goes on with a run that was interrupted."""

import contextlib
import json
import math
from collections.abc import Iterator
from dataclasses import asdict, fields
from itertools import starmap
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from agents.checkpoints import load_snapshot, save_snapshot, save_weights
from agents.config import Config
from agents.learner import Learner
from agents.policy_array import value_error
from stb_gym import save_policy
from stb_gym.measure import save_policies
from stb_gym.output import say, write_text
from stb_gym.solver import Policy, compile_game, edge_weights
from training.entries import check_entries, made_of, remove_leftovers
from training.logs import CSV, Log
from training.rows import to_csv
from training.run import Measurement, Measures, Point, Run, measure

MEASURED = (CSV, "curve.csv", "weights.safetensors", "policy.npz", "policies.npz", "result.json")
CHECKPOINTS = "checkpoint-*.safetensors"
KEPT = 2  # how many checkpoints are kept: if the last one is damaged, there is another


class RunWriter:
    """Measures a learner and writes the folder of its run.

    Args:
        folder: the folder.
        config: what is trained.
        measured: the measurements so far.
    """

    def __init__(self, folder: Path, config: Config, measured: list[Measurement]):
        self.measured = measured
        self._last_checkpoint = -math.inf  # in seconds of training
        self._folder = folder
        self._config = config

    def measure(self, learner: Learner, seconds: float, checkpoint_seconds: float, log: Log) -> Point:
        """Measure the learner and write the files of the run.

        Args:
            learner: the learner.
            seconds: how many processor seconds it has been trained and measured.
            checkpoint_seconds: a checkpoint is written, before the other files, if the last one is older than that.
            log: called with all measurements, before anything is written that would make a training go on from here.

        Raises:
            ValueError: if learning has diverged.
        """
        measured = measure(self._config, learner)
        point = _point(learner, seconds, measured)
        policy = None if measured.policy is None else measured.policy.astype(np.min_scalar_type(measured.policy.max()))
        self.measured.append(Measurement(point, dict(learner.figures), policy))
        log(self.measured)
        finished = point.steps >= self._config.steps
        if not finished and seconds >= self._last_checkpoint + checkpoint_seconds:
            self._save_checkpoint(learner)
            self._last_checkpoint = seconds
        save_weights(self._folder / "weights.safetensors", learner)
        if measured.policy is not None:
            self._save_policies(measured.policy)
        write_text(self._folder / "curve.csv", to_csv([each.point for each in self.measured], Point))
        greedy = measured.greedy.summary()
        if finished:
            greedy["normalised_score"] = measured.greedy.normalised_score  # of sampled turns it takes a while
        result = {
            "finished": finished,
            "steps": point.steps,
            "seconds": point.seconds,
            "greedy": greedy,
            "exploring": measured.exploring.summary(),
            "value_error": point.value_error,
        }
        write_text(self._folder / "result.json", json.dumps(result, indent=2) + "\n")
        if finished:
            _remove(_checkpoints(self._folder))
        return point

    def _save_policies(self, policy: Policy) -> None:
        task, illegal = self._config.task, self._config.illegal
        save_policy(self._folder / "policy.npz", task.game(), policy, illegal, task.objective)
        policies = {each.point.steps: each.policy for each in self.measured if each.policy is not None}
        save_policies(self._folder / "policies.npz", task.game(), policies)

    def _save_checkpoint(self, learner: Learner) -> None:
        points, figures, policies = zip(*self.measured, strict=True)
        exact = [policy for policy in policies if policy is not None]
        known = {"policies": np.stack(exact)} if exact else {}
        measured = {"points": [asdict(point) for point in points], "figures": figures, **known}
        path = self._folder / CHECKPOINTS.replace("*", f"{learner.num_timesteps:013d}")
        save_snapshot(path, {**learner.snapshot(), **measured})
        _remove(_checkpoints(self._folder)[:-KEPT])


def _point(learner: Learner, seconds: float, measured: Measures) -> Point:
    """A learner's measurement as a row of its curve."""
    greedy = measured.greedy.summary()
    found = {field.name: greedy[field.name] for field in fields(Point) if field.name in greedy}
    return Point(
        **{"agreement": math.nan, **found},  # type: ignore[arg-type]
        steps=learner.num_timesteps,
        seconds=round(seconds, 3),
        exploring_regret=measured.exploring.regret,
        value_error=value_error(learner, measured.greedy),
    )


@contextlib.contextmanager
def alone(out: Path, waits: bool) -> Iterator[None]:
    """Be the only process that writes to a folder. A process that is killed loses its claim to the folder.

    Args:
        out: the folder, which is made if there is none.
        waits: whether to wait for another process that writes to it.

    Raises:
        ValueError: if another process writes to it and this one does not wait.
    """
    out.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(out / ".lock", timeout=-1 if waits else 0):
            yield
    except Timeout:
        raise ValueError(f"{out} is written to by another process") from None


def begin(folder: Path, config: Config, overwrite: bool, device: str = "cpu") -> tuple[Learner, RunWriter]:
    """Begin a run in a folder: a learner that has learned nothing yet, and the writer of its run.

    Args:
        folder: the folder.
        config: what is trained.
        overwrite: whether to replace a run that the folder holds already.
        device: where its networks are.

    Raises:
        ValueError: if the folder holds a run already and `overwrite` is false.
    """
    if any((folder / name).exists() for name in ("config.json", *MEASURED)) and not overwrite:
        raise ValueError(f"{folder} holds a run already: say --resume or --overwrite, or name another folder by --out")
    learner = config.learner(device)
    remove_leftovers(folder)
    _remove([folder / name for name in MEASURED] + _checkpoints(folder))
    write_text(folder / "config.json", json.dumps(config.to_json(), indent=2) + "\n")
    return learner, RunWriter(folder, config, [])


def resume(folder: Path, config: Config, device: str = "cpu") -> tuple[Learner, RunWriter]:
    """Go on with the run in a folder from its last checkpoint that is not damaged, or begin one if there is none.

    Args:
        folder: the folder.
        config: what is trained.
        device: where its networks are.

    Raises:
        ValueError: if the folder holds a run of another configuration, or one that lacks it.
    """
    if (folder / "config.json").exists():
        if Run.open(folder).config != config:
            raise ValueError(
                f"{folder} holds a run of another configuration: remove it, or name another folder by --out"
            )
    elif _checkpoints(folder) or any((folder / name).exists() for name in MEASURED):
        raise ValueError(f"{folder} holds a run without its config.json: remove it, or name another folder by --out")
    remove_leftovers(folder)
    for path in reversed(_checkpoints(folder)):
        learner = config.learner(device)
        try:
            snapshot = load_snapshot(path)
            measured = _measured(snapshot, config)
            learner.restore(snapshot)
        except (ValueError, RuntimeError):  # RuntimeError is torch's
            say(f"{path} is damaged and removed", error=True)
            path.unlink()
            continue
        return learner, RunWriter(folder, config, measured)
    return begin(folder, config, overwrite=True, device=device)


def _measured(snapshot: dict[str, Any], config: Config) -> list[Measurement]:
    """The measurements in what was read of a checkpoint, which are taken out of it.

    Raises:
        ValueError: if they are none.
    """
    entries = {name: snapshot.pop(name, None) for name in ("points", "figures")}
    check_entries(entries, {"points": list[dict[str, Any]], "figures": list[dict[str, float]]})
    points = [made_of(Point, point) for point in entries["points"]]
    if [point.steps for point in points[-1:]] != [snapshot.get("num_timesteps")]:
        raise ValueError("the last measurement is of other steps")
    policies = snapshot.pop("policies", [None] * len(points))
    for policy in policies:
        if policy is not None:
            edge_weights(compile_game(config.task.game()), policy, config.illegal)
    return list(starmap(Measurement, zip(points, entries["figures"], policies, strict=True)))


def clear(folder: Path) -> None:
    """Remove the checkpoints of a finished run, which are still there if it was killed at the end."""
    remove_leftovers(folder)
    _remove(_checkpoints(folder))


def _checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, the newest last."""
    return sorted(folder.glob(CHECKPOINTS))


def _remove(paths: list[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)
