"""The learner on the page: its curve is that of the same method in Python, measured by `stb_gym`."""

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
from tests.browser.acting import axis, click
from tests.browser.conftest import SMALL
from tests.browser.test_board import READ, address

CURVE = """() => [...document.querySelectorAll("[aria-label='the curve'] tbody tr")]
    .map((row) => [...row.cells].map((cell) => Number(cell.textContent.replaceAll(",", ""))))"""
EPISODES = "() => Number(document.querySelector('.count b').textContent.replaceAll(',', ''))"


def learn(page, episodes):
    """Press start, wait for so many episodes, and press pause; return the curve, [K, 2] episodes and regret."""
    click(page, "start")
    page.wait_for_function(f"{EPISODES} >= {episodes}")
    click(page, "pause")
    return np.array(page.evaluate(CURVE))


def fractions(seed):
    """Yield the random fractions of the page (mulberry32)."""
    whole = 2**32
    at = (seed * 0x9E3779B1 + 0x7F4A7C15) % whole
    while True:
        at = (at + 0x6D2B79F5) % whole
        mixed = (at ^ at >> 15) * (1 | at) % whole
        mixed = (mixed + (mixed ^ mixed >> 7) * (61 | mixed)) % whole ^ mixed
        yield (mixed ^ mixed >> 14) / whole


def q_learning(game, explore, rate, seed, objective):
    """Yield the greedy policy before each episode of Q-learning of afterstate values."""
    tables = compile_game(game)
    utility = stb_gym.solve(game, objective).objective.utilities(tables.final_score)
    values, corrections, random = np.zeros(tables.num_afterstates), np.zeros(tables.num_afterstates), fractions(seed)

    def pair(state):
        start = tables.pair_start[state]
        return start + values[tables.pair_afterstate[start : tables.pair_start[state + 1]]].argmax()

    while True:
        yield np.array([tables.pair_action[pair(n)] if tables.choices[n] else 0 for n in range(len(tables.choices))])
        afterstate, playing = tables.start, True
        while playing:
            throws = rolls(game, int(tables.dice[afterstate])).of_throw
            state = tables.state_start[afterstate] + throws[int(next(random) * len(throws))]
            playing = tables.choices[state] > 0
            if playing:
                greedy = pair(state)
                target = values[tables.pair_afterstate[greedy]]
            else:
                target = utility[afterstate]
            corrections[afterstate] += 1
            values[afterstate] += (rate or 1 / corrections[afterstate]) * (target - values[afterstate])
            if playing:
                taken = greedy
                if next(random) < explore:
                    taken = tables.pair_start[state] + int(next(random) * tables.choices[state])
                afterstate = tables.pair_afterstate[taken]


@pytest.mark.parametrize(
    ("words", "explore", "rate", "objective"),
    [("explore=0.1&seed=7", 0.1, None, "score"), ("explore=0.3&rate=0.1&seed=7&for=shut", 0.3, 0.1, "shut")],
)
@pytest.mark.parametrize("speed", ["full speed", "2,000 a second"])
def test_the_curve_is_the_exact_regret_of_the_same_method_in_python(reader, words, explore, rate, objective, speed):
    page = reader.visit(f"learn?{words}", "small")
    page.get_by_label("speed").select_option(speed)
    curve = learn(page, 400)
    curve = curve[curve[:, 0] <= 400]
    policies = q_learning(SMALL, explore, rate, 7, objective)
    after = list(itertools.islice(policies, 401))
    regret = [stb_gym.evaluate(SMALL, after[int(episodes)], objective).regret for episodes in curve[:, 0]]
    assert len(curve) > 35
    assert curve[:, 1] == pytest.approx(np.array(regret), abs=1e-9)


def test_the_analysis_shows_the_moves_of_the_learner(reader):
    page, tables = reader.visit("learn?seed=2", "small"), compile_game(SMALL)
    for _ in range(30):
        click(page, "one episode")
    [_, regret] = page.evaluate(CURVE)[-1]
    [[episodes, _], *_] = page.evaluate(CURVE)[::-1]
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
    names = ["random", levels.last.text_content()]
    assert levels.first.text_content() == "random play"
    curve = learn(page, 100_000)
    limits = [stb_gym.evaluate(game, strategy(game, name)).regret for name in names]
    assert curve[0, 1] > limits[0] > limits[1] > curve[-1, 1] > 0
    heuristics = ("biggest-first", "lowest-first", "most-first", "nine-eight-seven")
    assert all(stb_gym.evaluate(game, strategy(game, name)).regret > limits[1] for name in heuristics)
    visitor.look()
    page.get_by_role("link", name="Map").click()
    click(page, "what is lost there")
    page.get_by_role("combobox", name=re.compile("^by")).select_option("your learner")
    page.get_by_role("link", name="Learn").click()
    expect(page.locator("[aria-label='the curve'] tbody tr")).to_have_count(len(curve))
    assert page.evaluate(CURVE) == curve.tolist()
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
    assert len(page.evaluate(CURVE)) == 1 < len(first)  # the oldest was forgotten


def test_the_learner_imports_nothing_exact():
    source = (ROOT / "web" / "src" / "learn" / "learner.ts").read_text()
    assert set(re.findall(r'from "(.*)"', source)) == {"../data/dice", "../data/game"}


def test_the_level_lines_are_at_their_regret(reader):
    page, game = reader.visit("learn"), ShutTheBox()
    _, place_of = axis(page, ".chart .tick:not(.across)", "y1", np.log10)
    random = stb_gym.evaluate(game, strategy(game, "random")).regret
    y = float(page.locator(".level line").first.get_attribute("y1"))
    assert y == pytest.approx(place_of(random), abs=0.01)
