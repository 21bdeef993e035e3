"""Any call of the public interface returns, or raises an error of the library in one line of 200 characters."""

import inspect
import random
import re
import signal
import sys
import traceback
import warnings
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import Objective, RecordRegret, RegretMeter, ShutTheBox, Threes, VectorRecordRegret
from stb_gym.rounds import Outcome, Round, RoundMeter, SelfPlayVectorEnv
from stb_gym.solver import Standing, StateScorePolicy, UniformRandom, move_tree
from tests import ROOT

LIBRARY = str(Path(stb_gym.__file__).parent)
ALLOWED = (TypeError, ValueError, RuntimeError, OSError)
# What the library calls with its own values: rules, words and arrays of tables; and what passes on any name.
INNER = {"Threes", "ShutTheBox", "ThreesWords", "TurnTables"}
BY_NAME = {"call", "get_attr"}
LONG = [
    None, True, False, 0, 1, 2, -1, 2**63, -(2**70), 10**5000, 0.5, 1e308, float("nan"), float("inf"), 1j,
    "", "x" * 100_000, "\x1b[31m\n\r\u202e", "a\0b", "\n/x", "optimal", "random", "score", b"\xff" * 300, range(3),
    [], [1, 2], [[1], [2, 3]], ["x" * 9999], (), (1, 2), {}, {"open": "\n" * 500}, {1: {2: 3}}, {3}, object(), int,
    len, lambda *_: None, lambda *_: 1 / 0, np.float32(2), np.array(3), np.array([]), np.zeros((2, 3, 0)), np.ones(5),
    np.array([np.nan, np.inf]), np.array([None, "x"], object), np.array(["x" * 999]), np.zeros((3, 4), np.complex64),
    np.arange(6, dtype=np.int8), np.array([2**64 - 1], np.uint64), np.array(["2001-01-01"], "M8"), np.eye(40, dtype=bool),
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class Coins(Threes):
    """Throw two coins, so that registering spoils no game of the library."""

    name = "campaign-coins"
    dice: int = 2
    faces: int = 2


def members():
    """Return objects of the library, and names of parameters with values that are valid for some of their functions."""
    box, threes = ShutTheBox(tiles=4, dice=1, faces=4), Threes(dice=2, faces=3)
    rounds, best = Round(threes), stb_gym.solve(threes)
    env, seat = gym.make("stb_gym/Threes-v0", dice=2, faces=3), gym.make("stb_gym/ThreesRound-v0", dice=2, faces=3)
    envs = gym.make_vec("stb_gym/Threes-v0", 3, dice=2, faces=3)
    seats = gym.make_vec("stb_gym/ThreesRound-v0", 3, dice=2, faces=3)
    masked = gym.make_vec("stb_gym/ThreesMasked-v0", 3, dice=2, faces=3)
    agent, meter = lambda observations, masks: masks.argmax(axis=1), RegretMeter(env)
    boards, policy = stb_gym.large.solve_boards(box), best.policy
    found, standing = best.evaluate(policy), Standing(3, 1, 0)
    objects = [
        box, threes, Objective("squares", lambda points: -(points**2)), best, best.tables, found, found.mistakes(1),
        meter, meter.sample(agent, 9), stb_gym.certify(threes), UniformRandom(), StateScorePolicy(lambda held, dice: held),
        boards, stb_gym.large.evaluate_boards(boards, UniformRandom()), env.unwrapped, envs, masked, seat.unwrapped, seats,
        stb_gym.MaskInObservation(env), RecordRegret(env), VectorRecordRegret(envs), SelfPlayVectorEnv(threes, 3),
        rounds, rounds.solve(), rounds.evaluate(["random", policy]), RoundMeter(seat), standing, Outcome(0.5, 0.25, 0.25),
        stb_gym.games.words_of(threes), move_tree(best, 1), stb_gym.measure.read_policy("ppo-threes"),
    ]  # fmt: skip
    envs.reset(seed=0), env.reset(seed=0), seat.reset(seed=0), seats.reset(seed=0), masked.reset(seed=0)
    games = [box, threes]
    valid = {
        "game": [*games, "threes"], "what": [*games, env, envs], "env": [*games, env, envs, seat], "envs": [envs, masked],
        "policy": [policy, UniformRandom(), np.full((len(policy), 2), 0.5)], "objective": ["score", "shut", objects[2]],
        "agent": [agent], "optimum": [best, boards], "solution": [best], "branch": [move_tree(best)], "meter": [meter],
        "evaluation": [found], "evaluations": [{"a": found}], "rules": [rounds, Coins], "opponents": ["random", [policy]],
        "round_evaluation": [rounds.solve()], "round_evaluations": [{"a": rounds.solve()}], "standing": [standing],
        "strategies": [["random", "optimal"]], "plays": ["random", policy], "outcome": [Outcome(0.5, 0.25, 0.25)],
        "turns": [2, 9], "num_envs": [1, 3], "rounds": [2], "limit": [1, 20], "players": [2], "depth": [1], "seat": [0, 1],
        "snapshot": [env.unwrapped.snapshot(), envs.snapshot()], "actions": [np.zeros(3, int)], "action": [0, 1],
        "options": [{"points": 1}, {"lead": 2}, {"reset_mask": np.ones(3, bool)}], "path": ["policy.npz", "ppo-threes"],
        "render_mode": ["ansi", "rgb_array"], "name": ["random", "node", "step"], "save_path": ["best.npz"], "dice": [2],
        "observation": [env.unwrapped.reset()[0]], "observations": [envs.reset()[0]], "identity": ["stb_gym/Threes-v0"],
        "one": [found.score_distribution], "other": [found.score_distribution], "utility": [np.negative], "exceptions": [2],
    }  # fmt: skip
    return objects, valid


def callables(objects):
    """Return the public functions, constructors and bound methods by name, and the objects with public properties."""
    listed = re.findall(r"```\{names\}\n(.*?)```", (ROOT / "docs/api.md").read_text(), re.DOTALL)
    names = dict.fromkeys([*stb_gym.__all__, *" ".join(listed).split()])
    named = {name: attrgetter(name)(stb_gym) for name in names if not name.startswith("pettingzoo")}
    found = {name: each for name, each in named.items() if callable(each) and not inspect.isabstract(each)}
    for each in (each for each in objects if type(each).__name__ not in INNER):
        for name in dir(type(each)):
            member = inspect.getattr_static(type(each), name)
            is_ours = name not in BY_NAME and str(getattr(member, "__module__", "")).startswith("stb_gym")
            if is_ours and callable(member) and (name == "__call__" or not name.startswith("_")):
                found[f"{type(each).__name__}.{name}"] = getattr(each, name)
    return found


def drawn_call(draw, function, valid, junk):
    """Draw arguments for a function by its signature, most of them valid."""
    positional, named = [], {}
    for parameter in inspect.signature(function).parameters.values():
        good = valid.get(parameter.name, junk)
        value = draw.choice(good if draw.random() < 0.7 else junk)
        if parameter.kind == parameter.VAR_KEYWORD:
            named |= draw.choice([{}, {}, {"roll": value}, {"points": value}, {"tiles": value}, {"\x1b" * 300: value}])
        elif parameter.kind == parameter.POSITIONAL_ONLY or parameter.kind == parameter.VAR_POSITIONAL:
            positional.append(value)
        elif parameter.default is parameter.empty or draw.random() < 0.4:
            named[parameter.name] = value
    return positional, named


def fault_of(error):
    """Return what is wrong with an error; "" if nothing is."""
    *_, innermost = traceback.extract_tb(error.__traceback__)
    message = str(error)
    if innermost.filename == __file__:  # a function of the test itself
        return ""
    if not innermost.filename.startswith(LIBRARY):
        return f"raised in {innermost.filename}:{innermost.lineno}"
    if not isinstance(error, ALLOWED) or type(error).__module__ != "builtins" or isinstance(error, RecursionError):
        return f"of type {type(error).__name__} at {innermost.filename}:{innermost.lineno}"
    if not message or not message.isprintable() or len(message) > 200:
        return f"{len(message)} characters at {innermost.filename}:{innermost.lineno}"
    return ""


@pytest.mark.nightly
def test_any_call_returns_or_is_refused_in_a_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    written, faults, draw = [], {}, random.Random(1)
    objects, valid = members()
    calls = callables(objects)
    sys.addaudithook(lambda event, given: written.append(given) if event == "open" and "w" in str(given[1]) else None)

    def stop(*_):
        raise TimeoutError("a call takes more than ten seconds")

    monkeypatch.setattr(signal, "alarm", signal.alarm)
    signal.signal(signal.SIGALRM, stop)
    for name in [*calls] * (20_000 // len(calls) + 1):
        positional, named = drawn_call(draw, calls[name], valid, [*LONG, *objects])
        signal.alarm(10)
        try:
            with warnings.catch_warnings(action="ignore"):
                calls[name](*positional, **named)
        except BaseException as error:
            if fault := fault_of(error):
                faults.setdefault((name, fault), f"{error!r:.150}")
        finally:
            signal.alarm(0)
    assert not faults, "\n".join(f"{name}: {fault}: {error}" for (name, fault), error in sorted(faults.items()))
