"""Fields of rules: their meaning, their checks, and the flags that select them."""

from dataclasses import dataclass, fields

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import (
    make_game,
    own_rules,
    rule,
    rule_flags,
    rules_of,
    same_rules,
    title,
)  # fmt: skip
from stb_gym.games.fields import check_rules, rules_in_words
from tests.twins import games


@dataclass(frozen=True)
class Coin:
    sides: int = rule(2, "sides of the coin", low=1, high=3, size=True)
    metal: str = rule("gold", "metal of the coin", choices=("gold", "tin"), flag="made-of")
    is_fair: bool = rule(True, "whether its sides fall alike")

    name = "coin"

    def __post_init__(self):
        check_rules(self)


@pytest.mark.parametrize(
    ("name", "values"),
    [("sides", [0, 4, 2.0, "2", True, None]), ("metal", ["lead", None]), ("is_fair", [1, "no"]), ("side", [2])],
)
def test_values_out_of_range_are_refused_by_field(name, values):
    for value in values:
        with pytest.raises(ValueError, match=name):
            make_game(Coin, {name: value})


def test_values_of_numpy_become_values_of_python():
    box = ShutTheBox(tiles=np.int64(6), one_die=np.str_("low-sum"), one_die_forced=np.True_, first_move=np.uint8(2))
    assert {type(getattr(box, each.name)) for each in fields(box)} == {int, str, bool, type(None)}


@pytest.mark.parametrize("rules", [Coin, ShutTheBox, Threes])
def test_rules_have_a_meaning_and_a_range(rules, snapshot):
    assert {name: str(known) for name, known in rules_of(rules).items()} == snapshot


def test_games_in_words(snapshot):
    boxes = [
        ShutTheBox(open=[1, 3], one_die="low-sum", one_die_forced=True),
        ShutTheBox(tiles=12, ending_roll=5, first_move=3),
    ]
    rules = [Coin(), Coin(3, "tin", False), *boxes, Threes(dice=3, moon=True)]
    assert {rules_in_words(game): [title(game), " ".join(rule_flags(game))] for game in rules} == snapshot


@given(games())
def test_games_are_made_by_their_expression_and_their_fields(game):
    assert eval(repr(game), {type(game).__name__: type(game)}) == game
    assert same_rules(game, own_rules(game))


def test_rules_of_a_file_are_compared_with_those_of_a_game():
    assert same_rules(ShutTheBox(open="odd"), {"open": [1, 3, 5, 7, 9]})
    for other in ({}, {"dice": 4}, {"dice": "3"}, {"dice": 3, "magic": 1}, [3], None, 3):
        assert not same_rules(Threes(dice=3), other)
