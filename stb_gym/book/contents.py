"""What the book of a game holds: its tables and pictures, in the order of its pages."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from matplotlib.figure import Figure

from stb_gym.book import boxes, contests, frontier, keeps, pictures, players, positions, totals
from stb_gym.book.scorings import scorings
from stb_gym.book.table import Table
from stb_gym.game import Game
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.threes import Threes

RULES_OF_THUMB = {
    ShutTheBox.name: ("fewest-then-biggest", "biggest-first", "most-ways"),
    Threes.name: ("threes-only",),
}
PICTURED = {
    ShutTheBox.name: ("optimal-score", "biggest-first", "nine-eight-seven", "random", "worst"),
    Threes.name: ("record-setter", "threes-only", "random", "take-all", "worst"),
}


class Page(NamedTuple):
    """How to make a table and, if there is one, the picture beside it, which is drawn from the table."""

    table: Callable[[], Table]
    picture: Callable[[Table], Figure] | None = None


def contents(game: Game) -> dict[str, Page]:
    """The pages of the book of a game, by name. Where a game is too small for a table, that has no rows."""
    of_this_game: dict[str, Page] = {}
    if isinstance(game, ShutTheBox):
        of_this_game = _boxes(game)
    elif isinstance(game, Threes):
        of_this_game = _totals(game)
    return {**_strategies(game), **of_this_game, **_positions(game), **_rounds(game)}


def _strategies(game: Game) -> dict[str, Page]:
    def both(sampled: Table) -> Figure:
        return pictures.scores(players.scores(game), sampled, PICTURED[game.name])

    return {
        "strategies": Page(partial(players.strategies, game)),
        "scores": Page(partial(players.scores, game)),
        "scores-sampled": Page(partial(players.sampled_scores, game), both),
    }


def _boxes(game: ShutTheBox) -> dict[str, Page]:
    by_sum, *others = scorings(game)
    names = RULES_OF_THUMB[game.name]
    states = {f"states-{other.name}": Page(partial(boxes.states, game, other, names)) for other in others}
    return {
        f"states-{by_sum.name}": Page(partial(boxes.states, game, by_sum, names), pictures.boards),
        **states,
        "dearest-states": Page(partial(boxes.dearest_states, game)),
        "largest-kept": Page(partial(boxes.largest_kept, game)),
        "ways": Page(partial(boxes.ways, game)),
        "counting-rule": Page(partial(boxes.counting_rule, game)),
    }


def _totals(game: Threes) -> dict[str, Page]:
    return {
        "by-dice": Page(partial(totals.by_dice, game, RULES_OF_THUMB[game.name])),
        "beat": Page(partial(totals.beat, game), pictures.beat),
        "take-or-rethrow": Page(partial(totals.take_or_rethrow, game), pictures.take_or_rethrow),
        "keeps": Page(partial(keeps.keeps, game)),
        "unusual-keeps": Page(partial(keeps.unusual_keeps, game)),
    }


def _positions(game: Game) -> dict[str, Page]:
    names = RULES_OF_THUMB[game.name]
    pages = {"openings": Page(partial(positions.openings, game))}
    for scoring in scorings(game):
        pages[f"nodes-{scoring.name}"] = Page(partial(positions.nodes, game, scoring, names))
        pages[f"choices-{scoring.name}"] = Page(partial(positions.choices, game, scoring, names))
    for name in names:
        by_cost = partial(positions.departures, game, name, by="cost")
        pages[f"departures-{name}"] = Page(partial(positions.departures, game, name))
        pages[f"departures-{name}-by-cost"] = Page(by_cost, partial(pictures.mistakes, name=name))

    def with_strategies(corners: Table) -> Figure:
        return pictures.frontier(corners, players.strategies(game))

    pages["frontier"] = Page(partial(frontier.frontier, game), with_strategies)
    pages["where-they-part"] = Page(partial(frontier.where_they_part, game))
    return pages


def _rounds(game: Game) -> dict[str, Page]:
    return {
        "tournament-split": Page(partial(contests.tournament, game, "split"), pictures.tournament),
        "tournament-all-win": Page(partial(contests.tournament, game, "all-win"), pictures.tournament),
        "winning": Page(partial(contests.winning, game), pictures.winning),
        "rounds": Page(partial(contests.rounds, game)),
    }
