"""Test the learner on the page against the same method in Python, measured by `stb_gym`."""

import itertools
import re

import numpy as np
import pytest
from playwright.sync_api import expect

import stb_gym
from stb_gym import ShutTheBox, strategy
from stb_gym.games import rolls
from stb_gym.solver import compile_game
from tests import ROOT
from tests.browser.acting import axis, cells_of, click, follow
from tests.browser.conftest import SMALL
from tests.browser.test_board import READ, address

ROWS = "[aria-label='the curve'] tbody tr"
EPISODES = "() => Number(document.querySelector('.count b').textContent.replaceAll(',', ''))"


def curve_of(page):
    """Return the curve, [K, 2] episodes and regret."""
    return np.array([[float(text.replace(",", "")) for text in row] for row in cells_of(page, ROWS)])


def learn(page, episodes):
    """Press start, wait for so many episodes, and press pause; return the curve."""
    click(page, "start")
    page.wait_for_function(f"{EPISODES} >= {episodes}")
    click(page, "pause")
    return curve_of(page)


def fractions(seed):
    """Yield the random fractions of the page (mulberry32)."""
    whole = 2**32
    at = (seed * 0x9E3779B1 + 0x7F4A7C15) % whole
    while True:
        at = (at + 0x6D2B79F5) % whole
        mixed = (at ^ at >> 15) * (1 | at) % whole
        mixed = (mixed + (mixed ^ mixed >> 7) * (61 | mixed)) % whole ^ mixed
        yield (mixed ^ mixed >> 14) / whole


def sampling(game, method, explore, rate, seed, objective):
    """Yield the greedy policy before each episode of Q-learning or Monte Carlo control of afterstate values."""
    tables = compile_game(game)
    utility = stb_gym.solve(game, objective).objective.utilities(tables.final_score)
    values, corrections, random = np.zeros(tables.num_afterstates), np.zeros(tables.num_afterstates), fractions(seed)

    def correct(afterstate, target):
        corrections[afterstate] += 1
        values[afterstate] += (rate or 1 / corrections[afterstate]) * (target - values[afterstate])

    while True:
        yield tables.greedy(values[tables.pair_afterstate])
        afterstate, playing, met = tables.start, True, []
        while playing:
            throws = rolls(game, int(tables.dice[afterstate])).of_throw
            state = tables.state_start[afterstate] + throws[int(next(random) * len(throws))]
            after = tables.pair_afterstate[tables.pair_start[state] : tables.pair_start[state + 1]]
            playing = len(after) > 0
            met.append(afterstate)
            if method == "q-learning":
                correct(afterstate, values[after].max() if playing else utility[afterstate])
            if playing:
                move = int(next(random) * len(after)) if next(random) < explore else values[after].argmax()
                afterstate = after[move]
        if method == "monte-carlo":
            for each in met:
                correct(each, utility[afterstate])


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ("explore=0.1&seed=7", ("q-learning", 0.1, None, 7, "score")),
        ("explore=0.3&rate=0.1&seed=7&for=shut", ("q-learning", 0.3, 0.1, 7, "shut")),
        ("method=monte-carlo&explore=0.3&seed=7", ("monte-carlo", 0.3, None, 7, "score")),
    ],
)
@pytest.mark.parametrize("speed", ["full speed", "2,000 a second"])
def test_the_curve_is_the_exact_regret_of_the_same_method_in_python(reader, words, arguments, speed):
    page = reader.visit(f"learn?{words}", "small")
    page.get_by_label("speed").select_option(speed)
    curve = learn(page, 400)
    curve = curve[curve[:, 0] <= 400]
    after = list(itertools.islice(sampling(SMALL, *arguments), 401))
    regret = [stb_gym.evaluate(SMALL, after[int(episodes)], arguments[-1]).regret for episodes in curve[:, 0]]
    assert len(curve) > 35
    assert curve[:, 1] == pytest.approx(np.array(regret), abs=1e-9)


def test_value_iteration_ends_with_perfect_play(visitor):
    page, tables = visitor.visit("learn?method=value-iteration", "small"), compile_game(SMALL)
    click(page, "start")
    expect(page.locator(".count")).to_contain_text("the end")
    curve = curve_of(page)
    values, regret = np.zeros(tables.num_afterstates), []
    for _ in curve:
        policy = tables.greedy(values[tables.pair_afterstate])
        regret.append(stb_gym.evaluate(SMALL, policy).regret)
        best = np.full(tables.num_states, -np.inf)
        np.maximum.at(best, tables.pair_state, values[tables.pair_afterstate])
        ends = np.isinf(best)
        best[ends] = -tables.final_score[tables.state_origin[ends]]
        values = np.add.reduceat(tables.state_probability * best, tables.state_start[:-1])
    assert curve[:, 0].tolist() == list(range(len(curve)))
    assert curve[:, 1] == pytest.approx(regret, abs=1e-9)
    assert regret[0] > 1 > regret[-1] == 0
    expect(page.get_by_role("button", name="one sweep")).to_be_disabled()
    visitor.look()


def test_the_analysis_shows_the_moves_of_the_learner(reader):
    page, tables = reader.visit("learn?seed=2", "small"), compile_game(SMALL)
    for _ in range(30):
        click(page, "one episode")
    episodes, regret = curve_of(page)[-1]
    assert regret > 0
    assert episodes <= int(page.evaluate(EPISODES)) == 30
    mistakes = page.locator("[aria-label='its mistakes'] tbody a")
    costliest = mistakes.first.inner_text()
    states = tables.decisions.tolist()
    found = page.evaluate(READ, [address(SMALL, state, "for=score") for state in states])
    policy = np.zeros(len(tables.choices), int)
    for state, board in zip(states, found, strict=True):
        [pair] = [row["pair"] for row in board["rows"] if {"your learner", "everybody"} & set(row["who"])]
        policy[state] = tables.pair_action[pair]
    evaluation = stb_gym.evaluate(SMALL, policy)
    assert evaluation.regret == pytest.approx(regret, abs=1e-9)
    assert costliest == tables.describe_state(evaluation.mistakes(1)[0].state)


def test_it_learns_to_play_better_than_chance_and_than_the_heuristics(visitor):
    page, game = visitor.visit("learn"), ShutTheBox()
    assert page.evaluate("() => new Promise((done) => setTimeout(done, 300))") is None
    assert page.evaluate(EPISODES) == 0  # nothing starts by itself
    levels = page.locator(".level text")
    assert levels.first.text_content() == "random play"
    curve = learn(page, 100_000)
    names = ["random", levels.last.text_content(), "biggest-first", "lowest-first", "most-first", "nine-eight-seven"]
    random, best, *others = [stb_gym.evaluate(game, strategy(game, name)).regret for name in names]
    assert curve[0, 1] > random > best > curve[-1, 1] > 0
    assert min(others) > best
    _, place_of = axis(page, ".chart .tick:not(.across)", "y1", np.log10)
    for at, regret in enumerate((random, best)):
        y = float(page.locator(".level line").nth(at).get_attribute("y1"))
        assert y == pytest.approx(place_of(regret), abs=0.01)
    visitor.look()
    follow(page, "Map")
    click(page, "what is lost there")
    page.get_by_role("combobox", name=re.compile("^by")).select_option("your learner")
    follow(page, "Learn")
    expect(page.locator(ROWS)).to_have_count(len(curve))
    assert (curve_of(page) == curve).all()
    click(page, "start over")
    assert page.evaluate(EPISODES) == 0


def test_earlier_curves_stay_to_compare_with(visitor):
    page = visitor.visit("learn")
    first = learn(page, 300)
    for rate in ("0.3", "0.1", "0.03"):
        page.get_by_label("learning rate").select_option(rate)
        expect(page.locator(".summary").first).to_contain_text(f"rate {rate}")
        learn(page, 300)
    expect(page.locator(".summary")).to_have_count(3)
    assert len(set(page.locator(".line").evaluate_all("lines => lines.map(line => line.style.color)"))) == 3
    visitor.look()
    click(page, "chance to shut")
    expect(page.locator(".summary")).to_have_count(1)
    click(page, "fewest points")
    page.get_by_label("learning rate").select_option("null")
    assert len(curve_of(page)) == 1 < len(first)  # the oldest curve is gone


def test_the_learner_imports_nothing_exact():
    source = (ROOT / "web" / "src" / "learn" / "learner.ts").read_text()
    assert set(re.findall(r'from "(.*)"', source)) == {"../data/dice", "../data/game"}
