"""Steps of a visitor on a page, and exact results to compare with the page.

A step waits until the page shows its effect. A button changes the address and the page at once, so tests wait for the
address after it. After a link or a step back, they wait for an element of the new page.
"""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import stb_gym
from stb_gym import ShutTheBox, Threes
from stb_gym.measure import bundled_policies
from stb_gym.rounds import Round
from stb_gym.solver import compile_game

GAMES = {"box": ShutTheBox(), "threes": Threes()}
CELLS = "rows => rows.map((row) => [...row.querySelectorAll('td, th, dt, dd')].map((cell) => cell.textContent))"


def arrive(page, words):
    """Wait until the address contains `words`."""
    expect(page).to_have_url(re.compile(re.escape(words)))


def button(where, name):
    """Return the button with this name."""
    return where.get_by_role("button", name=name, exact=True)


def click(where, name):
    """Click the button with this name."""
    button(where, name).click()


def follow(page, name):
    """Click the link with this name."""
    page.get_by_role("link", name=name).click()


def see_heading(page, words):
    """Wait until the first heading below the title has this text."""
    expect(page.locator("h2").first).to_have_text(words)


def moves_of(page):
    """Return the buttons of the legal moves."""
    return page.get_by_role("group", name="your move").get_by_role("button")


def move(page):
    """Make the first of the legal moves."""
    moves_of(page).first.click()


def moved(page, times):
    """Wait until the address has `times` moves."""
    expect(page).to_have_url(re.compile(rf"[?&]played=\d+(\.\d+){{{times - 1}}}(&|$)"))


def roll_button(page):
    """Return the button that throws the dice."""
    return button(page, "Roll")


def roll(page):
    """Throw the dice and wait until they have fallen."""
    roll_button(page).click()
    expect(page.locator("h2").first).not_to_have_text(re.compile("^(Your turn|Roll again|Rolling …)$"))


def play(page, choose=lambda moves: 0):
    """Play a game to its end; `choose` maps the number of legal moves to the index of one, by default the first."""
    moves, times = moves_of(page), 0
    while True:
        if roll_button(page).count():
            roll(page)
        elif count := moves.count():
            moves.nth(choose(count)).click()
            moved(page, times := times + 1)
        else:
            return


def cells_of(page, rows):
    """Return the texts of the cells of each row that the selector `rows` finds."""
    return page.locator(rows).evaluate_all(CELLS)


def number_after(words, element):
    """Return the number that follows a regular expression in the text of an element."""
    return float(re.search(rf"{words}\s+(\d+(?:\.\d+)?)", element.inner_text())[1])


def policy_of(game, name):
    """Return the policy of a strategy or a bundled policy."""
    return stb_gym.load_policy(name, game) if name in bundled_policies(game) else stb_gym.strategy(game, name)


def solve_round(game, scores_so_far, ties="split", players=4):
    """Return perfect play of a turn in a round of perfect players, given the scores so far."""
    turn = Round(game, players=players, ties=ties).solve().turns[scores_so_far.after]
    chance = turn.utility(np.array([turn.scores_so_far.find(scores_so_far)]))[0]
    return stb_gym.solve(game, lambda score: chance[compile_game(game).place_of(score)])


TICKS = """([ticks, place]) => [...document.querySelectorAll(ticks)].map((tick) => [
    tick.querySelector("text").textContent, Number(tick.querySelector("line").getAttribute(place))])"""


def axis(page, ticks, place, measure=float):
    """Return the positions of the ticks of an axis by their numbers, and the function from numbers to positions.

    The function is linear in `measure`, such as `np.log10`. All ticks above 0 must agree with it.
    """
    places = {number_of(text): at for text, at in page.evaluate(TICKS, [ticks, place])}
    measured, drawn = np.array([(measure(number), at) for number, at in places.items() if number > 0]).T
    slope, offset = np.polyfit(measured, drawn, 1)
    assert drawn == pytest.approx(slope * measured + offset, abs=0.01)
    return places, lambda number: slope * measure(number) + offset


def number_of(text):
    """Parse the label of a tick."""
    digits, _, unit = text.partition(" ")
    return float(digits) * {"": 1, "k": 1e3, "M": 1e6}[unit]
