"""The soak counts what it is shown: planted mistakes are failures, and what is as it should be is none."""

import multiprocessing
import os
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from benchmarks import disturbing, surviving
from benchmarks.disturbing import Disk, Work
from benchmarks.plays import Play
from benchmarks.surviving import Trial
from stb_gym import ShutTheBox
from stb_gym.envs import TurnVectorEnv
from stb_gym.output import refuse, write_aside, write_text

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
WHOLE = '{"seconds": 1, "result": [1, 2]}\n'


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def honest(path, disturbed):
    with write_aside(path) as aside:
        aside.write_text(WHOLE.replace("1", "2", 1) if disturbed else WHOLE)
        if disturbed:
            die()


def tears(path, disturbed):
    path.write_text(WHOLE[:-9] if disturbed else WHOLE)
    if disturbed:
        die()


def litters(path, disturbed):
    path.with_name(".new").write_text(WHOLE)
    write_text(path, WHOLE)
    if disturbed:
        die()


def forgets(path, disturbed):
    path.with_name("memory.json").touch()
    if disturbed:
        die()
    again = path.parent.parent.name == "disk"
    path.with_name("memory.json").write_text("{}")
    write_text(path, WHOLE.replace("2]", "3]") if again else WHOLE)


def stumbles(path, disturbed):
    if disturbed:
        raise RuntimeError("of its own")
    write_text(path, WHOLE)


def mutters(path, disturbed):
    write_text(path, WHOLE)
    print("no")
    return 2 if disturbed else 0


def breaks(path, disturbed):
    write_text(path, WHOLE)
    return int(path.parent.parent.name == "disk")


def trial(work, folder, monkeypatch):
    """A work that was done undisturbed; it writes a file and is told whether it is disturbed, which is at first."""

    def main(words):
        path = Path(words[0])
        disturbed = path.parent.parent.name == "disk" and not (folder / "met").exists()
        (folder / "met").touch() if disturbed else None
        return work(path, disturbed)

    (folder / "disk").mkdir()
    monkeypatch.setattr(disturbing, "PROCESSES", multiprocessing.get_context("fork"))  # to which the work is known
    monkeypatch.setattr(surviving, "MOST", 1)
    monkeypatch.setitem(sys.modules, "planted", SimpleNamespace(main=main))
    monkeypatch.setattr(surviving, "DISTURBANCES", {"killed": 1.0})
    made = Trial(
        Work("work", "planted", ("{out}/it.json",)),
        folder / "whole",
        Disk(folder / "disk", mounted=False),
        np.random.default_rng(0),
    )
    made.prepare()
    made.seconds = 1e6  # so that it kills itself before
    return made


def test_what_survives_is_counted(tmp_path, monkeypatch):
    made = trial(honest, tmp_path, monkeypatch)
    made.round()
    assert made.failures == []
    assert made.counts == {
        "rounds": 1,
        "kills": 1,
        "killed": 1,
        "survived": 1,
        "unfinished": 1,
        "identical": 1,
        "files": 1,
        "torn": 0,
    }
    assert not (tmp_path / "failed").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mistake", "failures"),
    [
        (tears, ["killed: it.json are torn"]),
        (litters, [".new stay for ever"]),
        (
            forgets,
            [
                "killed: memory.json are torn",
                "left alone: a file is none of the result",
                "it.json are not those of an undisturbed process",
            ],
        ),
        (stumbles, ["killed: it ends with status 1: Process"]),
        (mutters, ["killed: it ends with status 2: no"]),
        (breaks, ["killed: it ends with status 1: ", "left alone it ends with status 1: "]),
    ],
)
def test_a_planted_mistake_is_a_failure(mistake, failures, tmp_path, monkeypatch, capsys):
    made = trial(mistake, tmp_path, monkeypatch)
    made.round()
    assert len(made.failures) == len(failures)
    assert all(told.startswith(f"work: {failure}") for told, failure in zip(made.failures, failures, strict=True))
    assert capsys.readouterr().err.count("benchmarks.soak: work: ") == len(failures)
    assert len([*(tmp_path / "failed").iterdir()]) == len(failures)


def swells(path, disturbed):
    try:
        write_text(path, WHOLE)
        write_text(path.with_name("large.md"), "x" * 300_000)
    except OSError as error:
        return refuse("planted", error)
    return 0


@pytest.mark.slow
def test_what_is_refused_in_a_line_is_counted(tmp_path, monkeypatch):
    made = trial(swells, tmp_path, monkeypatch)
    monkeypatch.setattr(surviving, "DISTURBANCES", {"disk full": 1.0})
    made.round()
    assert made.failures == []
    assert made.counts["disk full"] == made.counts["identical"] == 1
    monkeypatch.setattr(sys.modules[__name__], "refuse", lambda command, error: print(error) or 2)
    made.round()
    assert [told.startswith("work: disk full: it ends with status 2: [Errno 27]") for told in made.failures] == [True]


@pytest.fixture
def play():
    return Play(ShutTheBox(tiles=4), AutoresetMode.NEXT_STEP, seed=0)


@pytest.mark.parametrize("mode", AutoresetMode)
def test_perfect_play_comes_to_what_is_known(mode):
    played = Play(ShutTheBox(tiles=4), mode, seed=0)
    played.spell()
    assert played.failures() == []
    assert played.points.turns > 5000


def test_a_wrong_mean_is_a_failure(play):
    play.points.exact += 0.2
    play.moves.exact -= 0.2
    play.spell()
    assert [told.split(" are ")[0] for told in play.failures()] == [f"{play.name}: points", f"{play.name}: moves"]


def test_what_goes_on_otherwise_is_a_failure(play, monkeypatch):
    monkeypatch.setattr(TurnVectorEnv, "restore", lambda env, snapshot: env.reset(seed=5))
    play.spell()
    assert play.failures() == [f"{play.name}: what was restored from a snapshot goes on otherwise"]


@pytest.mark.slow  # as it imports the trainings
def test_a_soak_tells_what_it_counted(play, tmp_path, monkeypatch):
    from benchmarks.soak import Soak

    soak = Soak([trial(honest, tmp_path, monkeypatch)], [play])
    monkeypatch.setattr(soak.trials[0], "prepare", lambda: None)
    soak.run(1e-9)
    assert soak.failures() == []
    assert soak.to_json()["works"]["work"]["identical"] == 1
    assert "0 failures" in soak.to_text()
    soak.memory = [100.0, 100.0, 100.0, 100.0, 140.0]
    soak.trials[0].failures.append("work: planted")
    assert soak.failures() == ["work: planted", "memory grows from 100 to 140 MiB"]
    assert soak.to_text().endswith("work: planted\nmemory grows from 100 to 140 MiB\n2 failures")


@pytest.mark.slow
def test_a_soak_has_a_time_and_a_folder_of_its_own(tmp_path, capsys):
    from benchmarks.soak import main

    assert main(["--minutes", "nan", "--out", str(tmp_path / "new")]) == 2
    assert main(["--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (
        "benchmarks.soak: minutes must be a number above 0, not nan\n"
        f"benchmarks.soak: {tmp_path} is there already: remove it, or name another by --out\n"
    )
    assert not any(tmp_path.iterdir())
