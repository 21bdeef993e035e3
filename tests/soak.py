"""Kill trainings at random moments, resume them and compare the results: `python -m tests.soak --minutes 60`.

A round trains one algorithm. Its process is killed (SIGKILL) up to four times and resumed with --resume. Sometimes a
second process trains in the same folder at the same time. In the end curve.csv, apart from the seconds, and the weights
must equal those of an undisturbed training.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from stb_gym.output import Column, Progress, Table, say
from tests import ROOT

STEPS = {  # some seconds of learning
    "ppo": 300_000,
    "dqn": 300_000,
    "fitted-q": 300_000,
    "afterstates": 200_000,
    "q-learning": 5_000_000,
    "certainty-equivalence": 5_000_000,
}
REFUSED = 2  # exit status


def begin(algorithm: str, folder: Path) -> "subprocess.Popen[str]":
    """Start or continue a training in a folder."""
    command = [sys.executable, "-m", "training.train", algorithm, "--tiles", "5", "--steps", str(STEPS[algorithm])]
    command += ["--settings.num-envs", "256", "--measurements", "20", "--out", str(folder), "--resume"]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def end(process: "subprocess.Popen[str]", seconds: float | None = None) -> tuple[int, str]:
    """Wait for a training, and kill it after some seconds; return its exit status and standard error."""
    try:
        _, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        _, errors = process.communicate()
    except BaseException:
        process.kill()
        raise
    return process.returncode, errors


def result(folder: Path) -> dict[str, Any]:
    """Return the measurements and the weights of the only run in a folder, by name."""
    (run,) = (path for path in folder.iterdir() if path.is_dir())
    finished = json.loads((run / "result.json").read_text())["finished"] and not (run / "checkpoint.pt").exists()
    curve = pd.read_csv(run / "curve.csv", dtype=str).drop(columns="seconds")
    return {
        "finished": finished,
        "curve": curve.to_csv(),
        **tensors("weights", torch.load(run / "weights.pt", weights_only=True)),
    }


def tensors(name: str, value: Any) -> dict[str, Any]:
    """Return the bytes of every tensor of nested dictionaries and lists, and other values as they are."""
    if isinstance(value, torch.Tensor):
        return {name: (value.dtype, value.shape, value.numpy().tobytes())}
    if isinstance(value, dict | list | tuple):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {inner: each for key, part in pairs for inner, each in tensors(f"{name}.{key}", part).items()}
    return {name: value}


def disturb(algorithm: str, folder: Path, seconds: float, counts: Counter[str]) -> str:
    """Train under disturbances; return what went wrong, or "".

    Args:
        algorithm: what is trained.
        folder: an empty folder.
        seconds: how long an undisturbed training takes.
        counts: numbers of what happened; they are updated.
    """
    for _ in range(random.randint(1, 4)):
        processes = [begin(algorithm, folder) for _ in range(random.choice((1, 1, 2)))]
        counts["pairs"] += len(processes) - 1
        for process, moment in zip(processes, (random.uniform(0, seconds), None), strict=False):
            status, errors = end(process, moment)
            if status not in (0, REFUSED, -signal.SIGKILL):
                return f"status {status}: {errors}"
            counts["kills"] += status == -signal.SIGKILL
            if status == -signal.SIGKILL and len(processes) == 1:
                counts["with checkpoint"] += any(folder.glob("*/checkpoint.pt"))
    status, errors = end(begin(algorithm, folder))
    return f"left alone, status {status}: {errors}" if status else ""


def main() -> int:
    """Run the command; return 1 if a result differs from an undisturbed one."""
    parser = argparse.ArgumentParser(prog="tests.soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long; every algorithm has at least one round")
    parser.add_argument("--seed", type=int, default=0, help="seed of the random moments")
    options = parser.parse_args()
    random.seed(options.seed)
    counts: dict[str, Counter[str]] = {algorithm: Counter() for algorithm in STEPS}
    out = Path(tempfile.mkdtemp(prefix="soak-"))
    undisturbed = {}
    failed = False
    began = time.monotonic()
    with Progress("soaking", options.minutes, "minutes") as progress:
        for number, algorithm in enumerate(cycle(STEPS)):
            minutes = (time.monotonic() - began) / 60
            progress.tell(min(minutes, options.minutes))
            if minutes > options.minutes and number >= len(STEPS):
                break
            if algorithm not in undisturbed:
                start = time.monotonic()
                status, errors = end(begin(algorithm, out / algorithm))
                if status:
                    raise SystemExit(f"tests.soak: {algorithm} ends undisturbed with status {status}: {errors}")
                undisturbed[algorithm] = (result(out / algorithm), time.monotonic() - start)
            expected, seconds = undisturbed[algorithm]
            folder = out / f"{algorithm}-{number}"
            failure = disturb(algorithm, folder, seconds, counts[algorithm])
            if not failure and result(folder) != expected:
                failure = "its result differs from that of an undisturbed training"
            counts[algorithm].update({"rounds": 1, "identical": not failure})
            if failure:
                failed = True
                say(f"tests.soak: {folder}: {failure}", error=True)
            else:
                shutil.rmtree(folder)
    names = ("rounds", "identical", "kills", "with checkpoint", "pairs")
    numbers = {name: Column(",d", [counts[algorithm][name] for algorithm in STEPS]) for name in names}
    say(Table({"": Column("", [*STEPS]), **numbers}))
    if not failed:
        shutil.rmtree(out)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
