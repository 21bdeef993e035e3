"""Check the types of arguments by the annotations of functions."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from itertools import chain
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from stb_gym.output import LONGEST_MESSAGE, quoted, reason, shortened

T = TypeVar("T")
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
    parameters = inspect.signature(function).parameters.items()
    annotations = {name: parameter.annotation for name, parameter in parameters}
    tests = {name: _test_of(annotation) for name, annotation in annotations.items()}

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        for name, value in chain(zip(tests, positional, strict=False), named.items()):
            test = tests.get(name)
            if test is not None and not test(value):
                annotation = annotations[name]
                kinds = get_args(annotation) if get_origin(annotation) in UNIONS else [annotation]
                allowed = " or ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
                called = function.__qualname__.removesuffix(".__init__")
                raise TypeError(f"{name} of {called} must be {allowed}, not {quoted(value)}")
        return function(*positional, **named)

    return cast(F, call)


def guarded(*hot: str) -> Callable[[type[T]], type[T]]:
    """Check the arguments of the public methods of a class, and refuse in a line those that fail inside.

    Args:
        *hot: methods left as they are, because they are called often with values of the library.
    """

    def guard(kind: type[T]) -> type[T]:
        for name, method in [*vars(kind).items()]:
            if inspect.isfunction(method) and not name.startswith("_") and name not in hot:
                setattr(kind, name, checked(_refusing(method)))
        return kind

    return guard


def _refusing(function: F) -> F:
    """Return a function that raises a TypeError or a ValueError, with a message of one line, for what fails inside."""

    @wraps(function)
    def call(*positional: Any, **named: Any) -> Any:
        try:
            return function(*positional, **named)
        except (LookupError, AttributeError, TypeError, OverflowError) as error:
            line = f"{function.__qualname__} does not allow these arguments: {reason(error)}"
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(shortened(line, LONGEST_MESSAGE)) from error

    return cast(F, call)


def fits(annotation: Any, value: Any) -> bool:
    """Return whether a value is an instance of what an annotation says, as far as classes can tell."""
    test = _test_of(annotation)
    return test is None or test(value)


def _test_of(annotation: Any) -> Callable[[Any], bool] | None:
    """Return the test of values that an annotation says; None if no class can tell."""
    kind, members = get_origin(annotation) or annotation, get_args(annotation)
    if kind in UNIONS:
        return lambda value: any(fits(member, value) for member in members)
    if kind is np.ndarray:
        return _is_array
    if kind in UNCHECKED or not isinstance(kind, type | None) or getattr(kind, "_is_protocol", False):
        return None
    allowed = NUMBERS.get(kind, kind or NoneType)
    if kind is Mapping:
        return lambda value: (
            isinstance(value, kind)
            and all(fits(member, each) for pair in value.items() for member, each in zip(members, pair, strict=False))
        )
    return lambda value: isinstance(value, allowed)


def _is_array(value: Any) -> bool:
    """Return whether NumPy makes an array of numbers of a value; objects may be numbers, such as fractions."""
    try:
        array = value if type(value) is np.ndarray else np.asarray(value)
    except Exception:  # of lists of different lengths, and whatever other people's objects raise
        return False
    return array.dtype.kind in "biuf" or (array.dtype.kind == "O" and array.ndim > 0)
