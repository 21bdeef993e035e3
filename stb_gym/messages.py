"""Text for messages: escaped, in one line, and no longer than a message may be."""

import textwrap

LONGEST_MESSAGE = 200  # characters of an error


def reason(error: BaseException) -> str:
    """Return the message of an error in one line, or the name of its class if it has none."""
    return " ".join(str(error).split()) or type(error).__name__


def escaped(text: str) -> str:
    r"""Return the text with every character that is not printable as an escape sequence.

    Use it for text from files and for names that others chose: a terminal obeys control characters, and some characters
    are invisible or turn the direction of writing.

    >>> from stb_gym.messages import escaped
    >>> print(escaped("\x1b[31mred\n"))
    \x1b[31mred\n
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def quoted(value: object, longest: int = 60) -> str:
    r"""Return `repr(value)` for a message: printable, in one line, and at most `longest` characters.

    >>> from stb_gym.messages import quoted
    >>> print(quoted("a\u202eb" * 9, longest=20))
    'a\u202eba\u202eb...
    """
    try:
        text = repr(value)
    except Exception:  # huge integers, or a third-party `__repr__` that raises
        text = f"<{type(value).__name__}>"
    return shortened(text, longest)


def shortened(text: str, longest: int = 100) -> str:
    """Return text for a message, such as the name of a file: printable, in one line, at most `longest` characters."""
    text = escaped(text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def in_lines(text: str, width: int) -> list[str]:
    """Break a line of text at words into lines of at most `width` characters; longer words stay whole."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
