"""Soak the project: an hour of play, trainings and pages under kills, on full disks and in read-only folders.

    python -m benchmarks.soak --minutes 60

In rounds, one work after the other is begun and disturbed some times: its process is killed at a random moment, or when
it is writing a file, its disk is full, or its folder is read-only. Then it is left alone, and must come to the files
of an undisturbed process, bit by bit but for the processor time that they tell. After every disturbance all files that
have their names are read. Between rounds perfect play goes on in vector environments.
"""

import json
import math
import os
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from shutil import rmtree
from typing import Any

import numpy as np
import tyro
from gymnasium.vector import AutoresetMode

from agents.presets import FILE
from benchmarks.disturbing import PROCESSES, Disk, Work, mounting
from benchmarks.plays import Play
from benchmarks.surviving import Trial
from stb_gym import ShutTheBox, Threes
from stb_gym.games import check_integer
from stb_gym.output import Column, Progress, Table, refuse, say, write_text

MEBIBYTES = 32.0  # that the memory of play may grow by after the first quarter
LEARNERS = ("ppo", "dqn", "afterstate-network", "q-learning", "afterstates", "limit", "sb3-a2c", "sb3-dqn")
# What processes of works would import otherwise.
PRELOADED = ["agents.stock", "training.report", "training.study", "training.train", "stb_gym.cli",
             "stb_gym.explorer"]  # fmt: skip
PRESETS = """
[tasks.five-tiles]
env = "stb_gym/ShutTheBox-v0"
rules = { tiles = 5 }
""" + "".join(
    f"[{learner}.any-task.soak]\nsteps = {400 if 'sb3' in learner else 8000}\n"
    + ("num_envs = 64\n" if "sb3" not in learner else "")
    for learner in LEARNERS
)
STUDY = '[[soak]]\nalgorithms = ["limit", "afterstates"]\ntasks = ["five-tiles"]\nvariants = ["soak"]\nseeds = 1\n'
COLUMNS = ("rounds", "identical", "kills", "survived", "unfinished", "disk full", "read-only", "files", "torn")


@dataclass(frozen=True)
class Arguments:
    """Disturb the project's work for a while, count what it survives, and tell every failure."""

    minutes: float = 60.0
    """How long."""
    seed: int = 0
    """Seed of all that is random: disturbances, their moments, the room on full disks, the dice."""
    out: Path = Path("runs/soak")
    """Folder that is made for it. It is removed in the end, unless something has failed."""
    json: bool = False
    """Print JSON instead of a table."""
    mounted: bool = False
    """Said by the command itself, which begins anew with a file system of its own where it may."""


def works(folder: Path) -> list[Work]:
    """What is done; that which comes later may use the results of that before."""
    presets, studies = folder / "presets.toml", folder / "studies.toml"
    write_text(presets, FILE.read_text("utf-8") + PRESETS)
    write_text(studies, STUDY)
    short = ("--tiles", "5", "--presets", str(presets), "--variant", "soak", "--out", "{out}/run")
    often = ("--measurements", "8", "--checkpoint-seconds", "0", "--resume")
    study = ("soak", "--studies", str(studies), "--presets", str(presets), "--workers", "1", "--out", "{out}/study")
    runs = ("{whole}/limit/run", "{whole}/ppo/run")
    shown = ("--run", runs[0], "--run", runs[1])
    questions = {
        "explorer": ("explore", "shut-the-box", "--tiles", "5", *shown, "--out", "{out}/page.html"),
        "fractions": ("certify", "shut-the-box", "--tiles", "7", "--out", "{out}/fractions.md"),
        "film": ("watch", "threes", "--turns", "1", "--seed", "1", "--out", "{out}/film.gif"),
    }
    return [
        *(Work(each, "training.train", (each, *short, *often), goes_on=True) for each in LEARNERS),
        Work("study", "training.study", study, goes_on=True),
        Work("report", "training.report", (*runs, "--out", "{out}/report")),
        *(Work(name, "stb_gym.cli", words) for name, words in questions.items()),
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status: 1 if anything failed."""
    words = sys.argv[1:] if arguments is None else arguments
    options = tyro.cli(Arguments, args=words, prog="benchmarks.soak")
    folder, interrupted = options.out.absolute(), False
    try:
        check_integer("seed", options.seed, 0, 2**63)
        if not 0 < options.minutes < math.inf:
            raise ValueError(f"minutes must be a number above 0, not {options.minutes}")
        if not options.mounted:
            if folder.exists():
                raise ValueError(f"{folder} is there already: remove it, or name another by --out")
            (folder / "disk").mkdir(parents=True)
            if command := mounting(folder / "disk", [sys.executable, "-m", "benchmarks.soak", *words, "--mounted"]):
                os.execvp(command[0], command)
            say("benchmarks.soak: no file system may be mounted here; the size of files is limited instead", error=True)
    except (ValueError, OSError) as error:
        return refuse("benchmarks.soak", error)
    disk = Disk(folder / "disk", options.mounted)
    soak = prepared(folder, disk, options.seed)
    try:
        soak.run(options.minutes)
    except KeyboardInterrupt:
        interrupted = True
    say(json.dumps(soak.to_json(), indent=2) if options.json else soak.to_text())
    failed = bool(soak.failures())
    disk.close()
    if not failed:
        rmtree(folder)
    return 130 if interrupted else int(failed)


def prepared(folder: Path, disk: Disk, seed: int) -> "Soak":
    """All works and plays, and processes that have everything imported."""
    PROCESSES.set_forkserver_preload(PRELOADED)
    (first := PROCESSES.Process()).start()
    first.join()
    done = works(folder)
    randoms = np.random.default_rng(seed).spawn(len(done))
    trials = [Trial(work, folder / "whole", disk, random) for work, random in zip(done, randoms, strict=True)]
    modes = product((ShutTheBox(), Threes()), AutoresetMode)
    return Soak(trials, [Play(game, mode, seed + place) for place, (game, mode) in enumerate(modes)])


@dataclass
class Soak:
    """Works that are disturbed, perfect play that goes on meanwhile, and the memory of this process.

    Attributes:
        trials: of the works, in an order in which each may use the undisturbed results of those before.
        plays: the plays.
        memory: the most mebibytes that this process had, after every round.
    """

    trials: list[Trial]
    plays: list[Play]
    memory: list[float] = field(default_factory=list)

    def run(self, minutes: float) -> None:
        """Do every work once undisturbed; then, for so many minutes, disturb that on which least time was spent."""
        with Progress("works done undisturbed", len(self.trials), "works") as progress:
            for done, trial in enumerate(self.trials, 1):
                trial.prepare()
                progress.tell(done)
        began, spent = time.monotonic(), 0.0
        with Progress("soak", 60 * minutes, "seconds") as progress:
            while spent < 60 * minutes:
                min(self.trials, key=lambda trial: trial.spent).round()
                for play in self.plays:
                    play.spell()
                self.memory.append(getrusage(RUSAGE_SELF).ru_maxrss / 1024)
                spent = time.monotonic() - began
                progress.tell(spent, note=f"{self.counts()['kills']} kills, {len(self.failures())} failures")

    def counts(self) -> Counter[str]:
        """How often what happened to all works together."""
        return sum((trial.counts for trial in self.trials), Counter())

    def failures(self) -> list[str]:
        """What went wrong, a line each."""
        grown = f"memory grows from {self._early():.0f} to {self.memory[-1]:.0f} MiB" if self.memory else ""
        return [
            *(wrong for trial in self.trials for wrong in trial.failures),
            *(wrong for play in self.plays for wrong in play.failures()),
            *([grown] if self.memory and self.memory[-1] - self._early() > MEBIBYTES else []),
        ]

    def _early(self) -> float:
        return self.memory[len(self.memory) // 4]

    def to_text(self) -> str:
        """Tables of the works and of the plays, the memory, and the failures."""
        rows = [(trial.work.name, trial.counts) for trial in self.trials] + [("all", self.counts())]
        works = {"work": Column("", [name for name, _ in rows])}
        works |= {name: Column(",d", [counts[name] for _, counts in rows]) for name in COLUMNS}
        means = {"turns of perfect play": Column("", [play.name for play in self.plays])}
        for what in ("points", "moves"):
            found = [getattr(play, what) for play in self.plays]
            means |= {
                what: Column(".5f", [mean.mean for mean in found]),
                f"exact {what}": Column(".5f", [mean.exact for mean in found]),
                f"deviations of {what}": Column("+.1f", [mean.deviations for mean in found]),
            }
        means["turns"] = Column(",d", [play.points.turns for play in self.plays])
        memory = [f"memory of play: {self._early():.0f} MiB early, {self.memory[-1]:.0f} in the end"] * bool(
            self.memory
        )
        said = [*memory, *self.failures(), f"{len(self.failures())} failures"]
        return "\n\n".join([str(Table(works)), str(Table(means)), "\n".join(said)])

    def to_json(self) -> dict[str, Any]:
        """All that was counted, and the memory after every round in mebibytes."""
        return {
            "works": {trial.work.name: trial.counts for trial in self.trials},
            "plays": {play.name: {"points": asdict(play.points), "moves": asdict(play.moves)} for play in self.plays},
            "memory": self.memory,
            "failures": self.failures(),
        }


if __name__ == "__main__":
    sys.exit(main())
