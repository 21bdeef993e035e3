"""The tree of moves and rolls below a position."""

import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.solver import move_tree

NINE, THREES, ANY_TIME = ShutTheBox(), Threes(), ShutTheBox(one_die="any-time")


def check_branch(branch, throws):
    """Check a branch and those below it; return how many there are."""
    throws -= "roll" in branch.label
    assert throws >= 0
    below = branch.branches
    if below and below[0].probability is None:  # moves, best first
        assert [move.value for move in below] == pytest.approx([branch.value + move.loss for move in below])
        assert below[0].loss == 0
    elif below:
        assert sum(roll.probability for roll in below) == pytest.approx(1)
        assert branch.value == pytest.approx(sum(roll.probability * roll.value for roll in below))
    return 1 + sum(check_branch(each, throws) for each in below)


@pytest.mark.parametrize(
    ("game", "where"),
    [
        (NINE, {"open": [1, 2, 4, 5]}),
        (ANY_TIME, {"open": [1, 2, 4], "dice": 2, "roll": 5}),
        (THREES, {"points": 2, "dice": 2}),
        (THREES, {"points": 2, "roll": [3, 1, 4]}),
    ],
    ids=str,
)
def test_values_follow_from_those_below(solved, game, where):
    for throws in (1, 2, 3):
        tree = move_tree(solved(game), throws, **where)
        assert tree.value == solved(game).value_at(**where)
        check_branch(tree, throws)


def test_trees_are_shown(solved, snapshot):
    trees = [
        move_tree(solved(NINE), open=[1, 3, 4, 6, 7], roll=7),
        move_tree(solved(NINE), 2, open=[1, 2]),
        move_tree(solved(ANY_TIME), 2, open=[1, 4, 5, 8], dice=2, roll=9),
        move_tree(solved(Threes(dice=3, faces=3, free_face=2)), 2, roll=[3, 1, 2]),
        move_tree(solved(NINE), open=[1], roll=5),
    ]
    assert "\n\n".join(map(str, trees)) == snapshot


@pytest.mark.parametrize("throws", [0, 4, True, 1.5])
def test_other_depths_are_refused(solved, throws):
    with pytest.raises((TypeError, ValueError), match="depth"):
        move_tree(solved(NINE), throws)


@pytest.mark.slow
def test_trees_that_are_too_large_are_refused(solved):
    assert check_branch(move_tree(solved(NINE), 2), 2) == 2303
    with pytest.raises(ValueError, match="4,096 branches"):
        move_tree(solved(NINE), 3, open=[1, 2, 3, 4, 5, 6, 7])
