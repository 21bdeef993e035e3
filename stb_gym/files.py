"""Write files whole or not at all, and check files before they are read."""

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from stb_gym.messages import LONGEST_MESSAGE, quoted, reason, shortened

if sys.platform != "win32":
    import fcntl

T = TypeVar("T")
UNFINISHED = ".stb-gym-"  # prefix of the temporary folders
LOCKED = f"{UNFINISHED}locked-"  # prefix of those that are locked by the process that writes there
DAY = 24 * 60 * 60  # seconds
DIGEST = 32  # bytes of a SHA-256
MOST_DIGITS = 4300  # of an integer that Python reads
MISMATCH = "it does not match its SHA-256, so it is damaged or was edited"


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the old file is unchanged, and the temporary folder beside it is removed. The next
    writer to the same folder removes those of killed processes. Missing folders are made.

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
            if _is_abandoned(leftover):
                shutil.rmtree(leftover)
    with _temporary_folder(path.parent) as folder:
        aside = folder / path.name
        aside.touch()
        yield aside
        aside.replace(path)


@contextmanager
def _temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder, and remove it in the end. Where possible it is locked while this process lives.

    Its name says so once it is locked: until then other processes cannot tell whether it is abandoned.
    """
    folder = Path(tempfile.mkdtemp(prefix=UNFINISHED, dir=parent))
    lock = None
    try:
        if sys.platform != "win32":
            lock = os.open(folder, os.O_RDONLY)
            with suppress(OSError):  # not every file system has locks
                fcntl.flock(lock, fcntl.LOCK_SH)
                folder = folder.rename(parent / folder.name.replace(UNFINISHED, LOCKED, 1))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def _is_abandoned(folder: Path) -> bool:
    """Return whether the process that made a temporary folder has ended; without locks, whether it is a day old."""
    if sys.platform != "win32" and folder.name.startswith(LOCKED):
        lock = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            return False
        except OSError:  # this file system has no such locks
            pass
        finally:
            os.close(lock)
    return time.time() - folder.stat().st_mtime > DAY


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
    """Return the text of a file, without the byte-order mark that some editors write.

    Raises:
        OSError: if there is no such file.
        ValueError: naming the first line that is not UTF-8.
    """
    path = path_of(path)
    check_file(path)
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        raise ValueError(f"line {line} is not UTF-8") from None


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
    """Parse JSON; raise ValueError if it is damaged, nested too deep, or has a key twice in an object."""
    try:
        return json.loads(text, object_pairs_hook=_entries, parse_int=_integer)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _entries(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for key, value in pairs:
        if key in entries:
            raise ValueError(f"it has the key {quoted(key)} twice")
        entries[key] = value
    return entries


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"it has an integer of {len(digits):,} digits")
    return int(digits)
