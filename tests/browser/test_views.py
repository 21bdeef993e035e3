"""Trainings, the map and the drill show the figures of `stb_gym`, by mouse, keyboard and table."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from stb_gym import ShutTheBox, solve, strategy
from stb_gym.games import words_of
from stb_gym.solver import compile_game
from tests.browser.acting import arrive, moves_of

BOX = ShutTheBox()
TABLES = compile_game(BOX)
ROWS = """name => [...document.querySelectorAll(`[aria-label='${name}'] tbody tr`)]
    .map(row => [...row.cells].map(cell => cell.textContent))"""


def state_of(text):
    """Return the state with a name."""
    words = words_of(BOX)
    return next(s for s in range(TABLES.states) if words.state(int(TABLES.held[s]), int(TABLES.dice[s])) == text)


def test_the_slider_moves_through_a_training(visitor, learned):
    page = visitor.visit("training")
    slider = page.get_by_role("slider", name="when")
    slider.focus()
    page.keyboard.press("Home")
    evaluations = [solve(BOX).evaluate(policy) for policy in learned]
    for at, found in enumerate(evaluations):
        expect(slider).to_have_attribute("aria-valuetext", f"after {at} k steps".replace("0 k", "0"))
        summary = page.locator(".told").first.inner_text()
        assert float(re.search(r"loses\s+([\d.]+)", summary)[1]) == pytest.approx(found.regret, rel=0.01)
        mistakes = found.mistakes(8)
        rows = page.evaluate(ROWS, "the mistakes of ppo-small-0")
        for (position, cost, plays), mistake in zip(rows, mistakes, strict=True):
            assert position == TABLES.describe_node(mistake.node)
            assert float(cost) == pytest.approx(mistake.cost, rel=0.06)
            last = max(n for n, other in enumerate(evaluations) if other.loss[mistake.node] > 0)
            assert plays.endswith("not learnt" if last == 4 else f"learnt after {last + 1} k steps")
        page.keyboard.press("ArrowRight")
    visitor.look()


def test_trainings_stand_side_by_side_or_alone(visitor):
    page = visitor.visit("training")
    summaries = page.locator(".told")
    expect(summaries).to_have_count(2)
    page.get_by_label("beside").select_option("nothing")
    expect(summaries).to_have_count(1)
    page.get_by_label("the training").select_option("fitted-q-small-0")
    expect(summaries).to_have_text(re.compile("^fitted-q-small-0"))
    visitor.look()
    page.get_by_role("link", name=re.compile("^open")).first.click()
    expect(page.locator("h2").first).to_have_text(re.compile("^Best:"))


def test_without_trainings_there_is_no_view_of_them(reader):
    page = reader.visit("training", "threes")
    assert page.get_by_role("link", name="Training").count() == 0
    assert page.get_by_role("link", name="Play").get_attribute("aria-current") == "page"


def expected(at_nodes):
    return np.bincount(TABLES.node_state, TABLES.node_probability * at_nodes, TABLES.states)


BIGGEST, PERFECT = strategy(BOX, "biggest-first"), solve(BOX)
SHADES = {
    "by=value": lambda: PERFECT.state_value,
    "by=visits&player=biggest-first": lambda: np.bincount(
        TABLES.node_state, PERFECT.evaluate(BIGGEST).visits, TABLES.states
    ),
    "by=loss&player=biggest-first": lambda: expected(PERFECT.evaluate(BIGGEST).loss),
    "by=differ&player=biggest-first&other=optimal": lambda: expected(
        (PERFECT.policy != BIGGEST) & (TABLES.choices > 0)
    ),
}


@pytest.mark.parametrize("shade", SHADES)
def test_the_map_as_a_table(reader, shade):
    page, numbers = reader.visit(f"map?{shade}"), SHADES[shade]()
    rows = page.evaluate(ROWS, "the same as a table")
    assert len(rows) == 15
    shown = [float(re.search(r"[\d.]+", text)[0]) / (100 if "%" in text else 1) for _, text in rows]
    assert shown == pytest.approx([numbers[state_of(text)] for text, _ in rows], rel=0.01, abs=1e-4)
    lives = np.unique(TABLES.node_state[TABLES.decisions])
    best = np.sort(numbers[lives])
    if shade != "by=value":  # fewer points are better
        best = best[::-1]
    assert shown == pytest.approx(best[:15], rel=0.01, abs=1e-4)


def test_the_map_by_keyboard_and_by_mouse(visitor):
    page = visitor.visit("map?by=loss&player=biggest-first")
    numbers = SHADES["by=loss&player=biggest-first"]()
    area = page.get_by_role("slider")
    area.focus()
    text, seen = area.get_attribute("aria-valuetext"), set()
    for key in ["ArrowLeft"] * 12 + ["ArrowUp"] * 2 + ["ArrowRight"] * 3 + ["ArrowDown"]:
        page.keyboard.press(key)
        expect(area).not_to_have_attribute("aria-valuetext", text)
        text = area.get_attribute("aria-valuetext")
        position, loss = text.split(": ")
        seen.add(position)
        lost = numbers[state_of(position)]
        assert loss == "loses nothing" if lost == 0 else float(loss.split()[1]) == pytest.approx(lost, rel=0.06)
    assert len(seen) >= 15
    canvas = page.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] / 2, "y": box["height"] * 0.7})
    expect(area).not_to_have_attribute("aria-valuetext", text)
    assert area.get_attribute("aria-valuetext").split(": ")[0] not in seen
    page.get_by_role("button", name="where two disagree").click()
    page.get_by_role("combobox", name=re.compile("^and")).select_option("random")
    arrive(page, "by=differ&player=biggest-first&other=random")
    visitor.look()
    page.get_by_role("link", name="look at it").click()
    expect(page.locator("h2").first).to_have_text("Before the throw")


def test_the_map_is_drawn_in_many_colours(reader):
    page = reader.visit("map?by=loss&player=biggest-first")
    page.wait_for_function(
        """() => {
            const canvas = document.querySelector("canvas");
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            const seen = new Set();
            for (let at = 0; at < pixels.length; at += 4) seen.add(pixels.slice(at, at + 3).join());
            return seen.size > 20;
        }"""
    )


def test_the_drill_asks_answers_and_counts(visitor):
    page = visitor.visit("drill?seed=3")
    best = solve(BOX)
    right = lost = 0
    for asked in range(1, 4):
        position = page.locator(".verdict small").inner_text()
        [node] = [n for n in TABLES.decisions if TABLES.describe_node(n) == position]
        expect(moves_of(page)).to_have_count(int(TABLES.choices[node]))
        moves_of(page).first.click()
        edge = TABLES.edge_start[node]
        right, lost = right + int(best.optimal[edge]), lost - best.advantage[edge]
        expect(page.locator(".tally")).to_contain_text(f"{right} of {asked} right")
        assert float(re.search(r"([\d.]+) lost", page.locator(".tally").inner_text())[1]) == pytest.approx(
            lost, rel=0.06
        )
        visitor.look()
        page.get_by_role("button", name="next").click()
    page.get_by_role("button", name="other positions").click()
    arrive(page, "seed=4")
