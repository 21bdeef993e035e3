"""Files that appear whole or not at all: the project writes its files through these functions."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from stb_gym.output.reading import check_file

UNFINISHED = ".stb-gym-"  # how the names of folders begin in which something is written
DAY = 24 * 60 * 60.0  # seconds


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a path to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the file that was there before is as it was, and nothing lies beside it. Folders on
    the way are made. The path is that of a new and empty file in a temporary folder beside `path`. Temporary folders
    that killed processes left there are removed when they are a day old.

    Raises:
        OSError: if something else has the name of the file, such as a folder or a device.
    """
    path = Path(path)
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f"{UNFINISHED}*"):
        with suppress(OSError):  # it has just been removed, or is somebody else's
            if time.time() - max(each.stat().st_mtime for each in (left, *left.rglob("*"))) > DAY:
                shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as folder:
        aside = Path(folder, path.name)
        aside.touch()
        yield aside
        aside.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole, the same bytes on every system; see `write_aside`."""
    with write_aside(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


def remove_leftovers(place: Path) -> None:
    """Remove what processes that were killed while they wrote have left beside the files of a folder.

    Nobody else may be writing there meanwhile: the unfinished files of a living process look the same.
    """
    for left in place.glob(f"{UNFINISHED}*"):
        shutil.rmtree(left)
