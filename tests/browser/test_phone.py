"""Test that a small phone shows the answer of a link first, all tabs, and targets that fingers reach."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import visiting

# Links within a sentence may be as high as its line.
SMALL_TARGETS = """() => [...document.querySelectorAll("a, button, summary, select, input")]
    .filter((each) => each.checkVisibility() && !each.matches("p a, [type=range], [type=checkbox]"))
    .map((each) => [each.outerHTML, each.getBoundingClientRect().height])
    .filter(([, height]) => height < 24)"""


@pytest.fixture
def phone(browser, pages):
    with visiting(browser, pages, "phone") as visitor:
        visitor.page.set_viewport_size({"width": 360, "height": 740})
        yield visitor


def test_the_best_move_is_on_the_first_screen(phone):
    page = phone.visit("board?open=1,4,5,8&roll=9")
    expect(page.get_by_role("heading", name="Best: shut 4,5")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("heading", name="Best: shut 4,5")).to_have_count(1)
    phone.look()


def test_all_tabs_are_in_sight(phone):
    page = phone.visit("board")
    for tab in page.get_by_role("navigation", name="views").get_by_role("link").all():
        expect(tab).to_be_in_viewport(ratio=0.9)


@pytest.mark.parametrize(
    "view", ["play", "board?open=1,4,5,8&roll=9", "values", "learn", "lesson?step=6", "training", "map", "drill"]
)
def test_targets_are_high_enough(phone, view):
    assert phone.visit(view).evaluate(SMALL_TARGETS) == []
