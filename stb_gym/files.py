"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; when the block ends without an error, rename it to `path`."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, and no file")
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield aside
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed while they wrote have left beside the files of a folder."""
    for path in folder.glob(".*-*"):
        if path.name[1:].split("-")[0].isdecimal():
            path.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole."""
    with write_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")
