"""What holds for every game: rolls, the walk through its states, and the check of its contract."""

from collections import Counter
from dataclasses import dataclass
from itertools import product

import pytest
from hypothesis import given

import stb_gym
from stb_gym import Game, ShutTheBox, Threes
from stb_gym.games import LARGEST_TABLE, check_game, fits, rolls, throw_faces, walk
from tests.twins import STANDARD, MostThrees, games


@given(games())
def test_rolls_count_throws(game):
    for dice in (0, 1, game.dice):
        shown, counts, of_throw = rolls(game, dice)
        throws = list(product(range(1, game.faces + 1), repeat=dice))
        assert throws == [throw_faces(throw, dice, game.faces) for throw in range(len(throws))]
        read = [game.roll_of(throw) if throw else () for throw in throws]
        assert dict(zip(shown, counts.tolist(), strict=True)) == Counter(read)
        assert [shown[place] for place in of_throw.tolist()] == read
        assert list(shown) == sorted(shown)


@pytest.mark.parametrize(("game", "dice"), [(ShutTheBox(dice=6, faces=20), 6), (Threes(), -1), (Threes(), 65)])
def test_too_many_throws_are_refused(game, dice):
    with pytest.raises(ValueError, match="dice"):
        rolls(game, dice)


@given(games())
def test_a_walk_puts_the_end_first(game):
    earlier = set()
    for state, by_roll in walk(game).items():
        assert len(by_roll) == len(rolls(game, state[1]).shown)
        assert all(following in earlier for moves in by_roll for following in moves.values())
        earlier.add(state)
    assert game.start() in earlier
    assert earlier >= set(game.positions())


def test_boxes_that_do_not_fit_are_not_walked():
    assert fits(ShutTheBox(tiles=14))
    box = ShutTheBox(tiles=24, dice=4)
    assert not fits(box)
    with pytest.raises(ValueError, match=f"{LARGEST_TABLE:,} nodes"):
        walk(box)


@pytest.mark.parametrize("game", [*STANDARD, MostThrees()], ids=str)
def test_the_perfect_score(game):
    assert game.perfect_score == (30 if game.more_is_better else 0)
    assert game.sign == (1 if game.more_is_better else -1)


# The contract


class Steps(Game):
    """Climb three steps: throw a coin and climb one step, or two if it shows 2; or stop."""

    name = "steps"
    dice = 1
    faces = 2
    actions = ("climb", "stop")
    observation_high = (3, 2)

    def start(self):
        return 0, 1

    def moves(self, state, roll):
        step = min(state[0] + roll[0], 3)
        return {0: (step, 0 if step == 3 else 1), 1: (state[0], 0)}

    def final_score(self, held):
        return held

    def observe(self, state, roll):
        return [state[0], sum(roll)]


def steps(frozen=True, **changes):
    """Return the rules of `Steps` with other methods or attributes."""
    return dataclass(frozen=frozen, repr=False)(type("Steps", (Steps,), changes))()


VIOLATIONS = {
    "no dice": (steps(dice=0), "dice"),
    "faces are not a number": (steps(faces="two"), "faces"),
    "too many throws": (steps(dice=40), "throws"),
    "the start has too many dice": (steps(start=lambda game: (0, 2)), "state"),
    "the start is a list": (steps(start=lambda game: [0, 1]), "state"),
    "a next state is a number": (steps(moves=lambda game, state, roll: {0: 3}), "state"),
    "a next state is a list": (steps(moves=lambda game, state, roll: {0: [3, 0]}), "tuples"),
    "a next state has a fraction": (steps(moves=lambda game, state, roll: {0: (0.5, 0)}), "state"),
    "a next state has too many dice": (steps(moves=lambda game, state, roll: {0: (1, 2)}), "state"),
    "an action is out of range": (steps(moves=lambda game, state, roll: {2: (3, 0)}), "actions"),
    "an action is negative": (steps(moves=lambda game, state, roll: {-1: (3, 0)}), "actions"),
    "an action is a word": (steps(moves=lambda game, state, roll: {"climb": (3, 0)}), "actions"),
    "moves are a list": (steps(moves=lambda game, state, roll: [(3, 0)]), "moves"),
    "moves lead back": (steps(moves=lambda game, state, roll: {0: (1 - state[0], 1)}), "back"),
    "moves never end": (steps(moves=lambda game, state, roll: {0: (state[0] + 1, 1)}), "too many positions"),
    "a score is a fraction": (steps(final_score=lambda game, held: held / 2), "final_score"),
    "a score is missing": (steps(final_score=lambda game, held: None), "final_score"),
    "the highest observation is too large": (steps(observation_high=(3, 256)), "observation_high"),
    "an observation is too large": (steps(observation_high=(2, 2)), "observation"),
    "an observation is negative": (steps(observe=lambda game, state, roll: [-1, 0]), "observation"),
    "an observation is a fraction": (steps(observe=lambda game, state, roll: [0.5, 0]), "observation"),
    "an observation is too short": (steps(observe=lambda game, state, roll: [0]), "observation"),
    "an observation is too long": (steps(observe=lambda game, state, roll: [0, 0, 0]), "observation"),
    "two observations are the same": (steps(observe=lambda game, state, roll: [0, sum(roll)]), "same"),
    "a roll is a number": (steps(roll_of=lambda game, throw: sum(throw)), "roll_of"),
    "a roll has an order": (steps(dice=3, roll_of=lambda game, throw: throw[1:2]), "order"),
}


@pytest.fixture
def _small_tables(monkeypatch):
    monkeypatch.setattr(stb_gym.games.game, "LARGEST_TABLE", 20_000)


@pytest.mark.usefixtures("_small_tables")
@pytest.mark.parametrize(("game", "word"), VIOLATIONS.values(), ids=VIOLATIONS)
def test_the_first_violation_is_named(game, word):
    with pytest.raises(ValueError, match=word):
        check_game(game)


def test_rules_that_can_change_are_refused():
    check_game(steps())
    for game in (steps(frozen=False), Steps()):
        with pytest.raises(ValueError, match="frozen"):
            check_game(game)
    for game in (3, Threes, None):
        with pytest.raises(TypeError, match="is not a game"):
            check_game(game)


@pytest.mark.usefixtures("_small_tables")
def test_violations_in_words(snapshot):
    said = {}
    for violation, (game, _) in VIOLATIONS.items():
        with pytest.raises(ValueError) as refused:  # noqa: PT011 (the words are in the snapshot)
            check_game(game)
        said[violation] = str(refused.value)
    assert said == snapshot
