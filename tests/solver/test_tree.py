"""The tree of moves and rolls below a position."""

from itertools import chain

import pytest

from stb_gym import ShutTheBox, Threes, move_tree, solve

NINE, THREES = solve(ShutTheBox()), solve(Threes())


def below(branch):
    """All branches below one."""
    return list(chain.from_iterable([each, *below(each)] for each in branch.branches))


def depth(branch):
    """How many rolls follow each other at most, the one of the root included."""
    own = "roll" in branch.label
    return own + max(map(depth, branch.branches), default=0)


def test_the_moves_of_a_published_position():
    tree = move_tree(NINE, open=[1, 3, 4, 6, 7], roll=7)
    assert [(move.label, move.state) for move in tree.branches] == [
        ("shut 7", "open 1,3,4,6"),
        ("shut 3,4", "open 1,6,7"),
        ("shut 1,6", "open 3,4,7"),
    ]
    assert [tree.value + move.loss for move in tree.branches] == pytest.approx([move.value for move in tree.branches])
    assert all(move.branches == () for move in tree.branches)


@pytest.mark.parametrize(
    ("solution", "where"),
    [
        (NINE, {"open": [1, 2, 4, 5]}),
        (solve(ShutTheBox(), "shut"), {"open": [1, 2, 4, 5], "roll": 5}),
        (solve(ShutTheBox(one_die="any-time"), exact=True), {"open": [1, 2, 4, 5], "dice": 2, "roll": 5}),
        (THREES, {"points": 2, "dice": 2}),
        (THREES, {"points": 2, "roll": [3, 1, 4]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("throws", [1, 2, 3])
def test_values_follow_from_those_below_them(solution, where, throws):
    tree = move_tree(solution, throws, **where)
    assert depth(tree) <= throws
    for branch in [tree, *below(tree)]:
        moves = [each for each in branch.branches if each.probability is None]
        if moves:
            assert branch.value == pytest.approx(moves[0].value)
            assert moves[0].loss == 0
            for move in moves:
                assert abs(branch.value - move.value) == pytest.approx(move.loss)
        elif branch.branches:
            assert sum(roll.probability for roll in branch.branches) == pytest.approx(1)
            assert branch.value == pytest.approx(sum(roll.probability * roll.value for roll in branch.branches))


def test_rolls_without_a_move_are_one_branch():
    *_, last = move_tree(NINE, open=[1, 2]).branches
    assert (last.label, last.probability, last.value) == ("no move", pytest.approx(33 / 36), 3)


def test_the_text_has_a_line_for_every_branch():
    tree = move_tree(NINE, 2, open=[1, 4, 5, 8], roll=9)
    first, second, *lines = str(tree).splitlines()
    assert (first, second) == ("open 1,4,5,8, roll 9: 6.88889", "  shut 4,5 -> open 1,8: 6.88889")
    assert 2 + len(lines) == 1 + len(below(tree))
    assert any(line.startswith("    roll 8 (13.89%): ") for line in lines)


@pytest.mark.parametrize("throws", [0, 4, True, 1.5])
def test_a_tree_of_another_depth_is_refused(throws):
    with pytest.raises(ValueError, match="from 1 to 3"):
        move_tree(NINE, throws)


def test_a_tree_too_large_is_refused():
    assert len(below(move_tree(NINE, 2))) == 2302
    with pytest.raises(ValueError, match=r"12,002 branches .* at most 4,096"):
        move_tree(NINE, 3, open=[1, 2, 3, 4, 5, 6, 7])
