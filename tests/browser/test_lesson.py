"""Test the lesson against `stb_gym`, and the episode that the learner plays on the board."""

import re

import gymnasium as gym
import pytest
from playwright.sync_api import expect

import stb_gym
from stb_gym import strategy
from tests.browser.acting import GAMES, arrive, cells_of, click, follow, number_after, see_heading

TITLES = (
    "Random play",
    "Evaluate it",
    "One greedy step",
    "Why that nearly solves the game",
    "Exploration",
    "Where learning stops",
)


def test_the_lesson_has_six_steps(visitor):
    page = visitor.visit("learn")
    follow(page, "A lesson of six steps")
    for step, title in enumerate(TITLES, 1):
        see_heading(page, title)
        arrive(page, f"lesson?step={step}" if step > 1 else "lesson")
        visitor.look()
        if step < len(TITLES):
            follow(page, f"next: {TITLES[step]}")
    assert page.locator("[aria-label='its mistakes'] tbody tr").count() == 8
    follow(page, "back: Exploration")
    see_heading(page, "Exploration")


def test_the_numbers_of_the_lesson(reader):
    random = stb_gym.evaluate(GAMES["box"], strategy(GAMES["box"], "random"))
    found = stb_gym.hardness(gym.make("stb_gym/ShutTheBox-v0"))
    reader.visit("lesson?step=1")
    assert number_after("It loses", reader.page.locator("main")) == pytest.approx(random.regret, abs=0.006)
    reader.visit("lesson?step=2")
    assert number_after("all moves:", reader.page.locator("main")) == pytest.approx(random.value, abs=6e-4)
    reader.visit("lesson?step=3")
    greedy = number_after("player loses", reader.page.locator("main"))
    assert greedy == pytest.approx(found.shares[0] * found.random_regret, rel=0.05)
    reader.visit("lesson?step=5")
    without = number_after("bad, and loses", reader.page.locator("main"))
    curious = number_after(r"met \d+ and loses", reader.page.locator("main"))
    assert curious < without < random.regret


def test_one_episode_is_shown_on_the_board_with_old_and_new_values(visitor):
    page = visitor.visit("learn?seed=3")
    steps = page.locator(".steps li")
    for _ in range(2):
        click(page, "one episode")
        see_heading(page, "Watch a learner")
        expect(page.get_by_role("heading", name="One episode")).to_be_visible()
    last = steps.last.inner_text()
    tiles = re.search(r"open ([\d,]+): ", last)[1]
    before, after = map(float, re.search(r"([\d.]+) \N{RIGHTWARDS ARROW} ([\d.]+)$", last).groups())
    assert "No open tiles" in last
    score = sum(map(int, tiles.split(",")))
    assert min(before, score) <= after <= max(before, score)
    assert len(cells_of(page, "[aria-label='the curve'] tbody tr")) == 3
    visitor.look()
