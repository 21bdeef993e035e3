"""Test the folder of a run: its files, how it is continued, and how damaged or old ones are refused."""

import io
import json
import resource
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest
import torch
from filelock import FileLock
from stable_baselines3.common.buffers import ReplayBuffer

from agents.custom import allow
from agents.presets import TASKS, configure
from agents.registry import LEARNERS
from stb_gym import RegretMeter, evaluate, load_policy
from stb_gym.files import read_json, write_json, write_sealed
from stb_gym.measure import load_policies
from tests import Code, every
from tests.training.conftest import small
from training import measurement
from training.measurement import measure, train_and_measure
from training.run import Run, clear, train

COLUMNS = (
    "steps seconds regret value agreement agreement_by_visits shut_probability illegal_mass turns standard_error "
    "value_error"
)


def stop_at(measurement):
    """Return a callback that interrupts a training at a measurement."""
    results = []

    def progress(_, result):
        results.extend([] if result is None else [result])
        if len(results) == measurement:
            raise KeyboardInterrupt

    return progress


def interrupt(config, folder, measurement=3, measurements=5):
    with pytest.raises(KeyboardInterrupt):
        train(config, folder, measurements=measurements, progress=stop_at(measurement))


def files(folder):
    """Return the bytes of all files of a run, but for the processor time in two of them."""
    contents = {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
    contents["curve.csv"] = Run(folder).curve().drop(columns="seconds").to_csv().encode()
    result = Run(folder).result()
    assert result.pop("seconds") >= 0
    del result["sha256_of"]["curve.csv"]  # which has the time, too
    return contents | {"result.json": json.dumps(result).encode()}


def test_the_files_of_a_run_agree_with_each_other(finished):
    names = {".lock", "config.json", "curve.csv", "weights.pt", "policy.npz", "policies.npz", "result.json"}
    assert {path.name for path in finished.iterdir()} == names
    run, curve, result = Run(finished), Run(finished).curve(), Run(finished).result()
    assert run.config == small(steps=2000)
    assert " ".join(curve.columns) == f"{COLUMNS} train/step_size"
    assert curve["steps"].is_monotonic_increasing
    assert curve["seconds"].is_monotonic_increasing
    assert (curve["steps"].iloc[0], len(curve)) == (0, 6)
    assert curve["regret"].iloc[-1] < curve["regret"].iloc[0] / 4

    game, last = run.config.game(), curve.iloc[-1]
    policies = load_policies(finished / "policies.npz", game, "raise")
    assert {steps: evaluate(game, policy).regret for steps, policy in policies.items()} == dict(
        zip(curve["steps"], curve["regret"], strict=True)
    )
    policy = load_policy(finished, game)
    np.testing.assert_array_equal(policies[last["steps"]], policy)
    again = measure(run.config, run.learner())
    assert result["greedy"] == evaluate(game, policy).summary() | {"value_error": again.value_error}
    assert (result["finished"], result["steps"]) == (True, last["steps"])
    assert (again.greedy.regret, again.value_error) == (last["regret"], last["value_error"])


@pytest.mark.parametrize(
    ("algorithm", "share"),
    [
        ("certainty-equivalence", 0.1),
        ("q-learning", 0.3),
        ("tabular-afterstates", 0.3),
        ("afterstates", 0.5),
        ("fitted-q", 0.5),
        ("ppo", 0.9),
        ("dqn", 0.9),
        pytest.param("sb3-maskable-ppo", 0.3, marks=pytest.mark.nightly),
        pytest.param("sb3-maskable-ppo-tuned", 0.5, marks=pytest.mark.nightly),
    ],
)
def test_values_that_were_learned_are_better_than_zeros(algorithm, share):
    config = small(algorithm, steps=3000)
    learner = config.make_learner(config.make_envs())
    learner.learn(config.steps)
    found = measure(config, learner)
    _, by_state = found.greedy.utilities
    visits = found.greedy.visits
    assert found.value_error < share * np.sqrt(visits @ by_state**2 / visits.sum())


def test_values_of_random_play_are_not_those_of_the_policy():
    config = small("monte-carlo")
    assert measure(config, config.make_learner(config.make_envs())).value_error is None


@pytest.mark.parametrize("measurements", [1, 5, 1000])
def test_a_run_is_measured_as_often_as_asked_or_after_each_rollout(measurements, tmp_path):
    config = small(steps=12, settings={"num_envs": 1, "num_steps": 1})
    train(config, tmp_path, measurements)
    steps = Run(tmp_path).curve()["steps"]
    assert len(steps) == 1 + min(measurements, 12)
    assert (steps.iloc[0], steps.iloc[-1]) == (0, 12)
    assert steps.diff().max() <= -(-12 // measurements)


@pytest.mark.nightly
def test_a_run_that_made_no_update_says_so(tmp_path):
    for warm_up, folder in ((96, tmp_path / "some"), (97, tmp_path / "none")):
        train(small("dqn", steps=96, settings={"num_envs": 8, "warm_up": warm_up}), folder)
        assert Run(folder).result()["updated"] == (warm_up == 96)


def test_a_run_in_a_game_without_tables_is_sampled(tmp_path, monkeypatch):
    monkeypatch.setattr(measurement, "TURNS", 50)
    monkeypatch.setattr(RegretMeter, "is_exact", False)
    train(small(), tmp_path, measurements=1)
    curve = Run(tmp_path).curve()
    assert (curve["turns"] == 50).all()
    assert (curve["standard_error"] > 0).any()
    assert curve["agreement"].isna().all()
    assert not list(tmp_path.glob("polic*"))
    assert "agreement" not in Run(tmp_path).result()["greedy"]


def test_runs_of_earlier_versions_are_refused_and_never_removed(finished, tmp_path):
    folder = copytree(finished, tmp_path / "run")
    entries = read_json(folder / "config.json")
    del entries["format"]
    write_json(folder / "config.json", entries)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for call in (lambda: Run(folder), lambda: train(small(steps=2000), folder), lambda: clear(folder, overwrite=True)):
        with pytest.raises(ValueError, match=r"holds a run of an earlier version: train again, in another folder"):
            call()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


ROUND = {"arguments": {"dice": 2}, "env": "stb_gym/Threes-v0", "players": 3}
STOCK = {
    "sb3-ppo": {"n_steps": 64},
    "sb3-dqn": {"learning_starts": 50, "buffer_size": 300, "target_update_interval": 40},
    "sb3-maskable-ppo": {"n_steps": 64},
}
ROUNDS = [("ppo", "fictitious"), ("dqn", "naive"), ("fitted-q", "approximation"), ("afterstates", "approximation")]


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        *every(6, [(algorithm, {"settings": STOCK.get(algorithm, {})}) for algorithm in LEARNERS]),
        *(
            pytest.param(algorithm, ROUND | {"opponents": opponents}, marks=pytest.mark.nightly)
            for algorithm, opponents in ROUNDS
        ),
    ],
    ids=str,
)
def test_a_run_that_continues_ends_as_if_undisturbed(algorithm, options, tmp_path, monkeypatch):
    config = small(algorithm, steps=640, **options)
    train(config, tmp_path / "whole", measurements=5)
    interrupt(config, tmp_path / "parts", 2)
    interrupted = Run(tmp_path / "parts").curve()
    with pytest.raises(KeyboardInterrupt):
        train(config, tmp_path / "parts", measurements=5, progress=stop_at(2))
    seconds = Run(tmp_path / "parts").curve()["seconds"]
    assert len(seconds) == len(interrupted) + 2
    monkeypatch.setattr("time.process_time", lambda: 5.0)  # of a new process
    torch.set_num_threads(2)
    train(config, tmp_path / "parts", measurements=5)
    assert torch.get_num_threads() == 1
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    run, curve = Run(tmp_path / "parts"), Run(tmp_path / "parts").curve()
    last = curve.iloc[-1]
    assert last["seconds"] == seconds.iloc[-1]
    if "opponents" in options:
        assert last["gain"] == max(last[f"gain_{seat}"] for seat in (1, 2, 3)) == run.result()["gain"]
        if options["opponents"] != "approximation":  # in self-play all seats are the learner's
            assert sum(last[f"wins_{seat}"] for seat in (1, 2, 3)) == pytest.approx(1)
    else:
        assert curve["regret"].nunique() > 1
        assert run.result()["updated"]
        assert curve["illegal_mass"].any() != LEARNERS[algorithm].uses_masks
        again = measure(config, run.learner())  # which has the weights alone
        assert again.greedy.regret == last["regret"]


@pytest.mark.parametrize("moments", [range(1, 19, 7), pytest.param(range(1, 19), marks=pytest.mark.nightly)])
def test_a_run_killed_between_any_two_files_ends_as_if_undisturbed(moments, tmp_path, monkeypatch):
    config = small(steps=256)
    train(config, tmp_path / "whole", measurements=2)
    replace = Path.replace

    def dying(limit):
        met = []

        def replaced(self, target):
            met.append(target)
            if len(met) == limit:
                raise KeyboardInterrupt
            return replace(self, target)

        return replaced

    for moment in moments:
        folder = tmp_path / str(moment)
        monkeypatch.setattr(Path, "replace", dying(moment))
        with pytest.raises(KeyboardInterrupt):
            train(config, folder, measurements=2)
        monkeypatch.setattr(Path, "replace", replace)
        train(config, folder, measurements=2)
        assert files(folder) == files(tmp_path / "whole")


def forged(state):
    """Return the bytes that torch saves."""
    stream = io.BytesIO()
    torch.save(state, stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["weights.pt", "checkpoint.pt"])
def test_nothing_in_a_file_is_executed(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    interrupt(small(), tmp_path)
    write_sealed(tmp_path / name, forged(Code()))
    (tmp_path / "result.json").unlink()  # it has the SHA-256 of the weights
    with pytest.raises(ValueError, match=f"cannot read .*{name}: Weights only load failed"):
        Run(tmp_path).learner() if name == "weights.pt" else train(small(), tmp_path)
    assert not (tmp_path / "executed").exists()


def test_a_folder_that_holds_a_run_is_not_overwritten_by_mistake(finished, tmp_path):
    folder = copytree(finished, tmp_path / "run")
    before = files(folder)
    with pytest.raises(ValueError, match="holds a run: add --resume or --overwrite"):
        clear(folder, overwrite=False)
    with pytest.raises(ValueError, match="holds a run of another configuration"):
        train(small(), folder)
    assert files(folder) == before
    clear(folder, overwrite=True)
    train(small(seed=1), folder, measurements=1)
    assert Run(folder).config.seed == 1
    assert len(Run(folder).curve()) == 2


def test_a_finished_run_is_left_as_it_is(finished):
    before = {path.name: path.stat().st_mtime_ns for path in finished.iterdir()}
    train(small(steps=2000), finished)
    assert {path.name: path.stat().st_mtime_ns for path in finished.iterdir()} == before


def test_a_full_disk_is_an_error_of_the_system_and_keeps_the_files(tmp_path):
    interrupt(small("ppo"), tmp_path)
    before = (tmp_path / "checkpoint.pt").read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            train(small("ppo"), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (tmp_path / "checkpoint.pt").read_bytes() == before
    train(small("ppo"), tmp_path)
    assert Run(tmp_path).result()["finished"] is True


def test_two_processes_do_not_write_to_one_folder(tmp_path):
    with FileLock(tmp_path / ".lock"), pytest.raises(ValueError, match="is in use by another process"):
        train(small(), tmp_path)


def test_learning_that_diverges_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"learning has diverged: after [1-9].* steps the weights are not finite"):
        train(small("ppo", settings={"learning_rate": 1e30}), tmp_path)
    assert Run(tmp_path).result()["finished"] is False


class OwnReplayBuffer(ReplayBuffer):
    pass


@pytest.mark.nightly
def test_a_learner_whose_state_is_not_known_begins_again(tmp_path):
    allow(__name__)
    config = small("sb3-dqn", steps=200, settings={"replay_buffer_class": f"{__name__}:OwnReplayBuffer"})
    train(config, tmp_path / "whole", measurements=3)
    interrupt(config, tmp_path / "parts", 2, 3)
    assert not (tmp_path / "parts" / "checkpoint.pt").exists()
    train(config, tmp_path / "parts", measurements=3)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    run = Run(tmp_path / "parts")
    again = measure(config, run.learner())
    assert again.greedy.regret == pytest.approx(run.curve()["regret"].iloc[-1], rel=1e-12)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("algorithm", "task", "variant", "bar"),
    [
        ("ppo", "nine-tiles", "200k", 0.2),
        ("dqn", "nine-tiles", "200k", 0.2),
        ("fitted-q", "nine-tiles", "1m", 0.03),
        ("fitted-q", "threes", "1m", 0.01),
        ("afterstates", "nine-tiles", "1m", 0.005),
        ("afterstates", "threes", "1m", 0.001),
    ],
)
def test_presets_learn(algorithm, task, variant, bar):
    assert train_and_measure(configure(algorithm, *TASKS[task], variant, seed=5)).greedy.regret < bar
