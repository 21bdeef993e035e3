"""The tree of moves and rolls below a position."""

import pytest

from stb_gym import ShutTheBox, Threes
from stb_gym.solver import move_tree

NINE, THREES, ANY_TIME = ShutTheBox(), Threes(), ShutTheBox(one_die="any-time")


def check_branch(branch, throws):
    """Check a branch and those below it; return how many there are."""
    moves = [each for each in branch.branches if each.probability is None]
    if moves:
        assert moves[0].loss == 0
        assert [branch.value] * len(moves) == pytest.approx([moves[0].value] * len(moves))
        assert [abs(branch.value - move.value) for move in moves] == pytest.approx([move.loss for move in moves])
    elif branch.branches:
        assert sum(roll.probability for roll in branch.branches) == pytest.approx(1)
        assert branch.value == pytest.approx(sum(roll.probability * roll.value for roll in branch.branches))
    throws -= "roll" in branch.label
    assert throws >= 0
    return 1 + sum(check_branch(each, throws) for each in branch.branches)


@pytest.mark.parametrize(
    ("game", "objective", "where"),
    [
        (NINE, "score", {"open": [1, 2, 4, 5]}),
        (NINE, "shut", {"open": [1, 2, 4, 5], "roll": 5}),
        (ANY_TIME, "score", {"open": [1, 2, 4, 5], "dice": 2, "roll": 5}),
        (THREES, "score", {"points": 2, "dice": 2}),
    ],
    ids=str,
)
def test_values_follow_from_those_below(solved, game, objective, where):
    for throws in (1, 2, 3):
        tree = move_tree(solved(game, objective), throws, **where)
        assert tree.value == solved(game, objective).value_at(**where)
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
    with pytest.raises(ValueError, match="depth"):
        move_tree(solved(NINE), throws)


def test_trees_that_are_too_large_are_refused(solved):
    assert check_branch(move_tree(solved(NINE), 2), 2) == 2303
    with pytest.raises(ValueError, match="12,002 branches"):
        move_tree(solved(NINE), 3, open=[1, 2, 3, 4, 5, 6, 7])
