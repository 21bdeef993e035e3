"""What the engine of a study costs, and what ten thousand planned runs do."""

import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

from agents.config import Config
from agents.presets import STANDARD, read_presets
from benchmarks.timing import Comparison, Timer, installed, timer
from training.engines import Engine, cluster, pool, train_run
from training.ledger import Ledger
from training.results import results_page
from training.run import Run
from training.study import Planned, plan, run_study, unfinished
from training.study_plots import plot_study

RUNS, MANY = 64, 10_000
PRESETS = read_presets()
STUDY = f'[[many]]\nalgorithms = ["limit"]\ntasks = ["threes"]\nseeds = {MANY}\n'


def studies() -> Iterator[Comparison]:
    """Short runs on two processes of a pool and, as many at a time, on Ray; then what the driver of a study does.

    The runs of both are the same, a tenth of a second each, so what is timed is mostly the engines, their start
    included. "Handed out" are runs that an engine has done as soon as it is given them. Ten thousand runs are planned,
    looked for in their folders, read from the ledger and written to it, and made into the page and the pictures.
    """
    short = replace(_planned()[0].config, steps=20_000)
    ray = installed("ray") and _short(short, lambda: cluster(["local"]))
    ours = _short(short, lambda: pool(os.cpu_count() or 1))
    yield Comparison(f"{RUNS} short runs", "runs/s", ours, "Ray", ray, rounds=3)
    with TemporaryDirectory(prefix="study-") as name:
        folder, planned = Path(name), _planned()
        train_run(short.to_json(), folder / "run", "cpu")
        yield Comparison("runs handed out", "runs/s", _handed_out(Run(folder / "run", short)), rounds=3)
        with Ledger(folder) as ledger:
            for run in planned:
                ledger.enter(run.name, run.task, run.variant, Run(folder / "run", run.config))
        driver: dict[str, Callable[[], object]] = {
            "planning": _planned,
            "looking for": lambda: unfinished(planned, folder),
            "reading": lambda: Ledger(folder),
            "writing": ledger.write,
            "the page of": lambda: results_page(folder, PRESETS),
            "the pictures of": lambda: plot_study(folder, PRESETS),
        }
        for words, work in driver.items():
            yield Comparison(f"{words} {MANY:,} runs", "ms", timer(_call(work)), rounds=3)


def _call(work: Callable[[], object]) -> Callable[[object], object]:
    return lambda _: work()


def _planned() -> list[Planned]:
    """Ten thousand runs of one agent."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "studies.toml").write_text(STUDY)
        return plan("many", Path(folder) / "studies.toml", PRESETS)


def _short(config: Config, engine: Callable[[], AbstractContextManager[Engine]]) -> Timer:
    """A study of short runs, the start of its engine included."""

    def run(folder: str) -> None:
        planned = [Planned(f"{seed}", "threes", STANDARD, replace(config, seed=seed)) for seed in range(RUNS)]
        with engine() as given:
            assert not run_study(planned, Path(folder), given)
        shutil.rmtree(folder)

    return timer(run, mkdtemp, units=RUNS)


def _handed_out(done: Run) -> Timer:
    """A study of runs that an engine has done as soon as it is given them."""

    def begin(config: Config, folder: Path) -> "Future[None]":
        folder.symlink_to(done.folder)
        training: Future[None] = Future()
        training.set_result(None)
        return training

    def run(folder: str) -> None:
        planned = [Planned(f"{number}", "threes", STANDARD, done.config) for number in range(1000)]
        assert not run_study(planned, Path(folder), Engine(begin, lambda: 100))
        shutil.rmtree(folder)

    return timer(run, mkdtemp, units=1000)
