"""Rounds of work that is disturbed and must come to what it comes to undisturbed; everything else is a failure."""

import csv
import json
import os
import shutil
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from PIL import Image, ImageSequence
from safetensors.numpy import load_file

from benchmarks.disturbing import KILLED, Disk, Work, live
from stb_gym.output import say

DISTURBANCES = {"killed": 0.35, "killed writing": 0.35, "disk full": 0.2, "read-only": 0.1}  # and how often each is
MOST = 4  # disturbances of a round
APART = (".lock", "log.txt")  # files of no result: what says that a folder is written to, and what was said


@dataclass
class Trial:
    """Some work, and what became of it.

    Attributes:
        work: the work.
        folder: where the undisturbed results of all works are; what is wrong with others is kept beside it.
        disk: where it is disturbed.
        random: chooses what disturbs it, and when.
        counts: how often what happened.
        failures: what went wrong, a line each.
        seconds: how long it takes undisturbed.
        spent: how many seconds its rounds took.
    """

    work: Work
    folder: Path
    disk: Disk
    random: np.random.Generator
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0
    spent: float = 0.0

    def prepare(self) -> None:
        """Do the work undisturbed."""
        life = live(self.work, emptied(self.folder / self.work.name), self.folder)
        self.seconds = life.seconds
        self._check(life.status == 0, f"undisturbed it ends with status {life.status}: {life.said}")

    def round(self) -> None:
        """Disturb the work, and let it end."""
        began, out, kills = time.monotonic(), emptied(self.disk.folder / "out"), 0
        times = self.random.integers(1, MOST + 1)
        for disturbance in self.random.choice([*DISTURBANCES], times, p=[*DISTURBANCES.values()]):
            status = self._disturb(out, str(disturbance))
            kills += status == KILLED
            if status == 0:
                break
        life = live(self.work, out, self.folder)
        self._check(life.status == 0, f"left alone it ends with status {life.status}: {life.said}")
        self._look(out, "left alone")
        left, whole, found = unfinished(out), results(self.folder / self.work.name), results(out)
        self._check(not left, f"{_names(left)} stay for ever")
        differ = [name for name in {**whole, **found} if whole.get(name) != found.get(name)]
        self._check(not differ, f"{', '.join(differ)} are not those of an undisturbed process")
        self.counts.update({"rounds": 1, "identical": not differ, "survived": 0 if differ else kills})
        self.spent += time.monotonic() - began

    def _disturb(self, out: Path, disturbance: str) -> int:
        """Do the work with a disturbance; returns the status of its process."""
        before, limit, after, until = unfinished(out), None, None, None
        with ExitStack() as disturbed:
            if disturbance == "disk full":
                limit = disturbed.enter_context(self.disk.full(int(2 ** self.random.uniform(0, 18))))
            elif disturbance == "read-only":
                disturbed.enter_context(self.disk.read_only())
            else:
                after = self.random.uniform(0, 0.8 * self.seconds)
                until = (lambda: unfinished(out) - before) if disturbance == "killed writing" else None
            life = live(self.work, out, self.folder, after, until, limit)
        left, killed = unfinished(out) - before, after is not None and life.status == KILLED
        self.counts[disturbance if life.status else "ended before"] += 1
        if killed:
            self.counts.update({"kills": 1, "unfinished": bool(left)})
            age(left)
        else:
            fine = life.status == 0 or (after is None and self.work.refused(life))
            self._check(fine, f"{disturbance}: it ends with status {life.status}: {life.said}")
            self._check(not left, f"{disturbance}: {_names(left)} are left though nobody killed it")
        self._look(out, disturbance)
        return life.status

    def _look(self, out: Path, disturbance: str) -> None:
        """Read all files that have their names."""
        files = list(finished(out))
        broken = {path for path in files if torn(path)}
        self.counts.update({"files": len(files), "torn": len(broken)})
        self._check(not broken, f"{disturbance}: {_names(broken)} are torn")
        if not broken and not self.work.goes_on:
            of_the_result = results(out).items() <= results(self.folder / self.work.name).items()
            self._check(of_the_result, f"{disturbance}: a file is none of the result")

    def _check(self, fine: bool, otherwise: str) -> None:
        if not fine:
            self.failures.append(f"{self.work.name}: {otherwise}")
            kept = self.folder.with_name("failed") / f"{self.work.name}-{len(self.failures)}"
            shutil.copytree(self.disk.folder / "out", kept, dirs_exist_ok=True)
            say(f"benchmarks.soak: {self.failures[-1]}", error=True)


def _names(paths: set[Path]) -> str:
    return ", ".join(sorted({path.name for path in paths}))


def unfinished(folder: Path) -> set[Path]:
    """The files and folders that somebody has not finished writing, whose names are hidden."""
    found: set[Path] = set()
    for at, folders, files in os.walk(folder):
        found |= {Path(at, name) for name in (*folders, *files) if name.startswith(".") and name not in APART}
    return found


def finished(folder: Path) -> Iterator[Path]:
    """The files that have their names."""
    for path in sorted(folder.rglob("*")):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden and path.name not in APART:
            yield path


def torn(path: Path) -> bool:
    """Whether a file is not whole, or of no kind that is known."""
    try:
        return READERS[path.suffix](path) is None
    except Exception:  # whatever a reader says of a torn file
        return True


def results(folder: Path) -> dict[str, Any]:
    """What the files in a folder hold by their names, without the processor time that it took to get there."""
    return {str(path.relative_to(folder)): None if torn(path) else _timeless(path) for path in finished(folder)}


def _timeless(path: Path) -> Any:
    if path.suffix == ".json":
        return {name: value for name, value in json.loads(path.read_text()).items() if name != "seconds"}
    if path.suffix == ".png":
        return "a picture"  # those of a study are along its minutes, too
    if path.suffix == ".csv":
        return [{name: cell for name, cell in row.items() if name != "seconds"} for row in _rows(path)]
    return path.read_bytes()


def _rows(path: Path) -> list[dict[str, str]]:
    text = path.read_text()
    rows = list(csv.DictReader(text.splitlines()))
    if not text.endswith("\n") or any(None in row or None in row.values() for row in rows):
        raise ValueError("cells are missing")
    return rows


def _arrays(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as file:
        if file.testzip() is None:
            return file.namelist()
    raise ValueError("a sum does not agree")


def _ends_with(end: str) -> Callable[[Path], Any]:
    return lambda path: True if path.read_text("utf-8").rstrip(" \n").endswith(end) else None


READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": _rows,
    ".gif": lambda path: [frame.copy() for frame in ImageSequence.Iterator(Image.open(path))],
    ".html": _ends_with("</html>"),
    ".json": lambda path: json.loads(path.read_text("utf-8")),
    ".md": _ends_with(""),
    ".npz": _arrays,
    ".png": lambda path: Image.open(path).load(),
    ".safetensors": load_file,
    ".svg": ElementTree.parse,
}


def age(paths: set[Path]) -> None:
    """Make it long ago that somebody wrote these files, who has been killed."""
    for path in paths:
        for each in (path, *path.rglob("*")):
            os.utime(each, (0, 0))


def emptied(folder: Path) -> Path:
    """A folder with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
