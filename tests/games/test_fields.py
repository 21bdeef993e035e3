"""Fields of rules: their meaning, their checks, and the flags that select them."""

from dataclasses import dataclass, fields

import numpy as np
import pytest
from hypothesis import given

from stb_gym import ShutTheBox, Threes
from stb_gym.games import (
    VARIANTS,
    check_chances,
    check_flag,
    check_integer,
    check_lineup,
    integers,
    make_game,
    own_rules,
    rule,
    rule_flags,
    rules_of,
    same_rules,
    title,
)
from stb_gym.games.fields import check_rules, rules_in_words
from tests.twins import games


@dataclass(frozen=True)
class Coin:
    sides: int = rule(2, "sides of the coin", low=1, high=3, size=True)
    metal: str = rule("gold", "metal of the coin", choices=("gold", "tin"), flag="made-of")
    is_fair: bool = rule(True, "whether its sides fall alike")
    value: str | None = rule(None, "a value without a check", sample="N")
    year: int = 2000

    name = "coin"

    def __post_init__(self):
        check_rules(self)


def test_a_rule_is_a_field_with_its_meaning():
    known = rules_of(Coin)
    assert list(known) == ["sides", "metal", "is_fair", "value", "year"]
    assert known["sides"] == ("sides of the coin", 1, 3, (), None, True, None)
    assert known["metal"] == ("metal of the coin", None, None, ("gold", "tin"), "made-of", False, None)
    assert known["year"] == type(known["year"])()
    assert Coin() == Coin(2, "gold", True, None, 2000)
    with pytest.raises(TypeError, match="lowest"):
        rule(1, "words", lowest=3)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        *[({"sides": value}, "sides") for value in (0, 4, 2.0, "2", True, None)],
        *[({"metal": value}, "metal") for value in ("lead", None)],
        *[({"is_fair": value}, "is_fair") for value in (1, "no")],
        ({"metal": "lead", "sides": 9}, "sides"),  # the first in the order of the fields
        ({"side": 2}, "did you mean sides"),
    ],
    ids=str,
)
def test_values_out_of_range_are_refused_by_field(options, named):
    with pytest.raises(ValueError, match=named):
        make_game(Coin, options)


def test_values_in_range_are_kept():
    for options in ({"sides": 1}, {"sides": np.int64(3)}, {"metal": "tin"}, {"is_fair": np.bool_(False)}, {"year": -5}):
        assert own_rules(Coin(**options)) == options
    box = ShutTheBox(tiles=np.int64(6), one_die=np.str_("low-sum"), one_die_forced=np.True_, first_move=np.uint8(2))
    assert {type(getattr(box, each.name)) for each in fields(box)} == {int, str, bool, type(None)}


def test_games_in_words(snapshot):
    rules = [Coin(), Coin(3, "tin", False), ShutTheBox(open=[1, 3], one_die="low-sum"), Threes(dice=3, moon=True)]
    assert {rules_in_words(game): [title(game), " ".join(rule_flags(game))] for game in rules} == snapshot


def read_back(game):
    """Return the game that its flags select, by the types of the default values."""
    known = rules_of(game)
    of_flag = {f"--{known[each.name].flag or each.name.replace('_', '-')}": each for each in fields(game)}
    words, options = iter(rule_flags(game)), {}
    for flag in words:
        each = of_flag[flag]
        if isinstance(each.default, bool):
            options[each.name] = True
        else:
            text = next(words)
            options[each.name] = int(text) if text.isdecimal() and each.name != "open" else text
    return make_game(type(game), options)


@given(games())
def test_expression_and_flags_make_the_game(game):
    assert read_back(game) == game
    assert eval(repr(game), {type(game).__name__: type(game)}) == game
    assert same_rules(game, own_rules(game))


def test_flags_make_the_named_variants():
    for name in VARIANTS:
        game = ShutTheBox.preset(name)
        assert read_back(game) == game


def test_rules_of_a_file_are_compared_with_those_of_a_game():
    assert same_rules(ShutTheBox(open="odd"), {"open": [1, 3, 5, 7, 9]})
    for other in ({}, {"dice": 4}, {"dice": "3"}, {"dice": 3, "magic": 1}, [3], None, 3):
        assert not same_rules(Threes(dice=3), other)


@pytest.mark.parametrize(
    ("check", "allowed", "refused"),
    [
        (lambda value: check_integer("field", value, 1, 3), [1, 3, np.int8(2)], [0, 4, 1.0, True, "2", None]),
        (lambda value: check_flag("field", value), [True, np.False_], [0, "yes", None]),
        (lambda value: check_chances("field", value), [[1], [0.5, 0.5], [0, 1]], [[], [0.5], [-0.5, 1.5], [0.9, 0.2]]),
        (lambda value: check_lineup("field", value, 2), [["a", "b"]], ["ab", ["a"], ["a", "b", "c"]]),
        (lambda value: integers("field", value, 1, 3), [[1, 3], (), np.array([2])], ["12", 1, [4], [1.5]]),
    ],
    ids=["integer", "flag", "chances", "lineup", "integers"],
)
def test_arguments_are_checked(check, allowed, refused):
    for value in allowed:
        check(value)
    for value in refused:
        with pytest.raises(ValueError, match="field"):
            check(value)
