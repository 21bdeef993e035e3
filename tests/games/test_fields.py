"""Fields of rules: what `rule` says of them, how they are checked, and their flags."""

from dataclasses import dataclass, fields

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, rule
from stb_gym.games import VARIANTS, own_rules, rule_flags, rules_of, same_rules, title
from stb_gym.games.fields import check_rules, make_game
from tests.twins import SMALL


@dataclass(frozen=True)
class Coin:
    sides: int = rule(2, "sides of the coin", low=1, high=3, size=True)
    metal: str = rule("gold", "what it is made of", choices=("gold", "tin"), flag="made-of")
    is_fair: bool = rule(True, "whether its sides fall alike")
    value: str | None = rule(None, "checked by nobody", sample="N")
    year: int = 2000

    name = "coin"

    def __post_init__(self):
        check_rules(self)


def test_a_rule_is_a_field_with_all_that_is_known_of_it():
    known = rules_of(Coin)
    assert list(known) == ["sides", "metal", "is_fair", "value", "year"]
    assert (known["sides"].words, known["sides"].low, known["sides"].high) == ("sides of the coin", 1, 3)
    assert (known["metal"].choices, known["metal"].flag) == (("gold", "tin"), "made-of")
    assert [name for name, rules in known.items() if rules.size] == ["sides"]
    assert known["value"].sample == "N"
    assert (known["year"].words, known["year"].low, known["year"].choices) == ("", None, ())
    assert Coin() == Coin(2, "gold", True, None, 2000)
    with pytest.raises(TypeError, match="unexpected keyword argument 'lowest'"):
        rule(1, "words", lowest=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sides": 0}, "sides must be an integer from 1 to 3, not 0"),
        ({"sides": 4}, "sides must be an integer from 1 to 3, not 4"),
        ({"sides": 2.0}, "sides must be an integer from 1 to 3, not 2.0"),
        ({"sides": "2"}, "sides must be an integer from 1 to 3, not '2'"),
        ({"sides": True}, "sides must be an integer from 1 to 3, not True"),
        ({"sides": None}, "sides must be an integer from 1 to 3, not None"),
        ({"metal": "lead"}, "unknown metal 'lead': allowed are gold, tin"),
        ({"metal": None}, "unknown metal None: allowed are gold, tin"),
        ({"is_fair": 1}, "is_fair must be True or False, not 1"),
        ({"is_fair": "no"}, "is_fair must be True or False, not 'no'"),
        ({"metal": "lead", "sides": 9}, "sides must be"),  # the first in the order of the fields
    ],
)
def test_fields_out_of_range_are_refused_by_name(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        Coin(**options)


def test_fields_in_range_are_what_they_are():
    for options in ({"sides": 1}, {"sides": np.int64(3)}, {"metal": "tin"}, {"is_fair": np.bool_(False)}):
        assert own_rules(Coin(**options)) == options
    assert own_rules(Coin(value="anything", year=-5)) == {"value": "anything", "year": -5}
    with pytest.raises(
        ValueError, match=r"^unknown rule 'side': allowed are sides, metal, is_fair, value, year; did you mean sides\?$"
    ):
        make_game(Coin, {"side": 2})


def test_titles_name_sizes_and_what_is_not_usual():
    assert title(Coin()) == "coin: sides 2"
    assert title(Coin(3, "tin")) == "coin: sides 3, metal tin"
    assert title(ShutTheBox(open=[1, 3])).startswith("shut-the-box: tiles 9, dice 2, faces 6, score sum, open (1, 3)")


def test_flags_are_those_of_the_rules_that_are_not_usual():
    assert rule_flags(Coin()) == []
    assert rule_flags(Coin(3, "tin", year=1)) == ["--sides", "3", "--made-of", "tin", "--year", "1"]
    assert rule_flags(ShutTheBox(open=[7, 3], one_die="any-time", one_die_forced=True, ending_roll=5)) == [
        *("--start-open", "3,7", "--one-die", "any-time", "--one-die-forced", "--ending-roll", "5")
    ]


def read_back(game):
    """The game of its flags, by the types of the standard values."""
    known = rules_of(game)
    of_flag = {f"--{known[each.name].flag or each.name.replace('_', '-')}": each for each in fields(game)}
    words, options = rule_flags(game), {}
    while words:
        each = of_flag[words.pop(0)]
        if isinstance(each.default, bool):
            options[each.name] = True
        else:
            text = words.pop(0)
            options[each.name] = int(text) if text.isdecimal() and each.name != "open" else text
    return make_game(type(game), options)


@pytest.mark.parametrize(
    "game", [*SMALL, *map(ShutTheBox.preset, VARIANTS), ShutTheBox(open=(2, 5)), ShutTheBox(open=(4,))], ids=str
)
def test_flags_say_all_of_the_rules(game):
    assert read_back(game) == game


def test_rules_of_a_file_are_compared_with_those_of_a_game():
    assert same_rules(Threes(dice=3), {"dice": 3})
    assert same_rules(ShutTheBox(open="odd"), {"open": [1, 3, 5, 7, 9]})
    for other in ({}, {"dice": 4}, {"dice": "3"}, {"dice": 3, "magic": 1}, [3], None, 3):
        assert not same_rules(Threes(dice=3), other)


def test_values_of_numpy_become_pythons():
    box = ShutTheBox(tiles=np.int64(6), one_die=np.str_("low-sum"), one_die_forced=np.True_, first_move=np.uint8(2))
    assert repr(box) == "ShutTheBox(tiles=6, one_die='low-sum', one_die_forced=True, first_move=2)"
    assert eval(repr(box)) == box
    assert {type(getattr(box, each.name)) for each in fields(box)} == {int, str, bool, type(None)}
    assert repr(Threes(dice=np.int32(3))) == "Threes(dice=3)"
    with pytest.raises(ValueError, match=r"tiles must be an integer from 1 to 28, not 6\.0"):
        ShutTheBox(tiles=np.float64(6))
