"""A turn with given dice."""

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, replay, solve, strategy

NARRATED = [8, 10, 6, 11, 3, 7]


def test_a_narrated_turn_of_perfect_play_shuts_the_box():
    turn = replay(ShutTheBox(), "optimal", NARRATED)
    assert turn["roll"] == list(map(str, NARRATED))
    assert turn["plays"] == turn["best"] == ["shut 8", "shut 1,9", "shut 6", "shut 4,7", "shut 3", "shut 2,5"]
    assert turn["leaves"][-1] == "open none"
    assert turn["loss"] == [0] * 6
    assert turn["value"][-1] == 0


@pytest.mark.parametrize(
    ("game", "policy", "rolls"),
    [
        (ShutTheBox(), "lowest-first", [8, 10, 11]),
        (ShutTheBox(match="faces-or-sum"), "worst", [[3, 4], [3, 5], [3, 5]]),
        (Threes(), "threes-only", [[6, 4, 4, 1, 1], [3, 3, 1, 1], [3, 4], 6]),
    ],
    ids=str,
)
@pytest.mark.parametrize("objective", ["score", "shut"])
def test_start_and_luck_less_losses_are_the_end(game, policy, rolls, objective):
    best, turn = solve(game, objective), replay(game, policy, rolls, objective)
    gained = sum(turn["luck"]) - sum(turn["loss"])
    assert best.state_utility[best.tables.start] + gained == pytest.approx(best.objective.sign * turn["value"][-1])
    assert objective == "shut" or sum(turn["loss"]) > 0


def test_the_turn_ends_at_a_throw_without_a_move():
    turn = replay(ShutTheBox(open=(1, 2)), "optimal", [[6, 6]])
    assert [column[0] for column in turn.values()] == [
        "12",
        "no move",
        "open 1,2",
        "no move",
        0,
        pytest.approx(turn["luck"][0]),
        3,
    ]


def test_a_policy_is_replayed_as_its_name_is():
    game = ShutTheBox()
    rolls, named = [8, 10, 6, 11], replay(game, "biggest-first", [8, 10, 6, 11, 12])
    assert replay(game, strategy(game, "biggest-first"), [*rolls, 12]) == named
    with pytest.raises(ValueError, match="a policy of"):
        replay(game, np.zeros(3, int), rolls)


@pytest.mark.parametrize(
    ("game", "rolls", "fault"),
    [
        (ShutTheBox(), [8, 13], "open 1,2,3,4,5,6,7,9: .* from 2 to 12, not 13"),
        (ShutTheBox(), [[7, 1]], "from 1 to 6, not 7"),
        (ShutTheBox(match="faces-or-sum"), [8], "single dice matter here"),
        (Threes(), [[6, 4, 4, 1, 1], [1, 5]], "1 point, 4 dice left: .* 2 dice, but 4"),
        (ShutTheBox(), NARRATED[:4], "goes on at open 2,3,5, .* 4 throws"),
        (Threes(), [], "goes on at 0 points, 5 dice left, .* 0 throws"),
        (ShutTheBox(), [*NARRATED, 2, 3], "ends after throw 6, .* 8 throws"),
    ],
)
def test_impossible_too_few_and_too_many_rolls_are_refused(game, rolls, fault):
    with pytest.raises(ValueError, match=fault):
        replay(game, "optimal", rolls)
