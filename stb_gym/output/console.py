"""Text for a terminal: what strangers named cannot steer it, and whoever reads it may leave early."""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress

# What stands in for the frames around tiles where a terminal has none.
PLAIN = str.maketrans("╭╮╰╯─│╶╴", "++++-|  ")


def plainly(error: UnicodeError) -> tuple[str, int]:
    """Instead of a character that an encoding does not have: one that looks alike, or a question mark."""
    assert isinstance(error, UnicodeEncodeError)
    missing = error.object[error.start : error.end]
    return "".join(each if each.isascii() else "?" for each in missing.translate(PLAIN)), error.end


codecs.register_error("stb_gym.plainly", plainly)


def escaped(text: str) -> str:
    r"""The text with every character that is not printable made visible.

    A terminal obeys control characters, and some others are invisible or turn the direction of writing. So this is for
    whatever comes from a file or from a name that somebody else has chosen.

    >>> print(escaped("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def say(text: object = "", *, error: bool = False) -> None:
    """Print a text, of whose lines nothing but printable characters reaches a terminal: all commands print so.

    Args:
        text: what is said.
        error: say it on standard error.
    """
    stream = sys.stderr if error else sys.stdout
    if stream is None:  # if it was closed before Python began
        return
    with suppress(OSError) if error else nullcontext():  # what was done is done, whether or not anybody is told
        print("\n".join(map(escaped, str(text).split("\n"))), file=stream)


def refuse(command: str, error: BaseException) -> int:
    """Say in one line on standard error why a command does not do what it is asked; its exit status, which is 2."""
    say(f"{command}: {escaped(str(error))}", error=True)
    return 2


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """Let whoever reads standard output stop reading before the block has written everything, as `| head` does."""
    try:
        try:
            yield
        finally:  # also where a program ends by SystemExit, as after its help
            if sys.stdout is not None:  # None if it was closed before Python began
                sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is still to be flushed
