"""Print text, tables and errors."""

import codecs
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from stb_gym.messages import escaped, in_lines

LOOKALIKES = str.maketrans("╭╮╰╯─│╶╴●", "++++-|  o")
GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"  # what turns a terminal's colour on, and off again


def plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: codec error handler with ASCII lookalikes for box drawing, else "?"."""
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end].translate(LOOKALIKES)
    return "".join(each if each.isascii() else "?" for each in missing), error.end


codecs.register_error("stb_gym.plainly", plainly)


def say(text: object = "", *, error: bool = False, wrapped: bool = False, colour: str = "") -> None:
    """Print a text with its control characters escaped, line by line.

    Args:
        text: what is printed.
        error: print to standard error, and ignore one that is closed or full.
        wrapped: break lines at words, so that none is longer than a line of the terminal.
        colour: one of `GREEN` and `RED`, for a standard output that shows colours.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # closed before Python began
        return
    lines = [escaped(line) for line in str(text).split("\n")]
    if wrapped:
        lines = [part for line in lines for part in in_lines(line, columns())]
    if colour and shows_colours():
        lines = [f"{colour}{line}{PLAIN}" for line in lines]
    with suppress(OSError) if error else nullcontext():
        print("\n".join(lines), file=stream)


def at_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns() -> int:
    """Return the width of a line in characters: of COLUMNS, else of the terminal, else 80."""
    return shutil.get_terminal_size().columns


def shows_colours() -> bool:
    """Return whether to print colours: at a terminal or if FORCE_COLOR is set, unless NO_COLOR is set."""
    return not os.environ.get("NO_COLOR") and (bool(os.environ.get("FORCE_COLOR")) or at_terminal())


def refuse(command: str, error: BaseException) -> int:
    """Print the error of a command in one line on standard error, and return the exit status 2."""
    say(f"{command}: {escaped(str(error))}", error=True)
    return 2


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Ignore a reader that closes standard output before the block has written everything, as `| head` does."""
    try:
        try:
            yield
        finally:  # also after SystemExit
            if sys.stdout is not None:
                sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes standard output at exit


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        format: a format specification such as ".4f", ".2%" or ",d", or a function from a value to text. With "" the
            values are words, aligned to the left; all others are numbers, aligned to the right.
        values: one for each row; None for an empty cell.
    """

    format: str | Callable[[Any], str]
    values: list[Any]


@dataclass(frozen=True)
class Table:
    """Columns of equal length.

    Attributes:
        columns: at least one, by heading. Blank headings, which must differ, are not printed.

    Example:
        >>> from stb_gym.console import Column, Table
        >>> print(Table({"strategy": Column("", ["random", "best"]), "points": Column(".2f", [21, 9.5])}))
        strategy  points
        random     21.00
        best        9.50
    """

    columns: Mapping[str, Column]

    def __str__(self) -> str:
        """Return the headings and the rows in aligned columns; break cells between words where lines are too long."""
        cells = []
        for heading, column in self.columns.items():
            form = column.format if callable(column.format) else f"{{:{column.format}}}".format
            texts = ["" if value is None else form(value) for value in column.values]
            cells.append([escaped(text) for text in (heading, *texts)])
        widths = [max(map(len, column)) for column in cells]
        of_values = [max(map(len, column[1:]), default=0) for column in cells]
        least = [max(len(word) for cell in column for word in cell.split(" ")) for column in cells]
        excess = sum(widths) + 2 * (len(widths) - 1) - columns()
        while excess > 0 and widths != least:
            breakable = [at for at, width in enumerate(widths) if width > least[at]]
            widths[max(breakable, key=lambda at: (widths[at] > of_values[at], widths[at]))] -= 1  # headings first
            excess -= 1
        broken = [[in_lines(cell, width) for cell in column] for column, width in zip(cells, widths, strict=True)]
        widths = [max(len(part) for parts in column for part in parts) for column in broken]
        aligns = [str.ljust if column.format == "" else str.rjust for column in self.columns.values()]
        lines = []
        for row in zip(*broken, strict=True):
            for parts in zip_longest(*row, fillvalue=""):
                aligned = [align(*each) for align, *each in zip(aligns, parts, widths, strict=True)]
                lines.append("  ".join(aligned).rstrip())
        return "\n".join(lines if lines[0] else lines[1:])
