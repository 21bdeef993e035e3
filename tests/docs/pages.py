"""Parse the README and the pages of the site: blocks of code, commands and figures."""

import re
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]


class Block(NamedTuple):
    """A fenced block of code with the name of its language."""

    page: Path
    language: str
    code: str


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page that name a language; blocks that `docs.written` fills do not."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(page, language, code) for language, code in found]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
# Blocks that use stable-baselines3 are tested with the tutorials.
PYTHON = [block for block in BLOCKS if block.language == "python" and "Policy" not in block.code]
SHELL = [line for block in BLOCKS if block.language == "sh" for line in (*block.code.splitlines(), "")]


def commands_of(beginning: str) -> list[str]:
    """Return the distinct commands with this beginning."""
    return list(dict.fromkeys(line for line in SHELL if line.startswith(beginning) and line and line[0] != "#"))


def figures(text: str) -> list[str]:
    """Return the figures in comments: decimals, fractions, and integers with a thousands separator."""
    found = r"\d+\.\d+%?|\d{1,3}(?:,\d{3})+|\d{3,}/\d{4,}"
    return re.findall(found, "\n".join(re.findall("#.*", text)))


def is_printed(figure: str, printed: str) -> bool:
    """Return whether a number in `printed` rounds to the figure; fractions and integers must match exactly."""
    decimals = len(figure.rstrip("%").partition(".")[2])
    if not decimals:
        return figure in printed
    numbers = re.findall(r"\d+\.\d+(?:e-?\d+)?" + "%" * figure.endswith("%"), printed)
    return any(f"{float(number.rstrip('%')):.{decimals}f}" == figure.rstrip("%") for number in numbers)


def promised_below(command: str) -> list[str]:
    """Return the figures in the comments below a command, on every page that has it."""
    return [
        figure
        for index, line in enumerate(SHELL)
        if line == command
        for comment in takewhile(lambda line: line.startswith("#"), SHELL[index + 1 :])
        for figure in figures(comment)
    ]
