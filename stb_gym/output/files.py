"""Files that appear whole or not at all: the project writes its files through these functions."""

import glob
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stb_gym.output.reading import check_file

DAY = 24 * 60 * 60.0  # seconds


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the file that was there before is as it was, and nothing lies beside it. Folders on
    the way are made. The path is that of a new and empty file: a link that somebody has put there is not followed.
    What processes that were killed while they wrote this file have left is removed when it is a day old.

    Raises:
        OSError: if something else has the name of the file, such as a folder or a device.
    """
    path = Path(path)
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(path)
    aside = path.with_name(f".{os.getpid()}-{path.name}")
    _make_new(aside)
    try:
        yield aside
        put_in_place(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def _make_new(path: Path) -> None:
    """Make an empty file, in the place of whatever a killed process or somebody else has left there."""
    try:
        path.touch(exist_ok=False)
    except FileExistsError:
        path.unlink()
        path.touch(exist_ok=False)


def put_in_place(aside: Path, path: Path) -> None:
    """Rename a finished file; every file of the project passes here, so this is where tests let writing fail."""
    aside.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole, the same bytes on every system; see `write_aside`."""
    with write_aside(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed while they wrote have left beside the files of a folder.

    Nobody else may be writing there meanwhile: an unfinished file of a living process looks the same.
    """
    for path in _unfinished(folder):
        if not path.is_dir():
            path.unlink(missing_ok=True)


def remove_abandoned(path: Path) -> None:
    """Remove unfinished files and folders of this name that were not written to for a day: the process was killed."""
    for left in _unfinished(path.parent, glob.escape(path.name)):
        with suppress(OSError):  # it has just been removed, or is somebody else's
            if time.time() - max(each.stat().st_mtime for each in (left, *left.rglob("*"))) > DAY:
                shutil.rmtree(left) if left.is_dir() else left.unlink()


def _unfinished(folder: Path, names: str = "*") -> Iterator[Path]:
    """What processes have not finished in a folder, or have left there: its name begins with theirs, a number."""
    return (path for path in folder.glob(f".*-{names}") if path.name[1:].split("-")[0].isdecimal())
