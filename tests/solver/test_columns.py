"""Results as columns: what a notebook or `pandas.DataFrame` takes."""

from fractions import Fraction

import numpy as np
import pytest

import stb_gym
from stb_gym import Round, ShutTheBox, Standing, Threes


@pytest.fixture(scope="module")
def box():
    return stb_gym.solve(ShutTheBox())


def test_states_are_all_boards_with_their_values(box):
    states = box.states()
    assert sorted(map(len, states["open"])) == sorted(bin(board).count("1") for board in range(512))
    value = dict(zip(states["open"], states["value"], strict=True))
    assert [round(value[tiles], 6) for tiles in ((8,), (2, 6), (1, 8), (4, 5))] == [
        6.888889,
        5.969136,
        6.888889,
        7.027778,
    ]


def test_decisions_are_the_nodes_that_have_a_move(box):
    decisions = box.decisions()
    assert {len(column) for column in decisions.values()} == {4040}
    row = next(i for i, at in enumerate(decisions["open"]) if at == (1, 2, 3, 4, 5) and decisions["roll"][i] == "8")
    assert decisions["best"][row] == "shut 3,5"
    assert decisions["choices"][row] == 3
    assert decisions["value"][row] == pytest.approx(box.value_at(open=[1, 2, 4]))


def test_two_objectives_part_at_a_position():
    game = ShutTheBox()
    points, shut = (stb_gym.solve(game, goal).moves(open=[1, 4, 5, 8], roll=9) for goal in ("score", "shut"))
    assert points["move"] == ["shut 4,5", "shut 1,8"]
    assert points["loss"] == [0, pytest.approx(7.027778 - 6.888889, abs=1e-6)]
    assert shut["move"] == ["shut 1,8", "shut 4,5"]
    assert shut["value"] == pytest.approx([168 / 1296, 4 / 36])


def test_moves_have_one_name_in_all_columns():
    best = stb_gym.solve(ShutTheBox(tiles=3, one_die="any-time"))
    decisions = best.decisions()
    for tiles, dice, roll, names in zip(*(decisions[word] for word in ("open", "dice", "roll", "best")), strict=True):
        moves = best.moves(open=tiles, dice=dice, roll=int(roll))
        optimal = {move for move, loss in zip(moves["move"], moves["loss"], strict=True) if loss == 0}
        assert set(names.split(" or ")) == optimal


def test_values_of_an_exact_solution_are_fractions():
    best = stb_gym.solve(ShutTheBox(), exact=True)
    assert best.value_at() == best.value
    assert best.value_at(open=[1, 4, 5, 8], roll=9) == Fraction(62, 9)
    assert isinstance(best.value_at(), Fraction)


def test_moves_need_a_roll(box):
    with pytest.raises(ValueError, match="roll"):
        box.moves(open=[8])


def test_there_is_no_move_where_the_turn_ends(box):
    assert box.moves(open=[1], roll=5) == {"move": [], "leaves": [], "value": [], "loss": []}


def test_costs_of_decisions_sum_to_the_regret(box):
    evaluation = box.evaluate(stb_gym.strategy(box.game, "fewest-then-biggest"))
    decisions, departures = evaluation.decisions(), evaluation.departures()
    assert sum(decisions["cost"]) == pytest.approx(evaluation.regret) == pytest.approx(sum(departures["cost"]))
    assert len(departures["loss"]) == 181
    assert departures["loss"] == sorted(departures["loss"], reverse=True)


def test_illegal_actions_are_named_among_what_a_policy_plays(box):
    uniform = np.full((box.tables.nodes, box.tables.actions), 1 / box.tables.actions)
    assert {move.split(" or ")[-1] for move in box.evaluate(uniform, "end").decisions()["plays"]} == {
        "an illegal action"
    }
    plays = box.evaluate(np.zeros(box.tables.nodes, int), "end").departures()["plays"]  # shuts tile 1 everywhere
    assert set(plays) == {"an illegal action"}


def test_a_turn_at_a_standing_is_solved_for_the_win():
    solution = Round(Threes(), players=3).solve()
    assert solution.at(Standing(after=2)).value == pytest.approx(solution.seats[0])
    last = solution.at(Standing(lead=8, holders=1, after=0))
    assert last.moves(roll=[3, 1, 3, 2, 4])["loss"][0] == 0
    assert last.evaluate(last.policy).regret == 0
    assert last.evaluate(stb_gym.strategy(last.game, "optimal-score")).departures()["loss"][0] > 0
    with pytest.raises(ValueError, match="players after"):
        solution.at(Standing(after=3))


def test_a_round_is_a_table_of_seats_and_one_of_leads():
    solution = Round(Threes(), players=3).solve()
    assert solution.table()["wins"] == pytest.approx(solution.seats)
    leads = Round(Threes(), players=3, ties="nobody").solve().leads()
    assert leads["lead"][:2] == [0, 1]
    assert leads["1 after"][1] == pytest.approx(0.9789, abs=1e-4)  # 1 is beaten by five threes alone
    np.testing.assert_allclose(leads["0 after"], 1)


@pytest.mark.parametrize("make", [
    lambda: stb_gym.solve(Threes(), exact=True),
    lambda: stb_gym.evaluate(ShutTheBox(), stb_gym.strategy(ShutTheBox(), "random")),
    lambda: Round(Threes()).solve(),
    lambda: Round(Threes()).evaluate(["optimal", "random"]),
])  # fmt: skip
def test_results_display_themselves(make):
    shown = make()._repr_html_()
    assert shown.startswith("<table>")
    assert shown.count("<tr>") <= 14
