"""The page of a book answers first, shows every table in order, and can be read by whoever cannot see or wait."""

import base64
import re
import zlib

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, compile_game, evaluate, solve, strategy
from stb_gym.book import Answer, Page, page, positions, reading
from stb_gym.book.boxes import scorings
from stb_gym.book.chapters import PARTS, Section, chapter_of, points
from stb_gym.book.contents import contents
from stb_gym.book.page import ROWS, SHORT
from stb_gym.output import Table, column

BOX, NINE, THREES = ShutTheBox(6), ShutTheBox(), Threes()


def shown(book, name):
    return contents(book.game)[name].shown(book.tables[name])


def values(table, heading):
    return table.columns[heading].values


@pytest.mark.slow
def test_the_page_needs_nothing_else(book):
    assert not re.search(r"https?:|<link|@import|url\(|src=", book.text)
    assert {link for link in book.page.links if link[0] != "#"} == set(book.files) - {"index.html"} - {
        f"{name}.md" for name in book.tables if contents(book.game)[name].part == "files"
    }
    assert {link[1:] for link in book.page.links if link[0] == "#"} <= set(book.page.ids)
    assert len(set(book.page.ids)) == len(book.page.ids)
    assert len(book.text) < 400_000


@pytest.mark.slow
def test_every_table_stands_where_it_belongs(book):
    pages = contents(book.game)
    on_page = [name for part in PARTS for name in book.tables if pages[name].part == part != "files"]
    assert [*book.page.sections] == [*on_page, "files"]
    listed = [row[0] for row in book.page.sections["files"]]
    assert listed == [f"{name}.csv" for name in book.tables]
    in_contents = [link[1:] for link in book.page.links if link[0] == "#"][: len(on_page) + 1]
    assert in_contents == ["answers", *on_page]
    folded = re.findall(r'<details class="section" id="([\w-]+)"', book.text)
    assert folded == [name for name in on_page if pages[name].part == "tables"]


@pytest.mark.slow
def test_the_page_shows_the_tables(book):
    for name, cells in book.page.sections.items():
        if name == "files":
            continue
        table = shown(book, name)
        first = len(table) if len(table) <= SHORT else ROWS
        assert cells == table.cells(first), name
        assert [text for text, _ in book.page.headings[name]] == [*table.columns]
        rest = re.search(rf'id="rest-{name}">(.*?)</script>', book.text)
        rows = zlib.decompress(base64.b64decode(rest[1])).decode().count("<tr>") if rest else 0
        assert first + rows == len(table)
        assert book.page.captions[name] == (
            f"The first {first} of {len(table):,} rows" if rest else f"{len(table)} row{'s' * (len(table) != 1)}"
        )


@pytest.mark.slow
def test_whoever_cannot_see_the_page_can_read_it(book):
    assert book.page.tags.count("main") == book.page.tags.count("h1") == 1
    assert all(scope == "col" for headings in book.page.headings.values() for _, scope in headings)
    assert book.page.captions.keys() == book.page.sections.keys()
    drawn = {name for name in book.page.sections if f"{name}.svg" in book.files}
    assert book.page.pictures == {name: f"says-{name}" for name in drawn}
    for name in drawn:
        says = book.page.words[f"says-{name}"]
        assert re.search(r"\d", says), says  # what comes out, not only what is drawn
        assert says.endswith(".")


@pytest.mark.slow
def test_the_answers_say_what_the_tables_say(box, threes):
    game, words = box.game, box.page.words["answers"]
    best = solve(game)
    assert f"Who plays for the points expects {best.value:.2f}" in words
    assert f"{solve(game, 'shut').value:.2%}" in words
    for roll in range(3, 13):
        row = next(row for row in box.tables["openings"].rows if row[0] == str(roll))
        assert f"n {roll} {row[3]}" in words
    assert "n 2 shut" not in words  # there is no choice
    regret = evaluate(game, strategy(game, "fewest-then-biggest")).regret
    assert f"fewest-then-biggest gives away {regret:.3f} points a turn" in words
    two = [row[2] for row in box.tables["rounds"].rows if row[0] == 2]
    assert f"The second of two perfect players, with {two[1]:.2%} to {two[0]:.2%}" in words
    assert f"No: at {len(box.tables['largest-kept']):,} positions" in words
    spoken = threes.page.words["answers"]
    assert "On " not in spoken  # too many first rolls to be told one by one
    assert re.search(r"keep 1 \(\d\d\.\d%\), keep 2", spoken)
    assert "2 dice, roll 3,1. It plays keep 1; keep 2 is better by 2.00 points" in spoken


def test_pages_begin_with_choices():
    """Positions with one move only come last, and first rolls without a choice name no move."""
    choices = compile_game(BOX).choices
    for scoring in scorings(BOX):
        rolls = values(reading.as_read(BOX, positions.nodes(BOX, scoring)), "roll")
        several = [choices[roll.place] > 1 for roll in rolls]
        assert several == sorted(several, reverse=True)
        assert not all(several)
    openings = reading.chosen(BOX, positions.openings(BOX))
    rolls, moves = (values(openings, heading) for heading in ("roll", "best for the points"))
    assert [roll for roll, move in zip(rolls, moves, strict=True) if move is None] == ["2"]


def test_the_likeliest_positions_come_first():
    [scoring, *_] = scorings(BOX)
    table = reading.at_stake(BOX, positions.choices(BOX, scoring))
    visits = values(table, "visits")
    assert visits == sorted(visits, reverse=True)
    tables, best = compile_game(BOX), solve(BOX)
    nodes = [roll.place for roll in values(table, "roll")]
    assert visits == best.evaluate(best.policy).visits[nodes].tolist()
    assert {tables.node_state[node] for node in nodes[:5]} == {tables.start}


def test_points_that_change_nothing_are_told_once():
    [scoring] = points(THREES)
    for table in (positions.choices(THREES, scoring), positions.departures(THREES, "threes-only", by="cost")):
        once = reading.as_read(THREES, table)
        said = [*zip(*(values(once, heading) for heading in ("state", "roll")), strict=True)]
        assert len(set(said)) == len(said) < len(table) / 4
        assert {state for state, _ in said} <= {"2 dice", "3 dice", "4 dice", "0 points, 5 dice left"}
        assert "stand once" in once.note
    assert sum(values(once, "cost")) == pytest.approx(evaluate(THREES, strategy(THREES, "threes-only")).regret)
    assert values(once, "cost") == sorted(values(once, "cost"), reverse=True)
    rows = dict(zip(said, values(once, "visits"), strict=True))
    each = [row[5] for row in table.rows if row[0].endswith("2 dice left") and row[1] == "3,1"]
    assert len(each) > 5
    assert rows["2 dice", "3,1"] == pytest.approx(sum(each))


def test_where_points_count_positions_stay_apart():
    [scoring, *_] = scorings(BOX)
    table = positions.nodes(BOX, scoring)
    assert len(reading.as_read(BOX, table)) == len(table)
    assert reading.as_read(BOX, table).note == table.note


def test_boards_and_dice_are_drawn():
    table = positions.openings(ShutTheBox(6, one_die="low-sum"))
    assert values(table, "roll")[0].__html__() == f'<b class="sum">{values(table, "roll")[0]}</b>'
    game = ShutTheBox(4, one_die="any-time")
    state = next(
        state for state in values(positions.nodes(game, scorings(game)[0]), "state") if state == "open 1,3, 1 die"
    )
    assert state.__html__() == (
        '<span class="board" role="img" aria-label="open 1,3, 1 die">'
        "<b>1</b><s>2</s><b>3</b><s>4</s><small>1 die</small></span>"
    )
    roll = values(positions.openings(Threes(2)), "roll")[0]
    uses = '<svg><use href="#die-3"/></svg>' * 2
    assert roll.__html__() == f'<span class="dice" role="img" aria-label="3,3">{uses}</span>'
    state, roll = (
        values(positions.nodes(Threes(2, faces=8), points(Threes(2, faces=8))[0]), h)[-1] for h in ("state", "roll")
    )
    assert (state.__html__(), roll.__html__()) == (str(state), f'<b class="sum">{roll}</b>')  # eight has no pips


@pytest.mark.slow
def test_colours_behind_numbers(threes):
    cells = re.findall(r'style="--heat:(\d+)%;--side:var\(--(more|less)\)">([\d.]+)%', threes.text)
    assert cells
    for heat, side, win in cells:
        assert (side == "more") == (float(win) > 50)
        assert int(heat) == pytest.approx(60 * abs(float(win) - 50) / 50, abs=0.51)


def test_heat_is_of_the_strategies_alone():
    chapter = chapter_of(NINE)
    heats = {name: page.heat for name, page in contents(NINE).items() if page.heat}
    assert {f"departures-{name}-by-cost" for name in chapter.rules_of_thumb} < set(heats)
    assert np.isclose(heats["tournament-split"].middle, 0.5)


def test_a_page_has_room_for_so_many_rows(monkeypatch):
    monkeypatch.setattr(page, "MOST", 20)
    table = Table("Numbers", "", {"number": column("d", range(40))})
    text = page.book_page(BOX, [], [Section("numbers", Page(lambda: table), table, None)])
    [rest] = re.findall(r'id="rest-numbers">(.*?)</script>', text)
    assert zlib.decompress(base64.b64decode(rest)).decode().count("<tr>") == 20 - ROWS
    assert f"The first {ROWS} of 40 rows" in text
    assert 'data-count="40"' in text


def test_what_a_table_says_is_no_markup():
    table = Table("<i>", "<i>", {"<i>": column("", ["<i>"])})
    text = page.book_page(BOX, [Answer("<i>", "<i>", "x")], [Section("x", Page(lambda: table), table, None)])
    assert "<i>" not in text
    assert text.count("&lt;i&gt;") >= 7
