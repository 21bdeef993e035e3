"""Test the fields and rolls of games, the search for their afterstates, and the check of their contract."""

from collections import Counter
from dataclasses import dataclass, fields
from itertools import product

import numpy as np
import pytest
from hypothesis import given

from stb_gym import Game, ShutTheBox, Threes, games, register_game
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


def test_boxes_that_do_not_fit_are_not_walked():
    assert fits(ShutTheBox(tiles=14))
    box = ShutTheBox(tiles=24, dice=4)
    assert not fits(box)
    with pytest.raises(ValueError, match="too many positions"):
        walk(box)


# The contract


def broken(name, value):
    """Return Threes with two dice of two faces, and with another field, attribute or method, or a result of one."""
    returns = not callable(value) and callable(getattr(Threes, name, None))
    game = type("Broken", (Threes,), {name: (lambda *_: value) if returns else value})(dice=2, faces=2)
    object.__setattr__(game, name, value) if name in ("dice", "faces") else None
    return game


ARRAY = np.array([0, 1])
# By method or attribute, what people return by mistake; functions stand for the method itself.
MISTAKES = {
    "dice": [0, 2**70, 1.0, True, None],
    "faces": [0, 2.0],
    "more_is_better": ["no"],
    "actions": [None, (), "ab", {0: 1}],
    "observation_high": [5, "abc", (2, 1, 256), (4.0, 2, 2), (1, 1, 1), ()],
    "start": [
        None, (0,), [0, 2], ARRAY, (0, 1, 2), (0.0, 1), (0, 3), (0, -1), (2**70, 1), (0, 0), lambda game: game.points,
    ],
    "roll_of": [
        None, [1], ARRAY, (1.0,), (-1,), (256,), (None,), lambda game, throw: np.sum(throw, axis=1),
        lambda game, throw: throw * throw[0], lambda game, throw: throw[1:2],
    ],
    "moves": [
        None, [(1, 0)], ARRAY, {}, {0: 3}, {0: [3, 0]}, {0: (0.5, 0)}, {0: (1, 3)}, {0: (1, -1)}, {0: (2**70, 0)},
        {2: (1, 0)}, {-1: (1, 0)}, {(0,): (1, 0)}, lambda game, afterstate: {0: (1, 0)},
        lambda game, afterstate, roll: {} if roll == (2, 2) else {0: (1, 0)},
        lambda game, afterstate, roll: {0: (1 - afterstate[0], 1)},
        lambda game, afterstate, roll: {0: (afterstate[0] + 1, 1)},
    ],
    "final_score": [None, 0.5, np.nan, ARRAY, True, 2**70],
    "observe": [
        None, "000", {0}, [0, 0], [0.5, 0, 0], [-1, 0, 0], [9, 0, 0], [[0], [0, 0], 0], np.zeros(3), [0, 0, 0],
        lambda game, afterstate, roll: np.stack(roll, axis=3),
    ],
}  # fmt: skip


@pytest.mark.parametrize("method", MISTAKES)
def test_mistakes_in_rules_are_refused_by_the_name_of_the_method(method, snapshot, monkeypatch):
    monkeypatch.setattr(games.afterstates, "LARGEST_TABLE", 20_000)
    messages = []
    for value in MISTAKES[method]:
        with pytest.raises(ValueError, match=f"{method}|positions") as refused:
            check_game(broken(method, value))
        messages.append(str(refused.value))
    assert [line for line in messages if len(line) > 200 or not line.isprintable()] == []
    assert messages == snapshot


def test_rules_must_be_frozen_dataclasses():
    nothing = type("Nothing", (Game,), dict.fromkeys(Game.__abstractmethods__))
    for rules in (nothing, dataclass(nothing)):
        with pytest.raises(ValueError, match="Nothing must be a frozen dataclass"):
            check_game(rules())


def test_registered_rules_are_checked_with_their_defaults():
    wrong = type("Wrong", (Coins,), {"roll_of": lambda game, throw: throw[-1:] if game.dice > 1 else throw})
    with pytest.raises(ValueError, match="roll_of"):
        register_game(dataclass(frozen=True, repr=False)(wrong))
