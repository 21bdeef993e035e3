"""Departures from the play of a turn alone, and par scores."""

import numpy as np
import pytest

from stb_gym import Round, ShutTheBox, Standing, Threes, evaluate, solve, strategy
from stb_gym.rounds import departures, firsts, pars, shares
from tests.twins import MostThrees

NINE, FIVE_DICE = ShutTheBox(), Threes()


@pytest.mark.parametrize(("players", "positions"), [(2, 19), (3, 28), pytest.param(5, 50, marks=pytest.mark.slow)])
def test_where_the_first_player_departs_from_the_fewest_points(players, positions):
    found = departures(Round(NINE, players).solve())
    assert (found.first, found.positions) == (positions, 4040)
    assert found.by_lead.shape == (players - 1, 46)


def test_where_the_second_departs_who_knows_the_lead():
    found = departures(Round(NINE, 2, "all-win").solve()).by_lead[0]
    assert found[[0, 3, 10, 20]].tolist() == [85, 243, 57, 30]


def test_departures_are_where_no_best_move_is_a_best_one_alone():
    """Counted again at a position: what the play of the turn alone loses there of the chance to win."""
    game = ShutTheBox(tiles=6)
    solution, alone = Round(game, 3).solve(), solve(game)
    counts = departures(solution)
    for standing in (Standing(after=2), Standing(4, 1, 1), Standing(7, 1, 0)):
        worth, found = solution.replies[standing.after].values_at(standing).worth, 0
        tables = alone.tables
        for node in tables.decisions.tolist():
            after = [(int(tables.held[s]), int(tables.dice[s])) for s in tables.edge_next[tables.edges_of(node)]]
            best = [*np.flatnonzero(alone.optimal[tables.edges_of(node)])]
            found += max(worth(*state) for state in after) - max(worth(*after[place]) for place in best) > 1e-9
        assert found == (counts.first if standing.lead is None else counts.by_lead[standing.after][standing.lead])
    assert counts.first > 0


def test_who_need_not_play_departs_nowhere():
    assert not departures(Round(NINE, 2, shut_wins=True).solve()).by_lead[0][0]


@pytest.mark.parametrize(
    "game", [MostThrees(dice=3), *(pytest.param(each, marks=pytest.mark.slow) for each in (NINE, FIVE_DICE))], ids=str
)
@pytest.mark.parametrize("ties", ["split", "nobody"])
def test_par_is_the_worst_score_that_is_worth_a_turn(game, ties):
    solution = Round(game, 4, ties).solve()
    for each in pars(solution):
        smaller = Round(game, each.after + 1, ties).solve()
        first = smaller.seats[0]
        assert each.first == pytest.approx(first)
        worth = dict(
            zip(smaller.evaluation.standings.scores.tolist(), smaller.evaluation.worth[each.after], strict=True)
        )
        good = [score for score, wins in worth.items() if wins >= first - 1e-12]
        assert each.par == good[-1]
        assert each.even == max((score for score, wins in worth.items() if wins >= 1 / 2), key=lambda s: -game.sign * s)


def test_nobody_is_even_against_many():
    assert pars(Round(ShutTheBox(tiles=2, dice=1, faces=3), 60, "nobody").solve())[-1].even is None


@pytest.mark.slow
def test_only_threes_becomes_perfect():
    """It has 86 % of the best chance with 5 players after and 89 % with 10."""
    solution = Round(FIVE_DICE, 11).solve()
    chances = evaluate(FIVE_DICE, strategy(FIVE_DICE, "threes-only")).score_distribution
    wins = solution.evaluation.worth @ [chances.get(score, 0) for score in range(31)]
    assert (wins / firsts(solution))[[5, 10]] == pytest.approx([0.8614, 0.8859], abs=5e-5)


@pytest.mark.parametrize("ties", ["split", "all-win", "nobody"])
def test_par_where_everybody_ends_alike(ties):
    solution = Round(ShutTheBox(tiles=1), players=5, ties=ties).solve()
    assert [each.par for each in pars(solution)] == [1] * 5
    assert (shares(solution, strategy(ShutTheBox(tiles=1), "random")) == 1).all()
