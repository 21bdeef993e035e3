"""A game that nobody of the package knows has a book, which is right where more points are better too."""

import re
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, compile_game, evaluate, strategies, strategy
from stb_gym.book import Answer, Page, Scoring, boxes, totals, write_book
from stb_gym.book.answers import answers
from stb_gym.book.chapters import Section, chapter_of
from stb_gym.book.contents import contents
from stb_gym.exact import optimise
from stb_gym.games import Entry, enter, registry
from stb_gym.output import Table, column
from stb_gym.rounds import Round


@dataclass(frozen=True, repr=False)
class Most(Threes):
    """Threes in which the highest total wins: its best play is the worst of Threes."""

    name: ClassVar[str] = "most"
    more_is_better: ClassVar[bool] = True

    @property
    def perfect_score(self):
        return self.dice * self.faces - 2


GAME, TWIN, BOX = Most(3), Threes(3), ShutTheBox(6)


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """Games that a test enters are forgotten afterwards."""
    monkeypatch.setattr(registry, "GAMES", dict(registry.GAMES))
    monkeypatch.setattr(registry, "_ENTRIES", dict(registry._ENTRIES))


def lowest(game, moves):
    """Keep as few dice as can be."""
    return moves.action


def table_of(name, game=GAME):
    return contents(game)[name].table()


def values(table, heading):
    return table.columns[heading].values


@pytest.mark.slow
def test_a_game_that_is_not_registered_has_a_book(tmp_path):
    files = write_book(GAME, tmp_path / "book")
    assert {"strategies.csv", "nodes-points.csv", "scores.svg", "frontier.svg", "winning.svg"} < set(files)
    text = "".join(path.read_text() for path in tmp_path.glob("book/*.md"))
    assert "many points" in text
    assert "chance of score 16 or more" in text
    assert not re.search(r"\bfew\b|\bfewest\b", text)


@pytest.mark.slow
def test_the_best_strategies_come_first():
    table = table_of("strategies")
    expected = values(table, "expected points")
    assert expected == sorted(expected, reverse=True)
    assert expected[0] == pytest.approx(evaluate(TWIN, strategy(TWIN, "worst")).value)
    assert expected[-1] == pytest.approx(evaluate(TWIN, strategy(TWIN, "optimal-score")).value)
    assert values(table, "regret") == pytest.approx([expected[0] - points for points in expected])
    assert values(table, "strategy")[-1] == "worst"
    for name in ("scores", "scores-sampled", "winning"):
        scores = values(table_of(name), "score")
        assert scores == sorted(scores, reverse=True)
    sampled = table_of("scores-sampled")
    shares = np.array(values(sampled, "random"))
    mean = evaluate(GAME, strategy(GAME, "random")).value
    assert shares @ values(sampled, "score") == pytest.approx(mean, abs=0.2)


def test_the_luckiest_roll_comes_first():
    table = table_of("openings")
    expected = values(table, "expected points")
    assert values(table, "roll")[0] == "6,6,6"
    assert expected == sorted(expected, reverse=True)
    assert values(table, "chance of score 16 or more")[0] == pytest.approx(1)


def test_the_best_moves_are_the_worst_of_the_twin():
    [points], [twins] = chapter_of(GAME).scorings, chapter_of(TWIN).scorings
    assert points.counts == "points of the turn, most are best"
    tables = compile_game(GAME)
    assert points.best(tables)[1] == pytest.approx(twins.worst(compile_game(TWIN))[1])
    assert points.worst(tables)[1] == pytest.approx(twins.best(compile_game(TWIN))[1])
    nodes = table_of("nodes-points")
    assert (np.array(values(nodes, "best value")) >= np.array(values(nodes, "worst value")) - 1e-12).all()


def test_the_frontier_is_the_best_for_every_price():
    tables = compile_game(GAME)
    points, chance, low, _ = zip(*table_of("frontier").rows, strict=True)
    assert len(points) > 2
    prices = np.array([*low, *np.geomspace(1e-3, 1e5, 40)])
    made, perfect = tables.final_score[:, None], tables.final_score[:, None] >= 16
    best = optimise(tables, made + prices * perfect)[0][tables.start]
    assert (np.array(points)[:, None] + np.outer(chance, prices)).max(axis=0) == pytest.approx(best, rel=1e-9)
    assert list(points) == sorted(points, reverse=True)
    part = table_of("where-they-part")
    assert min(values(part, "points lost for score 16 or more")) > 0
    assert min(values(part, "chance lost for the points")) > 0


def test_the_strongest_first_player_comes_first():
    table = table_of("tournament-split")
    names = values(table, "first player")
    wins = [sum(row[1:]) for row in table.rows]
    assert wins == sorted(wins, reverse=True)
    assert names[-1] == "worst"
    first, second = "optimal-score", "random"
    expected = Round(GAME, 2, "split").evaluate([first, second]).seats[0]
    assert table.rows[names.index(first)][1 + names.index(second)] == pytest.approx(expected)


def test_what_a_game_without_a_chapter_shows():
    enter(Entry(Most, rules_of_thumb={"lowest": lowest}))
    chapter = chapter_of(GAME)
    assert chapter.pages == {}
    assert [scoring.name for scoring in chapter.scorings] == ["points"]
    assert chapter.rules_of_thumb == ("lowest",)
    assert chapter.pictured == ("optimal-score", "lowest", "random", "worst")
    found = evaluate(GAME, strategy(GAME, "lowest"))
    assert sum(values(table_of("departures-lowest"), "cost")) == pytest.approx(found.regret)
    assert "lowest" in values(table_of("strategies"), "strategy")


def test_a_chapter_says_what_it_wants(monkeypatch):
    faces = Table("Faces", "What the faces are worth.", {"face": column("d", [1, 2])})
    module = ModuleType("a_chapter")
    module.pages = lambda game: {"faces": Page(lambda: faces)}
    monkeypatch.setitem(sys.modules, "a_chapter", module)
    enter(Entry(Most, rules_of_thumb={"lowest": lowest}, chapter="a_chapter"))
    assert table_of("faces") is faces
    assert {"departures-lowest", "nodes-points"} < set(contents(GAME))  # the rest is as without it
    module.RULES_OF_THUMB = ("most-ways",)
    module.PICTURED = ("worst", "lowest")
    module.scorings = lambda game: [Scoring("parity", "odd", compile_game(game).final_score % 2, False, ".1%")]
    pages = contents(GAME)
    assert {"faces", "departures-most-ways", "nodes-parity", "choices-parity"} < set(pages)
    assert not {"departures-lowest", "nodes-points"} & set(pages)
    assert pages["scores"].picture.keywords["names"] == ["optimal-score", "worst", "lowest"]


def test_a_chapter_that_is_not_there_is_named():
    enter(Entry(Most, chapter="no.such.chapter"))
    with pytest.raises(
        ValueError, match=r"^the chapter no.such.chapter of most cannot be imported: No module named 'no'"
    ):
        contents(GAME)


def test_a_strategy_of_a_chapter_that_is_not_there_is_named(monkeypatch):
    module = ModuleType("a_chapter")
    monkeypatch.setitem(sys.modules, "a_chapter", module)
    enter(Entry(Most, chapter="a_chapter"))
    for name in ("RULES_OF_THUMB", "PICTURED"):
        monkeypatch.setattr(module, name, ("worst", "lowest"), raising=False)
        with pytest.raises(ValueError, match=r"^unknown strategy 'lowest': allowed are random, .*optimal-score"):
            contents(GAME)
        monkeypatch.delattr(module, name)


@pytest.mark.parametrize(("game", "module"), [(ShutTheBox(4), boxes), (Threes(2), totals)], ids=["box", "threes"])
def test_the_chapters_of_the_package(game, module):
    chapter = chapter_of(game)
    assert list(chapter.pages) == list(module.pages(game))
    assert {*chapter.rules_of_thumb, *chapter.pictured} <= set(strategies(game))


def test_a_chapter_answers_what_its_game_is_asked(monkeypatch):
    faces = Table("Faces", "What the faces are worth.", {"face": column("d", [1, 2])})
    module = ModuleType("a_chapter")
    module.answers = lambda game, tables: [
        Answer(f"How many faces has {game.name}?", f"{len(tables['faces'])}.", "faces")
    ]
    monkeypatch.setitem(sys.modules, "a_chapter", module)
    enter(Entry(Most, chapter="a_chapter"))
    assert answers(chapter_of(GAME), [Section("faces", Page(lambda: faces), faces, None)]) == [
        ("How many faces has most?", "2.", "faces")
    ]


def test_answers_know_what_is_better():
    pages = contents(GAME)
    named = ("strategies", "openings", "winning")
    sections = [Section(name, pages[name], pages[name].table(), None) for name in named]
    best, opening, luck, good = (answer.sentence for answer in answers(chapter_of(GAME), sections))
    expected = evaluate(TWIN, strategy(TWIN, "worst")).value
    assert best.startswith(f"Who plays for the points expects {expected:.2f} and ends with a score of 16 or more in ")
    assert re.fullmatch(r"Of the 56 first rolls it is, from the commonest: 3 \([\d.]+%\), 1 \([\d.]+%\)\.", opening)
    assert luck.startswith("The luckiest first roll, 6,6,6, leaves 18.00")
    even = [row[0] for row in table_of("winning").rows if row[1] >= 0.5]
    assert f"a score of {min(even)} with 1 to come" in good


def test_a_strategy_looks_the_same_in_all_pictures():
    pages, styles = contents(BOX), chapter_of(BOX).styles
    frontier = pages["frontier"].picture(pages["frontier"].table())
    colours = {name: key.colour for key in frontier.keys[1:] for name in key.name.split(", ")[:1]}
    assert len({styles[name].colour for name in boxes.PICTURED}) == len(boxes.PICTURED)
    for name in ("random", "biggest-first", "nine-eight-seven", "worst"):
        assert colours[name] == styles[name].colour
    panels = pages["scores"].picture(pages["scores"].table()).panels[1:]
    for name, panel in zip([name for name in boxes.PICTURED if name != "optimal-score"], panels, strict=True):
        assert f"color:{styles[name].colour}" in str(panel)
    evenings = pages["evenings"].picture(pages["evenings"].table())
    assert evenings.keys[1] == (
        "against biggest-first",
        styles["biggest-first"].colour,
        styles["biggest-first"].dashes,
        False,
    )
