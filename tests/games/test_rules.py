"""The rules of both games against the reference, their actions and their fields."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import VARIANTS, check_game, entry_of, rolls, rules_of, shut_the_box, walk
from stb_gym.games.shut_the_box import NO_MOVE
from tests.twins import games, our_score, position, twin


def in_their_words(game, state, roll, moves):
    """Return the moves at a node as the reference names them, without the one that it does not know: no move."""
    if isinstance(game, Threes):
        return {game.actions[action]: following for action, following in moves.items()}
    named = {}
    for action, following in moves.items():
        if game.actions[action] == NO_MOVE:
            assert (state, moves) == (game.start(), {action: (state[0], 0)})
        else:
            assert following == (0, 0) or game.dice_after[action] in (0, following[1])
            named[game.actions[action], following[1]] = position(game, *following)
    return named


@given(games())
def test_states_rolls_moves_and_scores_are_those_of_the_reference(game):
    other, found = twin(game), walk(game)
    by_sum = isinstance(game, ShutTheBox) and game.match in ("sum", "two-at-most")
    throwing = {state: position(game, *state) for state in found if state[1]}
    assert len(throwing) == len(set(throwing.values()))
    assert set(throwing.values()) == {where for where in other.positions() if not other.is_over(where)}
    for state, where in throwing.items():
        shown, counts, _ = rolls(game, state[1])
        theirs = [roll[0] if by_sum else tuple(sorted(roll)) for roll in shown]
        chances = [Fraction(count, game.faces ** state[1]) for count in counts.tolist()]
        assert dict(zip(theirs, chances, strict=True)) == dict(other.outcomes(where))
        for roll, their_roll, moves in zip(shown, theirs, found[state], strict=True):
            assert in_their_words(game, state, roll, moves) == dict(other.moves(where, their_roll))
        assert game.final_score(state[0]) == our_score(game, other.final_score(where))


@given(games())
def test_rules_keep_the_contract(game):
    check_game(game)
    nodes = sum(len(by_roll) for by_roll in walk(game).values())
    assert nodes <= (game.most_nodes() or nodes)
    first_moves = walk(game)[game.start()]
    assert all(first_moves)  # no turn ends before its first choice
    if isinstance(game, ShutTheBox):
        other, start = twin(game), twin(game).start()
        without = any(not other.moves(start, roll) for roll, _ in other.outcomes(start))
        assert game.actions.count(NO_MOVE) == without
        shut = game.actions[: -1 if without else None]
        assert list(shut) == sorted(shut, key=lambda tiles: (sum(tiles), tiles))
        assert all(shut.count(tiles) == len(game.choices) for tiles in shut)


@pytest.mark.parametrize(
    ("game", "actions"),
    [
        (ShutTheBox(tiles=3), [(2,), (1, 2), (3,), (1, 3), (2, 3), (1, 2, 3), NO_MOVE]),
        (ShutTheBox(tiles=2, faces=2, one_die="any-time"), [*2 * [(1,)], *2 * [(2,)], *2 * [(1, 2)], NO_MOVE]),
        (ShutTheBox(tiles=2, dice=1, faces=2), [(1,), (2,)]),
        (ShutTheBox(tiles=3, faces=2, match="faces-or-sum", ending_roll=4), [(1,), (2,), (1, 2), (3,), NO_MOVE]),
        (Threes(dice=3), [1, 2, 3]),
    ],
    ids=str,
)
def test_actions_in_order(game, actions):
    assert list(game.actions) == actions


def test_one_die_is_an_action_of_its_own():
    assert ShutTheBox(tiles=2, faces=2, one_die="any-time").dice_after == (1, 2, 1, 2, 1, 2, 0)
    assert set(ShutTheBox(one_die="any-time", one_die_forced=True).dice_after) == {0}


def test_named_variants():
    variants = {name: ShutTheBox.preset(name) for name in VARIANTS}
    assert {name: game for name, game in variants.items() if game == ShutTheBox()}.keys() == {"classic", "golf"}
    assert variants["the-300"] == ShutTheBox(tiles=24, dice=4)
    assert variants["3-down-extreme"].start_tiles == (4, 5, 6, 7, 8, 9)
    assert variants["jackpot"] == variants["thai-style"] == ShutTheBox(match="one-tile")
    assert ShutTheBox.preset("3-down-extreme", tiles=12).start_tiles == tuple(range(4, 13))
    with pytest.raises(ValueError, match="golf"):
        ShutTheBox.preset("golfing")
    with pytest.raises(ValueError, match="tile"):
        ShutTheBox.preset("classic", tile=5)


def test_open_tiles_are_a_word_or_a_list():
    assert ShutTheBox(open=[7, 3, 3]) == ShutTheBox(open="7,3") == ShutTheBox(open=(3, 7))
    assert ShutTheBox(open=np.arange(1, 10, 2)) == ShutTheBox(open="odd")
    assert ShutTheBox(tiles=3, open={2}).open == "even"
    assert repr(ShutTheBox(open=[7, 3], one_die="any-time")) == "ShutTheBox(open=(3, 7), one_die='any-time')"


@pytest.mark.parametrize("rules", [ShutTheBox, Threes])
def test_sizes_have_limits(rules):
    for name, known in rules_of(rules).items():
        if known.low is not None:
            assert getattr(rules(**{name: known.low}), name) == known.low
            assert getattr(rules(**{name: known.high}), name) == known.high
            for value in (known.low - 1, known.high + 1, str(known.low), float(known.low)):
                with pytest.raises(ValueError, match=f"^{name} must"):
                    rules(**{name: value})


@pytest.mark.parametrize(
    ("rules", "word"),
    [
        ({"score": "product"}, "score"),
        ({"open": "some"}, "open"),
        ({"open": [10]}, "open"),
        ({"open": []}, "open"),
        ({"tiles": 3, "open": "4-up"}, "open"),
        ({"one_die": "often"}, "one_die"),
        ({"one_die": "any-time", "one_die_forced": 1}, "one_die_forced"),
        ({"one_die_forced": True}, "one_die_forced"),
        ({"match": "pairs"}, "match"),
        ({"first_move": True}, "first_move"),
        ({"first_move": 10}, "first_move"),
        ({"first_move": 2, "open": "odd"}, "first move"),
        ({"ending_roll": 1}, "ending_roll"),
        ({"ending_roll": 13}, "ending_roll"),
        ({"ending_roll": 0, "one_die": "low-sum"}, "ending_roll"),
        ({"tiles": 15, "score": "digits"}, "digits"),
    ],
    ids=str,
)
def test_values_that_are_not_allowed_are_refused_by_field(rules, word):
    with pytest.raises(ValueError, match=word):
        ShutTheBox(**rules)


def test_one_die_may_be_thrown_at_some_boards():
    low, high = ShutTheBox(one_die="low-sum"), ShutTheBox(one_die="high-shut")
    boards = {"1,2,3": 0b111, "1,6": 0b100001, "6": 0b100000, "7": 0b1000000}
    assert [low.throws_at(board) for board in boards.values()] == [(2, 1), (2,), (2, 1), (2,)]
    assert [high.throws_at(board) for board in boards.values()] == [(2, 1), (2, 1), (2, 1), (2,)]
    assert ShutTheBox(one_die="any-time", one_die_forced=True).throws_at(0b1000000) == (1,)
    assert low.throws_at(0) == ()
    assert ShutTheBox(open=(1, 2), one_die="low-sum").throws_at(0b11) == (2,)  # the first throw has all dice


def test_scores_are_sums_counts_or_digits():
    boards = [0, 0b10011, 0b1000000001, 0b10001100000000]
    scores = {score: ShutTheBox(tiles=14, score=score).final_score for score in ("sum", "count", "digits")}
    assert [scores["sum"](board) for board in boards] == [0, 8, 11, 33]
    assert [scores["count"](board) for board in boards] == [0, 3, 2, 3]
    assert [scores["digits"](board) for board in boards] == [0, 125, 110, 91014]
    assert scores["digits"](2**14 - 1) == 1234567891011121314


def test_rolls_that_may_shut_too_many_sets_are_refused(monkeypatch):
    monkeypatch.setattr(shut_the_box, "MOST_SETS", 62)
    assert len(ShutTheBox(tiles=9).actions) == 62
    monkeypatch.setattr(shut_the_box, "MOST_SETS", 61)
    with pytest.raises(ValueError, match="sets of tiles"):
        _ = ShutTheBox(tiles=9).actions


def test_environments_have_their_rules():
    boxes = {
        name: ShutTheBox(**{rule: value for rule, value in rules.items() if rule != "objective"})
        for name, rules in entry_of(ShutTheBox).environments.items()
    }
    assert boxes["ShutTheBox-v0"] == boxes["ShutTheBoxShut-v0"] == ShutTheBox()
    assert boxes["ShutTheBox12OneDie-v0"] == ShutTheBox(tiles=12, one_die="low-sum")
    assert boxes["ShutTheBox300-v0"] == ShutTheBox.preset("the-300")
    assert boxes.keys() == entry_of(ShutTheBox).reward_thresholds.keys()


@pytest.mark.parametrize("rules", [ShutTheBox, Threes])
def test_reward_thresholds_are_values_of_perfect_play(rules, solved):
    entry = entry_of(rules)
    for name, arguments in entry.environments.items():
        objective = arguments.get("objective", "score")
        game = rules(**{rule: value for rule, value in arguments.items() if rule != "objective"})
        if getattr(game, "tiles", 0) <= 10:
            value = solved(game, objective).value
            reward = -value if objective == "score" else value
            assert entry.reward_thresholds[name] == pytest.approx(reward, rel=1e-12)
