"""Checks of what people hand in: each raises a ValueError that says in one line what was wrong and what is allowed."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def check_names(kind: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise a ValueError unless each of the names `given` is allowed."""
    for name in given:
        if name not in allowed:
            raise ValueError(f"unknown {kind} {name!r}: allowed are {', '.join(allowed)}")


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError unless `value` is an integer from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError unless `value` is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {value!r}")


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a ValueError unless `value` is one of `allowed`."""
    if value not in allowed:
        raise ValueError(f"unknown {name} {value!r}: allowed are {', '.join(map(str, allowed))}")


def integers(name: str, values: Any, low: int, high: int) -> list[int]:
    """A list of integers from `low` to `high`; a ValueError if `values` is no such collection."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of integers from {low} to {high}, not {values!r}")
    listed = list(values)
    for value in listed:
        check_integer(f"each of {name}", value, low, high)
    return [int(value) for value in listed]
