"""Files: written whole or not at all, and checked when they are read, because anybody may have written them."""

import json
import shutil
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")

UNFINISHED = ".stb-gym-"  # prefix of the temporary folders
DAY = 24 * 60 * 60.0  # seconds


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the old file is unchanged and nothing lies beside it. Missing folders are made. The
    temporary folder lies beside `path`; those that killed processes left there are removed when they are a day old.

    Args:
        path: the file to write.

    Yields:
        The path of a new and empty file of the same name.

    Raises:
        OSError: if `path` is a folder, a pipe or a device.
    """
    path = Path(path)
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f"{UNFINISHED}*"):
        with suppress(OSError):  # another process removed it, or owns it
            newest = max(each.stat().st_mtime for each in (leftover, *leftover.rglob("*")))
            if time.time() - newest > DAY:
                shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as folder:
        aside = Path(folder, path.name)
        aside.touch()
        yield aside
        aside.replace(path)


def write_text(path: str | Path, text: str) -> None:
    """Write a text file whole, with the same bytes on every system; see `write_aside`."""
    with write_aside(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary folders of killed processes from a folder in which no other process writes."""
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover)


def check_file(path: Path) -> None:
    """Raise OSError if `path` is a folder, or a pipe or device, which could block a reader forever."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is {'a folder' if path.is_dir() else 'a pipe or a device'}, not a file")


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is not UTF-8.
    """
    check_file(Path(path))
    return Path(path).read_text(encoding="utf-8")


def from_json(text: str) -> Any:
    """Parse JSON; raise ValueError if it is damaged or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def from_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise ValueError if it is damaged or nested too deeply."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def made_of(kind: type[T], entries: Any) -> T:
    """Return a dataclass made of the entries of a file, whose types are checked.

    Args:
        kind: the dataclass. Fields with a default may be missing.
        entries: a dictionary from JSON or TOML.

    Raises:
        ValueError: naming the first entry that is missing, unknown or of the wrong type.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass
        ... class Trip:
        ...     days: int
        ...     places: list[str]
        >>> made_of(Trip, {"days": 2, "places": ["Bath"]})
        Trip(days=2, places=['Bath'])
        >>> made_of(Trip, {"days": 2, "places": "Bath"})
        Traceback (most recent call last):
        ValueError: places is 'Bath', not list[str]
    """
    known = fields(kind)  # type: ignore[arg-type]
    optional = [each.name for each in known if (each.default, each.default_factory) != (MISSING, MISSING)]
    check_entries(entries, get_type_hints(kind), optional)
    return kind(**entries)


def check_entries(entries: Any, kinds: Mapping[str, Any], optional: Any = ()) -> None:
    """Raise ValueError unless `entries` is a dictionary with these names and types; `optional` names may be missing."""
    if not isinstance(entries, dict):
        raise ValueError(f"entries by name are wanted, not {_short(entries)}")
    for name in entries:
        if name not in kinds:
            raise ValueError(f"unknown entry {_short(name)}: allowed are {', '.join(kinds)}")
    for name, kind in kinds.items():
        if name not in entries and name not in optional:
            raise ValueError(f"the entry {name!r} is missing")
        if name in entries and not is_of(kind, entries[name]):
            wanted = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
            raise ValueError(f"{name} is {_short(entries[name])}, not {wanted}")


def is_of(kind: Any, value: Any) -> bool:
    """Return whether a value is of a type: a plain type, `list[T]`, `dict[str, T]`, a union, or `Any`.

    True and False are not numbers here, and an integer is accepted as a float.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind is Any:
        return True
    if origin is UnionType:
        return any(is_of(each, value) for each in inner)
    if origin is list:
        return isinstance(value, list) and all(is_of(inner[0], each) for each in value)
    if origin in (dict, Mapping):
        return isinstance(value, dict) and all(is_of(inner[0], k) and is_of(inner[1], v) for k, v in value.items())
    if kind in (int, float):
        return not isinstance(value, bool) and isinstance(value, int if kind is int else int | float)
    return value is None if kind is NoneType else isinstance(value, kind)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
