"""Checks of arguments. Each raises a ValueError that says in one line what is wrong and what is allowed."""

import operator
from collections.abc import Hashable, Iterable, Sequence
from difflib import get_close_matches
from textwrap import shorten
from typing import Any

import numpy as np

from stb_gym.arrays import INTEGER, NUMBER
from stb_gym.messages import LONGEST_MESSAGE, quoted


def check_bool(name: str, value: Any) -> None:
    """Raise a ValueError unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, not {quoted(value)}")


def check_integer(name: str, value: Any, low: int, high: int) -> None:
    """Raise a ValueError unless `value` is an integer from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, INTEGER) or not low <= value <= high:
        raise ValueError(f"{name} must be an integer from {low} to {high}, not {quoted(value)}")


def action_index(action: Any, num_actions: int) -> int:
    """Return an action as an integer.

    Raises:
        TypeError: if it is not an integer.
        ValueError: if it is outside the action space.
    """
    try:
        index = operator.index(action)
    except TypeError:
        raise TypeError(f"action must be an integer from 0 to {num_actions - 1}, not {quoted(action)}") from None
    if not 0 <= index < num_actions:
        raise ValueError(f"action must be from 0 to {num_actions - 1}, not {quoted(index)}")
    return index


def check_number(name: str, value: Any, low: float, high: float) -> None:
    """Raise a ValueError unless `value` is a number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, NUMBER) or not low <= value <= high:
        raise ValueError(f"{name} must be a number from {low:g} to {high:g}, not {quoted(value)}")


def integers(name: str, values: Any, low: int, high: int) -> list[int]:
    """Return values as a list; raise a ValueError unless they are integers from `low` to `high`."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of integers from {low} to {high}, not {quoted(values)}")
    listed = list(values)
    for value in listed:
        check_integer(f"each of {name}", value, low, high)
    return [int(value) for value in listed]


def check_chances(name: str, chances: Iterable[float]) -> None:
    """Raise a ValueError unless numbers are probabilities that sum to 1."""
    given = list(chances)
    if not (min(given, default=0) >= 0 and abs(sum(given) - 1) <= 1e-6):
        raise ValueError(f"{name} must be probabilities that sum to 1, not {quoted(given)}")


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise a ValueError unless `value` is one of `allowed`."""
    if not (isinstance(value, Hashable) and value in allowed):
        unknown, like = f"unknown {name} {quoted(value)}: allowed are ", meant(value, allowed)
        raise ValueError(unknown + listed(allowed, LONGEST_MESSAGE - len(unknown + like)) + like)


def listed(names: Iterable[Any], room: int) -> str:
    """Join names by commas, and cut the text at `room` characters, with three dots."""
    return shorten(", ".join(map(str, names)), room, placeholder=" ...")


def check_names(kind: str, given: Iterable[str], allowed: Sequence[str]) -> None:
    """Raise a ValueError unless each of the names `given` is allowed."""
    for name in given:
        check_choice(kind, name, allowed)


def meant(value: Any, allowed: Iterable[Any]) -> str:
    """Return "; did you mean X?" for the closest allowed name, or "".

    >>> from stb_gym.checks import meant
    >>> meant("biggest-frist", ["random", "biggest-first"])
    '; did you mean biggest-first?'
    """
    like = get_close_matches(quoted(value).strip("'"), [each for each in allowed if isinstance(each, str)], 1)
    return f"; did you mean {like[0]}?" if like else ""
