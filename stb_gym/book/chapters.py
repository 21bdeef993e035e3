"""What the book knows of one game alone: its chapter, a module that the game was registered with.

The contract of a chapter stands in `stb_gym.book`. Where a game has no chapter, or the chapter does not say, the book
shows what it shows of any game.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from stb_gym.exact import TurnTables, compile_game, optimise, strategies
from stb_gym.games import Game, check_names, entry_of, words_of
from stb_gym.output import Style, Table, styles_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Values = tuple[NDArray[Any], NDArray[Any]]


class Page(NamedTuple):
    """How to make a table and, if there is one, the picture beside it, which is drawn from the table."""

    table: Callable[[], Table]
    picture: "Callable[[Table], Figure] | None" = None


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
    """

    pages: Mapping[str, Page]
    scorings: Sequence[Scoring]
    rules_of_thumb: Sequence[str]
    pictured: Sequence[str]
    styles: Mapping[str, Style]


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
    )


def points(game: Game) -> list[Scoring]:
    """The one scoring of a game whose chapter names no others: its points."""
    counts = f"points of the turn, {words_of(game).best} are best"
    return [Scoring("points", counts, compile_game(game).final_score, not game.more_is_better, ".4f")]
