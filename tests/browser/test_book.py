"""The page of a book in a browser: nothing sticks out or is out of reach, tables are searched and sorted."""

import re

import pytest
from playwright.sync_api import expect

from stb_gym import ShutTheBox, Threes
from stb_gym.book import Page, page, write_book
from stb_gym.book.chapters import Section
from stb_gym.book.contents import contents
from stb_gym.output import Table, column
from tests.browser.conftest import SCREENS, visiting

GAMES = {"box": ShutTheBox(6), "threes": Threes(2)}
SEEN = 2  # rows of each table that axe-core looks at; the others are like them


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    shelf = tmp_path_factory.mktemp("shelf")
    for name, game in GAMES.items():
        write_book(game, shelf / name)
    return {name: (shelf / name / "index.html").as_uri() for name in GAMES}


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("game", GAMES)
def test_the_page_can_be_read_by_all(browser, pages, game, screen):
    with visiting(browser, pages, screen) as visitor:
        leaf = visitor.visit("answers", game)
        expect(leaf.locator("#answers dt").first).to_be_visible()
        expect(leaf.locator("th button").first).to_be_attached()  # the script has run
        leaf.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert leaf.evaluate("document.documentElement.scrollWidth") <= leaf.viewport_size["width"]
        leaf.evaluate(f"document.querySelectorAll('tbody tr:nth-child(n + {SEEN + 1})').forEach((row) => row.remove())")
        visitor.look()
        ground = leaf.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(map(int, re.findall(r"\d+", ground))) > 384
        assert light == (SCREENS[screen]["color_scheme"] == "light")


def test_a_table_is_searched(browser, pages):
    game = GAMES["box"]
    page_of = contents(game)["choices-sum"]
    table = page_of.shown(page_of.table())
    with visiting(browser, pages, "phone") as visitor:
        leaf = visitor.visit("choices-sum")
        section = leaf.locator("#choices-sum")
        rows = section.locator("tbody tr")
        expect(section.locator("caption")).to_have_text(f"The first {rows.count()} of {len(table)} rows")
        section.get_by_role("searchbox").fill("open 1,2,4,5 7")
        wanted = [row for row in table.cells() if all(any(word in cell for cell in row) for word in ("1,2,4,5", "7"))]
        expect(section.locator("tbody tr:visible")).to_have_count(len(wanted))
        expect(section.locator("caption")).to_have_text(f"{len(wanted)} of {len(table)} rows")
        section.get_by_role("searchbox").fill("")
        expect(section.locator("caption")).to_have_text(f"{len(table)} rows")
        expect(section.get_by_role("button", name="show more rows")).to_have_count(0)
        visitor.look()


def test_a_table_is_sorted_either_way_by_all_of_its_rows(browser, pages):
    page_of = contents(GAMES["box"])["choices-sum"]
    table = page_of.shown(page_of.table())
    with visiting(browser, pages, "desktop") as visitor:
        section = visitor.visit("choices-sum").locator("#choices-sum")
        heading = section.get_by_role("columnheader", name="best value")
        for way, down in (("ascending", False), ("descending", True)):
            heading.get_by_role("button").click()
            expect(heading).to_have_attribute("aria-sort", way)
            expect(section.locator("tbody tr")).to_have_count(len(table))
            shown = [float(text) for text in section.locator("tbody td:nth-child(4)").all_inner_texts()]
            assert shown == sorted(shown, reverse=down)
            assert shown == pytest.approx(sorted(table.columns["best value"].values, reverse=down), abs=6e-5)


def test_what_is_empty_comes_last_and_a_link_opens_what_is_folded(browser, pages):
    with visiting(browser, pages, "desktop") as visitor:
        leaf = visitor.visit("openings")
        heading = leaf.locator("#openings").get_by_role("columnheader", name="best for the points")
        for way in ("ascending", "descending"):
            heading.get_by_role("button").click()
            expect(heading).to_have_attribute("aria-sort", way)
            moves = leaf.locator("#openings tbody td:nth-child(4)").all_inner_texts()
            assert moves[:-1] == sorted(filter(None, moves), reverse=way == "descending")
            assert moves[-1] == ""
        leaf.get_by_role("link", name="Best and worst moves: chance to shut the box, greatest is best").click()
        expect(leaf.locator("#nodes-shut table")).to_be_visible()


def test_the_page_is_whole_without_a_script(browser, pages):
    context = browser.new_context(offline=True, java_script_enabled=False)
    leaf = context.new_page()
    leaf.goto(pages["threes"])
    expect(leaf.locator("#answers dt").first).to_be_visible()
    assert leaf.locator("input, button").count() == 0
    assert leaf.locator("#choices-points tbody tr").count() > 10
    context.close()


def test_a_page_says_where_the_other_rows_are(browser, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MOST", 30)
    table = Table("Numbers", "", {"number": column("d", range(40))})
    file = tmp_path / "page.html"
    file.write_text(page.book_page(GAMES["threes"], [], [Section("numbers", Page(lambda: table), table, None)]))
    with visiting(browser, {"box": file.as_uri()}, "desktop") as visitor:
        section = visitor.visit("numbers").locator("#numbers")
        section.get_by_role("button", name="show more rows").click()
        expect(section.locator("caption")).to_have_text("30 rows, the first of 40; the file has all")
        expect(section.locator("tbody tr")).to_have_count(30)
