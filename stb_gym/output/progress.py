"""Progress of long work, said on standard error to whoever waits."""

import math
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Self, TextIO

from stb_gym.output.console import escaped

PATIENCE = 2.0  # seconds before anything is said
PAUSE = 10.0  # seconds between two lines in a file; a terminal's one line is written anew every second
MOST_LEFT = 1e7  # seconds left that are worth telling
LONG = 10.0  # seconds that are worth telling before they have begun

_running: list["Progress"] = []  # the blocks that work is done in, the innermost last


class Progress:
    """Says how far a block of work has come, at the earliest after two seconds.

    On a terminal it writes one line over and over, at most once a second, cut to the terminal's width; elsewhere it
    writes a line every ten seconds, and one for every milestone. Where nobody tells how far the work is, it says once
    that it goes on. The last line is always ended, whatever ends the block. If standard error is closed, it is silent.

    >>> with Progress("rows of boards solved", total=3) as progress:
    ...     for row in range(3):
    ...         progress.tell(row + 1)

    Args:
        words: what is done, such as "games played".
        total: how much there is to do; None if that is not known.
        unit: what is counted, such as "steps".
        initial: how much was done before the block began, which does not count for the rate.
        stream: what to write to (default: standard error).
        clock: seconds since some moment.
        patience: seconds before anything is said but a milestone in a file.
        pause: seconds between two lines in a file; infinitely many where milestones are enough.
    """

    def __init__(
        self,
        words: str,
        total: float | None = None,
        unit: str = "",
        *,
        initial: float = 0,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE,
        pause: float = PAUSE,
    ) -> None:
        self._words, self._total, self._unit, self._initial = words, total, unit, initial
        self._done: float | None = None
        self._note = ""
        self._news = False  # whether there is news that was not said yet
        self._spoke = False
        self._unended = 0  # characters of a line that is not ended yet
        self._stream = sys.stderr if stream is None else stream
        self._clock, self._began = clock, clock()
        self._pause = pause
        self._next = self._began + patience  # when something may be said again
        self._lock = threading.Lock()
        self._timer = threading.Timer(patience, self._go_on)
        self._timer.daemon = True

    def __enter__(self) -> Self:
        self._timer.start()
        _running.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        _running.remove(self)
        with self._lock:
            if self._spoke and self._news:
                self._say()
            if self._unended:
                self._write("\n")
            self._spoke, self._next = True, math.inf  # no more, not even by a timer that was just due

    def tell(
        self, done: float | None = None, total: float | None = None, *, note: str | None = None, milestone: bool = False
    ) -> None:
        """Say how much is done; what is not given stays as it was.

        Args:
            done: so far, what was done before the block included.
            total: how much there is to do, if that is known only now; so this method itself can be passed to functions
                that call back with two numbers.
            note: what else there is to say, such as "regret 0.0123".
            milestone: whether this is worth a line in a file, however soon it comes; a terminal has one line anyway.
        """
        with self._lock:
            self._done = self._done if done is None else done
            self._total = self._total if total is None else total
            self._note = self._note if note is None else note
            self._news = True
            if self._clock() >= self._next or (milestone and _columns(self._stream) is None):
                self._say()

    def expect(self, total: float, seconds: float, unit: str) -> None:
        """Say at once how long the work is going to take, if that is more than ten seconds.

        Args:
            total: how much there is to do, of which nothing is done yet.
            seconds: how long each part of it takes, about.
            unit: what is counted.
        """
        with self._lock:
            self._done, self._total, self._unit = 0, total, unit
            if total * seconds > LONG:
                self._note = f"about {timedelta(seconds=round(total * seconds))} in all"
                self._say()
                self._note = ""

    def more(self, amount: float) -> None:
        """Tell that so much more is done."""
        self.tell((self._done or 0) + amount)

    def _go_on(self) -> None:
        """What the timer does: say something if nothing was said."""
        with self._lock:
            if not self._spoke:
                self._say()

    def _say(self) -> None:
        text, columns = escaped(self._text()), _columns(self._stream)
        self._spoke, self._news = True, False
        self._next = self._clock() + (self._pause if columns is None else 1)
        if columns is None:
            self._write(f"{text}\n")
        else:
            text, before = text[: columns - 1], self._unended
            self._unended = len(text)
            self._write("\r" + text.ljust(before))

    def _text(self) -> str:
        """How far the work is."""
        if self._done is None:
            return f"{self._words}: {self._note or 'still working'}"
        amount = _figures(self._done) + (f" of {_figures(self._total)}" if self._total else "")
        parts = [f"{amount} {self._unit}".rstrip()]
        if self._total:
            parts[0] += f" ({min(int(100 * self._done / self._total), 100)}%)"
        seconds, fresh = self._clock() - self._began, self._done - self._initial
        if seconds > 0 and fresh > 0:
            parts.append(f"{_figures(float(f'{fresh / seconds:.3g}'))}/s")
            left = seconds * max((self._total or 0) - self._done, 0) / fresh
            if 0 < left < MOST_LEFT:
                parts.append(f"{timedelta(seconds=math.ceil(left))} left")
        return f"{self._words}: {', '.join([*parts, *filter(None, [self._note])])}"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (AttributeError, OSError, ValueError):  # there is no standard error, it is closed, or nobody reads it
            pass


def expect(total: float, seconds: float, unit: str) -> None:
    """Tell whoever waits, if anybody does, how much there is to do; see `Progress.expect`."""
    for progress in _running[-1:]:
        progress.expect(total, seconds, unit)


def tick(amount: float) -> None:
    """Tell whoever waits, if anybody does, that so much more is done."""
    for progress in _running[-1:]:
        progress.more(amount)


def _columns(stream: TextIO) -> int | None:
    """The width of a terminal; None for anything else."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80  # a terminal may not know its width
    except (AttributeError, OSError, ValueError):
        return None


def _figures(number: float) -> str:
    """A number in few characters: 350,000, 12.5M, 0.35."""
    for scale, letter in ((1e9, "G"), (1e6, "M")):
        if number >= scale:
            return f"{number / scale:.1f}{letter}"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.3g}"
