"""Text that people read: lines that are safe for a terminal, tables, errors and progress."""

import codecs
import html
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Self

LOOKALIKES = str.maketrans("╭╮╰╯─│╶╴", "++++-|  ")


def plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks: codec error handler with ASCII lookalikes for box drawing, else "?"."""
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end].translate(LOOKALIKES)
    return "".join(each if each.isascii() else "?" for each in missing), error.end


codecs.register_error("stb_gym.plainly", plainly)


def escaped(text: str) -> str:
    r"""Return the text with every character that is not printable as an escape sequence.

    Use it for text from files and for names that others chose: a terminal obeys control characters, and some characters
    are invisible or turn the direction of writing.

    >>> print(escaped("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def say(text: object = "", *, error: bool = False) -> None:
    """Print a text with its control characters escaped, line by line; to standard error if `error`.

    A closed or full standard error is ignored.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # closed before Python began
        return
    with suppress(OSError) if error else nullcontext():
        print("\n".join(map(escaped, str(text).split("\n"))), file=stream)


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit


class Progress:
    """A progress bar on standard error, which appears after two seconds.

    Args:
        words: what is done, such as "games played".
        total: how much there is to do; None if unknown.
        unit: what is counted, such as "steps".
        initial: how much was done before.

    Example:
        >>> with Progress("rows of boards solved", total=3) as progress:
        ...     for row in range(3):
        ...         progress.tell(row + 1)
    """

    def __init__(self, words: str, total: float | None = None, unit: str = "", *, initial: float = 0) -> None:
        from tqdm import tqdm  # takes a moment to import

        tqdm.monitor_interval = 0  # no thread of its own
        self._bar: Any = tqdm(
            desc=escaped(words), total=total, unit=f" {unit}", initial=initial, unit_scale=True, delay=2,
            mininterval=1 if sys.stderr is not None and sys.stderr.isatty() else 10, disable=sys.stderr is None,
        )  # fmt: skip

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._bar.close()

    def tell(self, done: float | None = None, total: float | None = None, *, note: str | None = None) -> None:
        """Show how much of the total is done so far, and a note; None leaves a value as it was."""
        with suppress(OSError):  # a standard error that is closed or full does not stop the work
            if total is not None:
                self._bar.total = total
            if note is not None:
                self._bar.set_postfix_str(escaped(note), refresh=False)
            if done is not None:
                self._bar.update(done - self._bar.n)


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        format: a format specification such as ".4f", ".2%" or ",d", or a function from a value to text. With "" the
            values are words, aligned to the left; all others are numbers, aligned to the right.
        values: one for each row; None for an empty cell.
    """

    format: str | Callable[[Any], str]
    values: list[Any]

    def cells(self) -> list[str]:
        """Return the formatted values."""
        form = self.format if callable(self.format) else f"{{:{self.format}}}".format
        return ["" if value is None else escaped(form(value)) for value in self.values]


def column(spec: str | Callable[[Any], str], values: Iterable[Any]) -> Column:
    """Return a column of any values; those of a NumPy array become plain numbers."""
    return Column(spec, list(values.tolist() if hasattr(values, "tolist") else values))


@dataclass(frozen=True)
class Table:
    """Columns of equal length, for text, Markdown and HTML.

    Attributes:
        columns: at least one, by heading.
        title: the caption in HTML; "" for none.

    Raises:
        ValueError: if the columns differ in length.

    Example:
        >>> print(Table({"strategy": Column("", ["random", "best"]), "points": Column(".2f", [21, 9.5])}))
        strategy  points
        random     21.00
        best        9.50
    """

    columns: Mapping[str, Column]
    title: str = ""

    def __post_init__(self) -> None:
        lengths = {heading: len(column.values) for heading, column in self.columns.items()}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"a table has one or more columns of one length, not {lengths}")

    @classmethod
    def from_rows(cls, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> "Table":
        """Return a table of words.

        Args:
            headings: one for each column; blank headings, which must differ, are not printed in text.
            rows: one cell for each heading.
        """
        listed = list(rows)
        return cls({heading: column("", [row[place] for row in listed]) for place, heading in enumerate(headings)})

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The values of each row."""
        return list(zip(*(column.values for column in self.columns.values()), strict=True))

    def cells(self) -> list[tuple[str, ...]]:
        """Return the formatted values of each row."""
        return list(zip(*(column.cells() for column in self.columns.values()), strict=True))

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """Return the headings and the rows in aligned columns."""
        aligned = []
        for heading, column in self.columns.items():
            cells = [escaped(heading), *column.cells()]
            width = max(map(len, cells))
            aligned.append([cell.ljust(width) if column.format == "" else cell.rjust(width) for cell in cells])
        lines = ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]
        return "\n".join(lines if lines[0] else lines[1:])

    def to_markdown(self) -> str:
        """Return a Markdown table without its title."""
        rule = ["---" if column.format == "" else "---:" for column in self.columns.values()]
        lines = [[escaped(heading) for heading in self.columns], rule, *self.cells()]
        # A pipe inside a cell is escaped, and so are the backslashes before it.
        piped = [[re.sub(r"(\\*)\|", r"\1\1\\|", cell) for cell in line] for line in lines]
        return "\n".join(f"| {' | '.join(line)} |" for line in piped)

    def to_html(self) -> str:
        """Return an HTML table; its title is the caption, and cells with numbers have the class "number"."""
        marks = ["" if column.format == "" else ' class="number"' for column in self.columns.values()]
        head = "".join(
            f'<th scope="col"{mark}>{html.escape(escaped(heading))}</th>'
            for heading, mark in zip(self.columns, marks, strict=True)
        )
        body = ""
        for first, *others in self.cells():
            body += f'<tr><th scope="row"{marks[0]}>{html.escape(first)}</th>'
            for mark, cell in zip(marks[1:], others, strict=True):
                body += f"<td{mark}>{html.escape(cell)}</td>"
            body += "</tr>\n"
        caption = f"<caption>{html.escape(escaped(self.title))}</caption>\n" if self.title else ""
        return f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def html_table(title: str, columns: Mapping[str, Sequence[Any]], limit: int = 12) -> str:
    """Return columns as an HTML table for a notebook.

    Args:
        title: the caption.
        columns: values of equal length by heading; numbers are shown to six digits.
        limit: the largest number of rows to show.

    Returns:
        The table, followed by the number of rows if not all are shown.
    """
    shown = {}
    for heading, values in columns.items():
        is_number = all(isinstance(value, int | float | Fraction | None) for value in values)
        form = (lambda value: f"{float(value):.6g}") if is_number else ""
        shown[heading] = column(form, values[:limit] if is_number else map(str, values[:limit]))
    rows = max(map(len, columns.values()))
    note = f"<p>The first {limit:,} of {rows:,} rows.</p>" if rows > limit else ""
    return Table(shown, title).to_html() + note
