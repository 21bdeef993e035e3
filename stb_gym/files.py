"""Write files whole or not at all, and check files before they are read."""

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from stb_gym.messages import LONGEST_MESSAGE, quoted, reason, shortened

T = TypeVar("T")
UNFINISHED = ".stb-gym-"  # prefix of the temporary folders
DAY = 24 * 60 * 60  # seconds
DIGEST = 32  # bytes of a SHA-256
MISMATCH = "it does not match its SHA-256, so it is damaged or was edited"


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the old file is unchanged, and the temporary folder beside it is removed. Those of
    killed processes are removed when they are a day old. Missing folders are made.

    Args:
        path: the file to write.

    Yields:
        The path of a new and empty file of the same name.

    Raises:
        OSError: if `path` is a folder, a pipe or a device.
    """
    path = path_of(path)
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f"{UNFINISHED}*"):
        with suppress(OSError):  # another process removed it, or owns it
            if time.time() - leftover.stat().st_mtime > DAY:
                shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as folder:
        aside = Path(folder, path.name)
        aside.touch()
        yield aside
        aside.replace(path)


def write_bytes(path: str | Path, content: bytes) -> str:
    """Write a file whole or not at all, see `write_aside`; return the SHA-256 of its content in hexadecimal."""
    with write_aside(path) as aside:
        aside.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, with the SHA-256 of the content after it."""
    write_bytes(path, content + hashlib.sha256(content).digest())


def write_text(path: str | Path, text: str) -> str:
    """Write a text file as `write_bytes` does, with the same bytes on every system."""
    return write_bytes(path, text.encode())


def write_json(path: str | Path, entries: Mapping[str, Any]) -> None:
    """Write a dictionary as JSON, with the SHA-256 of its entries as the last entry "sha256"."""
    write_text(path, json.dumps({**entries, "sha256": _sha256_of(entries)}, indent=2) + "\n")


def _sha256_of(entries: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def path_of(path: Any) -> Path:
    """Return the path of a file, which need not exist.

    Raises:
        TypeError: if it is neither a string nor a path.
        ValueError: if the system allows no file of this name.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a file is named by a string or a path, not by {quoted(path)}")
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{shortened(str(path))} cannot be the name of a file: {reason}") from None
    return Path(path)


def check_file(path: Path) -> None:
    """Raise OSError if `path` is a folder, or a pipe or device, which could block a reader forever."""
    if path.exists() and not path.is_file():
        raise OSError(f"{shortened(str(path))} is {'a folder' if path.is_dir() else 'a pipe or a device'}, not a file")


@contextmanager
def reading(what: T) -> Iterator[T]:
    """Yield `what`; raise a ValueError of one line, "cannot read WHAT: REASON", after any error in the block."""
    try:
        yield what
    except Exception as error:  # a damaged file may raise anything
        line = f"cannot read {shortened(str(what), 130)}: {reason(error)}"
        raise ValueError(shortened(line, LONGEST_MESSAGE)) from None


def read_bytes(path: Path, sha256: str | None = None) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: if there is no such file.
        ValueError: if its SHA-256 is not `sha256`.
    """
    check_file(path)
    content = path.read_bytes()
    if sha256 not in (None, hashlib.sha256(content).hexdigest()):
        raise ValueError(MISMATCH)
    return content


def read_sealed(path: Path) -> bytes:
    """Return the content that `write_sealed` wrote; raise ValueError if it does not match its SHA-256."""
    content = read_bytes(path)
    content, digest = content[:-DIGEST], content[-DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(MISMATCH)
    return content


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is not UTF-8.
    """
    path = path_of(path)
    check_file(path)
    return path.read_text(encoding="utf-8")


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the entries that `write_json` wrote.

    If the last entry is as long as a SHA-256, it is taken for one. Files of earlier versions have none.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is damaged.
    """
    entries = from_json(read_text(path))
    if not isinstance(entries, dict) or not entries:
        raise ValueError("it is not a dictionary with entries")
    *others, last = entries.items()
    if len(str(last[1])) != 2 * DIGEST:
        return entries
    if last != ("sha256", _sha256_of(dict(others))):
        raise ValueError(MISMATCH)
    return dict(others)


def from_json(text: str) -> Any:
    """Parse JSON; raise ValueError if it is damaged or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
