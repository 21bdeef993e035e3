"""What a turn is counted in: the scorings under which the book values states and nodes."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from stb_gym.exact import TurnTables, compile_game, optimise
from stb_gym.games import Game, words_of

Values = tuple[NDArray[Any], NDArray[Any]]


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


def points(game: Game) -> list[Scoring]:
    """The one scoring of a game whose chapter names no others: its points."""
    counts = f"points of the turn, {words_of(game).best} are best"
    return [Scoring("points", counts, compile_game(game).final_score, not game.more_is_better, ".4f")]
