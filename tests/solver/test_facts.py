"""Published values, each recomputed independently in fractions; floats are given to the places that are known."""

from fractions import Fraction

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, evaluate, solve, strategy
from stb_gym.solver import expected, ways_to_shut

NINE, TEN = ShutTheBox(), ShutTheBox(tiles=10)
COUNT, LOW_SUM = ShutTheBox(score="count"), ShutTheBox(one_die="low-sum")
FORCED = ShutTheBox(one_die="low-sum", one_die_forced=True)


@pytest.mark.parametrize(
    ("game", "objective", "worst", "value"),
    [
        (NINE, "score", False, Fraction(27323400707, 2448880128)),
        (NINE, "shut", False, Fraction(466473281, 6530347008)),
        (NINE, "at-most:0", False, Fraction(466473281, 6530347008)),
        (NINE, "at-most:45", False, Fraction(1)),
        (NINE, "score", True, 24.344561898),
        (NINE, "shut", True, 0.0097822017),
        (COUNT, "score", False, 9 - 6.804460729),
        (COUNT, "score", True, 9 - 5.371746524),
        (LOW_SUM, "shut", False, Fraction(956177159, 9795520512)),
        (FORCED, "shut", True, Fraction(623306755, 58773123072)),
        (FORCED, "shut", False, Fraction(956177159, 9795520512)),
        (ShutTheBox(one_die="low-sum", one_die_forced=True, match="two-at-most"), "shut", False, 0.07419435),
        (ShutTheBox(match="faces-or-sum"), "score", False, 21.259012),
        (ShutTheBox(match="faces-or-sum"), "shut", False, 0.0084653119),
        (TEN, "shut", False, Fraction(594167327, 14693280768)),
        (Threes(dice=1), "score", False, Fraction(3)),
        (Threes(dice=2), "score", False, Fraction(79, 18)),
        (Threes(dice=3), "score", False, Fraction(2261, 432)),
        (Threes(dice=4), "score", False, Fraction(544369, 93312)),
        (Threes(), "score", False, Fraction(504205555, 80621568)),
    ],
    ids=str,
)
def test_values_of_a_turn(game, objective, worst, value):
    floats = solve(game, objective, worst=worst).value
    if isinstance(value, Fraction):
        assert solve(game, objective, worst=worst, exact=True).value == value
        assert floats == pytest.approx(float(value), abs=1e-12)
    else:
        assert floats == pytest.approx(value, abs=1e-6 if value > 21 else 1e-8)


@pytest.mark.parametrize(
    ("objective", "where", "value"),
    [
        ("score", {"open": [8]}, 6.888889),
        ("score", {"open": [2, 6]}, 5.969136),
        ("score", {"open": [1, 8]}, 6.888889),
        ("score", {"open": [4, 5]}, 7.027778),
        ("shut", {"open": [4, 5]}, 168 / 1296),
        ("score", {"open": [5, 6, 7, 8, 9]}, 24.711),
        ("score", {"open": [4, 5, 7, 8, 9]}, 23.841),
        ("score", {"open": [6, 7, 8, 9]}, 23.646),
        ("score", {"open": [4, 5, 6, 7, 8, 9]}, 23.202),
        ("score", {"open": [5, 7, 8, 9]}, 22.727),
        ("score", {"open": [4, 6, 7, 8, 9]}, 22.680),
    ],
    ids=str,
)
def test_values_of_positions_of_nine_tiles(solved, objective, where, value):
    assert solved(NINE, objective).value_at(**where) == pytest.approx(value, abs=5e-4 if value > 20 else 1e-6)


def test_costliest_positions_of_nine_tiles(solved):
    states = solved(NINE).states()
    costliest = np.argsort(states["value"])[:-7:-1]
    assert [states["state"][place].removeprefix("open ") for place in costliest] == [
        "5,6,7,8,9",
        "4,5,7,8,9",
        "6,7,8,9",
        "4,5,6,7,8,9",
        "5,7,8,9",
        "4,6,7,8,9",
    ]


def test_values_of_first_rolls_of_nine_tiles(solved):
    values = [solved(NINE).value_at(roll=roll) for roll in range(2, 13)]
    published = [15.838927661, 14.313913705, 13.706206148, 12.514746173, 11.726631322, 10.825008858]
    published += [9.240806179, 7.623689388, 11.139918487, 11.194009457, 9.936173208]
    assert values == pytest.approx(published, abs=1e-9)


@pytest.mark.parametrize(
    ("objective", "where", "move"),
    [
        ("score", {"open": [1, 2, 3, 4, 5], "roll": 8}, "shut 3,5"),
        ("score", {"open": [1, 4, 5, 8], "roll": 9}, "shut 4,5"),
        ("shut", {"open": [1, 4, 5, 8], "roll": 9}, "shut 1,8"),
    ],
)
def test_best_moves_of_nine_tiles_and_where_the_objectives_part(solved, objective, where, move):
    moves = solved(NINE, objective).moves(**where)
    assert moves["move"][0] == move
    assert moves["loss"][0] == 0 < moves["loss"][1]


@pytest.mark.parametrize(
    ("objective", "game", "differing"), [("score", NINE, 1772), ("shut", NINE, 1716), ("score", COUNT, 1720)]
)
def test_nodes_where_best_and_worst_moves_differ(objective, game, differing):
    best, worst = solve(game, objective), solve(game, objective, worst=True)
    # Published with ties within 1e-4 of a point or of a probability.
    near = [abs(solution.advantage) <= 1e-4 for solution in (best, worst)]
    assert len(np.unique(best.tables.edge_node[near[0] != near[1]])) == differing


def test_nodes_where_perfect_play_leaves_the_largest_tile_open(solved):
    tables = solved(NINE).tables
    largest = np.array([max(move) for move in NINE.actions])[tables.edge_action]
    could = tables.reduce(np.maximum, largest)
    does = tables.reduce(np.maximum, np.where(solved(NINE).optimal, largest, 0))
    assert np.count_nonzero(does < could) == 205


def test_sizes_of_nine_tiles(solved):
    tables = solved(NINE).tables
    assert (tables.states, tables.nodes, tables.actions, len(tables.edge_next)) == (512, 5622, 62, 7104)
    assert (len(tables.decisions), np.count_nonzero(tables.choices > 1)) == (4040, 1774)


@pytest.mark.parametrize(
    ("game", "name", "value", "shut"),
    [
        (NINE, "random", 20.418812228, 0.0203934956),
        (NINE, "biggest-first", 11.373255046, 0.0695829302),
        (NINE, "fewest-then-biggest", 11.323146870, 0.0699922778),
        (NINE, "optimal-score", 11.157508444, 0.0708885323),
        (NINE, "nine-eight-seven", 17.585978, None),
        (NINE, "one-to-four-first", 24.255964, None),
        (NINE, "worst", 24.344561898, None),
        (COUNT, "fewest-then-biggest", 9 - 6.658750985, None),
        (TEN, "random", None, 0.0071389916),
        (TEN, "most-ways", None, 0.0390914237),
        (Threes(), "threes-only", 6.804024892, None),
        (Threes(), "random", 11.679629630, None),
    ],
    ids=str,
)
def test_strategies(game, name, value, shut):
    found = evaluate(game, strategy(game, name))
    if value is not None:
        assert found.value == pytest.approx(value, abs=5e-7)
    if shut is not None:
        assert found.shut_probability == pytest.approx(shut, abs=1e-10)


@pytest.mark.parametrize(("name", "nodes"), [("biggest-first", 210), ("fewest-then-biggest", 181)])
def test_nodes_where_a_strategy_departs_from_perfect_play(solved, name, nodes):
    found = solved(NINE).evaluate(strategy(NINE, name))
    assert np.count_nonzero(found.loss > 1e-9) == nodes == round((1 - found.agreement) * 4040)
    assert len(found.departures()["loss"]) == nodes


def test_biggest_first_compared_with_perfect_play(solved):
    found = solved(NINE).evaluate(strategy(NINE, "biggest-first"))
    departures = found.departures()
    assert (departures["state"][0], departures["roll"][0]) == ("open 1,2,4,5,8,9", "12")
    assert departures["loss"][0] == found.loss.max() == pytest.approx(4.467593, abs=1e-6)
    perfect = solved(NINE).evaluate(solved(NINE).policy).score_distribution
    apart = np.cumsum([perfect.get(score, 0) - found.score_distribution.get(score, 0) for score in range(46)])
    assert np.argmax(abs(apart)) == 10
    assert abs(apart[10]) == pytest.approx(0.014757, abs=1e-6)


@pytest.mark.parametrize(("game", "regret"), [(NINE, 0.0069906371), (Threes(), 1.0785711461)], ids=str)
def test_regret_of_one_greedy_step_on_the_values_of_random_play(solved, game, regret):
    tables, goal = solved(game).tables, solved(game).objective
    values, _ = expected(tables, tables.uniform, goal.utilities(tables.final_score).astype(float))
    assert solved(game).evaluate(tables.greedy(tables.after_edges(values))).regret == pytest.approx(regret, abs=1e-10)


def test_regret_of_always_keeping_one_die(solved):
    keep_one = np.zeros(solved(Threes()).tables.nodes, int)
    assert solved(Threes()).evaluate(keep_one).regret == pytest.approx(1.1086757950, abs=1e-10)


def test_ways_to_shut_ten_tiles_in_so_many_rolls(solved):
    tables = solved(TEN).tables
    ways = ways_to_shut(tables, exact=True)[tables.start].tolist()
    assert ways[5:10] == [117120, 465677280, 27229396320, 166670380800, 161989632000]
    assert sum(ways) == sum(ways[5:10])


def test_chances_of_threes_to_beat_a_total(solved):
    chances = [100 * solved(Threes(), f"at-most:{total - 1}").value for total in range(10, 0, -1)]
    assert chances == pytest.approx([87.64, 81.16, 72.45, 61.89, 49.93, 38.23, 26.71, 16.21, 7.30, 2.11], abs=5e-3)


@pytest.mark.parametrize(
    ("objective", "roll", "value"),
    [("score", [1, 6], 4), ("score", [1, 1, 6], 5), ("at-most:2", [3, 1, 6], 0.3565)],
)
def test_values_of_throws_of_threes(solved, objective, roll, value):
    assert solved(Threes(), objective).value_at(roll=roll) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(
    ("target", "take", "rethrow"),
    [
        (8, 100, 86.11),
        (7, 83.33, 80.56),
        (6, 66.67, 68.06),
        (5, 50, 56.94),
        (4, 50, 45.37),
        (3, 33.33, 35.65),
        (2, 16.67, 19.91),
        (1, 0, 7.41),
    ],
)
def test_taking_a_one_against_rethrowing_two_dice_to_beat_a_total(solved, target, take, rethrow):
    solution = solved(Threes(), f"at-most:{target - 1}")
    chances = solution.value_at(points=1, dice=1), solution.value_at(points=0, dice=2)
    assert [100 * chance for chance in chances] == pytest.approx([take, rethrow], abs=5e-3)
