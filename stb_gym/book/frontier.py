"""Few points or a score of 0: where the two wishes part, and all that can be had of both.

The policies that are best for some price of a score of 0, counted in points, lie on the frontier. It is found from its
two ends: the price at which two neighbours are worth the same either finds a policy between them that is worth more, or
proves that there is none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.table import Table, column
from stb_gym.book.words import moves_in_words, where
from stb_gym.evaluate import evaluate
from stb_gym.game import Game
from stb_gym.solve import TIE, solve
from stb_gym.tables import Level, TurnTables, compile_game

Pair = NDArray[np.float64]  # [2] expected points below the highest score, and the chance of score 0: more are better
POINTS, SHUT = np.eye(2)
SMALLEST_GAIN = 1e-12  # share of the worth: less is rounding


def frontier(game: Game) -> Table:
    """Every pair of expected points and chance of score 0 that is best for some price of a score of 0."""
    tables = compile_game(game)
    saved = tables.final_score.max() - tables.final_score
    ends = np.stack([saved, tables.final_score <= 0], axis=1).astype(float)
    first, last = _corner(tables, ends, POINTS, SHUT), _corner(tables, ends, SHUT, POINTS)
    corners = [first, *_between(tables, ends, first, last), last] if first[1] < last[1] else [first]
    kept, chance = np.array(corners).T
    price = (kept[:-1] - kept[1:]) / np.diff(chance)
    return Table(
        "The frontier between few points and a score of 0",
        "No play has fewer expected points than a row and as great a chance of score 0; between two rows one can only "
        "mix them. Price: the extra points a score of 0 would have to be worth to make a row the best play.",
        {
            "expected points": column(".6f", tables.final_score.max() - kept),
            "chance of score 0": column(".6%", chance),
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
        best = np.repeat(np.maximum.reduceat(worth, level.first_edge), edges)
        second[worth < best * (1 - TIE)] = -1
        most = np.repeat(np.maximum.reduceat(second, level.first_edge), edges)
        place = np.where(second == most, np.arange(len(pairs)), len(pairs))
        return pairs[np.minimum.reduceat(place, level.first_edge)]

    return tables.sweep(ends, choose)[0][tables.start]


def where_they_part(game: Game) -> Table:
    """The nodes where no move is both best for the points and best for the chance of score 0."""
    points, shut = solve(game), solve(game, "shut")
    tables = points.tables
    first = tables.edge_start[tables.decisions]
    visits = evaluate(game, points.policy).visits[tables.decisions]
    part = ~np.logical_or.reduceat(points.optimal & shut.optimal, first)
    columns = where(tables) | {
        "best for the points": column("", moves_in_words(tables, points.optimal)),
        "best for score 0": column("", moves_in_words(tables, shut.optimal)),
        "points lost for score 0": column(
            ".4f", np.minimum.reduceat(np.where(shut.optimal, points.edge_loss, np.inf), first)
        ),
        "chance lost for the points": column(
            ".4%", np.minimum.reduceat(np.where(points.optimal, shut.edge_loss, np.inf), first)
        ),
        "visits": column(".4%", visits),
    }
    order = np.argsort(-visits, kind="stable")
    return Table(
        "Where few points and a score of 0 ask for different moves",
        "The positions without a move that is best for both, and what the move for each costs of the other. Visits: "
        "the chance to come there under the best play for the points, by which the rows are sorted.",
        columns,
    ).take(order[part[order]])
