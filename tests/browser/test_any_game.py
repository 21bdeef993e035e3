"""Test that the page plays and solves variants and a game of your own."""

import pytest
from playwright.sync_api import expect

import stb_gym
from docs.pig import Pig
from stb_gym import ShutTheBox, Threes, solve
from stb_gym.explorer import explorer_page
from tests.browser.acting import arrive, button, click, play

GAMES = {
    "any-time": ShutTheBox(tiles=6, one_die="any-time"),
    "one-tile": ShutTheBox.preset("thai-style"),
    "ends-at-seven": ShutTheBox(tiles=8, ending_roll=7),
    "faces": ShutTheBox(tiles=12, match="faces-or-sum"),
    "many-sides": ShutTheBox(tiles=7, dice=2, faces=10),
    "moon": Threes(dice=4, moon=True),
    "pig": Pig(most_points=40),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    for name, game in GAMES.items():
        (folder / f"{name}.html").write_text(explorer_page(game))
    return {name: (folder / f"{name}.html").as_uri() for name in GAMES}


@pytest.mark.parametrize("name", GAMES)
def test_every_view_of_every_game(visitor, name):
    game = GAMES[name]
    page = visitor.visit("board", name)
    assert page.locator(".verdict b").inner_text() == f"{solve(game).value:.3f}"
    goals = page.get_by_role("group", name="what is played for").get_by_role("button")
    goals.nth(1).click()
    expect(goals.nth(1)).to_have_attribute("aria-pressed", "true")
    shown = float(page.locator(".verdict b").inner_text().rstrip("%")) / 100
    assert shown == pytest.approx(solve(game, "shut").value, abs=6e-5)
    click(page, "a round")
    arrive(page, "for=round")
    visitor.look()
    page = visitor.visit("play?seed=2&coach=during", name)
    play(page, lambda moves: moves // 2)
    expect(button(page, "new game")).to_be_visible()
    visitor.look()
    page = visitor.visit("map?by=visits", name)
    expect(page.locator("[aria-label='the same as a table'] tbody tr")).not_to_have_count(0)
    visitor.look()


def test_a_game_in_which_more_is_better(reader):
    game = GAMES["pig"]
    page = reader.visit("board?progress=18&roll=3", "pig")
    assert page.locator("h2").first.inner_text() == "Best: hold"
    assert page.locator(".verdict b").inner_text() == "21.000"
    lost = stb_gym.evaluate(game, stb_gym.strategy(game, "hold-at-25")).regret
    row = page.locator("#everybody ~ table tbody tr").filter(has_text="hold-at-25")
    assert float(row.locator("td").first.inner_text()) == pytest.approx(lost, rel=0.06)


def test_the_number_of_dice_can_be_chosen_where_it_differs(visitor):
    page = visitor.visit("board?open=1,2,3&dice=1", "any-time")
    expect(page.locator(".dice button")).to_have_count(1)
    click(page, "more dice")
    expect(page.locator(".dice button")).to_have_count(2)
    arrive(page, "dice=2")
    visitor.look()


def test_where_nobody_loses_anything_there_is_nothing_to_practise(reader, tmp_path):
    (tmp_path / "small.html").write_text(explorer_page(ShutTheBox(tiles=2)))
    page = reader.page
    page.goto((tmp_path / "small.html").as_uri() + "#drill?for=score")
    expect(page.get_by_text("Nobody loses anything here.")).to_be_visible()
