"""Check the types of arguments by the annotations of functions."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import chain
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from stb_gym.messages import quoted

F = TypeVar("F", bound=Callable[..., Any])

UNCHECKED = (Any, type, inspect.Parameter.empty)  # annotations that are classes, too
UNIONS = (Union, UnionType)
NUMBERS: dict[Any, Any] = {int: (int, Integral), float: (float, Real)}  # NumPy's numbers, too, which takes longer


def checked(function: F) -> F:
    """Wrap a function so that it raises a TypeError, naming the argument, unless each argument has its annotated type.

    Annotations that `isinstance` cannot check, such as protocols, are ignored. An array may be anything that NumPy
    turns into an array of numbers. Calls take some microseconds longer.

    Example:
        >>> from stb_gym.arguments import checked
        >>> @checked
        ... def double(number: int) -> int:
        ...     return 2 * number
        >>> double("2")
        Traceback (most recent call last):
        TypeError: number of double must be int, not '2'
    """
    annotations = {name: parameter.annotation for name, parameter in inspect.signature(function).parameters.items()}
    tests = {name: type_test(annotation) for name, annotation in annotations.items()}
    called = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        for name, value in chain(zip(tests, positional, strict=False), named.items()):
            if name in tests and not tests[name](value):
                annotation = annotations[name]
                kinds = get_args(annotation) if get_origin(annotation) in UNIONS else [annotation]
                allowed = " or ".join(_name_of(kind) for kind in kinds)
                raise TypeError(f"{name} of {called} must be {allowed}, not {quoted(value)}")
        return function(*positional, **named)

    return cast(F, call)


def _name_of(annotation: Any) -> str:
    """Return the name of an annotation; that of a mapping says what it maps, such as "Mapping[int, float]"."""
    name = getattr(annotation, "__name__", str(annotation))
    members = [getattr(each, "__name__", "") for each in get_args(annotation)]
    return f"{name}[{', '.join(members)}]" if get_origin(annotation) is Mapping and all(members) else name


def type_test(annotation: Any) -> Callable[[Any], bool]:
    """Return a function that checks a value against an annotation, as far as `isinstance` can."""
    kind, members = get_origin(annotation) or annotation, get_args(annotation)
    if kind in UNIONS:
        tests = [*map(type_test, members)]
        return lambda value: any(test(value) for test in tests)
    if kind is np.ndarray:
        return _is_array
    if kind in UNCHECKED or not isinstance(kind, type | None) or getattr(kind, "_is_protocol", False):
        return lambda value: True
    allowed = NUMBERS.get(kind, kind or NoneType)
    if kind is Mapping:
        key, entry = map(type_test, members)
        return lambda value: isinstance(value, kind) and all(map(key, value)) and all(map(entry, value.values()))
    return lambda value: isinstance(value, allowed)


def _is_array(value: Any) -> bool:
    """Return True if NumPy can make a numeric array of `value`; Fractions count."""
    try:
        array = value if type(value) is np.ndarray else np.asarray(value)
    except Exception:  # lists of different lengths, or a third-party object that raises
        return False
    return array.dtype.kind in "biuf" or (array.dtype.kind == "O" and array.ndim > 0)
