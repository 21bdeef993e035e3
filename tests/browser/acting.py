"""Steps of a visitor on a page; each waits until the page shows what was asked for.

A button changes the address and the page at once, so a test waits for the address. After a link or a
step back, tests wait for what they expect to see.
"""

import re

from playwright.sync_api import expect


def arrive(page, words):
    """Wait until the address contains some words."""
    expect(page).to_have_url(re.compile(re.escape(words)))


def click(where, name):
    """Click the button with this name."""
    where.get_by_role("button", name=name, exact=True).click()


def see_heading(page, words):
    """Wait until the first heading below the title has this text."""
    expect(page.locator("h2").first).to_have_text(words)


def moves_of(page):
    """Return the buttons of the legal moves."""
    return page.get_by_role("group", name="your move").get_by_role("button")


def moved(page, times):
    """Wait until so many moves of the game were made."""
    expect(page).to_have_url(re.compile(rf"[?&]played=\d+(\.\d+){{{times - 1}}}(&|$)"))


def roll_button(page):
    """Return the button that throws the dice."""
    return page.get_by_role("button", name="Roll", exact=True)


def roll(page):
    """Throw the dice and wait until they lie."""
    roll_button(page).click()
    expect(page.locator("h2").first).not_to_have_text(re.compile("^(Your turn|Roll again|Rolling …)$"))


def play(page, choose):
    """Play a game to its end; `choose` maps the number of moves to the index of one."""
    moves, times = moves_of(page), 0
    while True:
        if roll_button(page).count():
            roll(page)
        elif count := moves.count():
            moves.nth(choose(count)).click()
            moved(page, times := times + 1)
        else:
            return
