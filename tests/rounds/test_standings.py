"""Standings as indices: found again, and with the best score first whether few or many points are good."""

import numpy as np
import pytest

from stb_gym import ShutTheBox
from stb_gym.rounds import TIES, Standings
from stb_gym.solver import Standing, compile_game
from tests.twins import MostThrees

TWO_TILES = ShutTheBox(tiles=2, dice=1, faces=3)


@pytest.mark.parametrize("ties", TIES)
def test_every_standing_that_a_seat_meets_is_found_again(ties):
    standings = Standings(compile_game(TWO_TILES), players=4, ties=ties, shut_wins=False)
    assert standings.scores.tolist() == [0, 1, 2, 3]
    for seat in range(4):
        for index in standings.met_by(seat).nonzero()[0].tolist():
            assert standings.find(standings.standing(index, 3 - seat)) == index
    for standing in (Standing(2, 1, 2), Standing(2, 3, 0), Standing(after=3)):
        assert standings.standing(standings.find(standing), standing.after) == standing


def test_the_most_points_lead_where_more_are_better():
    standings = Standings(compile_game(MostThrees(dice=2, faces=4, free_face=0)), 3, "split", shut_wins=True)
    five = standings.find(Standing(5, 1, 1))
    assert standings.scores[standings.holds[five]].tolist() == [8, 7, 6, 5]
    assert standings.over.nonzero()[0].tolist() == [0, 1, 2]  # a lead of 8, which nobody can beat
    assert standings.places(np.array([8, 0, 0]), [False, False, True]).tolist() == [0, 8, 9]


@pytest.mark.parametrize(
    ("standing", "error"),
    [
        (Standing(46, 1), "lead must be"),
        (Standing(3, 2), "holders"),
        (Standing(None, 1), "holders"),
        (Standing(3, 1, 1), "the first of 2"),
        (Standing(after=2), "players after"),
        (Standing(0, 1), "ends the round"),
        (Standing(2, 1), "no turn ends with"),
    ],
)
def test_standings_that_cannot_occur_are_refused(standing, error):
    game = ShutTheBox(tiles=3, open=(1, 3)) if standing == Standing(2, 1) else ShutTheBox()
    with pytest.raises(ValueError, match=error):
        Standings(compile_game(game), players=2, ties="split", shut_wins=True).find(standing)
