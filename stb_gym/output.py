"""Files and text: what the library writes and prints. Nothing here knows a game.

Files are written whole or not at all, and are checked before they are read. Text is escaped for terminals.
"""

import codecs
import hashlib
import json
import os
import shutil
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

T = TypeVar("T")
UNFINISHED = ".stb-gym-"  # prefix of the temporary folders
DAY = 24 * 60 * 60  # seconds
PATIENCE = 2.0  # seconds until a command shows its progress
SHORT_LOOP = 0.5  # seconds of a loop that never shows its progress
_SHOWING = ContextVar[float | None]("when loops began to show their progress", default=None)
LOOKALIKES = str.maketrans("╭╮╰╯─│╶╴●", "++++-|  o")
LONGEST_MESSAGE = 200  # characters of an error
DIGEST = 32  # bytes of a SHA-256
COLUMNS = 80  # of a line where standard output is not a terminal
LEAST_ROOM = 20  # characters for words in a table
GREEN, RED, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[0m"  # what turns a terminal's colour on, and off again
MISMATCH = "it does not match its SHA-256, so it is damaged or was edited"


# Files


@contextmanager
def write_aside(path: str | Path) -> Iterator[Path]:
    """Yield a temporary path to write to; when the block ends without an error, rename it to `path`.

    After an error or an interrupt the old file is unchanged, and the temporary folder beside it is removed. Those of
    killed processes are removed when they are a day old. Missing folders are made.

    Args:
        path: the file to write.

    Yields:
        The path of a new and empty file of the same name.

    Raises:
        OSError: if `path` is a folder, a pipe or a device.
    """
    path = path_of(path)
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for leftover in path.parent.glob(f"{UNFINISHED}*"):
        with suppress(OSError):  # another process removed it, or owns it
            if time.time() - leftover.stat().st_mtime > DAY:
                shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=path.parent) as folder:
        aside = Path(folder, path.name)
        aside.touch()
        yield aside
        aside.replace(path)


def write_bytes(path: str | Path, content: bytes) -> str:
    """Write a file whole or not at all, see `write_aside`; return the SHA-256 of its content in hexadecimal."""
    with write_aside(path) as aside:
        aside.write_bytes(content)
    return hashlib.sha256(content).hexdigest()


def write_sealed(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, with the SHA-256 of the content after it."""
    write_bytes(path, content + hashlib.sha256(content).digest())


def write_text(path: str | Path, text: str) -> str:
    """Write a text file as `write_bytes` does, with the same bytes on every system."""
    return write_bytes(path, text.encode())


def write_json(path: str | Path, entries: Mapping[str, Any]) -> None:
    """Write a dictionary as JSON, with the SHA-256 of its entries as the last entry "sha256"."""
    write_text(path, json.dumps({**entries, "sha256": _sha256_of(entries)}, indent=2) + "\n")


def _sha256_of(entries: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entries).encode()).hexdigest()


def path_of(path: Any) -> Path:
    """Return the path of a file, which need not exist.

    Raises:
        TypeError: if it is neither a string nor a path.
        ValueError: if the system allows no file of this name.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"a file is named by a string or a path, not by {quoted(path)}")
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ValueError(f"{shortened(str(path))} cannot be the name of a file: {reason}") from None
    return Path(path)


def check_file(path: Path) -> None:
    """Raise OSError if `path` is a folder, or a pipe or device, which could block a reader forever."""
    if path.exists() and not path.is_file():
        raise OSError(f"{shortened(str(path))} is {'a folder' if path.is_dir() else 'a pipe or a device'}, not a file")


@contextmanager
def reading(what: T) -> Iterator[T]:
    """Yield `what`; raise a ValueError of one line, "cannot read WHAT: REASON", for whatever fails in the block."""
    try:
        yield what
    except Exception as error:  # a damaged file fails in any way
        line = f"cannot read {shortened(str(what), 130)}: {reason(error)}"
        raise ValueError(shortened(line, LONGEST_MESSAGE)) from None


def reason(error: BaseException) -> str:
    """Return the message of an error in one line, or the name of its class if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def read_bytes(path: Path, sha256: str | None = None) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: if there is no such file.
        ValueError: if its SHA-256 is not `sha256`.
    """
    check_file(path)
    content = path.read_bytes()
    if sha256 not in (None, hashlib.sha256(content).hexdigest()):
        raise ValueError(MISMATCH)
    return content


def read_sealed(path: Path) -> bytes:
    """Return the content that `write_sealed` wrote; raise ValueError if it does not match its SHA-256."""
    content = read_bytes(path)
    content, digest = content[:-DIGEST], content[-DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(MISMATCH)
    return content


def read_text(path: str | Path) -> str:
    """Return the text of a file.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is not UTF-8.
    """
    path = path_of(path)
    check_file(path)
    return path.read_text(encoding="utf-8")


def read_json(path: str | Path) -> dict[str, Any]:
    """Return the entries that `write_json` wrote.

    If the last entry is as long as a SHA-256, it is taken for one. Files of earlier versions have none.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is damaged.
    """
    entries = from_json(read_text(path))
    if not isinstance(entries, dict) or not entries:
        raise ValueError("it is not a dictionary with entries")
    *others, last = entries.items()
    if len(str(last[1])) != 2 * DIGEST:
        return entries
    if last != ("sha256", _sha256_of(dict(others))):
        raise ValueError(MISMATCH)
    return dict(others)


def from_json(text: str) -> Any:
    """Parse JSON; raise ValueError if it is damaged or nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None


# Text


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


def quoted(value: object, longest: int = 60) -> str:
    r"""Return `repr(value)` for a message: printable, in one line, and at most `longest` characters.

    >>> print(quoted("a\u202eb" * 9, longest=20))
    'a\u202eba\u202eb...
    """
    try:
        text = repr(value)
    except Exception:  # of an integer with too many digits, and whatever other people's objects raise
        text = f"<{type(value).__name__}>"
    return shortened(text, longest)


def shortened(text: str, longest: int = 100) -> str:
    """Return text for a message, such as the name of a file: printable, in one line, at most `longest` characters."""
    text = escaped(text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


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


def in_lines(text: str, width: int) -> list[str]:
    """Break a line of text at words into lines of at most `width` characters; longer words stay whole."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def at_terminal() -> bool:
    """Return whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def columns() -> int:
    """Return the width of the terminal in characters; 80 if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if at_terminal() else COLUMNS


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
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit


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


@contextmanager
def showing_progress() -> Iterator[None]:
    """Let long loops of the library, see `tracked`, show their progress while the block runs."""
    before = _SHOWING.set(time.monotonic())
    try:
        yield
    finally:
        _SHOWING.reset(before)


def tracked(items: Iterable[T], words: str, unit: str, total: int) -> Iterator[T]:
    """Yield items; in a block of `showing_progress`, show a progress bar once it has taken two seconds.

    Args:
        items: what a loop goes through.
        words: what is done, such as "moves described".
        unit: what the items are, such as "moves".
        total: how many items there are.
    """
    since = _SHOWING.get()
    if since is None:
        yield from items
        return
    delay = max(since + PATIENCE - time.monotonic(), SHORT_LOOP)
    with ProgressBar(words, total, unit, delay) as bar:
        for done, item in enumerate(items, 1):
            yield item
            bar.tell(done)


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


@dataclass(frozen=True)
class Table:
    """Columns of equal length.

    Attributes:
        columns: at least one, by heading. Blank headings, which must differ, are not printed.

    Example:
        >>> print(Table({"strategy": Column("", ["random", "best"]), "points": Column(".2f", [21, 9.5])}))
        strategy  points
        random     21.00
        best        9.50
    """

    columns: Mapping[str, Column]

    def __str__(self) -> str:
        """Return the headings and the rows in aligned columns; at a terminal, words in the last one are wrapped."""
        aligned: list[list[str]] = []
        left = 0  # of a column, in characters
        for heading, column in self.columns.items():
            cells = [escaped(heading), *column.cells()]
            width = max(map(len, cells))
            if at_terminal() and column.format == "" and len(aligned) == len(self.columns) - 1:
                room = max(columns() - left, LEAST_ROOM)
                cells = [f"\n{' ' * left}".join(in_lines(cell, room)) for cell in cells]
            aligned.append([cell.ljust(width) if column.format == "" else cell.rjust(width) for cell in cells])
            left += width + 2
        lines = ["  ".join(line).rstrip() for line in zip(*aligned, strict=True)]
        return "\n".join(lines if lines[0] else lines[1:])
