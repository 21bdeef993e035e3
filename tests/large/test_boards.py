"""Boards and their moves against the rules of Shut the Box, at every node."""

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import walk
from stb_gym.large import boards_of, subset_sums
from tests.twins import boxes


@given(boxes())
def test_moves_are_those_of_the_rules_at_every_node(game):
    boards = boards_of(game)
    for (board, dice), by_roll in walk(game).items():
        allowed = boards.later if board != game.start()[0] else boards.first
        allowed = allowed & (board & boards.taken == boards.taken) & (boards.dice == dice)
        for place, moves in enumerate(by_roll if dice else []):
            known = np.flatnonzero(allowed & (boards.roll == place))
            left = board & ~boards.taken[known]
            next_dice = boards.next_dice(left, boards.action[known])
            found = zip(boards.action[known].tolist(), left.tolist(), next_dice.tolist(), strict=True)
            assert {action: (after, thrown) for action, after, thrown in found if thrown >= 0} == moves


@given(boxes())
def test_scores_and_throws_are_those_of_the_rules(game):
    boards, start = boards_of(game), game.start()[0]
    held = subset_sums(boards.bits)
    scores = [game.final_score(board) for board in held.tolist()]
    assert boards.final_scores(held.reshape(2, -1)).ravel().tolist() == scores
    assert boards.scores.tolist() == sorted(set(scores))
    held = held[held != start]
    for dice in game.throws:
        expected = [board > 0 and dice in game.throws_at(board) for board in held.tolist()]
        assert boards.may_throw(held, dice).tolist() == expected


def test_scores_of_many_tiles():
    game = ShutTheBox(tiles=20)
    held = np.random.default_rng(1).integers(0, 2**20, (5, 7))
    expected = [[game.final_score(board) for board in row] for row in held.tolist()]
    assert boards_of(game).final_scores(held).tolist() == expected


def test_other_games_have_no_boards():
    with pytest.raises(ValueError, match="threes"):
        boards_of(Threes())
