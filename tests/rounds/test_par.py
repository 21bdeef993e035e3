"""Test par scores."""

from itertools import product

import pytest

from stb_gym import ShutTheBox, Threes, strategy
from stb_gym.rounds import Round, pars, shares
from tests import every
from tests.twins import MostThrees


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "ties"),
    every(5, [*product([MostThrees(dice=3), ShutTheBox(tiles=6), Threes()], ["split", "nobody"])], pytest.mark.slow),
    ids=str,
)
def test_par_is_the_worst_score_that_is_worth_a_turn(game, ties):
    for each in pars(Round(game, 3, ties).solve()):
        smaller = Round(game, each.after + 1, ties).solve()
        win_of = dict(zip(smaller.rules.scores_so_far.scores.tolist(), smaller.lead_value[each.after], strict=True))
        assert each.first == pytest.approx(smaller.seats[0])
        for par, least in ((each.par, each.first - 1e-12), (each.even, 1 / 2)):
            assert par == [score for score, wins in win_of.items() if wins >= least][-1]


@pytest.mark.slow
def test_par_at_the_edges():
    assert pars(Round(ShutTheBox(tiles=2, dice=1, faces=3), 60, "nobody").solve())[-1].even is None
    for ties in ("split", "all-win", "nobody"):  # every turn ends alike
        solution = Round(ShutTheBox(tiles=1), players=5, ties=ties).solve()
        assert [each.par for each in pars(solution)] == [1] * 5
        assert (shares(solution, strategy(ShutTheBox(tiles=1), "random")) == 1).all()
    assert pars(Round(ShutTheBox(tiles=1, dice=3)).solve())[1].even == 1  # half a win, but for rounding
