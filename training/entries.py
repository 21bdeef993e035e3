"""The entries of files that anybody may have written, checked by name and type; and what killed writers left."""

import shutil
from collections.abc import Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from stb_gym.output import UNFINISHED

T = TypeVar("T")


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


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary folders of killed processes from a folder in which no other process writes."""
    for leftover in folder.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover)
