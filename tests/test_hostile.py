"""Whatever is asked, in whatever words: it is answered or refused in one line, at once, and nothing is executed.

Every command line and every call is drawn by a seed of its own, so one that fails is found again by its number. A small
part of them is tried each time; `HOSTILE=all` in the environment tries 10,000 command lines and 30,000 calls, which
takes some minutes.
"""

import contextlib
import inspect
import io
import os
import pickle
import random
import signal
import zipfile
from functools import partial
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import stb_gym
from stb_gym import ShutTheBox, Threes, solve
from stb_gym.cli import flag_of_rule, main
from stb_gym.cli.program import COMMANDS
from stb_gym.games import rolls, rules_of
from stb_gym.large import solve_boards
from stb_gym.measure import read_policy, save_policies

pytestmark = pytest.mark.slow

PARTS = 50  # in which the tests are run, each in a folder of its own
SHARE = 1 if os.environ.get("HOSTILE") == "all" else 20  # of every so many command lines and calls one is tried
LINES, CALLS = 10_000 // PARTS, 30_000 // PARTS
SECONDS = 200  # that one of them may take, however busy the machine is: none takes one
REFUSED = (ValueError, TypeError, OSError, RuntimeError, gym.error.Error)
SMALL = ShutTheBox(tiles=4)


class HungError(BaseException):
    """What nobody catches: it takes too long."""


class Bomb:
    """Whoever unpickles it leaves a file behind."""

    def __reduce__(self):
        return (Path.touch, (Path("executed"),))


@contextlib.contextmanager
def at_once():
    """Raise HungError if it takes too long."""

    def hang(*_):
        raise HungError

    before = signal.signal(signal.SIGALRM, hang)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to be in, full of files that are whole, damaged or forged, and of things that are no files."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    stb_gym.save_policy("policy.npz", SMALL, solve(SMALL).policy)
    save_policies(Path("policies.npz"), SMALL, {5: solve(SMALL).policy})
    np.save("values.npy", solve(SMALL).state_value)
    whole = Path("policy.npz").read_bytes()
    for number in range(4):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        Path(f"damaged{number}.npz").write_bytes(damaged[: rng.choice([len(whole), 40, 0])])
    entries = {"format": 2, "policy": np.zeros(5, int), "game": "\x1b[31mshut-the-box", "rules": "[" * 5000}
    np.savez("forged.npz", **entries)
    np.savez("pickled.npz", format=2, policy=np.array([Bomb()], object), game="shut-the-box", rules='{"tiles": 4}')
    Path("pickle.npz").write_bytes(pickle.dumps(Bomb()))
    np.save("pickled.npy", np.array([Bomb()], object), allow_pickle=True)
    with zipfile.ZipFile("zip\x1b[31m.npz", "w") as archive:
        archive.writestr("policy.npy", b"\x93NUMPY\x01\x00\xff\xff")
    Path("folder").mkdir()
    Path("loop.npz").symlink_to("loop.npz")
    os.mkfifo("pipe.npz")
    Path("evil.py").write_text("open('executed', 'w')\n")
    return tmp_path


FILES = ["policy.npz", "policies.npz", "values.npy", "forged.npz", "pickled.npz", "pickle.npz", "pickled.npy"]
FILES += ["zip\x1b[31m.npz", "folder", "folder/", "pipe.npz", "none.npz", "none/none.npz", "loop.npz"]
FILES += ["damaged0.npz", "damaged1.npz", "damaged2.npz", "damaged3.npz", "a\x00b", "x" * 300, "evil.py"]
NUMBERS = ["0", "1", "2", "3", "4", "-1", "007", "1e3", "1_0", "nan", "inf", "-0", "99999", "²", " 3", "9" * 5000]
WORDS = ["", " ", "-", "--", "---", "\x1b[31mred", "\r\n", "a\nb", "\u202e", "\udcff", "'", '"', "$(touch executed)"]
WORDS += ["__import__('evil')", "{}", "%s", "optimal", "random", "score", "shut", "at-most:3", "at-most:" + "9" * 99]
WORDS += ["1,2", "1,,2", ",", "random,random", "optimal,policy.npz", "none:open", "no.such:agent", "all", "x" * 9999]
FLAGS = sorted({f"--{name}" for each in COMMANDS.values() for name in inspect.signature(each).parameters})
RULES = sorted({f"--{flag_of_rule(name)}" for game in (ShutTheBox, Threes) for name in rules_of(game)})
FEW = {"--tiles": "34", "--dice": "12", "--faces": "34"}  # so that what is right takes a moment


def line(rng):
    """The words of a command: most of them known ones, with values of which about half would do."""
    words = [rng.choice([*COMMANDS]), rng.choice(["shut-the-box", "threes", "shut-the-box", rng.choice(WORDS + FILES)])]
    known = [name for name in FLAGS if name != "--pause"]
    for name in rng.choices(known + RULES, k=rng.randrange(5)):
        words += [name, rng.choice(rng.choice([NUMBERS, WORDS, FILES]))][: rng.choice([1, 2, 2, 2])]
    for name in sorted(FEW.keys() - {*words, "--tiles" if "threes" in words else ""}):
        words += [name, rng.choice(FEW[name])]
    words += ["--json"] * (rng.random() < 0.2) + ["--help"] * (rng.random() < 0.02)
    return [rng.choice(WORDS)] * (rng.random() < 0.03) + words


@pytest.mark.parametrize("part", range(PARTS))
def test_a_command_answers_or_refuses_in_one_line(part, folder, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    for number in range(part * LINES, (part + 1) * LINES, SHARE):
        rng = random.Random(number)
        words = line(rng)
        typed = "\n".join(rng.choices(["?", "1", "1 2", "3", "\x1b[2J", "undo", "9" * 50, "n", "y"], k=30))
        out, err = io.StringIO(), io.StringIO()
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        try:
            with at_once(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(words)
        except SystemExit as ended:
            status = ended.code
        except BaseException as error:
            raise AssertionError(f"command line {number}: {words}") from error
        said = err.getvalue().splitlines()
        assert status in (0, 2), (number, words)
        assert status == 0 or len(said) == 1, (number, words, said)
        assert all(each.isprintable() for each in [*out.getvalue().split("\n"), *said]), (number, words)
    assert not (folder / "executed").exists()


THINGS = [
    *(None, True, False, 0, 1, 2, 3, -1, 2**31, 2**63, 2**70, 0.5, -0.0, float("nan"), float("inf"), 1j, "", "score"),
    *("shut", "at-most:3", "optimal", "random", "\x1b[2J", "\udcff", "x" * 9999, b"bytes", [], [1, 2], [[1], [2, 3]]),
    *({}, {"open": [1]}, {"roll": 3}, {"open": [1, 2], "roll": [1, 1]}, {"\x1b": 1}, {1: 2}, (), (1, 2), {1}, object()),
    *(int, len, Bomb(), range(3), SMALL, Threes(dice=2), Path("none"), stb_gym.solver.Standing(3, 1, 1)),
    *(np.int8(3), np.uint64(2**63), np.float32("nan"), np.bool_(True), np.str_("score"), np.datetime64("nat")),
    *(np.arange(3), np.zeros((2, 2)), np.array([None, 1]), np.array("x"), np.zeros(0), np.full(9, np.nan)),
]
OF_A_GAME = [solve, stb_gym.evaluate, stb_gym.strategy, stb_gym.compare, stb_gym.certify, stb_gym.strategies]
OF_A_GAME += [
    stb_gym.RegretMeter,
    stb_gym.simulate,
    rolls,
    solve_boards,
    stb_gym.rounds.Round,
    stb_gym.rounds.tournament,
]
OF_A_FILE = [read_policy, stb_gym.kept_policies, stb_gym.envs.environment_of, stb_gym.envs.game_of_environment, Threes]


def rules(rng):
    """Fields of rules, of which the sizes are small if they are right."""
    sizes = {"tiles": rng.choice([2, 3, 4]), "dice": rng.choice([1, 2]), "faces": rng.choice([2, 3])}
    names = [*rules_of(ShutTheBox), "no_rule"]
    more = {name: rng.choice(THINGS) for name in rng.choices(names, k=rng.randrange(3))}
    own = {name: value for name, value in more.items() if not (name in sizes and type(value) is int and value > 4)}
    return {**sizes, **own}


@pytest.fixture(scope="module")
def known():
    """Two environments, and everything that may be called, to be given things."""
    one = gym.make("stb_gym/ShutTheBox-v0", tiles=4).unwrapped
    many = gym.make_vec("stb_gym/ShutTheBox-v0", 2, tiles=4, stepper="boards").unwrapped
    values, contest, perfect = solve_boards(SMALL), stb_gym.rounds.Round(SMALL), solve(SMALL)
    return (
        one,
        many,
        [
            *(partial(function, SMALL) for function in OF_A_GAME),
            *OF_A_FILE,
            partial(stb_gym.load_policy, game=SMALL),
            *(one.step, one.restore, one.node, one.afterstates, many.step, many.restore, many.node, many.afterstates),
            values.utilities_at,
            *(
                partial(stb_gym.rounds.series, contest),
                partial(stb_gym.rounds.match, stb_gym.rounds.Outcome(0.5, 0.4, 0.1)),
                partial(stb_gym.measure.pocket_card, perfect),
                contest.evaluate,
                contest.evaluate(["random"] * contest.players).best_response,
                contest.policy,
                perfect.evaluate,
                stb_gym.RegretMeter(SMALL),
            ),
        ],
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_a_call_answers_or_says_what_is_wrong(part, known, folder):
    one, many, functions = known
    for number in range(part * CALLS, (part + 1) * CALLS, SHARE):
        one.reset(seed=0)
        many.reset(seed=0)
        rng = random.Random(number)
        given = [
            rng.choice([rng.choice(THINGS), rng.choice(THINGS), rng.choice(FILES)])
            for _ in range(rng.choice([1, 1, 2, 3]))
        ]
        kind, options, function = rng.randrange(6), rules(rng), rng.choice(functions)
        told = f"call {number}: {kind}, {function!r:.200}, {given!r:.300}, {options!r:.300}"
        refused = None
        try:
            with at_once(), contextlib.redirect_stdout(io.StringIO()):
                if kind == 0:
                    ShutTheBox(**options)
                elif kind == 1:
                    rng.choice([one, many]).reset(seed=rng.choice([None, 1, given[0]]), options=given[-1])
                elif kind == 2:
                    made = gym.make("stb_gym/ShutTheBox-v0", **options, objective=given[0])
                    made.reset(seed=0, options={"roll": given[-1]})
                else:
                    function(*given)
        except REFUSED as error:
            refused = str(error)
        except BaseException as error:
            raise AssertionError(told) from error
        assert refused != "", told
    assert not (folder / "executed").exists()
