"""Test natural mistakes in user-defined games: each function (a "door") gives the right number or a one-line error."""

import re
import traceback
from collections import defaultdict
from dataclasses import InitVar, dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import stb_gym
from stb_gym import Game, RegretMeter, certify, evaluate, games, hardness, register_game, solve, strategy
from stb_gym.cli import main
from stb_gym.envs import make_turn, make_turns
from stb_gym.games import check_game, rule
from stb_gym.rounds import Round
from stb_gym.solver import compile_game, ways_to_shut
from stb_gym.text import TextGame
from tests import every
from tests.by_rules import states_by_rules, value_by_rules

LIBRARY = str(Path(stb_gym.__file__).parent)


@dataclass(frozen=True, repr=False)
class Keep(Game):
    """Throw coins of 1 and 2 points; keep the lowest or both; the fewest points are best."""

    name = "keep"
    dice = 2
    faces = 2
    actions = ("one", "both")
    observation_high = (9, 2, 4, 4)

    def start(self):
        return 0, self.dice

    def moves(self, afterstate, roll):
        points, dice = afterstate
        return {kept: (points + sum(roll[: kept + 1]), dice - kept - 1) for kept in range(dice)}

    def final_score(self, progress):
        return progress

    def observe(self, afterstate, roll):
        return [*afterstate, *roll, *[0] * (2 - len(roll))]


def mine(*wrappers, **members):
    """Return a game whose class has other members than `Keep`."""
    return dataclass(frozen=True, repr=False)(type("Mine", (Keep,), members))()


def returning(value):
    return lambda *_: value


def counted(*answers):
    """Return a method that gives its answers in turn, the last one for ever."""
    numbers = count()
    return lambda *_: answers[min(next(numbers), len(answers) - 1)]


def changing(method, change):
    """Return a method that changes its answer from some time on."""
    numbers = count()

    def changed(*arguments):
        answer = getattr(Keep, method)(*arguments)
        return change(answer) if next(numbers) > 4 else answer

    return changed


class Position(NamedTuple):
    points: int
    dice: int


def same_dictionary():
    """Return `moves` that write into one dictionary."""
    shared = {}

    def moves(game, afterstate, roll):
        shared.clear()
        shared.update(Keep.moves(game, afterstate, roll))
        return shared

    return moves


def same_array():
    """Return `observe` that writes into one array."""
    shared = np.zeros(4, int)

    def observe(game, afterstate, roll):
        shared[:] = Keep.observe(game, afterstate, roll)
        return shared

    return observe


def keeping(change):
    """Return `moves` whose afterstates are changed."""
    return lambda *given: {action: change(*after) for action, after in Keep.moves(*given).items()}


def seeing(change):
    """Return `observe` with a changed observation."""
    return lambda *given: change(Keep.observe(*given))


ARRAY, NAN = np.array([0, 1]), float("nan")
START, HIGH, MOVES = Keep().start(), Keep.observation_high, Keep.moves
# By method or attribute, what people write by mistake: values of attributes, and methods.
WRONG = {
    "dice": [0, 2**70, 2.0, True, None, lambda game: 2],
    "faces": [0, 4.0, 2**22],
    "more_is_better": [1, None, lambda game: True],
    "name": ["My game", "", 3],
    "actions": [(), "ab", ["one", "both"], (each for each in "ab"), lambda game: ("one", "both")],
    "position_options": [None, {}, {"points": "so far"}],
    "max_states": [100, *map(returning, ["many", NAN, True, 1e6]), lambda game, more: 1],
    "observation_high": [
        None, "abc", (9, 2, 4, 256), (9.0, 2, 4, 4), (9, 2, 4, -1), (1, 1, 4, 4), (), (9, 9), {9, 2, 4},
        (each for each in HIGH), lambda game: HIGH, np.array(HIGH, float),
    ],
    "start": [
        START, *map(returning, [None, (0,), [0, 2], ARRAY, (0, 1, 2), (0.0, 1), (0, 3), (0, -1), (2**70, 1), (0, 0)]),
        returning((False, 2)), lambda game: (each for each in START), lambda game, seed: START,
    ],
    "roll_of": [
        *map(returning, [None, [1], ARRAY, (1.0,), (-1,), (256,), "1", {1}]), lambda game, throw: throw,
        lambda game, throw: (np.mean(throw),), lambda game, throw: (each for each in throw), lambda throw: throw,
    ],
    "moves": [
        {}, *map(returning, [
            None, [(1, 0)], {}, {0: 3}, {0: [3, 0]}, {0: (0.5, 0)}, {0: (1, 3)}, {0: (1, -1)}, {0: (2**70, 0)},
            {2: (1, 0)}, {-1: (1, 0)}, {"one": (1, 0)}, {0: (1, 0, 0)}, {0: (np.int64(9), 0)}, {0}, {0.0: (1, 0)},
            {False: (1, 0)},
        ]),
        lambda game, afterstate: {0: (1, 0)}, lambda game, points, dice, roll: {0: (1, 0)},
        lambda game, afterstate, roll: {} if roll == (2, 2) else {0: (1, 0)},
        lambda game, afterstate, roll: {0: (1 - afterstate[0], 1)},
        lambda game, afterstate, roll: {0: (afterstate[0] + 1, 1)}, lambda game, afterstate, roll: {0: afterstate},
        lambda *given: (each for each in MOVES(*given).items()), keeping(lambda points, dice: points),
    ],
    "final_score": [
        3, *map(returning, [None, 0.5, NAN, ARRAY, True, 2**70, -(2**70), "3", np.float64(3)]),
        lambda game, progress: Fraction(progress, 2), lambda game, progress: Decimal(progress), lambda game: 1,
        lambda game, progress, dice: 1, lambda game, progress: progress if progress < 4 else None,
    ],
    "observe": [
        (0, 0, 0, 0), *map(returning, [
            None, "0000", {0}, [0, 0], [0.5, 0, 0, 0], [-1, 0, 0, 0], [0, 3, 0, 0], [[0], [0, 0], 0, 0], np.zeros(4),
        ]),
        seeing(lambda numbers: (each for each in numbers)), seeing(lambda numbers: [0, *numbers[1:]]),
        seeing(lambda numbers: dict(enumerate(numbers))), seeing(bytes), lambda game, afterstate: [0, 0, 0, 0],
    ],
    "positions": [
        [START], *map(returning, [None, 3, "ab", [(1, 5)], [(0.5, 1)]]),
        lambda game: ((number, 1) for number in count()), lambda game: ([number, 1] for number in range(3)),
        lambda game, most: [],
    ],
    "find_progress": [
        3, *map(returning, [3, (0,), (0, 2), (0, []), (0, [3]), (0.5, [2]), (0, (2,)), (1, [2])]), lambda game: None,
    ],
    "options_at": [returning(None), returning({"points": 0}), lambda game, progress: {}],
    "describe_afterstate": ["so far", returning(None), lambda game, progress: ""],
    "describe_roll": [returning(3), lambda game: ""],
    "describe_move": [returning(None), lambda game, action: ""],
}  # fmt: skip
# What changes when it is asked for again.
CHANGING = {
    "start": lambda: counted(START, START, (0, 1)),
    "moves": lambda: changing("moves", lambda moves: {0: (1, 0)}),
    "final_score": lambda: changing("final_score", lambda score: score + 1),
    "observe": lambda: changing("observe", lambda numbers: [9, *numbers[1:]]),
    "roll_of": lambda: changing("roll_of", lambda roll: roll[:1]),
    "positions": lambda: counted([], [], [(3, 1)]),
}
# What is right after all.
RIGHT = {
    "more_is_better": [True, np.True_],
    "max_states": [returning(1), returning(None)],
    "observation_high": [[255] * 4, np.array(HIGH), np.array(HIGH, np.uint8), (9, 2, 4, np.int64(4))],
    "start": [lambda game: Position(0, 2), staticmethod(returning(START))],
    "roll_of": [
        lambda game, throw: (sum(throw),), lambda game, throw: tuple(np.sort(throw)), lambda game, throw: (0,),
        lambda game, throw: (throw[0] == throw[-1], max(throw)),
    ],
    "moves": [
        same_dictionary(), keeping(Position), lambda *given: defaultdict(list, MOVES(*given)),
        lambda *given: {np.int64(action): after for action, after in MOVES(*given).items()},
        lambda game, afterstate, roll: {1: (1, 0), 0: (3, 0)}, keeping(lambda points, dice: (points, 0)),
    ],
    "final_score": [
        lambda game, progress: np.int64(progress), lambda game, progress: -(2**60) + progress, abs,
        staticmethod(lambda progress: 2 * progress), lambda game, progress, scale=3: scale * progress, returning(0),
    ],
    "observe": [same_array(), seeing(np.array), seeing(tuple), seeing(lambda numbers: [np.uint8(n) for n in numbers])],
    "positions": [returning([]), returning({(3, 1): 0}), lambda game: iter([START, START, (1, 1), (9, 0)])],
    "find_progress": [lambda game, options: (options.get("progress", 0), [2, 1])],
}  # fmt: skip


def without_decorator():
    class Mine(Keep):
        coins: int = rule(2, "number of coins", low=1, high=3)

    return Mine()


def with_another_default():
    @dataclass(frozen=True, repr=False)
    class Coins(Keep):
        dice: int = 2

    class Mine(Coins):
        dice = 1

    return Mine()


def without_annotation():
    @dataclass(frozen=True, repr=False)
    class Coins(Keep):
        dice: int = 2

    @dataclass(frozen=True, repr=False)
    class Mine(Coins):
        dice = 1

    return Mine()


def with_an_argument():
    class Mine(Keep):
        def __init__(self, bonus=1):
            object.__setattr__(self, "bonus", bonus)

        def final_score(self, progress):
            return progress + self.bonus

    return Mine(bonus=2)


def with_a_variable_of_init():
    @dataclass(frozen=True, repr=False)
    class Mine(Keep):
        bonus: InitVar[int] = 1

        def __post_init__(self, bonus):
            object.__setattr__(self, "extra", bonus)

        def final_score(self, progress):
            return progress + self.extra

    return Mine(bonus=2)


def not_compared():
    @dataclass(frozen=True, repr=False)
    class Mine(Keep):
        bonus: int = field(default=1, compare=False)

        def final_score(self, progress):
            return progress + self.bonus

    return Mine(bonus=2)


def with_a_list():
    @dataclass(frozen=True, repr=False)
    class Mine(Keep):
        bonus: list = field(default_factory=lambda: [1, 2])

    return Mine()


def not_frozen():
    return dataclass(type("Mine", (Game,), {name: vars(Keep)[name] for name in Game.__abstractmethods__}))()


def no_dataclass():
    return type("Mine", (Game,), {name: vars(Keep)[name] for name in Game.__abstractmethods__})()


def with_a_similar_name():
    return mine(higher_is_better=True)


def with_a_similar_method():
    return mine(rolls_of=lambda game, throw: (sum(throw),))


def with_a_sign():
    return mine(sign=1)


CLASSES = [
    without_decorator, with_another_default, without_annotation, with_an_argument, with_a_variable_of_init,
    not_compared, with_a_list, not_frozen, no_dataclass, with_a_similar_name, with_a_similar_method, with_a_sign,
]  # fmt: skip


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def check_step(game, state, mask, reward, is_over):
    """Check a step with the first legal action against the rules."""
    moves = game.moves(*state)
    assert {*np.flatnonzero(mask).tolist()} == {*moves}
    score = int(game.final_score(moves[min(moves)][0]))
    assert reward == (float(score if game.more_is_better else -score) if is_over else 0)


def step_one(game):
    env, states = make_turn(game), states_by_rules(game)
    for seed in range(4):
        observation, info = env.reset(seed=seed)
        is_over = False
        while not is_over:
            mask, state = info["action_mask"], states[tuple(observation.tolist())]
            observation, reward, is_over, _, info = env.step(int(mask.argmax()))
            check_step(game, state, mask, reward, is_over)


def step_many(game):
    envs, states = make_turns(game, num_envs=2, autoreset_mode="SameStep"), states_by_rules(game)
    observations, info = envs.reset(seed=0)
    for _ in range(4):
        before = [states[tuple(row)] for row in observations.tolist()]
        masks = info["action_mask"]
        observations, rewards, are_over, _, info = envs.step(masks.argmax(axis=1))
        for each in zip(before, masks, rewards.tolist(), are_over.tolist(), strict=True):
            check_step(game, *each)


def register(game):
    register_game(type(game), environments={})


best, uniform, first = max, lambda values: sum(values) / len(values), lambda values: values[0]
# Functions of a game, each with the play whose exact value it returns; None if it returns something else.
DOORS = {
    "solve": (lambda game: solve(game).value, best),
    "fractions": (lambda game: solve(game, exact=True).value, best),
    "certify": (lambda game: certify(game).value, best),
    "evaluate": (lambda game: evaluate(game, strategy(game, "random")).value, uniform),
    "shut": (lambda game: solve(game, "shut"), None),
    "hardness": (hardness, None),
    "meter": (lambda game: RegretMeter(game)(first_legal).value, first),
    "sample": (lambda game: RegretMeter(game).sample(first_legal, 5), None),
    "decisions": (lambda game: solve(game).decisions(), None),
    "value_at": (lambda game: solve(game).value_at(), best),
    "step_one": (step_one, None),
    "step_many": (step_many, None),
    "round": (lambda game: Round(game).solve(), None),
    "text": (lambda game: [*TextGame(game).questions()], None),
    "register": (register, None),
}
FAST = ("solve", "meter", "step_many", "round")
ALL_DOORS = every(4, FAST, pytest.mark.slow)
ALL_DOORS += [pytest.param(door, marks=pytest.mark.nightly) for door in DOORS if door not in FAST]


def is_refused(door, game):
    """Call the function of a door; return True if it raises a one-line error, False if it gives the right number."""
    function, play = DOORS[door]
    try:
        value = function(game)
    except (ValueError, TypeError) as error:
        refused = error
    else:
        refused = None
    if refused:
        innermost = traceback.extract_tb(refused.__traceback__)[-1]
        assert innermost.filename.startswith(LIBRARY), refused
        assert innermost.line.startswith("raise"), refused  # not an error of Python or NumPy
        assert str(refused).isprintable(), refused
        assert len(str(refused)) <= 200, refused
    elif play is not None:
        assert float(value) == pytest.approx(float(value_by_rules(game, play)), rel=1e-12)
    return refused is not None


@cache
def games_with(which):
    """Return the games of WRONG or of RIGHT."""
    table = {"WRONG": WRONG, "RIGHT": RIGHT}[which]
    return [mine(**{method: value}) for method in table for value in table[method]]


@pytest.fixture(autouse=True)
def _small_tables(monkeypatch, own_games):
    monkeypatch.setattr(games.afterstates, "LARGEST_TABLE", 500)


@pytest.mark.parametrize("method", WRONG)
def test_mistakes_are_refused_by_the_name_of_the_method(method, snapshot):
    messages = []
    for value in WRONG[method]:
        with pytest.raises(ValueError, match=f"{method}|positions|options_at") as refused:
            check_game(mine(**{method: value}))
        messages.append(re.sub("0x[0-9a-f]+", "0x", str(refused.value)))
    assert messages == snapshot


@pytest.mark.parametrize("door", ALL_DOORS)
def test_doors_refuse_mistakes_or_give_the_right_number(door):
    refused = [is_refused(door, game) for game in games_with("WRONG")]
    assert any(refused)


@pytest.mark.parametrize("door", ALL_DOORS)
def test_unusual_rules_give_the_right_number(door):
    assert not any(is_refused(door, game) for game in games_with("RIGHT"))


@pytest.mark.parametrize("make", CLASSES, ids=lambda make: make.__name__)
def test_classes_whose_equal_objects_may_differ_are_refused(make, snapshot):
    with pytest.raises(ValueError, match="Mine") as refused:
        check_game(make())
    assert str(refused.value) == snapshot
    assert all(is_refused(door, make()) for door in DOORS)


@pytest.mark.parametrize("method", CHANGING)
def test_answers_that_change_are_refused(method, snapshot):
    with pytest.raises(ValueError, match=method) as refused:
        check_game(mine(**{method: CHANGING[method]()}))
    assert str(refused.value) == snapshot


@pytest.mark.parametrize("method", ["moves", "final_score"])
def test_tables_ask_for_a_sample_of_answers_again(method):
    numbers = count()
    changed = {
        "moves": lambda *given: {0: (next(numbers), 0)},
        "final_score": lambda game, progress: next(numbers),
    }
    with pytest.raises(ValueError, match=f"{method} of Mine must return the same"):
        solve(mine(**{method: changed[method]}))


BUGS = {
    "moves": lambda game, afterstate, roll: 1 // afterstate[0],
    "final_score": lambda game, progress: {}[progress],
    "observe": lambda game, afterstate, roll: np.stack(roll, axis=3),
    "start": lambda game: (game.points, 2),
    "actions": property(lambda game: game.names),
    "observation_high": property(lambda game: game.names),
    "roll_of": lambda game, throw: throw[9:][0],
    "positions": lambda game: (1 // number for number in range(3)),
    "max_states": lambda game: int("many"),
    "describe_move": lambda *_: "" + 1,
}


@pytest.mark.parametrize("method", BUGS)
def test_errors_inside_of_rules_stay_as_they_are(method):
    with pytest.raises((ArithmeticError, LookupError, AttributeError, TypeError, ValueError)) as error:
        check_game(mine(**{method: BUGS[method]}))
    assert any(frame.path == Path(__file__) for frame in error.traceback[1:])
    assert not str(error.traceback[-1].path).startswith(LIBRARY)


@pytest.mark.parametrize("ties", ["split", "nobody"])
@pytest.mark.parametrize("shut_wins", [False, True])
def test_a_constant_added_to_all_scores_changes_no_chance(ties, shut_wins):
    def chances(constant):
        game = mine(final_score=lambda self, progress: constant - progress)
        rules = Round(game, 3, ties, shut_wins)
        return [solve(game, "shut").value, *rules.solve().seats, *rules.evaluate(["random"] * 3).seats]

    above_zero, below_zero = chances(9), chances(0)
    assert above_zero[0] == 1 / 4  # both coins show 2, and both are kept
    assert below_zero == pytest.approx(above_zero, abs=1e-12)


def test_nobody_plays_after_a_perfect_score_that_is_the_only_score():
    rules = Round(mine(final_score=returning(5)), 2, "all-win", shut_wins=True)
    assert rules.solve().seats.tolist() == [1, 0]


def test_the_perfect_score_is_one_that_a_turn_can_end_with():
    game = mine(more_is_better=True, final_score=lambda self, progress: 9 - progress)  # 9 points before the first throw
    assert games.perfect_score(game) == 7
    assert solve(game, "shut").value == 1 / 2


def test_a_subclass_that_scores_otherwise_has_another_perfect_score():
    members = {"name": "mine", "final_score": lambda game, points: 5 - points}
    game = dataclass(frozen=True, repr=False)(type("Mine", (stb_gym.Threes,), members))(dice=1)
    assert (games.perfect_score(game), solve(game, "shut").value) == (5 - 6, 1 / 6)


def test_a_throw_that_ends_the_turn_is_a_way_to_the_perfect_score():
    game = mine(moves=lambda self, afterstate, roll: {0: (min(roll), 1)} if afterstate[1] == 2 else {})
    tables = compile_game(game)
    assert ways_to_shut(tables)[tables.index[1, 1]].tolist() == [0, 2, 0]
    assert ways_to_shut(tables)[tables.start].tolist() == [0, 0, 3 * 2]


@dataclass(frozen=True, repr=False)
class Bonus(Keep):
    """`Keep`, where half of a bonus counts, too."""

    name = "bonus"
    bonus: int = rule(0, "twice the points that are added", low=0, high=9)

    def final_score(self, progress):
        return progress + (self.bonus / 2 if self.bonus % 2 else self.bonus // 2)


@pytest.mark.slow
def test_commands_refuse_rules_that_only_other_fields_break(capsys):
    register_game(Bonus)
    for words in (
        "solve", "certify", "hardness", "evaluate --policy random", "afterstates", "advise --roll 1,2", "ask",
        "round", "tournament --policy optimal,random", "simulate --policy random", "list --full",
    ):  # fmt: skip
        command, *flags = words.split()
        assert main([command, "bonus", *flags, "--bonus", "2"]) == 0, words
        capsys.readouterr()
        status = main([command, "bonus", *flags, "--bonus", "3"])
        [line] = capsys.readouterr().err.splitlines()
        assert (status, "final_score of Bonus must return an integer" in line) == (2, True), (words, line)
