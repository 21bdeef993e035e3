"""Published values: those of `facts.toml`, and sets of moves and nodes of nine tiles."""

import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from stb_gym import ShutTheBox, solve, strategy
from stb_gym.games import game_of
from stb_gym.solver import ways_to_shut
from tests import every

NINE = ShutTheBox()
FACTS = tomllib.loads(Path(__file__).with_name("facts.toml").read_text())["facts"]


@pytest.mark.parametrize("fact", every(9, FACTS, pytest.mark.slow), ids=lambda fact: str({**fact}))
def test_values_and_best_moves(fact):
    game = game_of(fact.get("game", "shut-the-box"), fact.get("rules"))
    text = fact["value"]
    best = solve(game, fact.get("objective"), worst=fact.get("worst", False), exact="/" in text)
    where = fact.get("where", {})
    value = best.evaluate(strategy(game, fact["strategy"])).value if "strategy" in fact else best.value_at(**where)
    places = len(text.partition(".")[2])
    assert value == Fraction(text) if "/" in text else value == pytest.approx(float(text), abs=10**-places)
    if "move" in fact:
        assert best.moves(**where)["move"][0] == fact["move"]


@pytest.mark.parametrize(
    ("objective", "game", "differing"),
    [("score", NINE, 1772), ("shut", NINE, 1716), ("score", ShutTheBox(score="count"), 1720)],
)
def test_nodes_where_best_and_worst_moves_differ(objective, game, differing):
    best, worst = solve(game, objective), solve(game, objective, worst=True)
    # Published with ties within 1e-4 of a point or of a probability.
    near = [abs(solution.advantage) <= 1e-4 for solution in (best, worst)]
    assert len(np.unique(best.tables.edge_node[near[0] != near[1]])) == differing


def test_counts_of_nodes_of_nine_tiles(solved):
    tables = solved(NINE).tables
    assert (tables.states, tables.nodes, tables.actions, len(tables.edge_next)) == (512, 5622, 62, 7104)
    assert (len(tables.decisions), np.count_nonzero(tables.choices > 1)) == (4040, 1774)
    largest = np.array([max(move) for move in NINE.actions])[tables.edge_action]
    of_best = np.where(solved(NINE).optimal, largest, 0)
    assert np.count_nonzero(tables.reduce(np.maximum, of_best) < tables.reduce(np.maximum, largest)) == 205
    for name, departures in (("biggest-first", 210), ("fewest-then-biggest", 181)):
        found = solved(NINE).evaluate(strategy(NINE, name))
        assert np.count_nonzero(found.loss > 1e-9) == len(found.departures()["loss"]) == departures
        assert round((1 - found.agreement) * 4040) == departures


def test_biggest_first_compared_with_perfect_play(solved):
    found, perfect = (solved(NINE).evaluate(strategy(NINE, name)) for name in ("biggest-first", "optimal"))
    departures = found.departures()
    assert (departures["state"][0], departures["roll"][0]) == ("open 1,2,4,5,8,9", "12")
    assert departures["loss"][0] == found.loss.max() == pytest.approx(4.467593, abs=1e-6)
    chances = [[each.score_distribution.get(score, 0) for score in range(46)] for each in (found, perfect)]
    apart = abs(np.cumsum(chances[0]) - np.cumsum(chances[1]))
    assert (apart.argmax(), apart.max()) == (10, pytest.approx(0.014757, abs=1e-6))


@pytest.mark.slow
def test_ways_to_shut_ten_tiles_in_so_many_throws(solved):
    tables = solved(ShutTheBox(tiles=10)).tables
    ways = ways_to_shut(tables, exact=True)[tables.start].tolist()
    assert ways[5:10] == [117120, 465677280, 27229396320, 166670380800, 161989632000]
    assert sum(ways) == sum(ways[5:10])
