"""Policies as files: what is written is read again, and no file does harm, whatever is in it."""

import contextlib
import io
import os
import pickle
import tracemalloc
import zipfile
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stb_gym import (
    Objective,
    ShutTheBox,
    Threes,
    compile_game,
    kept_policies,
    load_policy,
    read_policy,
    save_policy,
    solve,
    strategy,
)
from stb_gym.measure import policy_files
from stb_gym.solver import objective_of

GAME = ShutTheBox(tiles=6)
TABLES = compile_game(GAME)
MEBIBYTE = 2**20


def files(path, **entries):
    """Write a file like one of `save_policy`, with other entries."""
    whole = {"policy": solve(GAME).policy, "game": GAME.name, "rules": '{"tiles": 6}', "objective": "score"}
    np.savez_compressed(path, **whole | {"illegal": "raise"} | entries)
    return path


def test_rules_of_numpy_integers_are_stored_as_any(tmp_path):
    game = ShutTheBox(tiles=np.int64(6))
    save_policy(tmp_path / "policy.npz", game, solve(game).policy)
    assert (load_policy(tmp_path / "policy.npz", GAME) == solve(GAME).policy).all()


@pytest.mark.parametrize(
    "policy",
    [solve(GAME).policy, strategy(GAME, "random"), np.asfortranarray(strategy(GAME, "random"))],
    ids=["actions", "probabilities", "by columns"],
)
def test_policies_are_stored_and_loaded(tmp_path, policy):
    path = tmp_path / "sub" / "policy.npz"
    save_policy(path, GAME, policy)
    assert (load_policy(path, GAME) == policy).all()
    assert [file.name for file in path.parent.iterdir()] == ["policy.npz"]


def test_a_policy_file_of_another_game_is_refused(tmp_path):
    save_policy(tmp_path / "policy.npz", GAME, solve(GAME).policy)
    for other in (ShutTheBox(tiles=6, score="count"), Threes()):
        with pytest.raises(ValueError, match=r"is a policy of shut-the-box with .*'tiles': 6"):
            load_policy(tmp_path / "policy.npz", other)


def test_damaged_and_foreign_policy_files_are_refused(tmp_path):
    path = tmp_path / "policy.npz"
    with pytest.raises(ValueError, match="there is no policy file"):
        load_policy(path, GAME)
    save_policy(path, GAME, solve(GAME).policy)
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[:100] + b"\0" * 50 + whole[150:], b"", b"hello", b"\x80\x04K\x01."):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="is not a policy file of stb_gym, or is damaged"):
            load_policy(path, GAME)
    files(path, policy=np.array([{}], object))
    with pytest.raises(ValueError, match="is not a policy file of stb_gym, or is damaged"):
        load_policy(path, GAME)
    np.savez(path, policy=np.zeros(4, int), game="shut-the-box", rules='{"tiles":6,"dice":2,"faces":6,"score":"sum"}')
    with pytest.raises(ValueError, match=f"is an array of {TABLES.nodes} integers"):
        load_policy(path, GAME)


def test_nothing_is_left_of_a_file_that_could_not_be_written(tmp_path):
    with pytest.raises(ValueError, match="illegal action"):
        save_policy(tmp_path / "policy.npz", GAME, np.full(TABLES.nodes, 0))
    assert list(tmp_path.iterdir()) == []


def test_a_file_says_what_its_policy_is_for(tmp_path):
    half = np.full((TABLES.nodes, TABLES.actions), 1 / TABLES.actions)
    for objective in ("score", "shut", "at-most:4"):
        save_policy(tmp_path / "policy.npz", GAME, half, "end", objective)
        game, goal, illegal, policy = read_policy(tmp_path / "policy.npz")
        assert (game, goal, illegal) == (GAME, objective_of(GAME, objective), "end")
        assert (policy == half).all()
    save_policy(tmp_path / "policy.npz", GAME, solve(GAME).policy, objective=objective_of(GAME, "shut"))
    assert read_policy(tmp_path / "policy.npz").objective.name == "shut"
    assert read_policy(tmp_path / "policy.npz").illegal == "raise"


def test_an_older_file_is_for_the_points_without_illegal_actions(tmp_path):
    path = tmp_path / "policy.npz"
    np.savez_compressed(path, policy=solve(GAME).policy, game=GAME.name, rules='{"tiles": 6}')
    game, goal, illegal, policy = read_policy(path)
    assert (game, goal.name, illegal) == (GAME, "score", "raise")
    assert (policy == solve(GAME).policy).all()


@pytest.mark.parametrize(
    "objective",
    [np.square, Objective("squares", np.square), Objective("shut", np.square), Objective("at-most:5 ", np.square)],
)
def test_an_objective_that_cannot_be_named_is_not_saved(tmp_path, objective):
    with pytest.raises(ValueError, match=r"a policy file names its objective, and '.*' is not the name of this: "):
        save_policy(tmp_path / "policy.npz", GAME, solve(GAME).policy, objective=objective)
    assert list(tmp_path.iterdir()) == []


def test_a_policy_that_is_too_large_is_not_saved(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_files, "LARGEST", 10_000)
    save_policy(tmp_path / "policy.npz", GAME, solve(GAME).policy)
    with pytest.raises(ValueError, match=r"a policy of [\d,]+ bytes is too large for a file: at most 10,000 fit"):
        save_policy(tmp_path / "large.npz", GAME, strategy(GAME, "random"))
    assert [path.name for path in tmp_path.iterdir()] == ["policy.npz"]


# Kept policies


def test_kept_policies_are_read_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(kept_policies()) >= 8
    for name in kept_policies():
        game, _, illegal, policy = read_policy(name)
        assert (load_policy(name, game, illegal) == policy).all()
    with pytest.raises(ValueError, match=r"there is no policy file nobody, nor is it one of the kept .* ppo-threes"):
        read_policy("nobody")
    for path in ("ppo-threes.npz", "./ppo-threes", tmp_path / "ppo-threes"):
        with pytest.raises(ValueError, match=r"there is no policy file .*ppo-threes(\.npz)?$"):
            read_policy(path)


def test_a_file_of_the_name_comes_first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_policy("ppo-threes", GAME, solve(GAME).policy)
    assert read_policy("ppo-threes").game == GAME


# Files that are not trusted


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"game": "pig"}, "unknown game 'pig': allowed are shut-the-box, threes"),
        ({"game": "a\nb"}, r"unknown game 'a\\nb'"),
        ({"rules": '{"tiles": 99}'}, "tiles must be an integer from 1 to 28, not 99"),
        ({"rules": '{"colour": 1}'}, "unknown rule 'colour'"),
        ({"rules": '{"open": {"1": [2]}}'}, "each of open must be an integer"),
        ({"rules": '{"tiles": 24}'}, r"has 270,532,619 edges; arrays hold at most"),
        ({"rules": "[]"}, "or is damaged"),
        ({"rules": "{"}, "or is damaged"),
        ({"rules": "[" * 9_000}, "or is damaged"),
        ({"rules": f'{{"tiles": {"1" * 9_000}}}'}, "or is damaged"),
        ({"rules": 5}, "or is damaged"),
        ({"game": ["threes", "threes"]}, "or is damaged"),
        ({"objective": "win"}, "unknown objective 'win'"),
        ({"illegal": "stop"}, "unknown treatment of illegal actions 'stop'"),
        ({"policy": np.zeros(4, int)}, f"is an array of {TABLES.nodes} integers, or of {TABLES.nodes} x"),
        ({"policy": np.zeros(TABLES.nodes)}, f"is an array of {TABLES.nodes} integers, or of {TABLES.nodes} x"),
        ({"policy": np.zeros(TABLES.nodes, int)}, "takes the illegal action 0 at"),
        ({"policy": np.full((TABLES.nodes, TABLES.actions), 1e308)}, "probabilities that sum to inf, not 1"),
        ({"policy": np.full((TABLES.nodes, TABLES.actions), np.nan)}, "negative or not a number"),
        ({"policy": "none"}, f"is an array of {TABLES.nodes} integers"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_line(tmp_path, entries, message):
    path = files(tmp_path / "policy.npz", **entries)
    with pytest.raises(ValueError, match=message) as refused:
        read_policy(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_a_game_is_not_compiled_for_a_policy_of_another_shape(tmp_path, monkeypatch):
    monkeypatch.setattr(policy_files, "compile_game", lambda game: pytest.fail("compiled"))
    with pytest.raises(ValueError, match="is an array of 1441782 integers"):
        read_policy(files(tmp_path / "policy.npz", rules='{"tiles": 17}'))


class Touches:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_nothing_in_a_file_is_executed(tmp_path):
    touched, path = tmp_path / "touched", tmp_path / "policy.npz"
    for entry in ("policy", "game", "rules", "objective", "illegal"):
        with pytest.raises(ValueError, match="or is damaged"):
            read_policy(files(path, **{entry: np.array([Touches(touched)], object)}))
    path.write_bytes(pickle.dumps(Touches(touched)))
    with pytest.raises(ValueError, match="or is damaged"):
        read_policy(path)
    assert not touched.exists()
    pickle.loads(path.read_bytes()).close()
    assert touched.exists()


def npy(shape):
    """An array of zeros that states another shape than it has."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<i8", "fortran_order": False, "shape": shape})
    return file.getvalue() + bytes(80)


@pytest.mark.parametrize(
    ("method", "entry", "data"),
    [
        (zipfile.ZIP_DEFLATED, "policy", npy((4 * MEBIBYTE,))[:128] + bytes(32 * MEBIBYTE)),  # 32 KiB, unpacked 32 MiB
        (zipfile.ZIP_BZIP2, "policy", npy((TABLES.nodes,))[:128] + bytes(32 * MEBIBYTE)),
        (zipfile.ZIP_STORED, "policy", npy((4 * MEBIBYTE,))),
        (zipfile.ZIP_STORED, "policy", npy((-1, -4 * MEBIBYTE))),
        (zipfile.ZIP_DEFLATED, "rules", npy((4 * MEBIBYTE,))[:128] + bytes(32 * MEBIBYTE)),
    ],
)
def test_a_file_takes_no_more_memory_than_its_game(tmp_path, method, entry, data):
    path = tmp_path / "policy.npz"
    with zipfile.ZipFile(files(path)) as whole:
        parts = {name: whole.read(name) for name in whole.namelist()} | {f"{entry}.npy": data}
    with zipfile.ZipFile(path, "w", method) as changed:
        for name, part in parts.items():
            changed.writestr(name, part)
    del parts
    tracemalloc.start()
    with pytest.raises(ValueError, match="or is damaged"):
        read_policy(path)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 8 * MEBIBYTE


def test_a_file_that_is_too_large_is_not_looked_into(tmp_path):
    path = files(tmp_path / "policy.npz")
    whole = path.read_bytes()
    for before, allowed in ((1_000, True), (2**28, False)):
        with path.open("wb") as file:  # an archive may begin anywhere in its file
            file.seek(before)
            file.write(whole)
        with contextlib.nullcontext() if allowed else pytest.raises(ValueError, match="or is damaged"):
            read_policy(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return files(tmp_path_factory.mktemp("policies") / "policy.npz").read_bytes()


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_damage_is_told_in_a_line_or_does_no_harm(whole, tmp_path_factory, data):
    damaged = bytearray(whole)
    for place, byte in data.draw(st.lists(st.tuples(st.integers(0, len(whole) - 1), st.integers(0, 255)), max_size=9)):
        damaged[place] = byte
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    path.write_bytes(damaged[: data.draw(st.integers(0, len(whole)) | st.just(len(whole)))])
    said = ""
    try:
        game, _, _, policy = read_policy(path)
    except ValueError as error:
        said = str(error)
    else:
        assert game == GAME
        assert (policy == solve(GAME).policy).all()
    assert "\n" not in said


def test_a_named_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "policy.npz")
    for read in (read_policy, partial(load_policy, game=GAME)):
        with pytest.raises(ValueError, match=r"policy.npz is not a policy file of stb_gym, or is damaged"):
            read(tmp_path / "policy.npz")


def test_rules_nested_deep_are_refused(tmp_path):
    files(tmp_path / "policy.npz", rules='{"tiles": ' + "[" * 20_000)
    with pytest.raises(ValueError, match=r"policy.npz is not a policy file of stb_gym, or is damaged"):
        read_policy(tmp_path / "policy.npz")


def test_an_environment_says_what_a_policy_is_judged_by(tmp_path):
    env, path = gym.make("stb_gym/ShutTheBox-v0", tiles=4, objective="shut"), tmp_path / "own.npz"
    game = env.unwrapped.game
    save_policy(path, env, np.zeros(compile_game(game).nodes, int))
    saved = read_policy(path)
    assert (saved.game, saved.objective.name, saved.illegal) == (game, "shut", "end")
    with pytest.raises(
        ValueError, match=r'the illegal action 0 at .*; it was saved with illegal="end", and so it can be'
    ):
        load_policy(path, game)
    with pytest.raises(TypeError, match="is neither a game nor an environment of stb_gym"):
        save_policy(path, gym.make("CartPole-v1"), np.zeros(3, int))
    saved_as = {name: np.load(path)[name] for name in ("game", "rules")}
    np.savez(path, **saved_as, policy=np.zeros(3, int), illegal="raise")
    with pytest.raises(ValueError, match=r" floats$"):
        load_policy(path, game, illegal="end")
