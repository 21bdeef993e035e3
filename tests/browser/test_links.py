"""Test links: the title of the page, the notice about a part that does not exist, and the focus."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.acting import button, follow
from tests.browser.test_views import PERFECT

TITLES = {
    "board": "Analysis: open 1,2,3,4,5,6,7,8,9",
    "board?open=1,4,5&roll=9": "Analysis: open 1,4,5, roll 9",
    "map?open=1,4,5": "Map: open 1,4,5",
    "learn?explore=0.3&rate=0.1&seed=4": "Learn: Q-learning, explore 30%, rate 0.1, seed 4",
    "training?run=fitted-q-small-0&step=2000": "Training: fitted-q-small-0 after 2 k steps",
    "drill?seed=3": "Drill: seed 3",
}
USUAL = "This link names a {} that the page does not have: {}; shown is the usual one."
GOAL = "This link names a goal that the game does not have: {}; shown is "
POSITION = "This link names a position that the game does not have: {}; shown is the start."
MOVE = "This link names a move that the game does not have: played={}; shown is the game up to it."
UNKNOWN = "This link has words that the page does not know: {}."
VIEWS = ("play", "board", "learn", "training", "map", "drill")
WORDS_OF_OBJECTS = ("constructor", "toString", "__proto__", "hasOwnProperty", "valueOf", "isPrototypeOf")
NOTICES = {
    "nowhere?x": "This link names a view that the page does not have: nowhere; shown is ",
    "toString": "This link names a view that the page does not have: toString; shown is ",
    "board?open=77&roll=9": POSITION.format("open=77, roll=9"),
    "board?open=1,4,5&roll=13": POSITION.format("open=1,4,5, roll=13"),
    "board?roll=7,1": POSITION.format("roll=7,1"),
    "map?open=4,14": POSITION.format("open=4,14"),
    "map?by=loss&player=nobody": USUAL.format("player", "nobody"),
    "map?by=toString": USUAL.format("colouring", "toString"),
    "training?run=x": USUAL.format("training", "x"),
    "training?step=soon": USUAL.format("step", "soon"),
    "learn?rate=2": USUAL.format("learning rate", "2"),
    "learn?seed=-1": USUAL.format("seed", "-1"),
    "play?seed=soon": USUAL.format("seed", "soon"),
    "play?seed=2&coach=toString": USUAL.format("coach", "toString"),
    "play?seed=2&turn=third": USUAL.format("turn", "third"),
    "play?seed=2&against=ppo-small-0": USUAL.format("opponent", "ppo-small-0"),
    "play?seed=2&replay=0": USUAL.format("replay", "0"),
    "play?own=45.79": "This link names a throw that the page does not have: 45.79; shown is the game up to it.",
    "play?seed=2&played=99&replay=1": MOVE.format("99"),
    **{f"play?seed=2&played={moves}": MOVE.format(moves) for moves in ("99", "x", "-1", "0.1e0", "0.x", ".", "0..0")},
    **{f"{view}?{word}=1": UNKNOWN.format(f"{word}=1") for view, word in zip(VIEWS, WORDS_OF_OBJECTS, strict=True)},
    "board?for=shut:9": GOAL.format("for=shut:9"),
    "board?for=at-most:5&lead=3": GOAL.format("for=at-most:5, lead=3"),
    "board?for=at-most:05": GOAL.format("for=at-most:05"),
    "board?for=round&holders=2": GOAL.format("for=round, holders=2"),
    "board?for=win:3": GOAL.format("for=win:3") + "the fewest points.",
    "board?for=round&ties=toString": GOAL.format("for=round, ties=toString"),
    "board?for=round&after=9": GOAL.format("for=round, after=9") + "a round: first to play, 3 to come.",
    "board?open=1,4,5&shut=6": UNKNOWN.format("shut=6"),
}
SENSIBLE = [
    *("", "board?roll=4,5", "board?open=4,1", "board?open=1,4,5&roll=9&for=shut", "board?for=score"),
    *("board?for=at-most:0", "training?beside=nothing", "learn?explore=0&seed=0"),
    *("board?for=round&lead=12&holders=1&after=2&ties=split", "map?by=differ&player=random&other=optimal&open=1"),
    *(
        "play?seed=2&coach=during",
        "play?seed=2&played=0",
        "play?seed=0",
        "play?own=36.65.56&coach=after",
        "drill?seed=0",
    ),
]


@pytest.mark.parametrize("asked", TITLES)
def test_every_page_has_its_title(reader, asked):
    page = reader.visit(asked)
    expect(page).to_have_title(f"{TITLES[asked]} · Shut the box")
    expect(page.locator(".notice")).to_have_count(0)


@pytest.mark.parametrize("asked", NOTICES)
def test_a_notice_names_unknown_parts_of_a_link(reader, asked):
    page = reader.visit(asked)
    notice = page.locator(".notice")
    assert notice.inner_text().startswith(NOTICES[asked])
    if "position" in NOTICES[asked]:
        start = "open 1,2,3,4,5,6,7,8,9"
        assert start in page.title()
        assert f"{PERFECT.value:.3f}" in page.locator("main").inner_text()
        assert "roll" not in page.title()
    reader.look()
    follow(page, "Analysis")
    button(page, "9").first.click()
    expect(notice).to_have_count(0)


@pytest.mark.parametrize("asked", SENSIBLE)
def test_a_sensible_link_needs_no_notice(reader, asked):
    assert reader.visit(asked).locator(".notice").count() == 0


def test_a_link_moves_the_focus_to_the_heading(visitor):
    page = visitor.visit("training")
    focused = "document.activeElement.tagName"
    assert page.evaluate(focused) == "BODY"
    heading = page.locator("main h2").first
    follow(page, "Map")
    expect(heading).to_be_focused()
    page.get_by_role("link", name="Training").focus()
    page.keyboard.press("Enter")
    expect(heading).to_be_focused()
    page.get_by_role("link", name=re.compile("^open")).last.click()
    expect(heading).to_have_text(re.compile("^Best"))
    expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    button = page.locator("tbody th button").first
    button.click()
    expect(heading).not_to_be_focused()
    visitor.look()
