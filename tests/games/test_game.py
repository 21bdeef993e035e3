"""What holds for every game: its fields, its rolls, the walk through its states, and the check of its contract."""

from collections import Counter
from dataclasses import dataclass, fields
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from stb_gym import Game, ShutTheBox, Threes, games
from stb_gym.games import check_game, fits, make_game, rolls, rule, rules_of, throw_faces, title, walk
from tests import twins


@dataclass(frozen=True, repr=False)
class Coins(Threes):
    """Throw coins and keep the low ones."""

    name = "coins"
    dice: int = rule(2, "number of coins", low=1, high=3, size=True)
    metal: str = rule("gold", "metal of the coins", choices=("gold", "tin"))
    is_fair: bool = rule(True, "whether the sides of a coin fall alike")


@pytest.mark.parametrize(
    ("name", "values"),
    [("dice", [0, 4, 2.0, "2", True, None]), ("metal", ["lead", None]), ("is_fair", [1, "no"]), ("side", [2])],
)
def test_values_out_of_range_are_refused_by_field(name, values):
    for value in values:
        with pytest.raises(ValueError, match=name):
            make_game(Coins, {name: value})


def test_values_of_numpy_become_values_of_python():
    box = ShutTheBox(tiles=np.int64(6), one_die=np.str_("low-sum"), one_die_forced=np.True_, first_move=np.uint8(2))
    assert {type(getattr(box, each.name)) for each in fields(box)} == {int, str, bool, type(None)}


def test_rules_have_a_meaning_and_a_title(snapshot):
    known = {
        rules.name: {name: str(known) for name, known in rules_of(rules).items()} for rules in (ShutTheBox, Threes)
    }
    made = [Coins(), Coins(dice=3, metal="tin", is_fair=False), ShutTheBox(open=[1, 3], tiles=12, first_move=3)]
    assert [known, {repr(game): title(game) for game in made}] == snapshot


@given(twins.games())
def test_games_are_made_by_their_expression(game):
    assert eval(repr(game), {"ShutTheBox": ShutTheBox, "Threes": Threes, "MostThrees": twins.MostThrees}) == game


@given(twins.games())
def test_rolls_count_throws(game):
    shown, counts, of_throw = rolls(game, game.dice)
    throws = list(product(range(1, game.faces + 1), repeat=game.dice))
    assert throws == [throw_faces(throw, game.dice, game.faces) for throw in range(len(throws))]
    read = [game.roll_of(throw) for throw in throws]
    assert [shown[place] for place in of_throw] == read
    assert list(zip(shown, counts.tolist(), strict=True)) == sorted(Counter(read).items())
    assert rolls(game, 0).shown == ((),)
    with pytest.raises(ValueError, match="dice"):
        rolls(game, -1)


@given(twins.games())
def test_moves_lead_to_earlier_states_of_a_walk(game):
    earlier = set()
    for state, by_roll in walk(game).items():
        assert all(earlier.issuperset(moves.values()) for moves in by_roll)
        earlier.add(state)
    assert earlier.issuperset([game.start(), *game.positions()])


def test_boxes_that_do_not_fit_are_not_walked():
    assert fits(ShutTheBox(tiles=14))
    box = ShutTheBox(tiles=24, dice=4)
    assert not fits(box)
    with pytest.raises(ValueError, match="too many positions"):
        walk(box)


# The contract


def nothing():
    """Return a class of rules without any methods."""
    return type("Nothing", (Game,), dict.fromkeys(Game.__abstractmethods__))


def broken(dice=1, **changes):
    """Return Threes with a few dice of two faces, and with other methods or attributes."""
    return type("Broken", (Threes,), changes)(dice=dice, faces=2)


def returns(value):
    return lambda *_: value


VIOLATIONS = {
    "the class is not a dataclass": nothing()(),
    "the class can change": dataclass(nothing())(),
    "no dice": dataclass(frozen=True)(nothing())(),
    "too many throws": Threes(dice=7, faces=20),
    "the start has too many dice": broken(start=returns((0, 2))),
    "the start is a list": broken(start=returns([0, 1])),
    "a next state is a number": broken(moves=returns({0: 3})),
    "a next state is a list": broken(moves=returns({0: [3, 0]})),
    "a next state has a fraction": broken(moves=returns({0: (0.5, 0)})),
    "a next state has too many dice": broken(moves=returns({0: (1, 2)})),
    "an action is out of range": broken(moves=returns({1: (1, 0)})),
    "an action is a word": broken(moves=returns({"keep": (1, 0)})),
    "moves are a list": broken(moves=returns([(1, 0)])),
    "a first throw leaves no move": broken(moves=lambda game, state, roll: {} if roll == (2,) else {0: (1, 0)}),
    "moves lead back": broken(moves=lambda game, state, roll: {0: (1 - state[0], 1)}),
    "moves never end": broken(moves=lambda game, state, roll: {0: (state[0] + 1, 1)}),
    "a score is a fraction": broken(final_score=returns(0.5)),
    "the highest observation is above 255": broken(observation_high=(2, 1, 256)),
    "an observation is too large": broken(observation_high=(1, 1, 1)),
    "an observation is negative": broken(observe=returns([-1, 0, 0])),
    "an observation is a fraction": broken(observe=returns([0.5, 0, 0])),
    "an observation is too short": broken(observe=returns([0, 0])),
    "an observation is too long": broken(observe=returns([0, 0, 0, 0])),
    "two observations are the same": broken(observe=returns([0, 0, 0])),
    "a roll is a number": broken(roll_of=returns(1)),
    "a roll has an order": broken(3, roll_of=lambda game, throw: throw[1:2]),
}


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_the_first_violation_is_named(violation, snapshot, monkeypatch):
    monkeypatch.setattr(games.game, "LARGEST_TABLE", 20_000)
    with pytest.raises(ValueError, match=r"\w") as refused:
        check_game(VIOLATIONS[violation])
    assert str(refused.value) == snapshot


def test_only_games_are_checked():
    with pytest.raises(TypeError, match="game"):
        check_game(Threes)
