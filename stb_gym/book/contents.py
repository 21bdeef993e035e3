"""What the book of a game holds: its tables and pictures, in the order of its pages."""

from functools import partial

from matplotlib.figure import Figure

from stb_gym.book import contests, frontier, pictures, players, positions
from stb_gym.book.chapters import Chapter, Page, chapter_of
from stb_gym.games import Game
from stb_gym.output import Table


def contents(game: Game) -> dict[str, Page]:
    """The pages of the book of a game, by name. Where a game is too small for a table, that has no rows."""
    chapter = chapter_of(game)
    return {**_strategies(game, chapter), **chapter.pages, **_positions(game, chapter), **_rounds(game)}


def _strategies(game: Game, chapter: Chapter) -> dict[str, Page]:
    lines = {name: chapter.styles[name] for name in chapter.pictured}

    def both(sampled: Table) -> Figure:
        return pictures.draw_scores(players.exact_scores(game), sampled, lines)

    return {
        "strategies": Page(partial(players.ranking, game)),
        "scores": Page(partial(players.exact_scores, game)),
        "scores-sampled": Page(partial(players.sampled_scores, game), both),
    }


def _positions(game: Game, chapter: Chapter) -> dict[str, Page]:
    names = chapter.rules_of_thumb
    pages = {"openings": Page(partial(positions.openings, game))}
    for scoring in chapter.scorings:
        pages[f"nodes-{scoring.name}"] = Page(partial(positions.nodes, game, scoring, names))
        pages[f"choices-{scoring.name}"] = Page(partial(positions.choices, game, scoring, names))
    for name in names:
        by_cost = partial(positions.departures, game, name, by="cost")
        pages[f"departures-{name}"] = Page(partial(positions.departures, game, name))
        picture = partial(pictures.draw_mistakes, name=name, colour=chapter.styles[name].colour)
        pages[f"departures-{name}-by-cost"] = Page(by_cost, picture)

    def with_strategies(corners: Table) -> Figure:
        return pictures.draw_frontier(corners, players.ranking(game), chapter.styles)

    pages["frontier"] = Page(partial(frontier.frontier, game), with_strategies)
    pages["where-they-part"] = Page(partial(frontier.where_they_part, game))
    return pages


def _rounds(game: Game) -> dict[str, Page]:
    return {
        "tournament-split": Page(partial(contests.pairings, game, "split"), pictures.draw_tournament),
        "tournament-all-win": Page(partial(contests.pairings, game, "all-win"), pictures.draw_tournament),
        "winning": Page(partial(contests.winning, game), pictures.draw_winning),
        "rounds": Page(partial(contests.rounds, game)),
    }
