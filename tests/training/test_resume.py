"""Runs that are killed: they go on from a whole checkpoint, and end as if they had never been interrupted."""

import csv
import json
import resource
import shutil
import signal
import subprocess
import sys
from itertools import count

import numpy as np
import pytest
from filelock import FileLock
from safetensors.numpy import load_file

from agents.checkpoints import load_snapshot, save_snapshot
from agents.config import ALGORITHMS
from agents.presets import read_presets
from agents.stock import STOCK
from tests import ROOT, SMALL_PRESETS
from tests.training.faults import Killed, killed, signalled
from training import train as training
from training.run import Run
from training.run_writer import begin, resume

FILE = SMALL_PRESETS
PRESETS = read_presets(FILE)
FIVE = PRESETS.tasks["five-tiles"]
OWN = [algorithm for algorithm in ALGORITHMS if algorithm not in STOCK]  # the others have tests of their own


def command(algorithm, out, steps=3072, measurements=6):
    words = [algorithm, "--presets", str(FILE), "--tiles", "5", "--steps", str(steps)]
    return [*words, "--measurements", str(measurements), "--checkpoint-seconds", "0", "--out", str(out), "--resume"]


def numbers(folder):
    """What a run measured and logged, without the time that it took, and its weights and policies as arrays."""
    run, lines = Run.open(folder), (folder / "log.csv").read_text().splitlines()
    told = [{name: number for name, number in row.items() if name != "seconds"} for row in csv.DictReader(lines)]
    measured = [(point.steps, point.regret, point.exploring_regret, point.value_error) for point in run.curve()]
    policies = {str(steps): policy for steps, policy in run.policies().items()}
    assert len(told) == len(measured) == len(policies)
    return [told, measured], {**load_file(folder / "weights.safetensors"), **policies}


def same(first, second):
    assert first[0] == second[0]
    assert first[1].keys() == second[1].keys()
    assert all((first[1][name] == second[1][name]).all() for name in first[1])


def ended_as_if_never_killed(out, whole):
    same(numbers(out), numbers(whole))
    assert json.loads((out / "result.json").read_text())["finished"] is True
    assert not list(out.glob("checkpoint-*"))
    assert not list(out.glob(".stb-gym-*"))
    seconds = [point.seconds for point in Run.open(out).curve()]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize("algorithm", ["sb3-a2c", "sb3-dqn"])
def test_a_stock_run_that_is_killed_ends_as_if_it_had_not_been(algorithm, tmp_path):
    short = {"steps": 200, "measurements": 4}
    assert training.main(command(algorithm, tmp_path / "whole", **short)) == 0
    out = tmp_path / "killed"
    for moment in (8, 40):
        with pytest.raises(Killed), killed(moment):
            training.main(command(algorithm, out, **short))
    assert list(out.glob("checkpoint-*"))
    assert training.main(command(algorithm, out, **short)) == 0
    ended_as_if_never_killed(out, tmp_path / "whole")


@pytest.mark.parametrize("algorithm", OWN)
def test_a_run_killed_again_and_again_ends_as_if_it_had_not_been(algorithm, tmp_path):
    """Every life is longer than the one before, and ends at another file than most others."""
    assert training.main(command(algorithm, tmp_path / "whole")) == 0
    out, deaths = tmp_path / "killed", []
    for moment in count(1, step=5):
        try:
            with killed(moment) as met:
                assert training.main(command(algorithm, out)) == 0
            break
        except Killed:
            deaths.append(met[-1])
    assert len(deaths) >= 5
    ended_as_if_never_killed(out, tmp_path / "whole")


def test_a_run_killed_at_any_moment_ends_as_if_it_had_not_been(tmp_path):
    config = PRESETS.config("afterstates", FIVE, steps=1000)

    def train(folder):
        training.train(config, folder, "resume", measurements=2, checkpoint_seconds=0)

    with killed(10**9) as met:
        train(tmp_path / "whole")
    assert len(met) > 30
    assert {"config.json", "curve.csv", "log.csv", "weights.safetensors", "policies.npz", "result.json"} < set(met)
    for moment in range(1, len(met) + 1):
        with pytest.raises(Killed), killed(moment):
            train(tmp_path / str(moment))
        train(tmp_path / str(moment))
        ended_as_if_never_killed(tmp_path / str(moment), tmp_path / "whole")


KILLED = """
import signal, sys
from tests.training.faults import signalled
from training.train import main
with signalled(signal.SIGKILL, "curve.csv", after=2):
    main(sys.argv[1:])
"""


def test_a_process_that_is_killed_is_gone_on_with(tmp_path):
    """One true SIGKILL, between two files of a measurement."""
    out = tmp_path / "killed"
    words = [sys.executable, "-c", KILLED, *command("afterstates", out)]
    ended = subprocess.run(words, cwd=ROOT, stderr=subprocess.DEVNULL, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert list(out.glob("checkpoint-*"))
    assert training.main(command("afterstates", out)) == 0
    assert training.main(command("afterstates", tmp_path / "whole")) == 0
    ended_as_if_never_killed(out, tmp_path / "whole")


@pytest.mark.parametrize("file", ["policy.npz", "result.json"])
def test_a_process_that_is_told_to_end_while_it_writes_leaves_no_half_of_a_file(file, tmp_path):
    with pytest.raises(SystemExit) as ended, signalled(signal.SIGTERM, file):
        training.main(command("afterstates", tmp_path / "run"))
    assert ended.value.code == 143
    assert {path.name for path in (tmp_path / "run").iterdir() if path.name.startswith(".")} == {".lock"}
    with FileLock(tmp_path / "run" / ".lock", timeout=0):
        pass
    assert training.main(command("afterstates", tmp_path / "run")) == 0


@pytest.fixture(scope="module", params=[("dqn", 3000), ("afterstates", 6000)], ids=["dqn", "afterstates"])
def interrupted(request, tmp_path_factory):
    """The folder of a run that was interrupted at a measurement, and its configuration."""
    config = PRESETS.config(request.param[0], FIVE, steps=request.param[1])
    folder, points = tmp_path_factory.mktemp("interrupted"), []

    def stop(self, done, note=None):
        points.extend([done] if note else [])
        if len(points) == 5:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.Progress, "tell", stop)
        with pytest.raises(KeyboardInterrupt):
            training.train(config, folder, measurements=10, checkpoint_seconds=0)
    return folder, config


def test_the_last_two_checkpoints_are_kept(interrupted):
    folder, _ = interrupted
    steps = [point.steps for point in Run.open(folder).curve()]
    kept = sorted(int(path.stem.split("-")[1]) for path in folder.glob("checkpoint-*"))
    assert kept == steps[-2:]


def test_checkpoints_are_not_saved_more_often_than_is_said(tmp_path):
    learner, writer = begin(tmp_path, PRESETS.config("afterstates", FIVE), overwrite=False)
    steps = []
    for seconds in (0.0, 4.0, 9.9, 10.0, 19.9, 20.1):
        learner.num_timesteps = int(10 * seconds)
        writer.measure(learner, seconds, checkpoint_seconds=10.0, log=lambda _: None)
        steps.append([int(path.stem.split("-")[1]) for path in sorted(tmp_path.glob("checkpoint-*"))])
    assert steps == [[0], [0], [0], [0, 100], [0, 100], [100, 201]]


def test_a_damaged_checkpoint_is_removed(interrupted, tmp_path, capsys):
    folder, config = interrupted
    shutil.copytree(folder, tmp_path / "run")
    older, newer = sorted((tmp_path / "run").glob("checkpoint-*"))
    learner, writer = resume(tmp_path / "run", config)
    assert learner.num_timesteps == writer.measured[-1].point.steps == int(newer.stem.split("-")[1])
    whole = newer.read_bytes()
    for damage in (whole[: len(whole) // 2], b"", b"nothing"):
        newer.write_bytes(damage)
        learner, writer = resume(tmp_path / "run", config)
        assert learner.num_timesteps == writer.measured[-1].point.steps == int(older.stem.split("-")[1])
        assert not newer.exists()
    assert f"{newer} is damaged and removed" in capsys.readouterr().err
    snapshot = load_snapshot(older)
    save_snapshot(newer, {name: entry for name, entry in snapshot.items() if name != "num_timesteps"})
    assert resume(tmp_path / "run", config)[0].num_timesteps == int(older.stem.split("-")[1])
    older.unlink()
    learner, writer = resume(tmp_path / "run", config)
    assert (learner.num_timesteps, writer.measured) == (0, [])
    assert not newer.exists()


@pytest.mark.parametrize(
    "forge",
    [
        lambda entries: {"points": float("nan")},
        lambda entries: {"points": []},
        lambda entries: {"points": {"0": entries["points"][0]}},
        lambda entries: {"points": [{**entries["points"][0], "more": 1}]},
        lambda entries: {"points": [*entries["points"][:-1], {**entries["points"][-1], "regret": "0"}]},
        lambda entries: {"points": [*entries["points"][:-1], {**entries["points"][-1], "steps": 10**9}]},
        lambda entries: {"figures": [None for _ in entries["figures"]]},
        lambda entries: {"figures": entries["figures"][1:]},
        lambda entries: {"policies": entries["policies"][1:]},
        lambda entries: {"policies": entries["policies"].astype(float)},
        lambda entries: {"policies": np.full_like(entries["policies"], 200)},
        lambda entries: {"policies": "text"},
        lambda entries: {"num_timesteps": str(entries["num_timesteps"])},
        lambda entries: {"num_timesteps": np.array([entries["num_timesteps"]])},
        lambda entries: {"num_timesteps": entries["num_timesteps"] + 1},
        lambda entries: {"random": {"bit_generator": "PCG64"}},
    ],
)
def test_a_forged_checkpoint_is_removed(interrupted, tmp_path, forge, capsys):
    folder, config = interrupted
    shutil.copytree(folder, tmp_path / "run")
    older, newer = sorted((tmp_path / "run").glob("checkpoint-*"))
    snapshot = load_snapshot(newer)
    save_snapshot(newer, {**snapshot, **forge(snapshot)})
    assert resume(tmp_path / "run", config)[0].num_timesteps == int(older.stem.split("-")[1])
    assert capsys.readouterr().err == f"{newer} is damaged and removed\n"


def test_a_snapshot_holds_arrays_and_what_json_can_hold(tmp_path):
    snapshot = {"a": np.arange(6, dtype=np.uint8).reshape(2, 3)[:, ::2], "b": {"c": [1, "two", 2**100]}, "d": None}
    snapshot["e"] = np.array(0.1)
    save_snapshot(tmp_path / "s", snapshot)
    loaded = load_snapshot(tmp_path / "s")
    assert loaded.pop("a").tolist() == snapshot.pop("a").tolist()
    assert loaded.pop("e").shape == snapshot.pop("e").shape
    assert loaded == snapshot
    with pytest.raises(ValueError, match="there is no"):
        load_snapshot(tmp_path / "none")


def test_a_checkpoint_for_which_the_disk_has_no_room_is_an_error_of_the_system(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            save_snapshot(tmp_path / "s", {"a": np.zeros(1000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not any(tmp_path.iterdir())


def test_a_run_of_another_configuration_is_not_resumed(interrupted, tmp_path, capsys):
    folder, config = interrupted
    shutil.copytree(folder, tmp_path / "run")
    arguments = [config.algorithm, "--presets", str(FILE), "--tiles", "5", "--steps", str(config.steps)]
    assert training.main([*arguments, "--seed", "1", "--out", str(tmp_path / "run"), "--resume"]) == 2
    assert "holds a run of another configuration" in capsys.readouterr().err
    assert training.main([*arguments, "--out", str(tmp_path / "run"), "--resume"]) == 0
    assert Run.open(tmp_path / "run").result()["finished"] is True


@pytest.mark.parametrize("finished", [False, True])
def test_a_run_that_lacks_its_configuration_is_not_resumed(interrupted, finished, tmp_path, capsys):
    folder, config = interrupted
    words = [config.algorithm, "--presets", str(FILE), "--tiles", "5", "--steps", str(config.steps), "--resume"]
    words += ["--out", str(shutil.copytree(folder, tmp_path / "run"))]
    if finished:
        assert training.main(words) == 0
    (tmp_path / "run" / "config.json").unlink()
    before = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert training.main(words) == 2
    assert "holds a run without its config.json: remove it, or name another folder" in capsys.readouterr().err
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == before


def test_a_finished_run_is_left_as_it_is(tmp_path):
    arguments = ["afterstates", "--presets", str(FILE), "--tiles", "5", "--steps", "1000"]
    arguments += ["--out", str(tmp_path / "run"), "--resume"]
    assert training.main(arguments) == 0
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    assert training.main(arguments) == 0
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    del before[".lock"], after[".lock"]
    assert after == before


def test_a_finished_run_loses_the_checkpoints_it_was_killed_before_removing(tmp_path):
    arguments = ["afterstates", "--presets", str(FILE), "--tiles", "5", "--steps", "1000"]
    arguments += ["--out", str(tmp_path), "--resume"]
    assert training.main(arguments) == 0
    (tmp_path / "checkpoint-0000000001024.safetensors").write_bytes(b"old")
    assert training.main(arguments) == 0
    assert not list(tmp_path.glob("checkpoint-*"))


@pytest.mark.parametrize("name", ["curve.csv", "weights.safetensors", "policy.npz", "policies.npz", "result.json"])
def test_a_finished_run_of_which_a_file_is_damaged_is_trained_again(name, tmp_path, capsys):
    arguments = ["afterstates", "--presets", str(FILE), "--tiles", "5", "--steps", "1000"]
    arguments += ["--out", str(tmp_path), "--resume"]
    assert training.main(arguments) == 0
    whole = numbers(tmp_path)
    for damage in ((tmp_path / name).unlink, lambda: (tmp_path / name).write_bytes(b"")):
        damage()
        capsys.readouterr()
        assert training.main(arguments) == 0
        assert ("the run is trained again" in capsys.readouterr().err) == (name != "result.json")
        same(numbers(tmp_path), whole)
        Run.open(tmp_path).policy()
        assert Run.open(tmp_path).result()["finished"] is True


def test_a_run_goes_on_from_its_checkpoint_whatever_became_of_its_other_files(interrupted, tmp_path):
    folder, config = interrupted
    shutil.copytree(folder, tmp_path / "run")
    for name in ("log.csv", "curve.csv", "weights.safetensors", "policy.npz", "policies.npz", "result.json"):
        (tmp_path / "run" / name).write_bytes(b"")
    training.train(config, tmp_path / "run", "resume", measurements=10)
    (_, curve), _ = numbers(tmp_path / "run")
    assert curve[0][0] == 0
    assert Run.open(tmp_path / "run").result()["finished"] is True


def test_two_processes_do_not_write_to_one_folder(tmp_path, capsys):
    arguments = ["afterstates", "--presets", str(FILE), "--tiles", "5", "--steps", "1000"]
    with FileLock(tmp_path / ".lock"):
        assert training.main([*arguments, "--out", str(tmp_path)]) == 2
    assert "is written to by another process" in capsys.readouterr().err
    assert training.main([*arguments, "--out", str(tmp_path)]) == 0


def test_what_cannot_be_begun_leaves_what_is_there(tmp_path, capsys):
    arguments = ["afterstates", "--presets", str(FILE), "--tiles", "5", "--out", str(tmp_path)]
    assert training.main([*arguments, "--steps", "1000"]) == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    too_many = ["--settings", "num_envs", "100000000"]
    assert training.main([*arguments, *too_many, "--overwrite"]) == 2
    assert "num_envs must be an integer" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_run_is_not_replaced_because_it_is_not_whole(tmp_path, capsys):
    arguments = [
        "afterstates",
        "--presets",
        str(FILE),
        "--tiles",
        "5",
        "--steps",
        "1000",
        "--out",
        str(tmp_path),
    ]
    assert training.main(arguments) == 0
    for name in ("config.json", "curve.csv", "weights.safetensors", "policy.npz"):
        (tmp_path / name).unlink()
        assert training.main(arguments) == 2
        assert "holds a run already" in capsys.readouterr().err
    assert training.main([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize(("algorithm", "rate"), [("ppo", "1e9"), ("dqn", "1e30")])
def test_learning_that_diverges_is_an_error(algorithm, rate, tmp_path, capsys):
    arguments = [algorithm, "--presets", str(FILE), "--tiles", "5", "--out", str(tmp_path / "run")]
    assert training.main([*arguments, "--settings", "learning_rate", rate]) == 2
    assert "learning has diverged: " in capsys.readouterr().err
    assert Run.open(tmp_path / "run").result()["finished"] is False


def test_what_a_killed_process_left_half_written_is_removed(interrupted, tmp_path):
    folder, config = interrupted
    shutil.copytree(folder, tmp_path / "run")
    left = [tmp_path / "run" / ".stb-gym-abc", tmp_path / "run" / ".stb-gym-def"]
    for path in left:
        path.mkdir()
        (path / "policy.npz").write_text("half")
    resume(tmp_path / "run", config)
    assert not any(path.exists() for path in left)
    assert (tmp_path / "run" / ".lock").exists()
