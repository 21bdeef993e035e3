"""The page of a book in a browser: nothing sticks out or is out of reach, tables are searched and sorted."""

import re

import pytest
from playwright.sync_api import expect

from stb_gym import ShutTheBox, Threes
from stb_gym.book import write_book
from stb_gym.book.contents import contents
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
        page = visitor.visit("answers", game)
        expect(page.locator("#answers dt").first).to_be_visible()
        expect(page.locator("th button").first).to_be_attached()  # the script has run
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= page.viewport_size["width"]
        page.evaluate(f"document.querySelectorAll('tbody tr:nth-child(n + {SEEN + 1})').forEach((row) => row.remove())")
        visitor.look()
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(map(int, re.findall(r"\d+", ground))) > 384
        assert light == (SCREENS[screen]["color_scheme"] == "light")


def test_a_table_is_searched(browser, pages):
    game = GAMES["box"]
    page_of = contents(game)["choices-sum"]
    table = page_of.shown(page_of.table())
    with visiting(browser, pages, "phone") as visitor:
        page = visitor.visit("choices-sum")
        section = page.locator("#choices-sum")
        rows = section.locator("tbody tr")
        expect(section.locator("caption")).to_have_text(f"The first {rows.count()} of {len(table)} rows")
        section.get_by_role("searchbox").fill("open 1,2,4,5 7")
        wanted = [row for row in table.cells() if all(any(word in cell for cell in row) for word in ("1,2,4,5", "7"))]
        expect(section.locator("tbody tr:visible")).to_have_count(len(wanted))
        expect(section.locator("caption")).to_have_text(f"{len(wanted)} of {len(table)} rows")
        section.get_by_role("searchbox").fill("")
        expect(section.locator("caption")).to_have_text(f"{len(table)} rows")
        expect(section.get_by_role("button", name="show all rows")).to_have_count(0)
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
        page = visitor.visit("openings")
        heading = page.locator("#openings").get_by_role("columnheader", name="best for the points")
        for way in ("ascending", "descending"):
            heading.get_by_role("button").click()
            expect(heading).to_have_attribute("aria-sort", way)
            moves = page.locator("#openings tbody td:nth-child(4)").all_inner_texts()
            assert moves[:-1] == sorted(filter(None, moves), reverse=way == "descending")
            assert moves[-1] == ""
        page.get_by_role("link", name="Best and worst moves: chance to shut the box, greatest is best").click()
        expect(page.locator("#nodes-shut table")).to_be_visible()


def test_the_page_is_whole_without_a_script(browser, pages):
    context = browser.new_context(offline=True, java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["threes"])
    expect(page.locator("#answers dt").first).to_be_visible()
    assert page.locator("input, button").count() == 0
    assert page.locator("#choices-points tbody tr").count() > 10
    context.close()
