"""What the book knows of one game alone: its chapter, a module that the game was registered with.

The contract of a chapter is told in `stb_gym.book`. Where a game has no chapter, or the chapter does not say, the book
shows what it shows of any game.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from stb_gym.book.scorings import Scoring, points
from stb_gym.games import Game, entry_of
from stb_gym.output import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Page(NamedTuple):
    """How to make a table and, if there is one, the picture beside it, which is drawn from the table."""

    table: Callable[[], Table]
    picture: "Callable[[Table], Figure] | None" = None


class Chapter(NamedTuple):
    """What a chapter says of a game, or what is said of any.

    Attributes:
        pages: the pages of this game alone, by name.
        scorings: what a turn is counted in.
        rules_of_thumb: the strategies that tables show beside the best play, and whose mistakes are listed.
        pictured: the strategies whose final scores are drawn.
    """

    pages: Mapping[str, Page]
    scorings: Sequence[Scoring]
    rules_of_thumb: Sequence[str]
    pictured: Sequence[str]


def chapter_of(game: Game) -> Chapter:
    """The chapter of a game.

    Raises:
        ValueError: if the game names a module that cannot be imported.
    """
    entry = entry_of(game)
    try:
        said = vars(import_module(entry.chapter)) if entry.chapter else {}
    except ImportError as error:
        raise ValueError(f"the chapter {entry.chapter} of {game.name} cannot be imported: {error}") from error
    return Chapter(
        pages=said["pages"](game) if "pages" in said else {},
        scorings=said.get("scorings", points)(game),
        rules_of_thumb=said.get("RULES_OF_THUMB", (*entry.rules_of_thumb,)),
        pictured=said.get("PICTURED", ("optimal-score", *entry.rules_of_thumb, "random", "worst")),
    )
