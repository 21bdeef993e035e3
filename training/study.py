"""Run a study, which is algorithms x tasks x seeds, on several cores: `python -m training.study NAME`.

Every run is a process of its own, `python -m training.train ... --resume`, with its output in `log.txt`. Finished runs
are skipped and interrupted ones go on from their last checkpoint, so the same command goes on with a study that was
killed.
"""

import math
import os
import signal
import subprocess
import sys
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tyro

from agents.config import Config
from agents.presets import FILE, STANDARD, Presets, read_presets
from stb_gym.games import check_choice, check_integer, check_names
from stb_gym.output import Progress, write_text
from training.commands import run_name, train_command
from training.ledger import Ledger
from training.results import results_page
from training.run import Run
from training.run_writer import alone
from training.study_plots import plot_study

STUDIES = Path(__file__).with_name("studies.toml")


@dataclass(frozen=True)
class Arguments:
    """Run a study of training/studies.toml, or go on with it, and write the page of its results."""

    study: tyro.conf.Positional[str]
    """Name of the study."""
    studies: Path = STUDIES
    """File of the studies."""
    presets: Path = FILE
    """File of the presets."""
    out: Path | None = None
    """Folder of the study (default: runs/STUDY)."""
    workers: int = os.cpu_count() or 1
    """How many runs are trained at a time."""


class Planned(NamedTuple):
    """A run of a study: its name, the names of its task and variant, and what is trained."""

    name: str
    task: str
    variant: str
    config: Config


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = tyro.cli(Arguments, args=arguments, prog="training.study")
    out = options.out or Path("runs") / options.study
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the trainings are ended, too
    try:
        check_integer("workers", options.workers, 1, 1024)
        presets = read_presets(options.presets)
        planned = plan(options.study, options.studies, presets)
        with alone(out, waits=False):
            failed = run_study(planned, out, options.workers, presets)
            for run in failed:
                print(f"training.study: {run.name} failed; see {out / run.name / 'log.txt'}", file=sys.stderr)
            plot_study(out, presets)
            write_text(out / "README.md", results_page(out, presets))
    except (ValueError, OSError) as error:
        print(f"training.study: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"training.study: interrupted; the same command goes on with {out}", file=sys.stderr)
        return 130
    print(f"the results are on the page {out / 'README.md'}", file=sys.stderr)
    return 1 if failed else 0


def plan(study: str, file: Path, presets: Presets) -> list[Planned]:
    """The runs of a study, those of the lowest seed first, so that there is soon a result of everything.

    Args:
        study: name of the study.
        file: file of the studies.
        presets: the presets it takes settings from.

    Raises:
        ValueError: naming the file and what is missing, unknown or not allowed in it.
    """
    try:
        studies = tomllib.loads(file.read_text(encoding="utf-8"))
        check_choice("study", study, list(studies))
        if not isinstance(studies[study], list) or not studies[study]:
            raise ValueError(f"the study {study} has no parts: they begin with [[{study}]]")
        planned = [run for part in studies[study] for run in _runs(part, presets)]
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    names = [run.name for run in planned]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{file}: the study {study} has the run {name} twice")
    return sorted(planned, key=lambda run: run.config.seed)


def _runs(part: Any, presets: Presets) -> list[Planned]:
    """The runs of a part of a study."""
    if not isinstance(part, dict):
        raise ValueError(f"a part of a study is a table, not {part!r}")
    check_names("entry of a study", part, ["algorithms", "tasks", "variants", "seeds"])
    entries = {"variants": [STANDARD], **part}
    for name in ("algorithms", "tasks", "variants"):
        if not isinstance(entries.get(name), list) or not entries[name]:
            raise ValueError(f"{name} of a study must be a list of names")
    check_integer("seeds of a study", entries.get("seeds"), 1, 10_000)
    for task in entries["tasks"]:
        check_choice("task", task, list(presets.tasks))
    return [
        Planned(
            run_name(algorithm, task, variant, seed),
            task,
            variant,
            presets.config(algorithm, presets.tasks[task], variant, seed),
        )
        for task in entries["tasks"]
        for algorithm in entries["algorithms"]
        for variant in entries["variants"]
        for seed in range(entries["seeds"])
    ]


def run_study(planned: list[Planned], out: Path, workers: int, presets: Presets) -> list[Planned]:
    """Train the runs that are not finished yet, `workers` at a time; returns the runs that failed."""
    ledger = Ledger(out)
    waiting = [run for run in planned if not _is_entered(ledger, run)]
    total = sum(run.config.steps for run in planned)
    finished = total - sum(run.config.steps for run in waiting)
    running: dict[str, tuple[Planned, subprocess.Popen[Any]]] = {}
    failed: list[Planned] = []
    with Progress("study", total, "steps", initial=finished, pause=math.inf) as progress:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    run = waiting.pop(0)
                    running[run.name] = run, _start(run, out / run.name, presets)
                time.sleep(0.2)
                news = []
                for run, process in list(running.values()):
                    if process.poll() is None:
                        continue
                    del running[run.name]
                    if process.returncode == 0:
                        finished += run.config.steps
                        ledger.enter(run.name, run.task, run.variant, Run.open(out / run.name))
                        news.append(f"{run.name} has a regret of {ledger.rows[run.name].regret:.4g}")
                    else:
                        failed.append(run)
                        news.append(f"{run.name} failed")
                done = finished + sum(_steps(out / name, run) for name, (run, _) in running.items())
                now = f"{len(waiting)} waiting" + (f", running {', '.join(running)}" if running else "")
                progress.tell(done, note="; ".join([*news, now]), milestone=bool(news))
        finally:
            for _, process in running.values():
                process.terminate()
            for _, process in running.values():
                process.wait()
    return failed


def _is_entered(ledger: Ledger, run: Planned) -> bool:
    return run.name in ledger.rows and ledger.rows[run.name].config == run.config.digest()


def _start(run: Planned, folder: Path, presets: Presets) -> subprocess.Popen[Any]:
    command = train_command(run.config, run.variant, presets)
    command = [sys.executable, *command[1:], "--out", str(folder), "--resume"]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _steps(folder: Path, run: Planned) -> int:
    """The steps of a run at its last measurement, without those that its last rollout made too many."""
    try:
        return min(int(Run.open(folder).result()["steps"]), run.config.steps)
    except ValueError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
