"""Progress bars of long loops, on standard error."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Self, TypeVar

from stb_gym.messages import escaped

T = TypeVar("T")
PATIENCE = 2.0  # seconds until a command shows its progress
SHORT_LOOP = 0.5  # seconds of a loop that never shows its progress
_SHOWING = ContextVar[float | None]("when loops began to show their progress", default=None)


class ProgressBar:
    """A progress bar on standard error, which appears after a delay.

    Args:
        words: what is done, such as "games played".
        total: how much there is to do.
        unit: what is counted, such as "steps".
        delay: the seconds until it appears.

    Example:
        >>> with ProgressBar("rows of boards solved", total=3) as bar:
        ...     for row in range(3):
        ...         bar.tell(row + 1)
    """

    def __init__(self, words: str, total: float, unit: str = "", delay: float = PATIENCE) -> None:
        from tqdm import tqdm  # takes a moment to import

        tqdm.monitor_interval = 0  # no thread of its own
        self._bar: Any = tqdm(
            desc=escaped(words), total=total, unit=f" {unit}", unit_scale=total >= 1000, delay=delay,
            mininterval=1 if sys.stderr is not None and sys.stderr.isatty() else 10, disable=sys.stderr is None,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._bar.close()

    def tell(self, done: float, note: str | None = None) -> None:
        """Show how much of the total is done so far, and a note; None leaves the note as it was."""
        with suppress(OSError):  # a standard error that is closed or full does not stop the work
            if note is not None:
                self._bar.set_postfix_str(escaped(note), refresh=False)
            self._bar.update(done - self._bar.n)

    def write(self, line: str) -> None:
        """Print a line on standard error in the place of the bar, which appears again below it."""
        with suppress(OSError):
            self._bar.clear()
            if sys.stderr is not None:
                print(escaped(line), file=sys.stderr)


@contextmanager
def showing_progress() -> Iterator[None]:
    """Show progress bars of the library's long loops, see `tracked`, while the block runs."""
    before = _SHOWING.set(time.monotonic())
    try:
        yield
    finally:
        _SHOWING.reset(before)


def tracked(items: Iterable[T], words: str, unit: str, total: int, *, is_long: bool = False) -> Iterator[T]:
    """Yield items; in a block of `showing_progress`, show a progress bar once it has taken two seconds.

    Args:
        items: what a loop goes through.
        words: what is done, such as "moves described".
        unit: what the items are, such as "moves".
        total: how many items there are.
        is_long: show the progress bar at once, as the loop is known to take longer than that.
    """
    since = _SHOWING.get()
    if since is None:
        yield from items
        return
    delay = 0 if is_long else max(since + PATIENCE - time.monotonic(), SHORT_LOOP)
    with ProgressBar(words, total, unit, delay) as bar:
        for done, item in enumerate(items, 1):
            yield item
            bar.tell(done)
