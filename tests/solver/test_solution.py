"""Perfect play: the published numbers, and every value against the reference in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from stb_gym.solver.values import tied

from stb_gym import ShutTheBox, Threes, compile_game, solve, strategy
from stb_gym.games import words_of
from tests import reference
from tests.twins import SMALL, STANDARD, moves_at, nodes_of, position, roll_at, throwing_states, twin

NINE = ShutTheBox()


def state_of(tables, *tiles):
    held, dice, _ = words_of(tables.game).locate({"open": tiles})
    return tables.find_state(held, dice)


def node_of(tables, where):
    held, dice, roll = words_of(tables.game).locate(where)
    return tables.find_node(tables.find_state(held, dice), roll)


def best_moves(solution, where):
    tables, node = solution.tables, node_of(solution.tables, where)
    edges = range(tables.edge_start[node], tables.edge_start[node + 1])
    return {tables.game.moves[tables.edge_action[edge]] for edge in edges if solution.optimal[edge]}


def test_nine_tiles_least_expected_score():
    assert solve(NINE).value == pytest.approx(11.15750844420262, abs=1e-9)
    assert solve(NINE, exact=True).value == Fraction(27323400707, 2448880128)


def test_nine_tiles_by_first_roll():
    solution = solve(NINE)
    first = slice(*solution.tables.node_start[solution.tables.start :][:2])
    expected = [15.838927661, 14.313913705, 13.706206148, 12.514746173, 11.726631322, 10.825008858]
    expected += [9.240806179, 7.623689388, 11.139918487, 11.194009457, 9.936173208]
    assert solution.node_value[first] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("tiles", "value"),
    [((8,), 6.888889), ((2, 6), 5.969136), ((1, 8), 6.888889), ((4, 5), 7.027778)],
)
def test_nine_tiles_few_left(tiles, value):
    solution = solve(NINE)
    assert solution.state_value[state_of(solution.tables, *tiles)] == pytest.approx(value, abs=1e-6)


def test_nine_tiles_dearest_states():
    solution = solve(NINE)
    dearest = np.argsort(-solution.state_value)[:6]
    expected = [
        ((5, 6, 7, 8, 9), 24.711),
        ((4, 5, 7, 8, 9), 23.841),
        ((6, 7, 8, 9), 23.646),
        ((4, 5, 6, 7, 8, 9), 23.202),
        ((5, 7, 8, 9), 22.727),
        ((4, 6, 7, 8, 9), 22.680),
    ]
    assert [position(NINE, int(solution.tables.held[s]), 2)[0] for s in dearest] == [{*tiles} for tiles, _ in expected]
    assert solution.state_value[dearest] == pytest.approx([value for _, value in expected], abs=5e-4)


def test_nine_tiles_best_moves_and_where_the_objectives_part():
    score, shut = solve(NINE), solve(NINE, "shut")
    assert best_moves(score, {"open": [1, 2, 3, 4, 5], "roll": 8}) == {(3, 5)}
    assert best_moves(score, {"open": [1, 4, 5, 8], "roll": 9}) == {(4, 5)}
    assert best_moves(shut, {"open": [1, 4, 5, 8], "roll": 9}) == {(1, 8)}


def test_nine_tiles_other_objectives_and_worst_play():
    assert solve(NINE, "shut", exact=True).value == Fraction(466473281, 6530347008)
    assert solve(NINE, worst=True).value == pytest.approx(24.344561898, abs=1e-9)
    assert solve(NINE, "shut", worst=True).value == pytest.approx(0.0097822017, abs=1e-9)
    assert solve(NINE, "at-most:0").value == solve(NINE, "shut").value
    assert solve(NINE, "at-most:45").value == 1


def test_number_of_tiles_shut():
    count = ShutTheBox(score="count")
    assert 9 - solve(count).value == pytest.approx(6.804460729, abs=1e-9)
    assert 9 - solve(count, worst=True).value == pytest.approx(5.371746524, abs=1e-9)


@pytest.mark.parametrize(
    ("objective", "score", "differing"), [("score", "sum", 1772), ("shut", "sum", 1716), ("score", "count", 1720)]
)
def test_nodes_where_best_and_worst_moves_differ(objective, score, differing):
    game = ShutTheBox(score=score)
    best, worst = solve(game, objective), solve(game, objective, worst=True)
    # Published with ties within 1e-4 of a point or of a chance.
    near = [abs(solution.advantage) <= 1e-4 for solution in (best, worst)]
    nodes = np.unique(best.tables.edge_node[near[0] != near[1]])
    assert len(nodes) == differing


def test_nodes_where_the_optimum_leaves_the_largest_tile():
    solution = solve(NINE)
    tables = solution.tables
    largest = np.array([max(move) for move in NINE.moves])[tables.edge_action]
    first = tables.edge_start[tables.decisions]
    could = np.maximum.reduceat(largest, first)
    does = np.maximum.reduceat(np.where(solution.optimal, largest, 0), first)
    assert np.count_nonzero(does < could) == 205


@pytest.mark.slow
def test_ten_tiles():
    assert solve(ShutTheBox(tiles=10), "shut", exact=True).value == Fraction(594167327, 14693280768)


@pytest.mark.parametrize(
    ("dice", "value"),
    [
        (1, Fraction(3)),
        (2, Fraction(79, 18)),
        (3, Fraction(2261, 432)),
        (4, Fraction(544369, 93312)),
        (5, Fraction(504205555, 80621568)),
    ],
)
def test_threes_least_expected_total(dice, value):
    assert solve(Threes(dice=dice), exact=True).value == value
    assert solve(Threes(dice=dice)).value == pytest.approx(float(value), abs=1e-12)


def test_threes_chance_to_beat_a_total():
    chances = [100 * solve(Threes(), f"at-most:{total - 1}").value for total in range(10, 0, -1)]
    assert chances == pytest.approx([87.64, 81.16, 72.45, 61.89, 49.93, 38.23, 26.71, 16.21, 7.30, 2.11], abs=5e-3)


def test_threes_single_throws():
    solution = solve(Threes())
    tables = solution.tables
    assert solution.node_value[node_of(tables, {"roll": [1, 6]})] == pytest.approx(4)
    assert solution.node_value[node_of(tables, {"roll": [1, 1, 6]})] == pytest.approx(5)
    below_three = solve(Threes(), "at-most:2")
    assert below_three.node_value[node_of(tables, {"roll": [3, 1, 6]})] == pytest.approx(0.3565, abs=5e-5)


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
def test_threes_taking_a_one_against_rethrowing_two_dice(target, take, rethrow):
    solution = solve(Threes(), f"at-most:{target - 1}")
    states = [solution.tables.find_state(*where) for where in ((1, 1), (0, 2))]
    assert 100 * solution.state_value[states] == pytest.approx([take, rethrow], abs=5e-3)


@pytest.mark.parametrize("objective", ["score", "shut", "at-most:3"])
@pytest.mark.parametrize("worst", [False, True])
@pytest.mark.parametrize("game", SMALL, ids=str)
def test_every_value_is_that_of_the_reference(game, objective, worst):
    solution, other = solve(game, objective, worst=worst, exact=True), twin(game)
    utility = {"score": reference.fewest, "shut": reference.shut, "at-most:3": reference.at_most(3)}[objective]
    best, sign = (min, -1) if worst else (max, 1)
    tables, state_utility = solution.tables, sign * solution.state_utility
    for state, where in throwing_states(tables):
        assert state_utility[state] == reference.value(other, where, utility, best)
        for node in nodes_of(tables, state):
            roll = roll_at(tables, node)
            assert sign * solution.node_utility[node] == reference.node_value(other, where, roll, utility, best)
            values = reference.move_values(other, where, roll, utility, best)
            found = {move: state_utility[after] for move, after in moves_at(tables, node).items()}
            assert found == values


@pytest.mark.parametrize("objective", ["score", "shut", "at-most:8"])
@pytest.mark.parametrize("game", [*STANDARD, ShutTheBox(tiles=11), ShutTheBox(tiles=10, score="count")], ids=str)
def test_floats_find_the_same_optimal_moves_as_fractions(game, objective):
    exact, floats = solve(game, objective, exact=True), solve(game, objective)
    assert (exact.optimal == floats.optimal).all()
    assert (exact.policy == floats.policy).all()
    assert floats.state_value == pytest.approx(exact.state_value.astype(float), abs=1e-12)


def test_the_policy_takes_the_lowest_optimal_action():
    solution = solve(NINE, "shut")
    tables = solution.tables
    for node in tables.decisions[::37]:
        edges = slice(tables.edge_start[node], tables.edge_start[node + 1])
        assert solution.policy[node] == tables.edge_action[edges][solution.optimal[edges]].min()
    over = np.setdiff1d(np.arange(tables.nodes), tables.decisions)
    assert (solution.policy[over] == -1).all()


def test_many_utilities_at_once_give_what_each_gives_alone():
    tables = compile_game(Threes())
    targets = range(12)
    utility = np.array([tables.final_score <= target for target in targets]).T.astype(float)
    values, _ = tables.sweep(utility, lambda edges, level: np.maximum.reduceat(edges, level.first_edge))
    assert values[tables.start] == pytest.approx([solve(Threes(), f"at-most:{t}").value for t in targets], abs=1e-14)


@pytest.mark.parametrize("objective", ["points", "at-most", "at-most:", "at-most:-1", "at-most:x", "", 3])
def test_unknown_objectives_are_refused(objective):
    with pytest.raises(ValueError, match=r"unknown objective .*: allowed are score, shut, at-most:T"):
        solve(NINE, objective)


@pytest.mark.parametrize(("others", "ties"), [((-1e6, -1), False), ((-1e6, 0), False), ((-1e6, 1), True)])
def test_ties_are_relative_to_the_best_move_unless_utilities_may_cancel(others, ties):
    best, after, utility = np.array([-1.0]), np.array([-1 - 1e-6]), np.array(others, np.float64)
    assert tied(after, best, utility).tolist() == [ties]
    assert tied(-after, -best, -utility).tolist() == [ties]
    assert tied(best, best, utility).all()


def test_a_solution_in_fractions_measures_policies():
    game = ShutTheBox(tiles=4)
    exact, floats = solve(game, exact=True), solve(game)
    for policy in (floats.policy, strategy(game, "random")):
        assert exact.evaluate(policy).regret == pytest.approx(floats.evaluate(policy).regret, abs=1e-15)


def test_worths_are_asked_of_any_integers_and_only_of_states():
    best = solve(NINE)
    held = np.array([200, 6, 1])
    for asked in (held.astype(np.uint8), held.tolist()):
        assert (best.worths(asked, 2) == best.worths(held, 2)).all()
    assert best.worth(200, 2) == best.worths(held, 2)[0]
    for where in ((1 << 9, 2), (1, 3), (1, -1)):
        with pytest.raises(ValueError, match="has no state that holds"):
            best.worth(*where)
    with pytest.raises(ValueError, match="has no state that holds 3 with 8 dice"):
        solve(Threes()).worth(3, 8)  # which has the number of 4 points and 2 dice
