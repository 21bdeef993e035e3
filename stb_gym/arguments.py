"""Check the types of arguments by the annotations of functions."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from stb_gym.output import quoted

F = TypeVar("F", bound=Callable[..., Any])

UNCHECKED = (Any, type, inspect.Parameter.empty)  # annotations that are classes, too
UNIONS = (Union, UnionType)
NUMBERS: dict[Any, Any] = {int: Integral, float: Real}  # NumPy's numbers, too


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
    annotations = {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        for name, value in (*zip(annotations, positional, strict=False), *named.items()):
            annotation = annotations.get(name, Any)
            if annotation not in UNCHECKED and not fits(annotation, value):
                kinds = get_args(annotation) if get_origin(annotation) in UNIONS else [annotation]
                allowed = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
                called = function.__qualname__.removesuffix(".__init__")
                raise TypeError(f"{name} of {called} must be {allowed}, not {quoted(value)}")
        return function(*positional, **named)

    return cast(F, call)


def fits(annotation: Any, value: Any) -> bool:
    """Return whether a value is an instance of what an annotation says, as far as classes can tell."""
    kind, members = get_origin(annotation) or annotation, get_args(annotation)
    if kind in UNIONS:
        return any(fits(member, value) for member in members)
    if kind is np.ndarray:
        return _is_array(value)
    if kind is None or (isinstance(kind, type) and kind not in UNCHECKED and not getattr(kind, "_is_protocol", False)):
        is_instance = isinstance(value, NUMBERS.get(kind, kind or NoneType))
        pairs = value.items() if kind is Mapping and is_instance else ()
        return is_instance and all(fits(members[0], key) and fits(members[1], each) for key, each in pairs)
    return True


def _is_array(value: Any) -> bool:
    """Return whether NumPy makes an array of numbers of a value; objects may be numbers, such as fractions."""
    try:
        array = np.asarray(value)
    except Exception:  # of lists of different lengths, and whatever other people's objects raise
        return False
    return array.dtype.kind in "biuf" or (array.dtype.kind == "O" and array.ndim > 0)
