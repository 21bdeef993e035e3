"""A study on a Ray cluster of three nodes, one of which is killed in the middle."""

import json
import re
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from agents.config import task_of
from ray.cluster_utils import Cluster
from training.ledger import Ledger
from training.run_writer import begin

from agents.presets import read_presets
from tests import SMALL_PRESETS
from training import study
from training.run import Run
from training.train import train

STUDY = '[[small]]\nalgorithms = ["afterstates"]\ntasks = ["three-tiles", "five-tiles"]\nseeds = 2\n'
PRESETS = re.sub("steps = [0-9]+_000", "steps = 500_000", SMALL_PRESETS.read_text())


@pytest.fixture(scope="module")
def nodes():
    """Start a cluster of three nodes of one core."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster, nodes
    cluster.shutdown()


@pytest.fixture
def words(nodes, tmp_path):
    """Return the words of a study on the cluster."""
    (tmp_path / "studies.toml").write_text(STUDY)
    (tmp_path / "presets.toml").write_text(PRESETS)
    files = ["--studies", str(tmp_path / "studies.toml"), "--presets", str(tmp_path / "presets.toml")]
    return ["small", *files, "--out", str(tmp_path / "out"), "--ray", nodes[0].address]


def test_a_study_ends_with_the_same_results_when_a_node_is_killed(nodes, words, tmp_path, capsys):
    cluster, (one, _) = nodes
    # Long enough that three run at a time, even if the processes of the nodes begin late.
    (tmp_path / "presets.toml").write_text(PRESETS.replace("500_000", "4_000_000"))
    presets = read_presets(tmp_path / "presets.toml")
    planned = study.plan("small", tmp_path / "studies.toml", presets)
    running = []

    def trains(log):
        return "%|" in log.read_text() and not json.loads(log.with_name("result.json").read_text())["finished"]

    def kill():
        while len(running) < 3:
            time.sleep(0.05)
            running[:] = [log.parent.name for log in (tmp_path / "out").glob("*/log.txt") if trains(log)]
        cluster.remove_node(one, allow_graceful=False)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    assert study.main(words) == 0
    killer.join(timeout=60)
    assert len(running) == 3
    assert Ledger(tmp_path / "out").rows.keys() == {run.name for run in planned}
    for run in (each for each in planned if each.name in running):
        train(run.config, tmp_path / run.name)
        runs = [Run.open(folder / run.name) for folder in (tmp_path / "out", tmp_path)]
        np.testing.assert_equal(*(each.learner().weights() for each in runs))
        disturbed, alone = ([replace(point, seconds=0) for point in each.curve()] for each in runs)
        assert disturbed == alone


def test_a_training_that_fails_is_named_with_its_reason_and_the_others_go_on(nodes, words, tmp_path, capsys):
    stale = tmp_path / "out" / "afterstates-three-tiles-0"
    config = read_presets(tmp_path / "presets.toml").config("afterstates", task_of("stb_gym/ShutTheBox-v0", {}))
    begin(stale, config, overwrite=False)
    assert study.main(words) == 1
    assert f"afterstates-three-tiles-0 failed: {stale} holds a run of another configuration" in capsys.readouterr().err
    assert len(Ledger(tmp_path / "out").rows) == 3


@pytest.mark.parametrize(("address", "told"), [(["127.0.0.1:1"], "at 127.0.0.1:1"), (["nowhere"], "at nowhere")])
def test_a_missing_cluster_is_an_error_of_one_line(words, address, told, capsys):
    assert study.main([*words[:-1], *address]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"training.study: there is no Ray cluster {told}: ")
