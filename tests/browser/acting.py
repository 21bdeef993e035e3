"""What one does on a page, and how one knows that it is done: nothing is read before the page shows what was asked for.

A button changes the address and the page in one go, so that whoever waits for the address sees the page that belongs to
it. A link and a step back do not: there tests wait for what they expect to see.
"""

import re

from playwright.sync_api import expect


def arrive(page, said):
    """Wait until the address says something."""
    expect(page).to_have_url(re.compile(re.escape(said)))


def moves_of(page):
    """The buttons of the moves there are."""
    return page.get_by_role("group", name="your move").get_by_role("button")


def moved(page, times):
    """Wait until so many moves of the game were made."""
    expect(page).to_have_url(re.compile(rf"[?&]played=\d+(\.\d+){{{times - 1}}}(&|$)"))


def play(page, choose):
    """Play a game from first to last; `choose` takes the number of moves there are and says which to make."""
    moves = moves_of(page)
    for times in range(1, 21):
        if not moves.count():
            return
        moves.nth(choose(moves.count())).click()
        moved(page, times)
    raise AssertionError("the game does not end")
