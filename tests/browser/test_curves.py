"""Test the page of learning curves: the ranking after equal steps, the measurements, and the mistakes of an agent."""

import subprocess
import sys

import numpy as np
import pytest
from playwright.sync_api import expect

from tests import ROOT
from tests.browser.acting import axis, button, click

MAKE = """
import sys
from pathlib import Path
from tests.training.fake_runs import ENV, fake_run, fake_runs
from training.compare import main
from training.results import read_measurements, save_results
folder = Path(sys.argv[1])
longer = fake_run(folder / "longer", ["worst", "biggest-first", "biggest-first"], "sb3-a2c", steps=3000)
save_results(folder / "longer.csv.gz", read_measurements([longer]))
other = fake_run(folder / "library", ["worst", "lowest-first", "lowest-first"], "sb3-dqn")
runs = map(str, [*fake_runs(folder / "runs"), other, folder / "longer.csv.gz"])
sys.exit(main([*runs, "--out", str(folder / "page.html")]))
"""
RANKING = ["tabular-afterstates", "greedy-step", "q-learning", "fewest-then-biggest", "random", "sb3-dqn"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write a page of five runs in another process, because this one should not import torch."""
    folder = tmp_path_factory.mktemp("curves")
    subprocess.run([sys.executable, "-c", MAKE, str(folder)], cwd=ROOT, check=True, capture_output=True)
    return {"curves": (folder / "page.html").as_uri()}


def ranking(page):
    return [name.strip() for name in page.get_by_label("ranking").get_by_role("rowheader").all_inner_texts()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_readable_with_and_without_mistakes(visitor, scheme):
    page = visitor.visit("", "curves")
    page.emulate_media(color_scheme=scheme)
    visitor.look()
    click(page, "q-learning")
    visitor.look()


def test_agents_of_equal_steps_are_ranked_best_first(reader):
    page = reader.visit("", "curves")
    assert ranking(page) == RANKING
    steps = page.get_by_role("group", name="steps of training")
    assert steps.get_by_role("button").all_inner_texts() == ["2 k", "3 k", "all"]
    click(steps, "3 k")
    assert "sb3-a2c" in ranking(page)
    assert "q-learning" not in ranking(page)
    click(steps, "all")
    assert {"sb3-a2c, 3 k", "q-learning, 2 k"} < {*ranking(page)}
    page.reload()  # the address keeps the choice
    assert "sb3-a2c, 3 k" in ranking(page)


@pytest.mark.parametrize("task", ["nowhere", "constructor", "toString"])
def test_a_link_to_an_unknown_task_shows_the_first(reader, task):
    assert ranking(reader.visit(task, "curves")) == RANKING


def test_a_pointer_or_a_slider_picks_a_measurement(reader):
    page = reader.visit("?across=linear", "curves")
    said = page.get_by_label("learning curves").locator("p").first
    expect(said).to_contain_text("tabular-afterstates 0 (0 to 0) after 2 k steps, 0.33 min")
    box = page.get_by_role("img", name="curves of").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)  # the worst play is near the top
    expect(said).to_contain_text("after 1 k steps, 0.17 min")
    page.get_by_label("measurement").focus()
    page.keyboard.press("End")
    expect(said).to_contain_text("after 2 k steps")
    page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("after 1 k steps")
    page.get_by_role("combobox", name="by").select_option("minutes")
    assert "processor minutes" in page.get_by_role("img", name="curves of").text_content()


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_ticks_stand_where_their_values_are(reader, scale):
    page = reader.visit(f"?up={scale}&across={scale}", "curves")
    button(page, "q-learning").focus()
    ticks, place_of = axis(page, ".tick:has([text-anchor=end])", "y1", np.log10 if scale == "log" else float)
    assert len(ticks) >= 3
    value = page.evaluate("JSON.parse(data.textContent)")["ShutTheBox-v0-tiles-5"]["agents"][0]["median"][-1]
    assert float(page.locator(".dot").get_attribute("cy")) == pytest.approx(place_of(value), abs=0.5)


def test_a_row_opens_the_mistakes_of_its_agent_by_keyboard(visitor):
    page = visitor.visit("", "curves")
    button(page, "q-learning").focus()
    page.keyboard.press("Enter")
    mistakes = page.get_by_role("region", name="mistakes of q-learning")
    expect(mistakes).to_be_focused()
    expect(mistakes.get_by_role("row")).to_have_count(5)
    expect(mistakes).to_contain_text("shut 2,5, not shut 3,4")
    expect(mistakes).to_contain_text("--seeds 0,1")
    click(page, "tabular-afterstates")
    expect(page.get_by_role("region", name="mistakes of tab")).to_contain_text("It makes none.")
    click(page, "3 k")
    click(page, "sb3-a2c")
    expect(page.get_by_role("region", name="mistakes of sb3-a2c")).to_contain_text("None are stored for this agent.")
