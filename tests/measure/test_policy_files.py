"""Test that policy files are read as they were written, and that untrusted files do no harm."""

import io
import os
import pickle
import re
import tomllib
import tracemalloc
import zipfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from stb_gym import (
    Objective,
    ShutTheBox,
    Threes,
    bundled_policies,
    evaluate,
    load_policy,
    save_policy,
    solve,
    strategies,
    strategy,
)
from stb_gym.games import GAMES
from stb_gym.measure import is_policy, load_policies, policy_files, read_policy, save_policies
from stb_gym.solver import compile_game
from tests import Code

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
BEST = solve(GAME).policy
RANDOM = strategy(GAME, "random")
MEBIBYTE = 2**20


def write(path, **entries):
    """Write a file as `save_policy` does, with changed entries; leave out those that are None."""
    whole = {"format": 2, "policy": BEST, "game": GAME.name, "rules": '{"tiles": 6}', "objective": "score"}
    whole |= {"illegal": "raise"} | entries
    np.savez_compressed(path, **{name: entry for name, entry in whole.items() if entry is not None})
    return path


def lowest_moves(self, afterstate, roll):
    """Return only the move of lowest action, at most."""
    return dict([*ShutTheBox.moves(self, afterstate, roll).items()][:1])


def error_of(path, read=read_policy):
    """Return the reason of the error, after its first words "cannot read the policy PATH: "."""
    with pytest.raises(ValueError, match=rf"^cannot read the policy {re.escape(str(path))}: [^\n]+$") as refused:
        read(path)
    return str(refused.value).partition(": ")[2]


@pytest.mark.parametrize("policy", [BEST, RANDOM, np.asfortranarray(RANDOM), np.longdouble(RANDOM)])
def test_a_policy_is_read_as_it_was_written(policy, tmp_path):
    path = tmp_path / "new" / "policy.npz"
    save_policy(path, ShutTheBox(tiles=np.int64(6)), policy)
    assert (load_policy(path, GAME) == policy).all()
    assert [file.name for file in path.parent.iterdir()] == ["policy.npz"]


@pytest.mark.parametrize("objective", ["score", "shut", "at-most:4"])
def test_a_file_names_its_game_and_objective_and_evaluates_its_policy(objective, tmp_path):
    path = tmp_path / "policy.npz"
    half = np.full((TABLES.num_states, TABLES.num_actions), 1 / TABLES.num_actions)
    save_policy(path, gym.make("stb_gym/ShutTheBox-v0", tiles=6, objective=objective), half)
    saved = read_policy(path)
    assert (saved.game, saved.objective.name, saved.illegal) == (GAME, objective, "end")
    assert saved.evaluate().summary() == evaluate(GAME, half, objective, "end").summary()
    assert "illegal action" in error_of(path, lambda path: load_policy(path, GAME))


@pytest.mark.parametrize(
    ("policy", "objective"),
    [
        (np.zeros(TABLES.num_states, int), "score"),
        (BEST, np.square),
        (BEST, Objective("at-most:5 ", np.square)),
        (RANDOM, "score"),
    ],
    ids=range(4),
)
def test_a_policy_that_is_refused_leaves_no_file(policy, objective, tmp_path, monkeypatch):
    monkeypatch.setattr(policy_files, "LARGEST", 10_000)
    with pytest.raises(ValueError, match=r"illegal|objective|large"):
        save_policy(tmp_path / "policy.npz", GAME, policy, objective=objective)
    assert list(tmp_path.iterdir()) == []


def test_bundled_policies_are_small_have_commands_and_are_not_named_like_strategies():
    assert max(path.stat().st_size for path in policy_files.BUNDLED.iterdir()) <= 100_000
    commands = tomllib.loads((policy_files.BUNDLED / "commands.toml").read_text())
    assert [*commands] == bundled_policies()
    assert not {*bundled_policies()} & {name for rules in GAMES.values() for name in strategies(rules())}


@pytest.mark.nightly
def test_bundled_policies_are_read_by_name():
    by_game = {}
    for name in bundled_policies():
        saved = read_policy(name)
        assert (load_policy(name, saved.game, saved.illegal) == saved.policy).all()
        by_game.setdefault(saved.game, []).append(name)
    assert {game: bundled_policies(game) for game in (*by_game, GAME)} == {**by_game, GAME: []}


def test_a_file_goes_before_a_bundled_policy_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in ("nobody", "ppo-threes.npz", "./ppo-threes", tmp_path / "ppo-threes"):
        with pytest.raises(ValueError, match="there is no policy file"):
            read_policy(path)
    save_policy("ppo-threes", GAME, BEST)
    assert read_policy("ppo-threes").game == GAME
    Path("optimal").mkdir()
    save_policy("optimal/policy.npz", GAME, BEST)
    assert [is_policy(name) for name in ("optimal", "./optimal", "ppo-threes")] == [False, True, True]


@pytest.mark.parametrize("rule", [{"final_score": lambda self, board: board}, {"moves": lowest_moves}])
def test_files_of_a_game_whose_code_has_changed_are_refused(rule, tmp_path, monkeypatch):
    old, new = (type("Mine", (ShutTheBox,), {"name": "mine", **rules})(tiles=4) for rules in ({}, rule))
    monkeypatch.setitem(GAMES, "mine", type(old))
    save_policy(tmp_path / "one.npz", old, solve(old).policy)
    save_policies(tmp_path / "many.npz", old, {0: solve(old).policy})
    assert (read_policy(tmp_path / "one.npz").policy == solve(old).policy).all()
    monkeypatch.setitem(GAMES, "mine", type(new))
    changed = "was edited, or its game has changed"
    with pytest.raises(ValueError, match=changed):
        read_policy(tmp_path / "one.npz", illegal="end")
    with pytest.raises(ValueError, match=changed):
        load_policies(tmp_path / "many.npz", new, "end")


# Files that are not trusted

ENTRIES = [
    {"game": "pig"},
    {"rules": '{"tiles": 99}'},
    {"rules": '{"colour": 1}'},
    {"rules": '{"open": {"1": [2]}}'},
    {"rules": '{"tiles": 24}'},
    {"rules": "[]"},
    {"objective": "win"},
    {"illegal": "stop"},
    {"policy": np.zeros(4, int)},
    {"policy": np.zeros(TABLES.num_states)},
    {"policy": np.zeros(TABLES.num_states, int)},
    {"policy": np.full((TABLES.num_states, TABLES.num_actions), 1e308)},
    {"policy": np.full((TABLES.num_states, TABLES.num_actions), np.nan)},
    {"policy": np.array([{}], object)},
    {"format": 1},
    {"format": [2, 2]},
    {"sha256": "0" * 64},
    {"sha256": 0},
]
DAMAGED = [{"rules": "{"}, {"rules": "[" * 9_000}, {"rules": f'{{"tiles": {"1" * 9_000}}}'}, {"rules": 5}]
DAMAGED += [{"policy": None}, {"format": None}]


def test_errors(tmp_path, monkeypatch, snapshot):
    monkeypatch.chdir(tmp_path)  # errors are cut, with the path
    path = Path("policy.npz")
    errors = [error_of(write(path, **entries)) for entries in ENTRIES]
    for other in (ShutTheBox(tiles=6, score="count"), Threes()):
        errors.append(error_of(write(path), lambda path, other=other: load_policy(path, other)))
    assert errors == snapshot
    for entries in DAMAGED:
        error_of(write(path, **entries))


def test_nothing_in_a_file_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("policy.npz")
    for entry in ("policy", "game", "rules", "objective", "illegal", "format"):
        error_of(write(path, **{entry: np.array([Code()], object)}))
    path.write_bytes(pickle.dumps(Code()))
    error_of(path)
    assert not Path("executed").exists()
    pickle.loads(path.read_bytes()).close()
    assert Path("executed").exists()


def claiming(shape):
    """Return the header of an .npy file that claims a shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "entry", "data"),
    [
        (zipfile.ZIP_DEFLATED, "policy", claiming((2 * MEBIBYTE,)) + bytes(16 * MEBIBYTE)),
        (zipfile.ZIP_BZIP2, "policy", claiming((TABLES.num_states,)) + bytes(16 * MEBIBYTE)),
        (zipfile.ZIP_STORED, "policy", claiming((-1, -4 * MEBIBYTE))),
        (zipfile.ZIP_DEFLATED, "rules", claiming((2 * MEBIBYTE,)) + bytes(16 * MEBIBYTE)),
    ],
    ids=range(4),
)
def test_a_file_takes_no_more_memory_than_its_game(method, entry, data, tmp_path):
    path = write(tmp_path / "policy.npz", **{entry: None})
    with zipfile.ZipFile(path, "a", method) as archive:
        archive.writestr(f"{entry}.npy", data)
    tracemalloc.start()
    error_of(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * MEBIBYTE


def test_a_file_that_is_too_large_or_a_pipe_is_not_opened(tmp_path):
    path = write(tmp_path / "policy.npz")
    whole = path.read_bytes()
    with path.open("wb") as file:  # an archive may begin anywhere in its file
        file.seek(2**28)
        file.write(whole)
    assert "larger than" in error_of(path)
    os.mkfifo(tmp_path / "pipe.npz")
    assert "no regular file" in error_of(tmp_path / "pipe.npz")


# The policies of all measurements of a training

POLICIES = {0: strategy(GAME, "biggest-first"), 64: strategy(GAME, "fewest-then-biggest"), 256: BEST}
ACTIONS = np.stack([policy[TABLES.decisions] for policy in POLICIES.values()], axis=1).astype(np.uint8)
STEPS = np.array([*POLICIES])
WHOLE = {"format": 2, "game": GAME.name, "rules": '{"tiles": 6}', "objective": "score", "illegal": "end"}
WHOLE |= {"steps": STEPS, "actions": ACTIONS}


def load_here(path):
    return load_policies(path, GAME, "raise")


def test_the_policies_of_a_training_are_read_as_they_were_written(tmp_path):
    save_policies(tmp_path / "policies.npz", GAME, POLICIES)
    found = load_here(tmp_path / "policies.npz")
    assert [*found] == [*POLICIES]
    for step, policy in POLICIES.items():
        assert (found[step] == policy).all()


@pytest.mark.parametrize(
    "changes",
    [
        {"sha256": "0" * 64},
        {"steps": np.array([-1, 64, 256])},
        {"steps": np.array([0.0, 64.0, 256.0])},
        {"actions": ACTIONS.astype(int)},
        {"actions": ACTIONS.T},
        {"steps": STEPS[:0], "actions": ACTIONS[:, :0]},
        {"format": 3},
    ],
    ids=range(7),
)
def test_arrays_that_are_not_policies_of_the_game_are_refused(changes, tmp_path):
    np.savez(tmp_path / "policies.npz", **WHOLE | changes)
    reasons = {"format": "save it again", "sha256": "its SHA-256"}
    assert reasons.get(min(changes), "not hold policies") in error_of(tmp_path / "policies.npz", load_here)


def test_illegal_actions_of_a_training_are_refused_or_end_the_turn(tmp_path):
    path, actions = tmp_path / "policies.npz", ACTIONS.copy()
    actions[0, 1] = illegal = int(TABLES.legal[TABLES.decisions[0]].argmin())
    np.savez(path, **WHOLE | {"actions": actions})
    assert "illegal" in error_of(path, load_here)
    assert load_policies(path, GAME, "end")[64][TABLES.decisions[0]] == illegal


def test_the_policies_of_another_game_or_objective_are_refused(tmp_path):
    path = tmp_path / "policies.npz"
    save_policies(path, Threes(), {0: solve(Threes()).policy}, "at-most:5")
    assert [*load_policies(path, Threes(), "raise", "at-most:5")] == [*load_policies(path, Threes(), "raise")] == [0]
    other = Threes(free_face=6)  # with as many states
    assert error_of(path, lambda path: load_policies(path, other, "end")) == (
        "it is a policy of Threes(), not of Threes(free_face=6)"
    )
    assert error_of(path, lambda path: load_policies(path, Threes(), "end", "score")) == (
        "its policies play for at-most:5, not for score"
    )


def test_policies_of_a_training_are_actions(tmp_path):
    with pytest.raises(ValueError, match="policies of a training are actions: predict must not return probabilities"):
        save_policies(tmp_path / "policies.npz", GAME, {0: RANDOM})
    for wrong in (np.full(TABLES.num_states, -1), BEST + TABLES.num_actions, BEST + 0.5):
        with pytest.raises(ValueError, match=f"are integers from 0 to {TABLES.num_actions - 1}"):
            save_policies(tmp_path / "policies.npz", GAME, {0: BEST, 1: wrong})
    assert not [*tmp_path.iterdir()]
