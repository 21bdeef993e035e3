"""Types of arrays, and arrays that are cached: every caller gets the same ones, so they are read-only."""

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
IntArray = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
INTEGER = (int, np.integer)  # for isinstance
NUMBER = (*INTEGER, float, np.floating)


def freeze(values: T) -> T:
    """Make all arrays in nested dictionaries, lists and tuples read-only, and return the values."""
    if isinstance(values, np.ndarray):
        values.flags.writeable = False
    elif isinstance(values, dict | list | tuple):
        for each in values.values() if isinstance(values, dict) else values:
            freeze(each)
    return values


def cached_arrays(function: Callable[[Any], T]) -> cached_property[T]:
    """Return a `cached_property` whose arrays are read-only."""

    @wraps(function)
    def frozen(instance: Any) -> T:
        return freeze(function(instance))

    return cached_property(frozen)
