"""The README and the pages of the site, read as their readers do: blocks of code, commands and figures."""

import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]


class Block(NamedTuple):
    """A block of code of a page, fenced with the name of its language."""

    page: Path
    language: str
    code: str


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page that have a language; those that the site writes have none."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(page, language, code) for language, code in found]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
# The lines of stable-baselines3 are run with the tutorials.
PYTHON = [block for block in BLOCKS if block.language == "python" and "Policy" not in block.code]
SHELL = [line for block in BLOCKS if block.language == "sh" for line in (*block.code.splitlines(), "")]


def commands_of(beginning: str) -> list[str]:
    """Return the commands that begin so, each once."""
    return list(dict.fromkeys(line for line in SHELL if line.startswith(beginning) and line and line[0] != "#"))


def figures(text: str) -> list[str]:
    """Return the numbers in comments that have decimals or thousands, and fractions."""
    found = r"\d+\.\d+%?|\d{1,3}(?:,\d{3})+|\d{3,}/\d{4,}"
    return re.findall(found, "\n".join(re.findall("#.*", text)))


def is_printed(figure: str, printed: str) -> bool:
    """Return whether a text has a number that rounds to a figure, or the figure itself if it is a fraction or whole."""
    decimals = len(figure.rstrip("%").partition(".")[2])
    if not decimals:
        return figure in printed
    numbers = re.findall(r"\d+\.\d+(?:e-?\d+)?" + "%" * figure.endswith("%"), printed)
    return any(f"{float(number.rstrip('%')):.{decimals}f}" == figure.rstrip("%") for number in numbers)


def promised_below(command: str) -> list[str]:
    """Return the figures in the comments below a command, wherever it stands."""
    places = [place for place, line in enumerate(SHELL) if line == command]
    return [
        figure
        for place in places
        for comment in takewhile(lambda line: line.startswith("#"), SHELL[place + 1 :])
        for figure in figures(comment)
    ]
