"""Steps of a visitor on a page; each waits until the page shows what was asked for.

A button changes the address and the page at once, so a test waits for the address. After a link or a
step back, tests wait for what they expect to see.
"""

import re

import numpy as np
import pytest
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


TICKS = """([ticks, place]) => [...document.querySelectorAll(ticks)].map((tick) => [
    tick.querySelector("text").textContent, Number(tick.querySelector("line").getAttribute(place))])"""


def axis(page, ticks, place, measure=float):
    """Return the places of the ticks of an axis by their numbers, and the function from numbers to places.

    All ticks above 0 must agree on it. It is linear in `measure`, such as `np.log10`.
    """
    places = {number_of(text): at for text, at in page.evaluate(TICKS, [ticks, place])}
    measured, drawn = np.array([(measure(number), at) for number, at in places.items() if number > 0]).T
    slope, offset = np.polyfit(measured, drawn, 1)
    assert drawn == pytest.approx(slope * measured + offset, abs=0.01)
    return places, lambda number: slope * measure(number) + offset


def number_of(text):
    """Return the number that a label of an axis shows."""
    digits, _, unit = text.partition(" ")
    return float(digits) * {"": 1, "k": 1e3, "M": 1e6}[unit]
