"""Runs are logged to TensorBoard, Weights & Biases and MLflow, and continue there after an interrupt."""

import json
import struct
from pathlib import Path

import mlflow
import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from wandb.proto.wandb_internal_pb2 import Record

from tests.training.conftest import small
from tests.training.test_run import stop_at
from training.run import Run, clear, train


def from_tensorboard(folder):
    """Return the steps and the values of each number that TensorBoard shows."""
    events = EventAccumulator(str(folder / "tensorboard")).Reload()
    series = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
    return {tag: ([each.step for each in found], [each.value for each in found]) for tag, found in series.items()}


def records(content):
    """Yield the records of a file of wandb of one block: after a header, each has a head of seven bytes."""
    assert len(content) < 32_768
    position = 7
    while position < len(content):
        (length,) = struct.unpack_from("<H", content, position + 4)
        yield content[position + 7 : position + 7 + length]
        position += 7 + length


def from_wandb(folder):
    """Return the steps and the values of each number in the files that wandb would synchronise."""
    series, paths = {}, sorted(folder.glob("wandb/offline-run-*/*.wandb"))
    assert len({path.name for path in paths}) == 1  # which has the id of the run
    for path in paths:
        for content in records(path.read_bytes()):
            record = Record.FromString(content)
            numbers = {"/".join(each.nested_key) or each.key: each.value_json for each in record.history.item}
            for name, number in numbers.items():
                steps, values = series.setdefault(name, ([], []))
                steps.append(int(numbers["_step"]))
                values.append(json.loads(number))
    return series


def from_mlflow(folder):
    """Return the steps and the values of each number of the only run of MLflow."""
    client = mlflow.MlflowClient()
    [experiment] = [each for each in client.search_experiments() if each.name == "stb-gym"]
    [run] = client.search_runs([experiment.experiment_id])
    assert run.data.params["algorithm"] == "tabular-afterstates"
    histories = {name: client.get_metric_history(run.info.run_id, name) for name in run.data.metrics}
    return {name: ([each.step for each in found], [each.value for each in found]) for name, found in histories.items()}


@pytest.mark.parametrize(
    ("log", "read"), [("tensorboard", from_tensorboard), ("wandb", from_wandb), ("mlflow", from_mlflow)]
)
def test_an_interrupted_run_is_logged_as_one(log, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    folder = Path("runs/one")
    with pytest.raises(KeyboardInterrupt):
        train(small(steps=640), folder, measurements=5, log=log, progress=stop_at(3))
    train(small(steps=640), folder, measurements=5, log=log)
    curve, series = Run(folder).curve(), read(folder)
    for tag, column in {
        "exact/regret": "regret",
        "train/step_size": "train/step_size",
        "time/seconds": "seconds",
    }.items():
        logged = curve[["steps", column]].dropna()
        steps, values = series[tag]
        assert steps == logged["steps"].tolist()
        np.testing.assert_allclose(values, logged[column], rtol=1e-6)
    assert not {"exact/turns", "exact/standard_error"} & series.keys()


def test_a_run_that_begins_again_replaces_its_events(tmp_path):
    for seed in (0, 1):
        train(small(seed=seed, steps=640), tmp_path, measurements=2, log="tensorboard")
        steps, values = from_tensorboard(tmp_path)["exact/regret"]
        assert steps == Run(tmp_path).curve()["steps"].tolist()
        np.testing.assert_allclose(values, Run(tmp_path).curve()["regret"], rtol=1e-6)
        clear(tmp_path, overwrite=True)
