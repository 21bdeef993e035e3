"""Check the types of arguments by the annotations of functions."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from stb_gym.output import quoted

F = TypeVar("F", bound=Callable[..., Any])

UNCHECKED = (Any, type, inspect.Parameter.empty)  # annotations that are classes, too
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

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        try:
            arguments = signature.bind(*positional, **named).arguments
        except TypeError:
            return function(*positional, **named)  # which raises the error in Python's own words
        for name, value in arguments.items():
            kinds = _members(signature.parameters[name].annotation)
            if not _is_a(kinds, value):
                allowed = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
                called = function.__qualname__.removesuffix(".__init__")
                raise TypeError(f"{name} of {called} must be {allowed}, not {quoted(value)}")
        return function(*positional, **named)

    return cast(F, call)


def _members(annotation: Any) -> tuple[Any, ...]:
    """Return the annotations that a union joins; of any other annotation, itself."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _is_a(kinds: tuple[Any, ...], value: Any) -> bool:
    """Return whether a value is an instance of one of some annotations, as far as classes say."""
    for annotation in kinds:
        kind = NoneType if annotation is None else get_origin(annotation) or annotation
        if kind is np.ndarray:
            is_a = _is_array(value)
        elif not isinstance(kind, type) or kind in UNCHECKED or getattr(kind, "_is_protocol", False):
            is_a = True
        else:
            is_a = isinstance(value, NUMPY.get(kind, kind)) and not (kind in (int, float) and isinstance(value, bool))
        if is_a and kind is Mapping:
            keys, values = map(_members, get_args(annotation))
            is_a = all(_is_a(keys, key) and _is_a(values, value[key]) for key in value)
        if is_a:
            return True
    return False


def _is_array(value: Any) -> bool:
    """Return whether NumPy makes an array of numbers of a value; objects may be numbers, such as fractions."""
    try:
        array = np.asarray(value)
    except Exception:  # of lists of different lengths, and whatever other people's objects raise
        return False
    return array.dtype.kind in "biuf" or (array.dtype.kind == "O" and array.ndim > 0)
