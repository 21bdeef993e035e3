"""Files that appear whole or not at all: the project writes its files through these functions."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stb_gym.output.reading import check_file


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the file that was there before is as it was, and nothing lies beside it. Folders on
    the way are made. The path is that of a new and empty file: a link that somebody has put there is not followed.

    Raises:
        OSError: if something else has the name of the file, such as a folder or a device.
    """
    path = Path(path)
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
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
    for path in folder.glob(".*-*"):
        if path.name[1:].split("-")[0].isdecimal() and not path.is_dir():
            path.unlink(missing_ok=True)
