"""What the book of a game holds: its tables and pictures, in the order of its pages."""

from functools import partial

from stb_gym.book import contests, frontier, pictures, players, positions
from stb_gym.book.chapters import Chapter, Heat, Page, chapter_of
from stb_gym.book.reading import as_read, at_stake, chosen, only
from stb_gym.book.tree import tree
from stb_gym.games import Game

WINS = Heat(middle=0.5, high=1)


def contents(game: Game) -> dict[str, Page]:
    """The pages of the book of a game, by name. Where a game is too small for a table, that has no rows."""
    chapter = chapter_of(game)
    general = {**_turn(game, chapter), **_strategies(game, chapter), **_rounds(game, chapter)}
    return {**general, **chapter.pages, **_more(game, chapter)}


def _turn(game: Game, chapter: Chapter) -> dict[str, Page]:
    """First rolls, and where choices matter in what the game is first of all counted in."""
    names, scoring = chapter.rules_of_thumb, chapter.scorings[0]
    known = partial(players.ranking, game)
    return {
        "openings": Page(partial(positions.openings, game), pictures.draw_first_rolls, shown=partial(chosen, game)),
        f"choices-{scoring.name}": Page(
            partial(positions.choices, game, scoring, names), shown=partial(at_stake, game)
        ),
        "tree": Page(partial(tree, game, [*names, "random"][0]), pictures.draw_tree),
        "where-they-part": Page(partial(frontier.where_they_part, game), shown=partial(as_read, game)),
        "frontier": Page(
            partial(frontier.frontier, game), partial(pictures.draw_frontier, ranking=known, styles=chapter.styles)
        ),
    }


def _strategies(game: Game, chapter: Chapter) -> dict[str, Page]:
    compared = list(dict.fromkeys(["optimal-score", *chapter.pictured]))
    pages = {
        "strategies": Page(partial(players.ranking, game), part="players"),
        "scores": Page(
            partial(players.exact_scores, game),
            partial(pictures.draw_scores, names=compared, styles=chapter.styles),
            "players",
            partial(only, headings=["score", *compared]),
        ),
    }
    for name in chapter.rules_of_thumb:
        by_cost = partial(positions.departures, game, name, by="cost")
        shown = partial(as_read, game)
        pages[f"departures-{name}-by-cost"] = Page(by_cost, part="players", shown=shown, heat=Heat(("cost",)))
    return pages


def _rounds(game: Game, chapter: Chapter) -> dict[str, Page]:
    evenings = partial(contests.evenings, game, [*chapter.rules_of_thumb] or ["random"])
    shared = partial(only, headings=["score", *(f"{after} after" for after in range(1, contests.PLAYERS))])
    lines = partial(pictures.draw_evenings, styles=chapter.styles)
    return {
        "rounds": Page(partial(contests.rounds, game), pictures.draw_seats, "rounds"),
        "winning": Page(partial(contests.winning, game), pictures.draw_winning, "rounds", shared),
        "evenings": Page(evenings, lines, "rounds"),
        "tournament-split": Page(partial(contests.pairings, game, "split"), part="rounds", heat=WINS),
        "tournament-all-win": Page(partial(contests.pairings, game, "all-win"), part="rounds", heat=WINS),
    }


def _more(game: Game, chapter: Chapter) -> dict[str, Page]:
    """Tables for those who want all of it."""
    names, shown = chapter.rules_of_thumb, partial(as_read, game)
    pages = {"scores-sampled": Page(partial(players.sampled_scores, game), part="tables")}
    for name in names:
        pages[f"departures-{name}"] = Page(partial(positions.departures, game, name), part="files")
    for place, scoring in enumerate(chapter.scorings):
        pages[f"nodes-{scoring.name}"] = Page(
            partial(positions.nodes, game, scoring, names), part="tables", shown=shown
        )
        if place > 0:
            choices = partial(positions.choices, game, scoring, names)
            pages[f"choices-{scoring.name}"] = Page(choices, part="tables", shown=shown)
    return pages
