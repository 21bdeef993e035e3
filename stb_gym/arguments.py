"""Check the types of arguments by the annotations of functions."""

import inspect
from collections.abc import Callable
from functools import wraps
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin

import numpy as np

from stb_gym.output import quoted

F = TypeVar("F", bound=Callable[..., Any])

# What an instance may be besides an instance of its own class.
NUMPY: dict[Any, Any] = {bool: bool | np.bool_, int: int | np.integer, float: int | float | np.integer | np.floating}


def checked(function: F) -> F:
    """Return a function that raises a TypeError, naming the argument, if its type is not the annotated one.

    Annotations that no class stands for, such as protocols, are not checked. An array may be whatever NumPy turns into
    an array of numbers. Calls take some microseconds longer.

    Example:
        >>> @checked
        ... def double(number: int) -> int:
        ...     return 2 * number
        >>> double("2")
        Traceback (most recent call last):
        TypeError: number of double must be int, not '2'
    """
    signature = inspect.signature(function)
    kinds = {
        name: get_args(each.annotation) if isinstance(each.annotation, UnionType) else (each.annotation,)
        for name, each in signature.parameters.items()
    }

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        try:
            arguments = signature.bind(*positional, **named).arguments
        except TypeError:
            return function(*positional, **named)  # which raises the error in Python's own words
        for name, value in arguments.items():
            if not any(_is_a(kind, value) for kind in kinds[name]):
                allowed = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds[name])
                raise TypeError(f"{name} of {function.__name__} must be {allowed}, not {quoted(value)}")
        return function(*positional, **named)

    return cast(F, call)


def _is_a(kind: Any, value: Any) -> bool:
    """Return whether a value is an instance of an annotation, as far as classes say."""
    kind = NoneType if kind is None else get_origin(kind) or kind
    if kind is np.ndarray:
        return _is_array(value)
    if not isinstance(kind, type) or getattr(kind, "_is_protocol", False):
        return True
    return isinstance(value, NUMPY.get(kind, kind)) and not (kind in (int, float) and isinstance(value, bool))


def _is_array(value: Any) -> bool:
    """Return whether NumPy makes an array of numbers of a value; objects may be numbers, such as fractions."""
    try:
        array = np.asarray(value)
    except Exception:  # of lists of different lengths, and whatever other people's objects raise
        return False
    return array.dtype.kind in "biuf" or (array.dtype.kind == "O" and array.ndim > 0)
