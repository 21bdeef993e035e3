"""What a turn is counted in: the scorings under which the book values states and nodes."""

from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from stb_gym.game import Game
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.solve import optimise
from stb_gym.tables import TurnTables, compile_game

Values = tuple[NDArray[Any], NDArray[Any]]


class Scoring(NamedTuple):
    """A way to count a turn.

    Attributes:
        name: in one word.
        counts: what it counts, and which way is better.
        worth: [S] what a turn is worth that ends at the state.
        fewest: True if less is better.
        format: how people read it (see `Table`).
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


def scorings(game: Game) -> list[Scoring]:
    """The scorings of a game: for Shut the Box three views of the tiles that are shut; otherwise the points.

    The three do not depend on what the rules count as the score of a turn.
    """
    tables = compile_game(game)
    if not isinstance(game, ShutTheBox):
        return [Scoring("points", "points of the turn, fewest are best", tables.final_score, True, ".4f")]
    open_sum, open_tiles = (replace(game, score=score).final_score(tables.held) for score in ("sum", "count"))
    return [
        Scoring("sum", "sum of the tiles shut, most is best", open_sum.max() - open_sum, False, ".4f"),
        Scoring("shut", "chance to shut the box, greatest is best", open_sum == 0, False, ".4%"),
        Scoring("count", "number of tiles shut, most is best", game.tiles - open_tiles, False, ".4f"),
    ]
