"""Test that any call of the public interface returns, or raises a one-line error of the library."""

import faulthandler
import inspect
import random
import re
import runpy
import sys
import traceback
import warnings
from contextlib import suppress
from operator import attrgetter
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import Objective, RecordRegret, RegretMeter, ShutTheBox, Threes, VectorRecordRegret
from stb_gym.arguments import type_test
from stb_gym.rounds import Outcome, Round, RoundMeter, ScoresSoFar, SelfPlayVectorEnv
from stb_gym.solver import AfterstateScorePolicy, TurnTables, UniformRandom, move_tree
from stb_gym.text import TextEnv, TextGame
from stb_gym.words import Words
from tests import ROOT

LIBRARY = str(Path(stb_gym.__file__).parent)
ALLOWED = ("TypeError", "ValueError", "RuntimeError", "NotImplementedError", "OSError", "FileNotFoundError")
SKIPPED = {
    # They take arrays of the library as they are.
    *("places", "is_as_good"),
    # They describe states and moves of the library.
    *("describe_afterstate", "describe_move", "describe_state", "options_at"),
    # They are called once for every state of a game, or every step, where checks would take long.
    *("moves", "roll_of", "observe", "final_score", "worth", "throws_at", "may_throw_one"),
    *("find_states", "throw_faces", "open_tiles"),
    # They call any function with a prompt, such as `int`.
    *("measure", "sample_turns"),
    # Only the library calls them, with its own values.
    *("all_rules", "find_progress", "locate", "make_game", "own_rules", "perfect_score", "rules_of"),
    *("cached_by_rules", "final_scores", "name_of", "observation_high", "observations", "states_of"),
    *("CheckResult", "GradientResult"),
}
UNCHECKED = (TurnTables, Words)  # their methods do not check arguments, so that errors inside them are visible
VALUES = [
    None, True, 0, 1, 2, -1, -(2**70), 10**5000, 0.5, float("nan"), object(), int, "", "x" * 100_000,
    "\x1b[31m\n\u202e", "a\0b", "\n/x", "optimal", "score", "ansi", "threes", "policy.npz", "ppo-threes",
    "stb_gym/Threes-v0", b"\xff" * 300, [], [1, 2], [[1], [2, 3]], ["x" * 9999], ["random", "optimal"], (), {}, {"open":
    "\n" * 500}, {"points": 1}, {1: {2: 3}}, {3: 1.0}, {3}, lambda *_: 1 / 0, lambda observations, masks:
    masks.argmax(axis=1), np.zeros((2, 3, 0)), np.float32(2), np.zeros(3, int), np.ones((2, 5)), np.array([np.nan]),
    np.array([None, "x"], object), np.array(["x" * 999]), np.array([2**64 - 1], np.uint64), np.array(["2001-01-01"],
    "M8"),
]  # fmt: skip


def objects():
    """Return small objects of the library."""
    box, threes = ShutTheBox(tiles=4, dice=1, faces=4), Threes(dice=2, faces=3)
    pig = runpy.run_path(str(ROOT / "docs/pig.py"))["Pig"](most_points=5)
    rounds, best, boards = Round(threes), stb_gym.solve(threes), stb_gym.large.solve_large(box)
    ids = [f"stb_gym/Threes{kind}-v0" for kind in ("", "Round", "Masked")]
    singles = [gym.make(identity, dice=2, faces=3) for identity in ids]
    vectors = [gym.make_vec(identity, 3, dice=2, faces=3) for identity in ids]
    with suppress(ImportError):  # it is installed for tests/libraries
        from stb_gym import pettingzoo

        singles.append(pettingzoo.RoundAECEnv(threes))
    for env in singles + vectors:
        env.reset(seed=0)
    found, random_play, meter = best.evaluate(best.policy), UniformRandom(), RegretMeter(singles[0])
    return [
        box, threes, Objective("squares", np.square), best, best.policy, best.tables, found, {"a": found}, meter,
        random_play, meter.sample(lambda observations, masks: masks.argmax(axis=1), 9), stb_gym.certify(threes), boards,
        *singles, AfterstateScorePolicy(np.add), boards.evaluate(random_play),
        *vectors, singles[0].unwrapped, singles[1].unwrapped, RecordRegret(singles[0]), VectorRecordRegret(vectors[0]),
        rounds, SelfPlayVectorEnv(threes, 3), rounds.solve(), {"a": rounds.solve()}, RoundMeter(singles[1]),
        ScoresSoFar(3, 1, 0), rounds.evaluate(["random"] * 2), Outcome(0.5, 0.25, 0.25), move_tree(best), pig,
        *map(stb_gym.words.words_of, (box, threes, pig)), stb_gym.measure.read_policy("ppo-threes"),
        singles[0].unwrapped.snapshot(), TextGame(threes), TextEnv(singles[0]), TextGame(threes).grade([]),
        TextGame(threes).position(0, 2, (1, 2)),
    ]  # fmt: skip


def callables(pool):
    """Return the public functions, constructors and methods of the library by name."""
    listed = re.findall(r"```\{names\}\n(.*?)```", (ROOT / "docs/api.md").read_text(), re.DOTALL)
    named = {name: attrgetter(name)(stb_gym) for name in {*stb_gym.__all__, *" ".join(listed).split()}}
    if "stb_gym.pettingzoo" in sys.modules:
        named |= {"pettingzoo.env": stb_gym.pettingzoo.env, "pettingzoo.RoundAECEnv": stb_gym.pettingzoo.RoundAECEnv}
    named |= {f"games.{name}": getattr(stb_gym.games, name) for name in stb_gym.games.__all__}
    found = {name: each for name, each in named.items() if inspect.isroutine(each) or inspect.isclass(each)}
    found = {
        name: each
        for name, each in found.items()
        if not (inspect.isabstract(each) or getattr(each, "_is_protocol", False))
    }
    for each in pool:
        for name, method in [] if isinstance(each, UNCHECKED) else inspect.getmembers(type(each), callable):
            is_ours = str(getattr(method, "__module__", "")).startswith("stb_gym")
            if is_ours and (name == "__call__" or not name.startswith("_")):
                found[f"{type(each).__name__}.{name}"] = getattr(each, name)
    return {name: found[name] for name in sorted(found) if name.split(".")[-1] not in SKIPPED}


def drawn_arguments(draw, parameters, pool):
    """Draw arguments by name; nine of ten fit the annotations."""
    arguments = {}
    for parameter, fitting in parameters:
        value = draw.choice(fitting if draw.random() < 0.9 else pool)
        if parameter.kind == parameter.VAR_KEYWORD:
            arguments |= draw.choice([{}, {"roll": value}, {"tiles": value}, {"\x1b" * 300: value}])
        elif draw.random() < (parameter.default is parameter.empty) + 0.3:
            arguments[parameter.name] = value
    return arguments


def returned_calls(tmp_path, monkeypatch, count, names=""):
    """Make `count` calls of functions whose names match; count those that return, and fail on other errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    written, faults, draw = [], {}, random.Random(1)
    pool = VALUES + objects()
    calls, returned = {}, 0
    for name, function in callables(pool).items():
        if not re.search(names, name):
            continue
        parameters = inspect.signature(function).parameters.values()
        calls[name] = function, [(each, [*filter(type_test(each.annotation), pool)] or pool) for each in parameters]
    sys.addaudithook(lambda event, given: event == "open" and "w" in str(given[1]) and written.append(str(given[0])))
    for name in [*calls] * (count // len(calls) + 1):
        function, parameters = calls[name]
        arguments = drawn_arguments(draw, parameters, pool)
        faulthandler.dump_traceback_later(20, exit=True)
        try:
            with warnings.catch_warnings(action="ignore"):
                function(**arguments)
            returned += 1
        except BaseException as error:
            innermost = traceback.extract_tb(error.__traceback__)[-1]
            message, of_library = str(error), innermost.filename.startswith(LIBRARY)
            is_line = message.isprintable() and 0 < len(message) <= 200
            if innermost.filename != __file__ and not (of_library and is_line and type(error).__name__ in ALLOWED):
                faults[name, innermost.filename, innermost.lineno] = f"{error!r:.150}"
    faulthandler.cancel_dump_traceback_later()
    assert not faults, "\n".join(map(str, sorted(faults.items())))
    assert all(Path(tmp_path, path).resolve().is_relative_to(tmp_path) for path in written)
    return returned


@pytest.mark.nightly
@pytest.mark.usefixtures("own_games")
def test_any_call_returns_or_is_refused_in_a_line(tmp_path, monkeypatch):
    assert returned_calls(tmp_path, monkeypatch, 20_000) > 5000
