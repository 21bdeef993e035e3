"""Test that a subclass of Shut the Box with other rules is solved and stepped by them, or refused."""

from dataclasses import dataclass

import pytest

from stb_gym import (
    RegretMeter,
    ShutTheBox,
    Threes,
    bundled_policies,
    certify,
    evaluate,
    games,
    hardness,
    load_policy,
    save_policy,
    solve,
    strategy,
)
from stb_gym.envs import make_turn, make_turns, stepper_of
from stb_gym.games import rule
from stb_gym.large import box_of, is_box, large_strategy, solve_large
from stb_gym.rounds import Round
from stb_gym.solver import UniformRandom
from stb_gym.text import TextGame
from tests.by_rules import value_by_rules

SIZES = {"tiles": 4, "dice": 2, "faces": 3}


def subclass(*mixins, **members):
    """Return a box whose class has other members than Shut the Box."""
    sizes = SIZES | ({"one_die": "any-time"} if "may_throw_one" in members else {})
    return dataclass(frozen=True, repr=False)(type("Mine", (*mixins, ShutTheBox), {"name": "mine", **members}))(**sizes)


def lowest_action(game, afterstate, roll):
    moves = ShutTheBox.moves(game, afterstate, roll)
    return {min(moves): moves[min(moves)]} if moves else {}


class Mixin:
    moves = lowest_action


OTHER_RULES = {
    "moves": lowest_action,
    "final_score": lambda game, board: 2 * ShutTheBox.final_score(game, board) % 7,
    "roll_of": lambda game, throw: (max(throw),),
    "start": lambda game: (0b0111, 2),
    "positions": lambda game: iter(()),
    "may_throw_one": lambda game, board: board < 4,
    "_sets_of": lambda game, roll: ((tile,) for tile in roll),
    "more_is_better": True,
    "observe": lambda game, *state: ShutTheBox.observe(game, *state)[::-1],
    "max_states": lambda game: None,
}
GAMES = {name: subclass(**{name: member}) for name, member in OTHER_RULES.items()} | {"mixin": subclass(Mixin)}
BOARDS = {
    "solve_large": solve_large,
    "box_of": box_of,
    "large_strategy": lambda game: large_strategy(game, "optimal"),
    "stepper": lambda game: stepper_of(game, kind="boards"),
    "env": lambda game: make_turn(game, stepper="boards"),
    "envs": lambda game: make_turns(game, num_envs=2, stepper="boards"),
}
ALL_SIZES = {
    "solve": solve,
    "certify": certify,
    "evaluate": lambda game: evaluate(game, UniformRandom()),
    "strategy": lambda game: strategy(game, "optimal"),
    "hardness": hardness,
    "meter": RegretMeter,
    "env": make_turn,
    "envs": lambda game: make_turns(game, num_envs=2),
    "round": Round,
    "text": TextGame,
}


@pytest.mark.parametrize("name", GAMES)
def test_tables_follow_a_subclass_and_boards_refuse_it(name):
    game = GAMES[name]
    best = value_by_rules(game, max)
    assert solve(game, exact=True).value == best
    assert not is_box(game)
    assert type(stepper_of(game)) is type(stepper_of(Threes()))
    for door in BOARDS.values():
        with pytest.raises(ValueError, match="boards follow the rules of ShutTheBox, and Mine changes"):
            door(game)


def test_rules_that_differ_have_other_values():
    """See that the cases above are none in which the parent's rules would give the same number."""
    parents = solve(ShutTheBox(**SIZES), exact=True).value
    same = [name for name, game in GAMES.items() if solve(game, exact=True).value == parents]
    assert same == ["positions", "observe", "max_states"]


@pytest.mark.parametrize("door", ALL_SIZES)
def test_a_subclass_that_is_too_large_for_tables_is_refused(door, monkeypatch):
    monkeypatch.setattr(games.afterstates, "LARGEST_TABLE", 50)
    with pytest.raises(ValueError, match=r"too large for the tables|too many positions for tables|boards follow"):
        ALL_SIZES[door](subclass(moves=lowest_action))


@dataclass(frozen=True, repr=False)
class Painted(ShutTheBox):
    """A box with a colour and other words."""

    name = "painted"
    colour: str = rule("red", "colour of the box", choices=("red", "blue"))
    tiles: int = rule(4, "number of tiles", low=1, high=20, size=True)

    def describe_afterstate(self, board, dice):
        return f"{self.colour} {super().describe_afterstate(board, dice)}"


def test_a_subclass_with_the_same_rules_has_boards(monkeypatch):
    game, box = Painted(colour="blue", dice=2, faces=3), ShutTheBox(**SIZES)
    assert is_box(game)
    assert solve_large(game).value == solve_large(box).value == pytest.approx(solve(box).value, rel=1e-12)
    monkeypatch.setattr(games.afterstates, "LARGEST_TABLE", 50)
    masks = [make_turn(rules).reset(seed=1)[1]["action_mask"].tolist() for rules in (game, box)]
    assert masks[0] == masks[1]
    with pytest.raises(ValueError, match="solve_large"):
        solve(game)


def test_a_subclass_needs_a_name_of_its_own_in_files(tmp_path):
    game = dataclass(frozen=True, repr=False)(type("Mine", (Threes,), {"final_score": lambda game, points: -points}))()
    assert bundled_policies(game) == []
    for door in (
        certify,
        lambda game: save_policy(tmp_path / "mine.npz", game, UniformRandom()),
        lambda game: load_policy("ppo-threes", game),
    ):
        with pytest.raises(ValueError, match=r"Mine has the name of Threes|it is a policy of Threes"):
            door(game)
