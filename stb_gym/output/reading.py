"""Files that anybody may have written: what cannot be read is refused in one line, and what they hold is checked."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")


def check_file(path: Path) -> None:
    """Raise an OSError where something else has the name of a file: a named pipe would be waited for without end."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is {'a folder' if path.is_dir() else 'a pipe or a device'}, not a file")


def read_text(path: str | Path) -> str:
    """The text of a file.

    Raises:
        OSError: if there is none, or it is no file.
        ValueError: if it is no text.
    """
    check_file(Path(path))
    return Path(path).read_text(encoding="utf-8")


def from_json(text: str) -> Any:
    """What a JSON text says; a ValueError if it is damaged."""
    return _parsed(json.loads, text)


def from_toml(text: str) -> dict[str, Any]:
    """What a TOML text says; a ValueError if it is damaged."""
    return _parsed(tomllib.loads, text)


def _parsed(parse: Callable[[str], T], text: str) -> T:
    try:
        return parse(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def made_of(kind: type[T], entries: Any) -> T:
    """The dataclass that entries of a file make: one for every field without a default, each of the field's kind.

    Raises:
        ValueError: naming the first entry that is missing, unknown or of another kind.

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
    of = fields(kind)  # type: ignore[arg-type]
    optional = [each.name for each in of if (each.default, each.default_factory) != (MISSING, MISSING)]
    check_entries(entries, get_type_hints(kind), optional)
    return kind(**entries)


def check_entries(entries: Any, kinds: Mapping[str, Any], optional: Any = ()) -> None:
    """Raise a ValueError unless entries of a file have these names, but for optional ones, and are of these kinds."""
    if not isinstance(entries, dict):
        raise ValueError(f"entries by name are wanted, not {_short(entries)}")
    if unknown := [name for name in entries if name not in kinds]:
        raise ValueError(f"unknown entry {_short(unknown[0])}: allowed are {', '.join(kinds)}")
    for name, kind in kinds.items():
        if name not in entries and name not in optional:
            raise ValueError(f"the entry {name!r} is missing")
        if name in entries and not is_of(kind, entries[name]):
            told = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
            raise ValueError(f"{name} is {_short(entries[name])}, not {told}")


def is_of(kind: Any, value: Any) -> bool:
    """Whether a value is of a kind: a plain type, `list[T]`, `dict[str, T]`, a union, or anything.

    True and False are no numbers here, and an integer will do for a float.
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
    """A value in a line, cut where it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
