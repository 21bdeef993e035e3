"""The tree of moves and rolls below a position."""

from itertools import chain

import pytest

from stb_gym import ShutTheBox, Threes, solve
from stb_gym.solver import move_tree

NINE, THREES, ANY_TIME = ShutTheBox(), Threes(), ShutTheBox(one_die="any-time")


def below(branch):
    """Return all branches below one."""
    return list(chain.from_iterable([each, *below(each)] for each in branch.branches))


def depth(branch):
    """Return the most rolls that follow each other, with the one at the root."""
    return ("roll" in branch.label) + max(map(depth, branch.branches), default=0)


@pytest.mark.parametrize(
    ("game", "objective", "where"),
    [
        (NINE, "score", {"open": [1, 2, 4, 5]}),
        (NINE, "shut", {"open": [1, 2, 4, 5], "roll": 5}),
        (ANY_TIME, "score", {"open": [1, 2, 4, 5], "dice": 2, "roll": 5}),
        (THREES, "score", {"points": 2, "dice": 2}),
        (THREES, "score", {"points": 2, "roll": [3, 1, 4]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("throws", [1, 2, 3])
def test_values_follow_from_those_below(solved, game, objective, where, throws):
    tree = move_tree(solved(game, objective), throws, **where)
    assert depth(tree) <= throws
    assert tree.value == solved(game, objective).value_at(**where)
    for branch in [tree, *below(tree)]:
        moves = [each for each in branch.branches if each.probability is None]
        if moves:
            assert moves[0].loss == 0
            assert branch.value == pytest.approx(moves[0].value)
            for move in moves:
                assert abs(branch.value - move.value) == pytest.approx(move.loss)
        elif branch.branches:
            assert sum(roll.probability for roll in branch.branches) == pytest.approx(1)
            assert branch.value == pytest.approx(sum(roll.probability * roll.value for roll in branch.branches))


def test_a_tree_in_fractions_has_the_same_branches(solved):
    exact, floats = (move_tree(best, 2, open=[1, 4, 5, 8]) for best in (solve(NINE, exact=True), solved(NINE)))
    assert str(exact) == str(floats)


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
def test_a_tree_of_another_depth_is_refused(solved, throws):
    with pytest.raises(ValueError, match="depth"):
        move_tree(solved(NINE), throws)


def test_a_tree_too_large_is_refused(solved):
    assert len(below(move_tree(solved(NINE), 2))) == 2302
    with pytest.raises(ValueError, match="12,002 branches"):
        move_tree(solved(NINE), 3, open=[1, 2, 3, 4, 5, 6, 7])
