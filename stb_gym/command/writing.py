"""Every table and picture of a game: `stb-gym book`."""

import sys
from collections.abc import Iterable
from dataclasses import MISSING, dataclass
from typing import ClassVar

from stb_gym.book import write_book
from stb_gym.command.answers import Answer
from stb_gym.command.flags import flag
from stb_gym.games import Game
from stb_gym.output import Table


@dataclass(frozen=True)
class Book:
    """Write every table and picture of a game into a folder, and a page that shows them all."""

    name: ClassVar[str] = "book"

    out: str = flag(MISSING, "a new or empty folder", "FOLDER")
    force: bool = flag(False, "replace the book in a folder that is not empty")

    def answer(self, game: Game) -> "BookAnswer":
        """Write the book."""
        files = write_book(game, self.out, force=self.force, progress=lambda name: print(name, file=sys.stderr))
        return BookAnswer(game=game, out=self.out, files=files)


@dataclass(frozen=True, kw_only=True)
class BookAnswer(Answer):
    """Where a book is, and its files."""

    out: str
    files: list[str]

    @property
    def heading(self) -> str:
        """Nothing above the sentence."""
        return ""

    def parts(self) -> Iterable[str | Table]:
        """Where to look."""
        yield f"{len(self.files)} files in {self.out}; open {self.out}/index.html"
