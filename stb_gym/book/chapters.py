"""What the book knows of one game alone: its chapter, a module that the game was registered with.

The contract of a chapter stands in `stb_gym.book`. Where a game has no chapter, or the chapter does not say, the book
shows what it shows of any game.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from numpy.typing import NDArray

from stb_gym.book.pictures import Picture
from stb_gym.exact import TurnTables, compile_game, optimise, strategies
from stb_gym.games import Game, check_names, entry_of, words_of
from stb_gym.output import Style, Table, styles_of

Values = tuple[NDArray[Any], NDArray[Any]]
PARTS = {
    "turn": "A turn",
    "players": "Strategies and their mistakes",
    "rounds": "Several players",
    "tables": "More tables",
    "files": "All files",
}


class Heat(NamedTuple):
    """Colours behind numbers: none at `middle`, the strongest at `low` and `high`.

    Attributes:
        headings: of the columns; all that are numbers if there are none.
        low, middle, high: numbers of the columns; None for the largest there is.
    """

    headings: Sequence[str] = ()
    low: float = 0
    middle: float = 0
    high: float | None = None


class Page(NamedTuple):
    """A table of the book, and how its readers see it.

    Attributes:
        table: makes the table.
        picture: draws the picture beside it from the table, if there is one.
        part: where it stands in the book, one of `PARTS`. Those of "tables" are folded, those of "files" on no page.
        shown: makes of the table what the page shows of it; the files hold the table itself.
        heat: colours behind the numbers on the page.
    """

    table: Callable[[], Table]
    picture: Callable[[Table], Picture] | None = None
    part: str = "turn"
    shown: Callable[[Table], Table] = lambda table: table
    heat: Heat | None = None


class Section(NamedTuple):
    """A page of the book that is made.

    Attributes:
        name: of its files, and of its place in the book.
        page: how it is shown.
        table: all of the table.
        picture: the picture beside it.
    """

    name: str
    page: Page
    table: Table
    picture: Picture | None

    @property
    def shown(self) -> Table:
        """What readers see of the table."""
        return self.page.shown(self.table)


class Answer(NamedTuple):
    """What a reader wants to know first.

    Attributes:
        question: in a few words.
        sentence: what the numbers of a table say.
        page: the name of the page with the table.
    """

    question: str
    sentence: str
    page: str


class Scoring(NamedTuple):
    """A way to count a turn.

    Attributes:
        name: in one word.
        counts: what it counts, and which way is better.
        worth: [S] what a turn is worth that ends at the state.
        fewest: True if less is better.
        format: how people read it (see `stb_gym.output.Column`).
    """

    name: str
    counts: str
    worth: NDArray[Any]
    fewest: bool
    format: str

    def best(self, tables: TurnTables) -> Values:
        """The expected worth [S] of every state and [N] of every node under best play."""
        return optimise(tables, self.worth.astype(float), worst=self.fewest)

    def worst(self, tables: TurnTables) -> Values:
        """The same under worst play."""
        return optimise(tables, self.worth.astype(float), worst=not self.fewest)


class Chapter(NamedTuple):
    """What a chapter says of a game, or what is said of any.

    Attributes:
        pages: the pages of this game alone, by name.
        scorings: what a turn is counted in.
        rules_of_thumb: the strategies that tables show beside the best play, and whose mistakes are listed.
        pictured: the strategies whose final scores are drawn.
        styles: how every strategy looks, the same in all pictures.
        answers: makes answers about this game alone from the tables of the book, by name.
    """

    pages: Mapping[str, Page]
    scorings: Sequence[Scoring]
    rules_of_thumb: Sequence[str]
    pictured: Sequence[str]
    styles: Mapping[str, Style]
    answers: Callable[[Mapping[str, Table]], list[Answer]]


def chapter_of(game: Game) -> Chapter:
    """The chapter of a game.

    Raises:
        ValueError: if the game names a module that cannot be imported, or the chapter a strategy that there is not.
    """
    entry = entry_of(game)
    try:
        said = vars(import_module(entry.chapter)) if entry.chapter else {}
    except ImportError as error:
        raise ValueError(f"the chapter {entry.chapter} of {game.name} cannot be imported: {error}") from error
    rules_of_thumb = said.get("RULES_OF_THUMB", (*entry.rules_of_thumb,))
    pictured = said.get("PICTURED", ("optimal-score", *entry.rules_of_thumb, "random", "worst"))
    known = [*strategies(game)]
    check_names("strategy", [*rules_of_thumb, *pictured], known)
    return Chapter(
        pages=said["pages"](game) if "pages" in said else {},
        scorings=said.get("scorings", points)(game),
        rules_of_thumb=rules_of_thumb,
        pictured=pictured,
        styles=styles_of(dict.fromkeys([*pictured, *known])),  # those drawn as lines choose first
        answers=partial(said["answers"], game) if "answers" in said else lambda tables: [],
    )


def points(game: Game) -> list[Scoring]:
    """The one scoring of a game whose chapter names no others: its points."""
    counts = f"points of the turn, {words_of(game).best} are best"
    return [Scoring("points", counts, compile_game(game).final_score, not game.more_is_better, ".4f")]
