"""Runs: what a folder holds, that its numbers are true, and that damage and interruption are handled."""

import csv
import json
import os
import pickle
import re
import signal
import sys
from functools import cache
from itertools import count

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from agents.config import ALGORITHMS, Config
from agents.stock import STOCK
from stb_gym import ShutTheBox, cli, evaluate, load_policy, solve
from stb_gym.solver import compile_game
from tests import SMALL_PRESETS, reference
from tests.training.faults import signalled
from tests.twins import choice, position, roll_at
from training import evaluate as evaluating
from training import report as reporting
from training import train as training
from training.run import Run

PRESETS = ["--presets", str(SMALL_PRESETS)]
TASK = [*PRESETS, "--tiles", "5", "--steps", "5000", "--measurements", "4", "--seed", "3"]
OWN = [algorithm for algorithm in ALGORITHMS if algorithm not in STOCK]  # the others have tests of their own
FILES = {"config.json", "curve.csv", "log.csv", "policies.npz", "policy.npz", "result.json", "weights.safetensors"}


ONE = pytest.mark.parametrize("folder", ["afterstates"], indirect=True)  # where the algorithm makes no difference
ALL = [
    *(("afterstates", name) for name in sorted(FILES - {"log.csv"})),  # which is for people, and read by nothing
    ("ppo", "weights.safetensors"),
    ("dqn", "weights.safetensors"),
]
EVERY_FILE = pytest.mark.parametrize(("folder", "name"), ALL, indirect=["folder"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of a short run, by its algorithm."""
    folder = tmp_path_factory.mktemp("runs")

    @cache
    def trained(algorithm):
        assert training.main([algorithm, *TASK, "--out", str(folder / algorithm)]) == 0
        return folder / algorithm

    return trained


@pytest.fixture(params=["ppo", "dqn", "afterstates"])
def folder(request, runs):
    """The folder of a short run."""
    return runs(request.param)


@pytest.fixture
def damaged(folder, tmp_path):
    """A copy of the folder, to be damaged."""
    for name in FILES:
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    return tmp_path


def test_a_run_holds_everything(folder):
    assert FILES <= {path.name for path in folder.iterdir()} <= FILES | {".lock"}
    result = json.loads((folder / "result.json").read_text())
    rows = list(csv.DictReader((folder / "curve.csv").read_text().splitlines()))
    assert result["finished"] is True
    assert len(rows) >= 5
    assert rows[0]["steps"] == "0"
    assert int(rows[-1]["steps"]) == result["steps"] >= 5000
    assert float(rows[-1]["regret"]) == result["greedy"]["regret"]
    assert float(rows[-1]["exploring_regret"]) == result["exploring"]["regret"]
    assert [float(row["seconds"]) for row in rows] == sorted(float(row["seconds"]) for row in rows)


def test_the_library_alone_evaluates_the_policy_of_a_run(folder):
    game = ShutTheBox(tiles=5)
    result = json.loads((folder / "result.json").read_text())
    evaluation = evaluate(game, load_policy(folder / "policy.npz", game))
    assert evaluation.regret == result["greedy"]["regret"]
    assert result["greedy"]["optimum"] == solve(game).value


def test_a_run_keeps_the_greedy_policy_of_every_measurement(folder):
    run, game = Run.open(folder), ShutTheBox(tiles=5)
    assert {n: evaluate(game, policy).regret for n, policy in run.policies().items()} == {
        point.steps: point.regret for point in run.curve()
    }
    assert (list(run.policies().values())[-1] == run.policy()).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda steps, actions: (steps, actions[1:]),
        lambda steps, actions: (steps, actions[:, 1:]),
        lambda steps, actions: (steps[:0], actions[:, :0]),
        lambda steps, actions: (steps[::-1], actions),
        lambda steps, actions: (steps * 0, actions),
        lambda steps, actions: (steps[None], actions),
        lambda steps, actions: (steps + 0.5, actions),
        lambda steps, actions: (steps, actions + 0.5),
        lambda steps, actions: (steps, actions.astype(np.int64) - 1),
        lambda steps, actions: (steps, actions.astype(str)),
        lambda steps, actions: (steps, actions + np.uint8(200)),
    ],
)
@ONE
def test_policies_that_do_not_fit_are_refused(damaged, change):
    with np.load(damaged / "policies.npz") as file:
        steps, actions = change(file["steps"], file["actions"])
    np.savez_compressed(damaged / "policies.npz", format=2, steps=steps, actions=actions)
    wrong = r"it does not hold policies of ShutTheBox\(tiles=5\)$|the policy takes an action that is not one of"
    with pytest.raises(ValueError, match=f"policies.npz: ({wrong})"):
        Run.open(damaged).policies()


def test_seconds_are_those_of_the_processor_and_go_on_with_the_run(tmp_path, monkeypatch):
    words = ["afterstates", *TASK, "--checkpoint-seconds", "0", "--out", str(tmp_path), "--resume"]
    monkeypatch.setattr(training.time, "process_time", count(500).__next__)
    with pytest.raises(SystemExit), signalled(signal.SIGTERM, "curve.csv", after=2):
        training.main(words)
    monkeypatch.setattr(training.time, "process_time", count(7).__next__)
    assert training.main(words) == 0
    assert [point.seconds for point in Run.open(tmp_path).curve()] == [1, 2, 3, 4, 5]


def test_networks_are_on_the_device_that_is_named(tmp_path, monkeypatch):
    devices, make = [], Config.learner
    monkeypatch.setattr(Config, "learner", lambda self, device="cpu": devices.append(device) or make(self, device))
    words = ["ppo", *TASK, "--checkpoint-seconds", "0", "--device", "cpu:0", "--out", str(tmp_path), "--resume"]
    with pytest.raises(SystemExit), signalled(signal.SIGTERM, "curve.csv", after=1):
        training.main(words)
    assert training.main(words) == 0
    assert devices == ["cpu:0", "cpu:0"]  # begun, and gone on with


@pytest.mark.parametrize("algorithm", [*OWN, "ppo no-masks", "dqn no-masks"])
def test_the_reported_regret_is_that_of_the_reference(algorithm, tmp_path):
    algorithm, *variant = algorithm.split()
    options = [*TASK, "--steps", "2000", *(word for name in variant for word in ("--variant", name))]
    assert training.main([algorithm, *options, "--out", str(tmp_path)]) == 0
    game, other = ShutTheBox(tiles=5), reference.ShutTheBox(tiles=5)
    tables, policy = compile_game(game), np.load(tmp_path / "policy.npz")["policy"]
    moves = {}
    for node in tables.decisions:
        state = tables.node_state[node]
        moves[position(game, int(tables.held[state]), 2), roll_at(tables, node)] = choice(tables, node, policy)
    value = reference.policy_value(other, lambda where, roll: moves[where, roll], reference.fewest)
    regret = reference.value(other, other.start(), reference.fewest) - value
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["greedy"]["regret"] == pytest.approx(float(regret))
    assert (result["greedy"]["illegal_mass"] > 0) == bool(variant)
    assert Run.open(tmp_path).policy().tolist() == policy.tolist()


def test_evaluate_computes_from_the_weights_what_the_run_says(folder, capsys):
    assert evaluating.main([str(folder), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = json.loads((folder / "result.json").read_text())
    assert printed["greedy"] == pytest.approx(result["greedy"])
    assert printed["exploring"] == pytest.approx(result["exploring"], rel=1e-6)
    assert evaluating.main([str(folder)]) == 0
    table = capsys.readouterr().out
    for name in ("optimum", "random", "biggest-first", "(greedy)", "(exploring)"):
        assert name in table


@ONE
def test_a_folder_that_holds_a_run_is_kept_unless_it_is_to_be_overwritten(folder, capsys):
    algorithm = folder.name
    before = (folder / "result.json").read_text()
    assert training.main([algorithm, *TASK, "--out", str(folder)]) == 2
    assert "holds a run already" in capsys.readouterr().err
    assert (folder / "result.json").read_text() == before


@pytest.mark.usefixtures("no_ink")
@EVERY_FILE
def test_a_missing_file_is_named(damaged, name, capsys):
    (damaged / name).unlink()
    assert max(evaluating.main([str(damaged)]), reporting.main([str(damaged), "--out", str(damaged / "out")])) == 2
    message = capsys.readouterr().err.splitlines()
    assert any(name in line for line in message)


@pytest.mark.usefixtures("no_ink")
@EVERY_FILE
@pytest.mark.parametrize("damage", ["half", "empty", "foreign"])
def test_a_damaged_file_is_named(damaged, name, damage, capsys):
    whole = (damaged / name).read_bytes()
    half = whole[: len(whole) // 2]
    (damaged / name).write_bytes({"half": half, "empty": b"", "foreign": b"\x93NUMPY hello"}[damage])
    statuses = [evaluating.main([str(damaged)]), reporting.main([str(damaged), "--out", str(damaged / "out")])]
    assert max(statuses) == 2
    assert any(name in line for line in capsys.readouterr().err.splitlines())


@pytest.mark.parametrize("folder", ["ppo"], indirect=True)
@pytest.mark.usefixtures("no_ink")
def test_nothing_in_a_run_is_executed(damaged, capsys):
    marker = damaged / "executed"

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    for name in FILES:
        whole = (damaged / name).read_bytes()
        (damaged / name).write_bytes(pickle.dumps(Evil()))
        evaluating.main([str(damaged)])
        reporting.main([str(damaged), "--out", str(damaged / "out")])
        (damaged / name).write_bytes(whole)
    torch.save(Evil(), damaged / "weights.safetensors")
    assert evaluating.main([str(damaged)]) == 2
    assert not marker.exists()


def test_weights_of_another_network_are_refused(damaged, capsys):
    weights = load_file(damaged / "weights.safetensors")
    name = sorted(weights)[0]
    save_file({**weights, name: np.zeros(3, np.float32)}, damaged / "weights.safetensors")
    assert evaluating.main([str(damaged)]) == 2
    assert "does not fit its configuration" in capsys.readouterr().err
    save_file({**weights, name: weights[name] * float("nan")}, damaged / "weights.safetensors")
    assert evaluating.main([str(damaged)]) == 2
    assert "numbers that are not finite" in capsys.readouterr().err


def test_what_is_no_run_is_refused(tmp_path, capsys):
    assert evaluating.main([str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err
    assert evaluating.main([str(tmp_path)]) == 2
    assert "is no run, or not a whole one: there is no config.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ppo", "--env", "CartPole-v1"], "unknown environment 'CartPole-v1'"),
        (["dqn", "--tiles", "99"], "tiles must be an integer from 1 to 28"),
        (["ppo", "--objective", "win"], "unknown objective 'win'"),
        (["ppo", "--settings", "width", "-3"], "width must be an integer from 1"),
        (["ppo", "--settings", "widht", "3"], "unknown setting 'widht': allowed are num_envs, n_steps"),
        (["ppo", "--variant", "slow"], "unknown variant of ppo on nine-tiles 'slow': allowed are standard, 200k"),
        (["ppo", "--resume", "--overwrite"], "a run is either resumed or overwritten"),
        (["ppo", "--checkpoint-seconds", "nan"], "checkpoint-seconds must be a number, 0 or more, not nan"),
        (["ppo", "--presets", "none.toml"], "none.toml: "),
        (["ppo", "--num-envs", "3"], "unrecognized arguments: --num-envs 3"),
        (["ppo", "--moon"], "unrecognized arguments: --moon"),
        (["ppo", "--measurements", "0"], "measurements must be an integer from 1"),
        (["ppo", "--device", "abacus"], "there is no device 'abacus': "),
        (["ppo", "--device", "cuda:99"], "there is no device 'cuda:99': "),
    ],
)
def test_bad_arguments_are_one_line_and_status_2(arguments, message, capsys, tmp_path):
    assert training.main([*arguments, "--out", str(tmp_path / "run")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert not (tmp_path / "run").exists()


def test_a_table_is_where_it_is(tmp_path, capsys):
    assert training.main(["afterstates", *TASK, "--device", "cpu:0", "--out", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err
        == "training.train: unknown device of afterstates 'cpu:0': allowed are cpu; did you mean cpu?\n"
    )


def test_a_folder_that_cannot_be_is_one_line_and_status_2(capsys):
    assert training.main(["ppo", *TASK, "--out", "/dev/null/run"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("file", sorted(FILES - {"config.json"}))
def test_ctrl_c_leaves_a_run_that_can_be_read(file, tmp_path, capsys):
    """At whatever file of the second measurement it comes: each is the old one or the new one, and whole."""
    out = tmp_path / "run"
    words = ["afterstates", *TASK, "--checkpoint-seconds", "0", "--out", str(out)]
    with signalled(signal.SIGINT, file, after=1):
        assert training.main(words) == 130
    err = capsys.readouterr().err
    assert f"interrupted; --resume goes on from the last checkpoint in {out}" in err
    assert "Traceback" not in err
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == [".lock"]
    run = Run.open(out)
    assert run.result()["finished"] is False
    assert run.result()["greedy"]["regret"] in [point.regret for point in run.curve()]
    assert evaluating.main([str(out)]) == 0


@ONE
@pytest.mark.parametrize("program", [evaluating, reporting])
def test_a_reader_that_stops_reading_causes_no_traceback(program, folder, tmp_path, monkeypatch, capsys):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert program.main([str(folder), *(["--out", str(tmp_path)] if program is reporting else [])]) == 0
        monkeypatch.undo()
    assert "Error" not in capsys.readouterr().err


@pytest.mark.usefixtures("no_ink")
@ONE
def test_runs_that_are_not_finished_are_reported_as_such(damaged, capsys):
    steps = Run.open(damaged).config.steps
    assert evaluating.main([str(damaged)]) == 0
    assert "not finished" not in capsys.readouterr().err
    result = json.loads((damaged / "result.json").read_text())
    (damaged / "result.json").write_text(json.dumps({**result, "finished": False, "steps": 4321}))
    assert evaluating.main([str(damaged), "--json"]) == 0
    printed = capsys.readouterr()
    assert f"is not finished: 4,321 of {steps:,} steps" in printed.err
    found = json.loads(printed.out)
    assert (found["finished"], found["steps_made"], found["steps"]) == (False, 4321, steps)
    assert reporting.main([str(damaged), "--out", str(damaged / "report")]) == 0
    assert f">4,321 of {steps:,}</td>" in (damaged / "report" / "report.html").read_text()


def test_runs_of_tasks_without_a_name_are_named_by_their_rules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for tiles in ("3", "4"):
        arguments = ["afterstates", "--tiles", tiles, "--objective", "at-most:2", "--steps", "5000"]
        assert training.main([*arguments, "--settings", "num_envs", "16"]) == 0
        assert Run.open(tmp_path / "runs" / f"afterstates-ShutTheBox-v0-tiles-{tiles}-at-most-2-0").game().tiles == int(
            tiles
        )


@pytest.mark.usefixtures("no_ink")
def test_mistakes_without_masks_are_named_as_what_they_are(tmp_path, capsys):
    assert training.main(["ppo", *TASK, "--variant", "no-masks", "--out", str(tmp_path)]) == 0
    assert reporting.main([str(tmp_path), "--out", str(tmp_path / "report")]) == 0
    assert "plays <b>an illegal action</b>" in (tmp_path / "report" / "report.html").read_text()
    capsys.readouterr()
    evaluation = ["evaluate", "shut-the-box", "--tiles", "5", "--policy", str(tmp_path / "policy.npz")]
    assert cli.main([*evaluation, "--illegal", "raise"]) == 2
    assert "takes an illegal action" in capsys.readouterr().err
    assert cli.main(evaluation) == 0
    printed = capsys.readouterr().out
    assert "an illegal action" in printed
    result = json.loads((tmp_path / "result.json").read_text())["greedy"]
    assert re.search(rf"illegal mass +{result['illegal_mass']:.6%}", printed)
    assert cli.main([*evaluation, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["regret"] == result["regret"]
    assert printed["mistakes"][0]["plays"] is None


def test_every_algorithm_can_be_trained_from_the_command_line(capsys):
    with pytest.raises(SystemExit):
        training.main(["--help"])
    listed = re.search(r"\{([\w,-]+)\}", capsys.readouterr().out)
    assert listed[1].split(",") == list(ALGORITHMS)
