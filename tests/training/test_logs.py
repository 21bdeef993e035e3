"""Logs: what they hold, that a killed training leaves nothing out and nothing twice, and what they need."""

import csv
import sys
from types import ModuleType

import pytest

from tests import SMALL_PRESETS
from tests.training.faults import Killed, killed
from training import train as training
from training.run import Run

SHORT = ["--steps", "2000", "--measurements", "3", "--checkpoint-seconds", "0"]


def command(algorithm, out, *logs, options=SHORT):
    words = [algorithm, "--presets", str(SMALL_PRESETS), "--tiles", "5", *options, "--out", str(out)]
    return [*words, "--resume", "--log", *logs]


@pytest.fixture
def tensorboard(monkeypatch):
    """TensorBoard as it is documented: by folder and name the numbers that it shows, by steps."""
    shown = {}

    class SummaryWriter:
        def __init__(self, folder, purge_step):
            self.events = shown.setdefault(folder, {})
            for numbers in self.events.values():
                for step in [step for step in numbers if step >= purge_step]:
                    del numbers[step]

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def add_scalar(self, name, value, step):
            assert step not in self.events.setdefault(name, {}), f"{name} is there twice"
            self.events[name][step] = value

        def flush(self):
            pass

    module = ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return shown


@pytest.fixture
def wandb(monkeypatch):
    """Weights & Biases as it is documented: by id the numbers of runs, by steps, none of them before the last one."""
    runs, module = {}, ModuleType("wandb")

    class OfOneRun:
        def __init__(self, numbers):
            self.numbers = numbers

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def log(self, numbers, step):
            if step > max(self.numbers, default=-1):
                self.numbers[step] = numbers

    def init(project, name, id, resume, dir, config):
        assert (project, resume in (None, "allow")) == ("stb_gym", True)
        if resume is None:
            runs.pop(id, None)
        module.said = {"name": name, "dir": dir, "config": config}
        return OfOneRun(runs.setdefault(id, {}))

    module.init = init
    monkeypatch.setitem(sys.modules, "wandb", module)
    return runs


def test_every_log_has_every_measurement_and_what_the_learner_tells(tensorboard, wandb, tmp_path):
    out = tmp_path / "run"
    assert training.main(command("ppo", out, "csv", "tensorboard", "wandb", "tensorboard")) == 0
    run = Run.open(out)
    steps = [point.steps for point in run.curve()]
    rows = list(csv.DictReader((out / "log.csv").read_text().splitlines()))
    assert [int(row["steps"]) for row in rows] == steps
    assert [float(row["seconds"]) for row in rows] == [point.seconds for point in run.curve()]
    figures = [name for name in rows[0] if name not in ("steps", "seconds")]
    assert {"entropy", "clipped"} <= set(figures)
    assert all(row[name] == "" for row in rows[:1] for name in figures)  # nothing was learned yet
    assert all(row[name] != "" for row in rows[1:] for name in figures)
    events, [logged] = tensorboard[str(out / "tensorboard")], wandb.values()
    assert events["exact/regret"] == {point.steps: point.regret for point in run.curve()}
    assert {step: numbers["exact/regret"] for step, numbers in logged.items()} == events["exact/regret"]
    for name in figures:
        told = {int(row["steps"]): float(row[name]) for row in rows[1:]}
        assert events[f"train/{name}"] == told
        assert {step: numbers[f"train/{name}"] for step, numbers in logged.items() if step} == told
    assert sys.modules["wandb"].said == {"name": "run", "dir": str(out), "config": run.config.to_json()}


def test_a_training_killed_at_any_moment_logs_every_measurement_once(tensorboard, wandb, tmp_path):
    logs = "csv", "tensorboard", "wandb"
    with killed(10**9) as met:
        assert training.main(command("afterstates", tmp_path / "whole", *logs)) == 0
    steps = [point.steps for point in Run.open(tmp_path / "whole").curve()]
    assert len(met) > 40
    moments = range(1, len(met) + 1, 3)  # every one in the tests of what goes on
    for moment in moments:
        out = tmp_path / str(moment)
        with pytest.raises(Killed), killed(moment):
            training.main(command("afterstates", out, *logs))
        assert training.main(command("afterstates", out, *logs)) == 0
        rows = list(csv.DictReader((out / "log.csv").read_text().splitlines()))
        assert [int(row["steps"]) for row in rows] == steps
        assert list(tensorboard[str(out / "tensorboard")]["exact/regret"]) == steps
        assert list(list(wandb.values())[-1]) == steps
    assert len(wandb) == 1 + len(moments)


def test_a_run_that_is_replaced_begins_its_logs_anew(tensorboard, wandb, tmp_path):
    words = [*command("afterstates", tmp_path, "csv", "tensorboard", "wandb"), "--overwrite", "--steps", "9000"]
    words.remove("--resume")
    for measurements in ("6", "3"):
        assert training.main([*words, "--measurements", measurements]) == 0
    steps = [point.steps for point in Run.open(tmp_path).curve()]
    assert list(tensorboard[str(tmp_path / "tensorboard")]["exact/regret"]) == steps
    assert [list(run) for run in wandb.values()] == [steps]
    assert training.main([*words, "--log", "wandb"]) == 0
    assert not (tmp_path / "log.csv").exists()  # it was of the run before


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_log_whose_package_is_missing_is_one_line_before_anything_is_done(name, tmp_path, monkeypatch, capsys):
    for module in ("torch.utils.tensorboard", "wandb"):
        monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    assert training.main(command("afterstates", tmp_path / "run", "csv", name)) == 2
    printed = capsys.readouterr().err
    assert printed == f"training.train: --log {name} needs the package {name}: pip install {name}\n"
    assert not (tmp_path / "run").exists()
    assert training.main(command("afterstates", tmp_path / "run", "csv")) == 0
