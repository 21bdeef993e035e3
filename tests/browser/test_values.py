"""Test the view of values: the sum of a position, the sweep, and the values of the learner, against `stb_gym`."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from stb_gym.games import rolls
from tests.browser.acting import GAMES, arrive, button, cells_of, click, follow, number_after, see_heading
from tests.browser.test_views import COLOURS, PERFECT, TABLES, TEXTS

SUM = "section:has(#sum) tbody tr"
FINISHED = np.bincount(TABLES.state_origin, TABLES.choices, TABLES.num_afterstates) == 0


@pytest.mark.parametrize("position", ["open=1,4,5", "open=2,3,4,5,6,7,8,9"])
def test_the_sum_of_a_position_is_written_out(visitor, position):
    page = visitor.visit(f"values?{position}")
    afterstate = TEXTS.index(position.replace("=", " "))
    states = np.flatnonzero(TABLES.state_origin == afterstate)
    counts = rolls(GAMES["box"], 2).counts
    rows, sums = cells_of(page, SUM), []
    for state, count, (roll, product, adds, move) in zip(states, counts, rows, strict=True):
        assert roll == GAMES["box"].describe_roll(TABLES.state_roll(state))
        chance, worth = product.split(" \N{MULTIPLICATION SIGN} ")
        assert chance == f"{count}/36"
        assert float(worth) == pytest.approx(PERFECT.state_values[state], abs=6e-4)
        assert float(adds) == pytest.approx(count / 36 * PERFECT.state_values[state], abs=6e-4)
        assert move.startswith("shut" if TABLES.choices[state] else "No open tiles")
        sums.append(float(adds))
    total = float(page.locator("tfoot b").inner_text())
    assert total == pytest.approx(PERFECT.afterstate_values[afterstate], abs=6e-4)
    assert sum(sums) == pytest.approx(total, abs=0.01)
    visitor.look()
    button(page, "9").last.click()
    arrive(page, "board?" + position)


def test_the_sweep_fills_the_map_column_by_column(visitor):
    page = visitor.visit("values?step=12&open=1,2,3,4")
    score = np.array([sum(map(int, text.split()[1].split(","))) if "," in text else 0 for text in TEXTS])
    computed = np.count_nonzero(~FINISHED & (score <= 13) & (score > 0)) + 8  # columns from 2 points; single tiles
    page.wait_for_function("() => document.querySelector('canvas').width !== 300")
    colours = [tuple(each) for each in page.evaluate(COLOURS)]
    pale = max(set(colours), key=colours.count)
    assert sum(each != pale for each in colours) == pytest.approx(computed, abs=12)  # frames cover some squares
    expect(page.get_by_role("slider", name="all positions")).to_have_attribute(
        "aria-valuetext", re.compile("expected$")
    )
    click(page, "step")
    arrive(page, "step=13")
    slider = page.get_by_role("slider", name="sweep")
    slider.focus()
    page.keyboard.press("Home")
    expect(slider).to_have_attribute("aria-valuetext", "0 of 44 steps")
    expect(page.get_by_text("The sweep computes it in step 9")).to_be_visible()
    visitor.look()
    click(page, "play")
    expect(page.locator("tfoot b")).to_be_visible()
    click(page, "pause")


def test_the_sweep_of_threes_begins_on_the_right(reader):
    page = reader.visit("values?step=1", "threes")
    area = page.get_by_role("slider", name="all positions")
    expect(page.get_by_text("Moves lead to the right")).to_be_visible()
    expect(area).to_have_attribute("aria-valuetext", re.compile("computed in step 25$"))
    area.focus()
    for _ in range(24):
        page.keyboard.press("ArrowRight")
    expect(area).to_have_attribute("aria-valuetext", re.compile("points expected$"))


def test_the_values_of_the_learner_are_beside_the_exact_ones(visitor):
    page = visitor.visit("values")
    area = page.get_by_role("slider", name="all positions")
    click(page, "what the learner believes")
    expect(area).to_have_attribute("aria-valuetext", re.compile("the learner was never here"))
    click(page, "1 episode")
    expect(area).to_have_attribute("aria-valuetext", re.compile("the learner believes"))
    believed = number_after("believes", page.locator(".picked p"))
    assert abs(PERFECT.value - believed) == pytest.approx(
        number_after(rf"believes {believed:.3f},", page.locator(".picked p")), abs=0.01
    )
    visitor.look()
    click(page, "the learner's error")
    click(page, "100 episodes")
    expect(page.locator(".player")).to_contain_text("101 episodes")
    visitor.look()
    follow(page, "Learn")
    see_heading(page, "Watch a learner")
    expect(page.locator(".count")).to_contain_text("101")
