"""The README and the pages of the site, read as their readers do: blocks of code, commands, figures and links."""

import itertools
import re
from pathlib import Path
from typing import NamedTuple

from tests import ROOT

DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [README, *sorted(DOCS.rglob("*.md"))]
# Pages that are made by a command, and one whose code runs beside its game, have tests of their own.
TESTED_ELSEWHERE = [
    DOCS / "leaderboard.md",
    DOCS / "results/README.md",
    DOCS / "your_own_game.md",
]


class Block(NamedTuple):
    """A block of code of a page, fenced with the name of its language."""

    page: Path
    language: str
    code: str


def blocks_of(page: Path) -> list[Block]:
    """The blocks of code of a page; a block that the site makes, such as one of autodoc, has no language."""
    found = re.findall(r"^```(\w+)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [Block(page, language, code) for language, code in found]


BLOCKS = [block for page in PAGES if page not in TESTED_ELSEWHERE for block in blocks_of(page)]
# The lines of stable-baselines3 are run with the tutorials.
PYTHON = [block for block in BLOCKS if block.language == "python" and "stable_baselines3" not in block.code]
SHELL = [line for block in BLOCKS if block.language == "sh" for line in (*block.code.splitlines(), "")]
COMMANDS = list(dict.fromkeys(line for line in SHELL if line and not line.startswith("#")))


def commands_of(beginning: str) -> list[str]:
    """The commands that begin so, each once."""
    return [line for line in COMMANDS if line.startswith(beginning)]


def figures(text: str) -> list[str]:
    """The numbers in comments that have decimals or thousands, and fractions."""
    found = r"\d+\.\d+%?|\d{1,3}(?:,\d{3})+|\d{3,}/\d{4,}"
    return re.findall(found, "\n".join(re.findall("#.*", text)))


def promised_below(command: str) -> list[str]:
    """The figures in the comments below a command, wherever it stands."""
    places = [place for place, line in enumerate(SHELL) if line == command]
    comments = [itertools.takewhile(lambda line: line.startswith("#"), SHELL[place + 1 :]) for place in places]
    return figures("\n".join(itertools.chain.from_iterable(comments)))


def links_of(page: Path) -> list[str]:
    """Where links and pictures of a page lead, if not out of the repository."""
    targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    return [target.partition("#")[0] for target in targets if not target.startswith(("http://", "https://", "#"))]
