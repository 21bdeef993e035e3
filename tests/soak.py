"""Kill trainings at random moments, continue them and compare the results: `python -m tests.soak --kills 50`.

A round trains one kind of run. Its process is killed (SIGKILL) up to four times and continued with --resume. Sometimes
a second process trains in the same folder at the same time.
In the end curve.csv, apart from the seconds, and what was learned must equal those of an undisturbed training.
Processes are forked, so that they need not import the libraries again.
"""

import multiprocessing
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agents.registry import LEARNERS
from stb_gym.console import say
from training.commands import run_command
from training.run import Run
from training.train import main as train

FORK = multiprocessing.get_context("fork")
STEPS = {True: 500_000, False: 16_000}  # of trainings that take some seconds, with tables and without
KINDS = {  # the words of trainings
    **{
        name: f"{name} --steps {STEPS[learner.needs_tables]} --settings.num-envs 256"
        for name, learner in LEARNERS.items()
        if not learner.of_library
    },
    "ppo in rounds": "ppo --steps 20000 --settings.num-envs 256 --opponents league --players 2",
    "stable-baselines3": "sb3-a2c --steps 300",
}
REFUSED = 2  # exit status


def begin(kind: str, folder: Path) -> Any:
    """Make a folder if necessary, and start or continue a training in it."""
    folder.mkdir(exist_ok=True)
    process = FORK.Process(target=run, args=(kind, folder))
    process.start()
    return process


def run(kind: str, folder: Path) -> None:
    """Train in this process, and write its messages to a file in the folder."""
    with (folder / "errors").open("a", buffering=1) as sys.stderr:
        sys.exit(
            train([*KINDS[kind].split(), "--tiles", "5", "--measurements", "20", "--out", str(folder), "--resume"])
        )


def end(process: Any, seconds: float | None = None) -> int:
    """Wait for a training, kill it after some seconds, and return its exit status."""
    try:
        process.join(seconds)
    finally:
        process.kill()
    process.join()
    return process.exitcode


def result(folder: Path) -> list[Any]:
    """Return whether the only run in a folder is finished, its curve, and the bytes of its weights and policies."""
    (path,) = (path for path in folder.iterdir() if path.is_dir())
    found, files = Run(path), (path / "weights.pt", path / "policies.npz")
    finished = found.result()["finished"] and not (path / "checkpoint.pt").exists()
    learned = [file.read_bytes() for file in files if file.exists()]
    return [finished, found.curve().drop(columns="seconds").to_csv(), *learned]


def alone(kind: str, folder: Path) -> tuple[list[Any], float]:
    """Train undisturbed; return the result and the seconds that it took.

    Raises:
        SystemExit: if the training fails.
    """
    start = time.monotonic()
    if status := end(begin(kind, folder)):
        raise SystemExit(f"tests.soak: {kind} ends undisturbed with status {status}: see {folder}")
    return result(folder), time.monotonic() - start


def disturb(kind: str, folder: Path, seconds: float) -> tuple[str, int]:
    """Train under disturbances; return what went wrong, or "", and the number of kills.

    Args:
        kind: what is trained.
        folder: a new folder.
        seconds: how long an undisturbed training takes.
    """
    kills = 0
    for _ in range(random.randint(1, 4)):
        processes = [begin(kind, folder) for _ in range(random.choice((1, 1, 2)))]
        for process, moment in zip(processes, (random.uniform(0, seconds), None), strict=False):
            status = end(process, moment)
            if status not in (0, REFUSED, -signal.SIGKILL):
                return f"status {status}", kills
            kills += status == -signal.SIGKILL
    status = end(begin(kind, folder))
    return f"left alone, status {status}" if status else "", kills


def soak(*, kills: int = 50, minutes: float = 60.0, seed: int = 0) -> int:
    """Kill trainings at random moments, continue them and compare the results.

    Args:
        kills: How many times to kill every kind of run.
        minutes: How long to go on at most.
        seed: Seed of the random moments.

    Returns:
        1 if a result differs from an undisturbed one.
    """
    random.seed(seed)
    out = Path(tempfile.mkdtemp(prefix="soak-"))
    latest, failures = time.monotonic() + 60 * minutes, 0
    undisturbed = {kind: alone(kind, out / kind) for kind in KINDS}
    killed = dict.fromkeys(KINDS, 0)
    while min(killed.values()) < kills and time.monotonic() < latest:
        kind = min(killed, key=killed.__getitem__)
        expected, seconds = undisturbed[kind]
        folder = Path(tempfile.mkdtemp(prefix=f"{kind}-", dir=out))
        failure, times = disturb(kind, folder, seconds)
        if not failure and result(folder) != expected:
            failure = "its result differs from that of an undisturbed training"
        killed[kind] += times
        failures += bool(failure)
        say(f"{kind}: {killed[kind]} kills; {folder.name}: {failure or 'identical'}")
        if not failure:
            shutil.rmtree(folder)
    if not failures:
        shutil.rmtree(out)
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(run_command("tests.soak", soak))
