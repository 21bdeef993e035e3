"""Test trainings, the map and the drill against `stb_gym`, by mouse, by keyboard and as a table."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from stb_gym import ShutTheBox, solve, strategy
from stb_gym.solver import compile_game
from tests.browser.acting import (
    arrive,
    axis,
    button,
    cells_of,
    click,
    follow,
    move,
    moves_of,
    number_after,
    see_heading,
)

BOX = ShutTheBox()
TABLES = compile_game(BOX)
TEXTS = TABLES.positions(np.arange(TABLES.num_afterstates))["afterstate"]


def test_the_slider_moves_through_a_training(visitor, learned):
    page = visitor.visit("training")
    slider = page.get_by_role("slider", name="when")
    slider.focus()
    page.keyboard.press("Home")
    evaluations = [solve(BOX).evaluate(policy) for policy in learned]
    for at, found in enumerate(evaluations):
        expect(slider).to_have_attribute("aria-valuetext", f"after {at} k steps".replace("0 k", "0"))
        shown = number_after("loses", page.locator(".summary").first)
        assert shown == pytest.approx(found.regret, rel=0.01)
        rows = cells_of(page, "[aria-label='the mistakes of ppo-small-0'] tbody tr")
        for (position, cost, plays), mistake in zip(rows, found.mistakes(8), strict=True):
            assert position == TABLES.describe_state(mistake.state)
            assert float(cost) == pytest.approx(mistake.cost, rel=0.06)
            last = max(n for n, other in enumerate(evaluations) if other.loss[mistake.state] > 0)
            assert plays.endswith("not learnt" if last == 4 else f"learnt after {last + 1} k steps")
        page.keyboard.press("ArrowRight")
    visitor.look()


def test_trainings_share_one_axis_of_steps(visitor, learned):
    page = visitor.visit("training?run=fitted-q-small-0&beside=ppo-small-0&step=3500")
    summaries = page.locator(".summary")
    expect(summaries.first).to_contain_text("after 2 k steps")  # measured at 0, 1,000 and 2,000 steps
    expect(summaries.last).to_contain_text("after 3 k steps")
    slider = page.get_by_role("slider", name="when")
    before = slider.bounding_box()
    thumb = before["x"] + 8 + float(slider.input_value()) * (before["width"] - 16)
    cursor = page.locator(".chart .cursor").bounding_box()
    assert thumb == pytest.approx(cursor["x"] + cursor["width"] / 2, abs=2)
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(summaries.first).to_contain_text("after 2 k steps")
    expect(summaries.last).to_contain_text("after 4 k steps")
    click(page, "play")
    for steps in ("0", "1 k", "2 k", "3 k", "4 k"):  # from the beginning once more
        expect(summaries.last).to_contain_text(f"after {steps} steps")
    expect(button(page, "play")).to_be_visible()
    click(page, "play")
    click(page, "pause")
    expect(button(page, "play")).to_be_visible()
    visitor.look()


def test_the_ticks_of_the_chart_are_where_their_numbers_are(visitor, learned):
    page = visitor.visit("training?run=ppo-small-0")
    points = "line => [...line.points].map(({ x, y }) => [x, y])"
    x, y = np.array(page.locator(".chart .line").first.evaluate(points)).T
    regret = np.array([solve(BOX).evaluate(policy).regret for policy in learned])
    steps = 1000.0 * np.arange(len(learned))
    for group, place, numbers, drawn in (
        (".across", "x1", steps, x),
        (".tick:not(.across)", "y1", regret, y),
    ):
        ticks, place_of = axis(page, f".chart {group}", place, np.log10)
        assert len(ticks) > 2
        assert all(re.match(r"[0125]\.0+e", f"{number:e}") for number in ticks)
        assert drawn[numbers > 0] == pytest.approx(place_of(numbers[numbers > 0]), abs=0.01)
        assert ticks.get(0) in (None, pytest.approx(drawn[0]))  # before the first step


def test_without_trainings_there_is_no_view_of_them(reader):
    page = reader.visit("training", "threes")
    assert page.get_by_role("link", name="Training").count() == 0
    assert page.get_by_role("link", name="Play").get_attribute("aria-current") == "page"


def expected(at_states):
    return np.bincount(TABLES.state_origin, TABLES.state_probability * at_states, TABLES.num_afterstates)


BIGGEST, PERFECT = strategy(BOX, "biggest-first"), solve(BOX)
SHADES = {
    "by=value": lambda: PERFECT.afterstate_values,
    "by=visits&player=biggest-first": lambda: np.bincount(
        TABLES.state_origin, PERFECT.evaluate(BIGGEST).visits, TABLES.num_afterstates
    ),
    "by=loss&player=biggest-first": lambda: expected(PERFECT.evaluate(BIGGEST).loss),
    "by=differ&player=biggest-first&other=optimal": lambda: expected(
        (PERFECT.policy != BIGGEST) & (TABLES.choices > 0)
    ),
}


@pytest.mark.parametrize("shade", SHADES)
def test_the_map_as_a_table(reader, shade):
    page, numbers = reader.visit(f"map?{shade}"), SHADES[shade]()
    rows = cells_of(page, "[aria-label='the same as a table'] tbody tr")
    assert len(rows) == 15
    shown = [float(re.search(r"[\d.]+", text)[0]) / (100 if "%" in text else 1) for _, text in rows]
    assert shown == pytest.approx([numbers[TEXTS.index(text)] for text, _ in rows], rel=0.01, abs=1e-4)
    lives = np.unique(TABLES.state_origin[TABLES.decisions])
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
        lost = numbers[TEXTS.index(position)]
        assert loss == "loses nothing" if lost == 0 else float(loss.split()[1]) == pytest.approx(lost, rel=0.06)
    assert len(seen) >= 15
    canvas = page.locator("canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] / 2, "y": box["height"] * 0.7})
    expect(area).not_to_have_attribute("aria-valuetext", text)
    assert area.get_attribute("aria-valuetext").split(": ")[0] not in seen
    click(page, "where two disagree")
    page.get_by_role("combobox", name=re.compile("^and")).select_option("random")
    arrive(page, "by=differ&player=biggest-first&other=random")
    visitor.look()
    follow(page, "look at it")
    see_heading(page, "Before the throw")


def test_the_map_has_true_axes_and_a_true_legend(visitor):
    page = visitor.visit("map?by=value")
    canvas, area = page.locator("canvas"), page.get_by_role("slider")
    expect(page.get_by_text("points so far")).to_be_visible()
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    ticks = page.locator(".ticks span")
    assert ticks.count() >= 4
    for tick in ticks.all():
        place = tick.bounding_box()
        middle = place["x"] + place["width"] / 2 - box["x"]
        canvas.click(position={"x": middle, "y": box["height"] - 3})
        expect(area).to_have_attribute("aria-valuetext", re.compile("^open"))
        tiles = area.get_attribute("aria-valuetext").split(":")[0].split()[1]
        assert sum(map(int, tiles.split(","))) == int(tick.inner_text())
    ramp = page.locator(".ramp div").bounding_box()
    values = PERFECT.afterstate_values[np.unique(TABLES.state_origin[TABLES.decisions])]
    found = page.locator(".ramp span").all()
    assert len(found) >= 3
    for tick in found:
        place, value = tick.bounding_box(), float(tick.inner_text())
        share = (place["x"] + place["width"] / 2 - ramp["x"]) / ramp["width"]
        assert value % 5 == 0
        assert share == pytest.approx((value - values.max()) / (values.min() - values.max()), abs=0.01)


COLOURS = """() => {
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const cell = canvas.width / 44;
    const found = [];
    for (let x = cell / 2; x < canvas.width; x += cell)
        for (let y = canvas.height - cell / 2; y > 0; y -= cell) {
            const at = 4 * (canvas.width * Math.floor(y) + Math.floor(x));
            if (data[at + 3]) found.push([...data.slice(at, at + 3)]);
        }
    return found;
}"""


def contrast(one, other):
    """Return the contrast of two colours, as in WCAG."""
    light = [
        np.dot([0.2126, 0.7152, 0.0722], [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour])
        for colour in (np.array(one) / 255, np.array(other) / 255)
    ]
    return (max(light) + 0.05) / (min(light) + 0.05)


@pytest.mark.parametrize("shown", ["training?run=ppo-small-0&step=2000", "map?by=loss&player=biggest-first"])
@pytest.mark.parametrize("forced", ["none", "active"])
def test_mistakes_stand_out_from_other_positions(visitor, shown, forced, learned):
    visitor.page.emulate_media(forced_colors=forced)
    page = visitor.visit(shown)
    page.wait_for_function("() => document.querySelector('canvas').width !== 300")
    policy = learned[2] if "training" in shown else BIGGEST
    lost = expected(PERFECT.evaluate(policy).loss * (PERFECT.evaluate(policy).visits > 0 if "training" in shown else 1))
    colours = [tuple(each) for each in page.evaluate(COLOURS)]
    pale = max(set(colours), key=colours.count)
    others = [each for each in colours if each != pale]
    assert len(others) == pytest.approx(np.count_nonzero(lost), abs=1)  # the position that is chosen has a frame
    assert min(contrast(each, pale) for each in others) >= 3
    assert len(set(others)) > 3


def test_the_drill_asks_answers_and_counts(visitor):
    page = visitor.visit("drill?seed=3")
    best = solve(BOX)
    right = lost = 0
    for asked in range(1, 4):
        position = page.locator(".verdict small").inner_text()
        [state] = [n for n in TABLES.decisions if TABLES.describe_state(n) == position]
        expect(moves_of(page)).to_have_count(int(TABLES.choices[state]))
        move(page)
        pair = TABLES.pair_start[state]
        right, lost = right + int(best.optimal[pair]), lost - best.advantage[pair]
        expect(page.locator(".tally")).to_contain_text(f"{right} of {asked} right")
        assert number_after("right,", page.locator(".tally")) == pytest.approx(lost, rel=0.06)
        visitor.look()
        click(page, "next")
    click(page, "other positions")
    arrive(page, "seed=4")
