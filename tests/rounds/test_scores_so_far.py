"""Test the table of scores so far: every row is found again, and the best score comes first in both kinds of games."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.rounds import TIES, ScoresSoFar, ScoresSoFarTable
from stb_gym.solver import compile_game
from tests.twins import MostThrees

TWO_TILES = ShutTheBox(tiles=2, dice=1, faces=3)


@pytest.mark.parametrize("ties", TIES)
def test_every_row_that_a_seat_can_meet_is_found_again(ties):
    table = ScoresSoFarTable(compile_game(TWO_TILES), players=4, ties=ties, shut_wins=False)
    assert table.scores.tolist() == [0, 1, 2, 3]
    for seat in range(4):
        for row in table.reachable_by(seat).nonzero()[0].tolist():
            assert table.find(table.at_row(row, 3 - seat)) == row
    for scores_so_far in (ScoresSoFar(2, 1, 2), ScoresSoFar(2, 3, 0), ScoresSoFar(after=3)):
        assert table.at_row(table.find(scores_so_far), scores_so_far.after) == scores_so_far


def test_the_most_points_lead_where_more_are_better():
    table = ScoresSoFarTable(compile_game(MostThrees(dice=2, faces=4, free_face=0)), 3, "split", shut_wins=True)
    five = table.find(ScoresSoFar(5, 1, 1))
    assert table.scores[table.takes_lead[five]].tolist() == [8, 7, 6, 5]
    assert table.over.nonzero()[0].tolist() == [0, 1, 2]  # a lead of 8, which nobody can beat
    assert table.ranks(np.array([8, 0, 0]), [False, False, True]).tolist() == [0, 8, 9]


@pytest.mark.parametrize(
    ("scores_so_far", "error"),
    [
        (ScoresSoFar(46, 1), "lead must be"),
        (ScoresSoFar(3, 2), "holders"),
        (ScoresSoFar(None, 1), "holders"),
        (ScoresSoFar(3, 1, 1), "the first of 2"),
        (ScoresSoFar(after=2), "players after"),
        (ScoresSoFar(0, 1), "ends the round"),
        (ScoresSoFar(2, 1), "no turn ends with"),
    ],
)
def test_scores_so_far_that_cannot_occur_are_refused(scores_so_far, error):
    game = ShutTheBox(tiles=3, open=(1, 3)) if scores_so_far == ScoresSoFar(2, 1) else ShutTheBox()
    with pytest.raises(ValueError, match=error):
        ScoresSoFarTable(compile_game(game), players=2, ties="split", shut_wins=True).find(scores_so_far)


@pytest.mark.parametrize(
    ("scores_so_far", "words"),
    [
        (ScoresSoFar(), "nobody has a score, none play after you"),
        (ScoresSoFar(after=1), "nobody has a score, 1 plays after you"),
        (ScoresSoFar(0, 3, 1), "3 players lead with 0 points, 1 plays after you"),
        (ScoresSoFar(-1, 1), "1 player leads with the moon, none play after you"),
    ],
)
def test_a_line_describes_the_scores_so_far(scores_so_far, words):
    assert scores_so_far.in_words(Threes(moon=True)) == words
