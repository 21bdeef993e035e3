"""Run a study, which is algorithms x tasks x seeds, on many cores or machines: `python -m training.study NAME`.

Finished runs are skipped, also those that other commands trained in its folders, and interrupted ones go on from their
last checkpoint; so the same command goes on with a study that was killed.
"""

import contextlib
import os
import queue
import shlex
import sys
import tomllib
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tyro

from agents.config import Config
from agents.presets import FILE, STANDARD, Presets, read_presets
from stb_gym.games import check_choice, check_integer, check_names
from stb_gym.output import Progress, read_text, reader_may_leave, say, write_text
from training.arguments import answered, read_arguments
from training.commands import run_name, train_command
from training.engines import Engine, cluster, pool
from training.entries import is_of
from training.ledger import Ledger
from training.results import results_page
from training.run import Run
from training.run_writer import alone
from training.study_plots import plot_study
from training.train import is_finished

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
    """How many runs are trained at a time on this machine."""
    ray: tuple[str, ...] | None = None
    """Train on a Ray cluster instead, the one at this address or else the one that this machine is part of. All its
    nodes must see the folder of the study by the same path."""
    device: str = "cpu"
    """Where the networks are, such as cuda."""
    print: bool = False
    """Only print the commands of the runs that are not finished, for GNU parallel, Slurm and the like."""


class Planned(NamedTuple):
    """A run of a study: its name, the names of its task and variant, and what is trained."""

    name: str
    task: str
    variant: str
    config: Config


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    options = read_arguments(Arguments, arguments, "training.study")
    out = options.out or Path("runs") / options.study
    return answered("training.study", lambda: _study(options, out), f"the same command goes on with {out}")


def _study(options: Arguments, out: Path) -> int:
    check_integer("workers", options.workers, 1, 1024)
    presets = read_presets(options.presets)
    planned = plan(options.study, options.studies, presets)
    if options.print:
        print_commands(unfinished(unentered(planned, Ledger(out)), out), out, presets, options.device)
        return 0
    engine = pool(options.workers, options.device) if options.ray is None else cluster(options.ray, options.device)
    with alone(out, waits=False):
        with engine as given:
            failed = run_study(planned, out.resolve(), given)
        for run, reason in failed.items():
            say(f"training.study: {run} failed: {reason}; see {out / run / 'log.txt'}", error=True)
        plot_study(out, presets)
        write_text(out / "README.md", results_page(out, presets))
    say(f"the results are on the page {out / 'README.md'}", error=True)
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
        studies = tomllib.loads(read_text(file))
        check_choice("study", study, list(studies))
        if not isinstance(studies[study], list) or not studies[study]:
            raise ValueError(f"the study {study} has no parts: they begin with [[{study}]]")
        planned = [run for part in studies[study] for run in _runs(part, presets)]
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None
    for name, times in Counter(run.name for run in planned).items():
        if times > 1:
            raise ValueError(f"{file}: the study {study} has the run {name} twice")
    return sorted(planned, key=lambda run: run.config.seed)


def _runs(part: Any, presets: Presets) -> list[Planned]:
    """The runs of a part of a study."""
    if not isinstance(part, dict):
        raise ValueError(f"a part of a study is a table, not {part!r}")
    check_names("entry of a study", part, ["algorithms", "tasks", "variants", "seeds"])
    entries = {"variants": [STANDARD], **part}
    for name in ("algorithms", "tasks", "variants"):
        if not is_of(list[str], entries.get(name)) or not entries[name]:
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


def unentered(planned: list[Planned], ledger: Ledger) -> list[Planned]:
    """The runs that a ledger does not have, or has of another configuration."""
    digests = {name: row.config for name, row in ledger.rows.items()}
    return [run for run in planned if digests.get(run.name) != run.config.digest()]


def unfinished(runs: list[Planned], out: Path) -> list[Planned]:
    """Those of some runs that are not finished in their folders."""
    return [run for run in runs if not is_finished(out / run.name, run.config)]


def _enter(ledger: Ledger, run: Planned, out: Path) -> None:
    ledger.enter(run.name, run.task, run.variant, Run.open(out / run.name))


def print_commands(runs: list[Planned], out: Path, presets: Presets, device: str) -> None:
    """Print a command for every run, which trains it in its folder of a study or goes on with it."""
    with reader_may_leave():
        for run in runs:
            words = [*train_command(run.config, run.variant, presets), "--out", str(out / run.name), "--resume"]
            say(shlex.join([*words, *(["--device", device] if device != "cpu" else [])]))


def run_study(planned: list[Planned], out: Path, engine: Engine) -> dict[str, str]:
    """Train the runs that are not finished yet, as many at a time as the engine has room for.

    Args:
        planned: the runs.
        out: folder of the study.
        engine: what trains them.

    Returns:
        Why runs failed, by name.
    """
    running: dict[Future[None], Planned] = {}
    ended: queue.SimpleQueue[Future[None]] = queue.SimpleQueue()
    failed: dict[str, str] = {}
    with Ledger(out) as ledger:
        new = unentered(planned, ledger)
        waiting = deque(unfinished(new, out))
        to_train = {run.name for run in waiting}
        for run in new:
            if run.name not in to_train:
                _enter(ledger, run, out)
        total = sum(run.config.steps for run in planned)
        finished = total - sum(run.config.steps for run in waiting)
        with Progress("study", total, "steps", initial=finished) as progress:
            while waiting or running:
                for _ in range(min(engine.room() - len(running), len(waiting))):
                    run = waiting.popleft()
                    training = engine.begin(run.config, out / run.name)
                    running[training] = run
                    training.add_done_callback(ended.put)
                news = []
                with contextlib.suppress(queue.Empty):
                    training = ended.get(timeout=1)
                    run = running.pop(training)
                    reason = _failure(training)
                    if reason is None:
                        _enter(ledger, run, out)
                        finished += run.config.steps
                        news = [f"{run.name} has a regret of {ledger.rows[run.name].regret:.4g}"]
                    else:
                        failed[run.name] = reason
                        news = [f"{run.name} failed"]
                names = ", ".join(run.name for run in running.values())
                now = f"{len(waiting)} waiting" + (f", running {names}" if names else "")
                done = finished + sum(_steps(out / run.name, run) for run in running.values())
                progress.tell(done, note="; ".join([*news, now]))
    return failed


def _failure(training: Future[None]) -> str | None:
    """Why a training failed, in one line, or None if it did not."""
    error = training.exception()
    if error is None:
        return None
    cause = getattr(error, "cause", error)  # which Ray wraps
    return f"{cause}".partition("\n")[0] or type(cause).__name__


def _steps(folder: Path, run: Planned) -> int:
    """The steps of a run at its last measurement, without those that its last rollout made too many."""
    try:
        return min(int(Run.open(folder).result()["steps"]), run.config.steps)
    except ValueError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
