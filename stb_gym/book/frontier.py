"""Good points or the perfect score: where the two wishes part, and all that can be had of both.

The policies that are best for some price of the perfect score, counted in points, lie on the frontier. It is found from
its two ends: the price at which two neighbours are worth the same either finds a policy between them that is worth
more, or proves that there is none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.positions import least_loss
from stb_gym.book.words import moves_in_words, perfect_score, where
from stb_gym.exact import TIE, Level, TurnTables, compile_game, solve
from stb_gym.games import Game
from stb_gym.output import Table, column

# [2] by how many points the expectation is better than the worst score, and the chance of the perfect score (or better)
Pair = NDArray[np.float64]
POINTS, SHUT = np.eye(2)
SMALLEST_GAIN = 1e-12  # share of the worth: less is rounding


def frontier(game: Game) -> Table:
    """Every pair of expected points and chance of the perfect score that is best for some price of that score."""
    tables = compile_game(game)
    sign, worst, perfect = game.sign, tables.scores[-1], perfect_score(tables)
    few, fewer = _how_many(game)
    ends = np.stack(
        [sign * (tables.final_score - worst), sign * tables.final_score >= sign * game.perfect_score], axis=1
    ).astype(float)
    first, last = _corner(tables, ends, POINTS, SHUT), _corner(tables, ends, SHUT, POINTS)
    corners = [first, *_between(tables, ends, first, last), last] if first[1] < last[1] else [first]
    kept, chance = np.array(corners).T
    price = (kept[:-1] - kept[1:]) / np.diff(chance)
    return Table(
        f"The frontier between {few} points and a score of {perfect}",
        f"No play has {fewer} expected points than a row and as great a chance of score {perfect}; between two rows "
        f"one can only mix them. Price: the extra points a score of {perfect} would have to be worth to make a row the "
        "best play.",
        {
            "expected points": column(".6f", worst + sign * kept),
            f"chance of score {perfect}": column(".6%", chance),
            "best from a price of": column(".4f", [0.0, *price.tolist()]),
            "to a price of": column(".4f", [*price.tolist(), None]),
        },
    )


def _between(tables: TurnTables, ends: NDArray[Any], left: Pair, right: Pair) -> list[Pair]:
    """The corners of the frontier strictly between two of them, from left to right."""
    weights = np.array([right[1] - left[1], left[0] - right[0]])  # those to which both are worth the same
    corner = _corner(tables, ends, weights, SHUT)
    if (corner - left) @ weights <= SMALLEST_GAIN * (left @ weights):
        return []
    return [*_between(tables, ends, left, corner), corner, *_between(tables, ends, corner, right)]


def _corner(tables: TurnTables, ends: NDArray[np.float64], weights: Pair, then: Pair) -> Pair:
    """What the play is worth that is best for the weighted sum and, among equals, for another one.

    Args:
        tables: the arrays of the game.
        ends: [S, 2] what a turn is worth that ends at the state.
        weights: [2] of the first sum, 0 or more.
        then: [2] weights of the second.
    """

    def choose(pairs: NDArray[np.float64], level: Level) -> NDArray[np.float64]:
        edges = np.diff(level.first_edge, append=len(pairs))
        worth, second = pairs @ weights, pairs @ then
        best = np.repeat(level.reduce(np.maximum, worth), edges)
        second[worth < best * (1 - TIE)] = -1
        most = np.repeat(level.reduce(np.maximum, second), edges)
        place = np.where(second == most, np.arange(len(pairs)), len(pairs))
        chosen: NDArray[np.float64] = pairs[level.reduce(np.minimum, place)]
        return chosen

    corner: Pair = tables.sweep(ends, choose)[0][tables.start]
    return corner


def where_they_part(game: Game) -> Table:
    """The nodes where no move is both best for the points and best for the chance of the perfect score."""
    points, shut = solve(game), solve(game, "shut")
    tables = points.tables
    perfect, (few, _) = perfect_score(tables), _how_many(game)
    visits = points.evaluate(points.policy).visits[tables.decisions]
    part = ~tables.reduce(np.logical_or, points.optimal & shut.optimal)
    columns = where(tables) | {
        "best for the points": column("", moves_in_words(tables, points.optimal)),
        f"best for score {perfect}": column("", moves_in_words(tables, shut.optimal)),
        f"points lost for score {perfect}": column(".4f", least_loss(points, shut.optimal)),
        "chance lost for the points": column(".4%", least_loss(shut, points.optimal)),
        "visits": column(".4%", visits),
    }
    order = np.argsort(-visits, kind="stable")
    return Table(
        f"Where {few} points and a score of {perfect} ask for different moves",
        "The positions without a move that is best for both, and what the move for each costs of the other. Visits: "
        "the chance to come there under the best play for the points, by which the rows are sorted.",
        columns,
    ).take(order[part[order]])


def _how_many(game: Game) -> tuple[str, str]:
    """Which numbers of points are good, and which are better."""
    return ("many", "more") if game.more_is_better else ("few", "fewer")
