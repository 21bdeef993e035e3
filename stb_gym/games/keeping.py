"""Results that are kept for the next call, up to so many bytes in all.

What is made of a game is large or small as the game is: a bound on the number of games would say nothing of the memory.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

P = ParamSpec("P")
R = TypeVar("R", covariant=True)

MEBIBYTE = 2**20


class Kept(Protocol[P, R]):
    """A function that keeps its results."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The result, made now or kept."""

    def cache_clear(self) -> None:
        """Forget all results."""

    def cache_bytes(self) -> int:
        """How many bytes the arrays of all kept results have."""


def kept(mebibytes: int, told_by: Callable[..., Any] | None = None) -> Callable[[Callable[P, R]], Kept[P, R]]:
    """Keep the results of a function of hashable arguments, and forget those not asked for longest.

    Arrays of a result become read-only, as everybody is given the same. The last result is kept whatever its size.
    Results may grow after they are kept, as by a `cached_property`: all are measured again when an eighth of them are
    new, while there are few with every new one.

    Args:
        mebibytes: how much the arrays of all results may take.
        told_by: given the arguments, what tells results apart besides them, hashable: functions among the arguments
            may answer otherwise than before.

    Example:
        >>> @kept(mebibytes=1)
        ... def zeros(count):
        ...     return np.zeros(count)
        >>> zeros(3) is zeros(3)
        True
        >>> zeros.cache_bytes()
        24
    """

    def decorate(function: Callable[P, R]) -> Kept[P, R]:
        results: OrderedDict[Any, R] = OrderedDict()
        sizes: dict[Any, int] = {}
        new = 0  # results made since all were measured
        lock = RLock()

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            nonlocal new
            key = (*args, *sorted(kwargs.items()), told_by and told_by(*args, **kwargs))
            with lock:
                if key in results:
                    results.move_to_end(key)
                    return results[key]
                made = results[key] = function(*args, **kwargs)
                for array in arrays_of(made):
                    array.flags.writeable = False
                sizes[key], new = array_bytes(made), new + 1
                if 8 * new >= len(results):  # to measure thousands for each new one would take longer than to make it
                    sizes.update((each, array_bytes(result)) for each, result in results.items())
                    new = 0
                total = sum(sizes.values())
                while total > mebibytes * MEBIBYTE and len(results) > 1:
                    oldest, _ = results.popitem(last=False)
                    total -= sizes.pop(oldest)
                return made

        def clear() -> None:
            results.clear()
            sizes.clear()

        call.cache_clear = clear  # type: ignore[attr-defined]
        call.cache_bytes = lambda: sum(map(array_bytes, results.values()))  # type: ignore[attr-defined]
        return cast(Kept[P, R], call)

    return decorate


def array_bytes(result: Any) -> int:
    """The bytes of the arrays of a result."""
    return sum(array.nbytes for array in arrays_of(result))


def arrays_of(result: Any) -> Iterator[NDArray[Any]]:
    """The result, if it is an array, or all arrays directly in a tuple or among the attributes of an object."""
    if isinstance(result, np.ndarray):
        yield result
        return
    parts = result if isinstance(result, tuple) else getattr(result, "__dict__", {}).values()
    for part in parts:
        if isinstance(part, np.ndarray | tuple):
            yield from arrays_of(part)
