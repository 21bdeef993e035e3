"""Test the fields and rolls of games, and the search for their afterstates."""

from collections import Counter
from dataclasses import dataclass, fields
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes, register_game
from stb_gym.games import fits, make_game, rolls, rule, rules_of, throw_faces, title, walk
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


def test_boxes_that_do_not_fit_are_not_walked():
    assert fits(ShutTheBox(tiles=14))
    box = ShutTheBox(tiles=24, dice=4)
    assert not fits(box)
    with pytest.raises(ValueError, match="too many positions"):
        walk(box)


def test_registered_rules_are_checked_with_their_defaults():
    wrong = type("Wrong", (Coins,), {"roll_of": lambda game, throw: throw[-1:] if game.dice > 1 else throw})
    with pytest.raises(ValueError, match="roll_of"):
        register_game(dataclass(frozen=True, repr=False)(wrong))
