"""Test that the analysis board shows the numbers of `stb_gym`, and that everything on it can be clicked."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

import stb_gym
from stb_gym import solve
from stb_gym.games import entry_of
from stb_gym.measure import bundled_policies
from stb_gym.rounds import ScoresSoFar
from stb_gym.solver import compile_game, expected, pair_weights
from tests.browser.acting import GAMES, arrive, button, click, policy_of, see_heading, solve_round

READ = """async (addresses) => {
    const read = (row) => ({
        pair: Number(row.dataset.pair),
        cells: [...row.cells].slice(1, 4).map((cell) => cell.textContent),
        who: [...row.querySelectorAll(".badge")].map((badge) => badge.textContent),
    });
    const found = [];
    for (const address of addresses) {
        const there = new Promise((done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
        location.hash = address;
        await there;
        const rows = [...document.querySelectorAll("tr[data-pair]")].map(read);
        found.push({ verdict: document.querySelector(".verdict").textContent, rows });
    }
    return found;
}"""


def address(game, state, goal):
    """Return the address of a state and a goal, in the words of the commands."""
    tables = compile_game(game)
    _, *parts = tables.positions(tables.state_origin[[state]]).items()
    where = [f"{name}={','.join(map(str, np.ravel(column)))}" for name, column in parts]
    return "board?" + "&".join([*where, f"roll={game.describe_roll(tables.state_roll(state))}", goal])


@pytest.mark.parametrize(
    ("name", "asked", "objective"),
    [
        ("box", "for=score", "score"),
        ("box", "for=shut", "shut"),
        ("box", "for=at-most:12", "at-most:12"),
        ("threes", "for=score", "score"),
        ("threes", "for=at-most:4", "at-most:4"),
        ("box", "for=round&lead=12&holders=1&after=2&ties=split", ScoresSoFar(12, 1, 2)),
        ("threes", "for=round&lead=5&holders=2&after=1&ties=split", ScoresSoFar(5, 2, 1)),
        ("threes", "for=round&after=3&ties=split", ScoresSoFar(None, 0, 3)),
        ("threes", "for=round&lead=4&holders=1&after=2&ties=all-win", ScoresSoFar(4, 1, 2)),
    ],
)
def test_values_losses_and_moves_are_those_of_the_library(reader, name, asked, objective):
    """Compare a hundred random positions."""
    game = GAMES[name]
    tables = compile_game(game)
    if isinstance(objective, ScoresSoFar):
        best = solve_round(game, objective, asked.rpartition("=")[2])
    else:
        best = solve(game, objective)
    scale, precision = (1, 6e-4) if best.objective.unit == "points" else (100, 6e-3)
    perfect_score = (tables.final_score == 0).astype(float)
    perfection, _ = expected(tables, pair_weights(tables, best.policy)[0], perfect_score)
    names = [*entry_of(game).heuristics, *bundled_policies(game)]
    players = {"optimal": best.policy} | {each: policy_of(game, each) for each in names}
    page = reader.visit("board", name)
    states = np.random.default_rng(1).choice(tables.decisions, 100, replace=False).tolist()
    boards = page.evaluate(READ, [address(game, state, asked) for state in states])
    for state, found in zip(states, boards, strict=True):
        assert tables.describe_state(state) in found["verdict"]
        rows = found["rows"]
        assert sorted(row["pair"] for row in rows) == list(tables.pairs_of(state))
        losses = []
        for row in rows:
            pair = row["pair"]
            afterstate, optimal, lost = tables.pair_afterstate[pair], best.optimal[pair], -best.advantage[pair]
            losses.append(0 if optimal else lost)
            value, loss, chance = (cell.rstrip("%") for cell in row["cells"])
            assert float(chance) == pytest.approx(100 * perfection[afterstate], abs=6e-3)
            assert float(value) == pytest.approx(scale * best.afterstate_values[afterstate], abs=precision)
            assert loss == "best" if optimal else float(loss) == pytest.approx(scale * lost, rel=0.06, abs=1e-9)
            who = {each for each, policy in players.items() if policy[state] == tables.pair_action[pair]}
            assert players.keys() & row["who"] == who or row["who"] == ["everybody"]
            if name == "box" and len(rows) > 1:
                assert f"random {1 / len(rows):.2%}" in row["who"]
        assert losses == sorted(losses)


def test_regrets_and_costliest_mistakes_are_those_of_the_library(reader):
    page, game = reader.visit("board"), GAMES["box"]
    for name in ("biggest-first", "ppo-nine-tiles", "fitted-q-nine-tiles-shut", "random"):
        found = stb_gym.evaluate(game, policy_of(game, name))
        row = page.locator("#everybody ~ table tbody tr").filter(has=page.get_by_text(name, exact=True))
        assert float(row.locator("td").first.inner_text()) == pytest.approx(found.regret, rel=0.03)
        assert row.locator("td").last.inner_text() == found.tables.describe_state(found.mistakes(1)[0].state)


def test_everything_on_the_board_is_a_button(visitor):
    page = visitor.visit("board")
    button(page, "9").first.click()  # the tile
    arrive(page, "open=1,2,3,4,5,6,7,8")
    click(page.get_by_role("group", name="roll"), "11")
    arrive(page, "&roll=11")
    click(page, "die 1 shows 5")
    arrive(page, "&roll=12")
    click(page, "chance to shut")
    arrive(page, "&roll=12&for=shut")
    expect(page.locator(".verdict")).to_contain_text("chance to shut")
    move = page.locator("tr.best button").first
    took = move.inner_text()
    see_heading(page, f"Best: {took}")
    move.click()
    see_heading(page, "Before the throw")
    expect(page).not_to_have_url(re.compile("roll"))
    visitor.look()
    page.go_back()
    see_heading(page, f"Best: {took}")
    click(page, "before the throw")
    click(page, "throw")
    arrive(page, "roll=")
    visitor.look()


def test_the_address_may_name_the_dice_in_any_order(visitor):
    page = visitor.visit("board?roll=6,1,3,3,1", "threes")
    expect(page.locator(".verdict")).to_contain_text("roll 3,3,1,1,6")
    click(page, "die 5 shows 6")
    expect(page.locator(".verdict")).to_contain_text("roll 3,3,1,1,1")
    click(page, "more points")
    expect(page.get_by_role("group", name="points so far").locator("span")).to_have_text("1 points")
    visitor.look()


def test_a_round_has_a_lead_and_players_after(visitor):
    page = visitor.visit("board")
    click(page, "a round")
    page.get_by_label("the score to beat").select_option("7 points")
    page.get_by_label("players after you").select_option("0")
    arrive(page, "for=round&ties=split&after=0&lead=7&holders=1")
    expect(page.locator(".verdict")).to_contain_text("share of the win")
    visitor.look()
