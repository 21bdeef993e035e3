"""Files that appear whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; when the block ends without an error, rename it to `path`."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=path.suffix, dir=path.parent)
    os.close(handle)
    aside = Path(name)
    try:
        yield aside
        aside.chmod(0o666 & ~_umask())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole."""
    with write_aside(path) as aside:
        aside.write_text(text, encoding="utf-8")


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
