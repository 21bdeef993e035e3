"""The rules of both games against the reference, their actions and their fields."""

from fractions import Fraction

import pytest
from hypothesis import given, settings

from stb_gym import ShutTheBox, Threes
from stb_gym.games import VARIANTS, check_game, rolls, shut_the_box, walk
from stb_gym.games.shut_the_box import BY_SUM, NO_MOVE
from tests.twins import games, our_score, position, twin


def in_their_words(game, moves):
    """Return moves as the reference names them."""
    if isinstance(game, Threes):
        return {game.actions[action]: following for action, following in moves.items()}
    for action, following in moves.items():
        assert following[1] == 0 or game.dice_after[action] in (0, following[1])
    return {(game.actions[action], following[1]): position(game, *following) for action, following in moves.items()}


@settings(max_examples=30)
@given(games())
def test_states_rolls_moves_and_scores_are_those_of_the_reference(game):
    other, found = twin(game), walk(game)
    by_tiles = isinstance(game, ShutTheBox)
    by_sum = by_tiles and game.match in BY_SUM
    throwing = {afterstate: position(game, *afterstate) for afterstate in found if afterstate[1]}
    assert sorted(map(str, throwing.values())) == sorted(str(p) for p in other.positions() if not other.is_over(p))
    for afterstate, where in throwing.items():
        shown, counts, _ = rolls(game, afterstate[1])
        theirs = [roll[0] if by_sum else tuple(sorted(roll)) for roll in shown]
        chances = [Fraction(count, game.faces ** afterstate[1]) for count in counts.tolist()]
        assert dict(zip(theirs, chances, strict=True)) == dict(other.outcomes(where))
        for roll, moves in zip(theirs, found[afterstate], strict=True):
            expected = dict(other.moves(where, roll))
            if by_tiles and afterstate == game.start():  # the reference has no move that does nothing
                expected = expected or {(NO_MOVE, 0): (where[0], 0)}
            assert in_their_words(game, moves) == expected
        assert game.final_score(afterstate[0]) == our_score(game, other.final_score(where))


@given(games())
def test_rules_keep_the_contract(game):
    check_game(game)
    states = sum(map(len, walk(game).values()))
    assert states <= (game.max_states() or states)


def test_actions_in_order(snapshot):
    boxes = [
        ShutTheBox(tiles=4, dice=1),
        ShutTheBox(tiles=3, faces=2, one_die="any-time"),
        ShutTheBox(tiles=3, faces=2, match="faces-or-sum", ending_roll=4),
        ShutTheBox(tiles=5, faces=3, one_die="low-sum", one_die_forced=True, first_move=2),
    ]
    assert {str(game): str(list(zip(game.actions, game.dice_after, strict=True))) for game in boxes} == snapshot
    assert Threes().actions == (1, 2, 3, 4, 5)


def test_scores_of_two_digit_tiles():
    game = ShutTheBox(tiles=14, score="digits")
    assert [game.final_score(board) for board in (0, 0b10011, 0b1000000001)] == [0, 125, 110]
    assert game.final_score(2**14 - 1) == 1234567891011121314


def test_named_variants(snapshot):
    assert {name: repr(ShutTheBox.preset(name)) for name in VARIANTS} == snapshot
    assert ShutTheBox.preset("3-down-extreme", tiles=12).start_tiles == tuple(range(4, 13))
    with pytest.raises(ValueError, match="golfing"):
        ShutTheBox.preset("golfing")


def test_open_tiles_are_a_word_or_a_list():
    assert ShutTheBox(open=[7, 3, 3]) == ShutTheBox(open="7,3") == ShutTheBox(open=(3, 7))
    assert ShutTheBox(tiles=3, open={2}).open == "even"


@pytest.mark.parametrize(
    ("word", "rules"),
    [
        ("open", {"open": "some"}),
        ("open", {"open": [10]}),
        ("open", {"open": []}),
        ("open", {"tiles": 3, "open": "4-up"}),
        ("one_die", {"one_die": "often"}),
        ("one_die_forced", {"one_die_forced": True}),
        ("match", {"match": "pairs"}),
        ("first_move", {"first_move": True}),
        ("first_move", {"first_move": 10}),
        ("first move", {"first_move": 2, "open": "odd"}),
        ("ending_roll", {"ending_roll": 1}),
        ("ending_roll", {"ending_roll": 13}),
        ("digits", {"tiles": 15, "score": "digits"}),
    ],
)
def test_values_that_are_not_allowed_are_refused(word, rules):
    with pytest.raises(ValueError, match=word):
        ShutTheBox(**rules)


def test_rolls_that_may_shut_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr(shut_the_box, "MAX_SETS", 62)
    assert len(ShutTheBox().actions) == 62
    monkeypatch.setattr(shut_the_box, "MAX_SETS", 61)
    with pytest.raises(ValueError, match="sets of tiles"):
        _ = ShutTheBox().actions
