"""Every table and picture of a game: `stb-gym book`."""

from dataclasses import MISSING, dataclass
from typing import ClassVar

from stb_gym.book import write_book
from stb_gym.command.questions import GameAnswer, Parts, Question, Tell, flag, silent
from stb_gym.games import Game


@dataclass(frozen=True, kw_only=True)
class WriteBook(Question):
    """Write every table and picture of a game into a folder, and a page that shows them all."""

    name: ClassVar[str] = "book"
    examples = "threes --out threes", "shut-the-box --variant thai-style --out thai"

    out: str = flag(MISSING, "a new or empty folder", "FOLDER")
    force: bool = flag(False, "replace the book in a folder that is not empty")

    def answer(self, game: Game, tell: Tell = silent) -> "BookAnswer":
        """Write the book."""
        files = write_book(game, self.out, force=self.force, progress=lambda name: tell(note=name))
        return BookAnswer(game=game, out=self.out, files=files)


@dataclass(frozen=True, kw_only=True)
class BookAnswer(GameAnswer):
    """Where a book is, and its files."""

    out: str
    files: list[str]

    def heading(self) -> list[str]:
        """Nothing above the sentence."""
        return []

    def parts(self) -> Parts:
        """Where to look."""
        yield f"{len(self.files)} files in {self.out}; open {self.out}/index.html"
