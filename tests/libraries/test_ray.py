"""Runs on a Ray cluster of two nodes, one of which is killed in the middle."""

import os
import signal
import threading
import time

import psutil
import pytest
from ray.cluster_utils import Cluster

from agents.presets import configure
from training import train
from training.run import Run
from training.study import in_parallel, run_study

FIVE = ["tabular-afterstates", "--tiles", "5", "--steps", "4000000", "--seeds", "0-2"]


@pytest.fixture
def cluster():
    """Start a cluster of two nodes of one core; the driver is a node without cores."""
    started = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [started.add_node(num_cpus=1) for _ in range(2)]
    started.wait_for_nodes()
    yield started, nodes
    started.shutdown()


def kill_worker():
    """Kill the process of a task by SIGKILL."""
    workers = [each for each in psutil.Process().children(recursive=True) if each.name().startswith("ray::_attempt")]
    workers[0].kill()


@pytest.mark.parametrize("what", ["node", "worker"])
def test_runs_end_with_the_same_results_when_one_is_killed(what, cluster, tmp_path, monkeypatch):
    started, (node, _) = cluster
    told = []
    monkeypatch.setattr("training.study.ProgressBar.tell", lambda self, done, note=None: told.append(done))
    monkeypatch.setattr("training.study.GLANCE_SECONDS", 0.05)
    curves = [tmp_path / "runs" / f"tabular-afterstates-ShutTheBox-v0-tiles-5-{seed}" / "curve.csv" for seed in (0, 1)]
    killed_after = []

    def kill():
        while not all(path.exists() and len(path.read_text().splitlines()) > 4 for path in curves):
            time.sleep(0.02)
        killed_after.extend(len(path.read_text().splitlines()) - 1 for path in curves)
        if what == "node":
            started.remove_node(node, allow_graceful=False)
        else:
            kill_worker()

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    assert train.main([*FIVE, "--out", str(tmp_path / "runs"), "--ray", started.address]) == 0
    killer.join(timeout=60)
    assert max(killed_after) < 40
    ends = {count * Run(curves[0].parent).result()["steps"] for count in range(4)}
    assert len({*told} - ends) >= 3  # progress is reported while runs last
    for path in curves:
        run = Run(path.parent)
        assert run.result()["finished"] is True
        assert run_study({tmp_path / "alone" / path.parent.name: run.config}) == {}
        alone = Run(tmp_path / "alone" / path.parent.name)
        assert run.curve().drop(columns="seconds").equals(alone.curve().drop(columns="seconds"))
        assert (run.folder / "weights.pt").read_bytes() == (alone.folder / "weights.pt").read_bytes()


def test_a_killed_call_is_repeated_before_others_begin(cluster, tmp_path):
    started, (node, _) = cluster
    started.remove_node(node)
    log = tmp_path / "log"

    def begin(number):
        with log.open("a") as file:
            file.write(f"{number}\n")
        if log.read_text() == "0\n":
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    ended = [*in_parallel(begin, [(number,) for number in range(4)], 1, [started.address])]
    assert ended == [((number,), number, "") for number in range(4)]
    assert log.read_text().split() == ["0", "0", "1", "2", "3"]


def test_a_call_that_always_kills_its_process_ends_and_others_continue(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("training.study.MOST_KILLS", 1)

    def begin(number):
        if number == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    ended = in_parallel(begin, [(number,) for number in range(2)], 1, [cluster[0].address])
    assert sorted(ended) == [((0,), None, "its process was killed 2 times"), ((1,), 1, "")]


def test_a_run_that_fails_is_named_with_its_reason_and_others_continue(cluster, tmp_path):
    started, _ = cluster
    runs = {
        tmp_path / str(seed): configure("monte-carlo", "stb_gym/ShutTheBox-v0", {"tiles": 5}, seed=seed, steps=2000)
        for seed in range(2)
    }
    (tmp_path / "0").mkdir()
    (tmp_path / "0" / "config.json").write_text("{")
    failures = run_study(runs, ray=[started.address])
    assert list(failures) == [tmp_path / "0"]
    assert "cannot read" in failures[tmp_path / "0"]
    assert Run(tmp_path / "1").result()["finished"] is True


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere"])
def test_a_missing_cluster_is_an_error_of_one_line(address, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert train.main([*FIVE, "--ray", address]) == 2
    *_, line = capsys.readouterr().err.splitlines()  # what the run would make may come first
    assert line.startswith(f"training.train: there is no Ray cluster at {address}: ")
