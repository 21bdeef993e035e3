"""Files of values by board: they hold the same values, their damage is found, and nothing in them is executed."""

import dataclasses
import hashlib
import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from stb_gym import Objective, ShutTheBox
from stb_gym.large import load_board_values, open_board_values, solve_boards

NINE = ShutTheBox()
HEADER = 128  # bytes of a .npy file before its data


@pytest.fixture
def file(tmp_path):
    solve_boards(NINE).save(tmp_path / "nine.npy")
    return tmp_path / "nine.npy"


def about(path):
    return path.with_name(f"{path.name}.json")


def change_entries(path, **changes):
    entries = json.loads(about(path).read_text()) | changes
    about(path).write_text(json.dumps({name: entry for name, entry in entries.items() if entry is not ...}))


def flip(path, place, mask=4):
    content = bytearray(path.read_bytes())
    content[place] ^= mask
    path.write_bytes(content)


def check_refused(path, key_word, game=NINE, objective="score", check=False):
    with pytest.raises(ValueError, match=key_word) as refused:
        load_board_values(path, game, objective, check=check)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("game", "objective"),
    [(NINE, "at-most:3"), (ShutTheBox(tiles=6, open=(2, 5, 6)), "score"), (ShutTheBox(one_die="any-time"), "shut")],
)
def test_a_file_holds_the_same_values(tmp_path, game, objective):
    values, path = solve_boards(game, objective), tmp_path / "new" / "x.npy"
    values.save(path)
    for loaded in (load_board_values(path, game, objective), open_board_values(path, check=True)):
        assert (loaded.game, loaded.objective, loaded.value) == (game, values.objective, values.value)
        assert loaded.utility.tolist() == values.utility.tolist()
        assert not loaded.utility.flags.writeable
    loaded.save(tmp_path / "copy.npy")
    for original, copy in ((path, tmp_path / "copy.npy"), (about(path), about(tmp_path / "copy.npy"))):
        assert copy.read_bytes() == original.read_bytes()
    assert sorted(path.parent.iterdir()) == [path, about(path)]


def test_the_values_are_an_npy_file_with_a_json_file_beside_it(file):
    assert json.loads(about(file).read_text()) == {
        "game": "shut-the-box",
        "rules": dataclasses.asdict(NINE),
        "objective": "score",
        "shape": [1, 512],
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    assert len(file.read_bytes()) == HEADER + 512 * 8
    assert np.frombuffer(file.read_bytes()[HEADER:], "<f8").tolist() == solve_boards(NINE).utility[0].tolist()


def test_rules_of_numpy_integers_are_stored_like_others(tmp_path):
    solve_boards(ShutTheBox(tiles=np.int64(5))).save(tmp_path / "five.npy")
    assert load_board_values(tmp_path / "five.npy", ShutTheBox(tiles=5)).game == ShutTheBox(tiles=5)


@pytest.mark.parametrize("place", [HEADER, HEADER + 7, HEADER + 1000, -1])
@pytest.mark.parametrize("mask", [1, 128])
def test_the_check_finds_a_changed_bit_of_the_values(file, place, mask):
    flip(file, place, mask)
    load_board_values(file, NINE)  # nobody reads them all without it
    check_refused(file, "damaged", check=True)


def test_a_changed_bit_of_the_header_is_found(file):
    for place in range(HEADER):
        flip(file, place)
        check_refused(file, "damaged", check=True)
        flip(file, place)


@pytest.mark.parametrize("place", [0, 6, 8, 10, 22, 60, 126])
def test_a_header_that_says_something_else_is_refused_without_the_check(file, place):
    flip(file, place)
    check_refused(file, "damaged")


@pytest.mark.parametrize("size", [0, 6, HEADER, HEADER + 512 * 8 - 1, HEADER + 512 * 8 + 1])
def test_files_cut_short_or_too_long_are_refused(file, size):
    file.write_bytes((file.read_bytes() + b"x")[:size])
    check_refused(file, "damaged")


@pytest.mark.parametrize(
    "stored",
    [np.zeros((1, 512), "<f4"), np.zeros((1, 512), ">f8"), np.zeros(512), np.zeros((512, 1)), np.zeros((1, 511))],
)
def test_arrays_of_another_kind_are_refused(file, stored):
    np.save(file, stored)
    check_refused(file, "damaged")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"text"', "{}", "\x00" * 40, "[" * 100_000, "9" * 10_000])
def test_other_json_is_refused(file, text):
    about(file).write_text(text)
    check_refused(file, "nine.npy.json is damaged")


def test_json_cut_short_is_refused(file):
    content = about(file).read_bytes()
    for size in range(0, len(content) - 2, 7):  # without the brace at the end
        about(file).write_bytes(content[:size])
        check_refused(file, "nine.npy.json is damaged")


@pytest.mark.parametrize(
    ("changes", "key_word"),
    [
        ({"rules": []}, "rules"),
        ({"game": ["shut-the-box"]}, "game"),
        ({"objective": None}, "objective"),
        ({"shape": [1.0, 512.0]}, "shape"),
        ({"shape": [True, 512]}, "shape"),
        ({"sha256": ...}, "sha256"),
        ({"shape": [2, 256]}, "damaged"),
        ({"shape": [512]}, "damaged"),
        ({"rules": {"tiles": 8}}, "damaged"),  # of 256 boards
        ({"rules": {"tiles": 9, "magic": True}}, "magic"),
        ({"rules": {"tiles": 99}}, "tiles"),
        ({"rules": {}, "game": "threes"}, "threes"),
        ({"game": "go"}, "go"),
        ({"objective": "win"}, "win"),
        ({"sha256": "0" * 64}, "damaged"),
    ],
    ids=str,
)
def test_entries_of_another_kind_or_that_do_not_fit_are_refused(file, changes, key_word):
    change_entries(file, **changes)
    check_refused(file, key_word, check=True)


def test_rules_that_were_added_later_have_their_defaults(file):
    change_entries(file, rules={"tiles": 9, "dice": 2})
    assert load_board_values(file, NINE, check=True).game == NINE


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_pickled_objects_are_refused_and_not_executed(file):
    trap = file.with_name("executed")
    np.save(file.with_name("array.npy"), np.full((1, 512), Trap(trap), object), allow_pickle=True)
    for content in (file.with_name("array.npy").read_bytes(), pickle.dumps(Trap(trap))):
        file.write_bytes(content)
        change_entries(file, sha256=hashlib.sha256(content).hexdigest())
        check_refused(file, "damaged")
        assert not trap.exists()


def test_missing_files_and_pipes_are_named(file):
    check_refused(file.with_name("none.npy"), "none.npy")
    for path in (about(file), file):
        content = path.read_bytes()
        path.unlink()
        check_refused(file, f"no file.*{path.name}$")
        os.mkfifo(path)
        check_refused(file, f"{path.name}.*pipe")
        path.unlink()
        path.write_bytes(content)
    load_board_values(file, NINE)


class OtherBox(ShutTheBox):
    """The same rules under another name."""

    name = "other-box"


def test_values_of_another_game_or_objective_are_refused_by_what_differs(file, snapshot):
    others = [(ShutTheBox(match="two-at-most", faces=8), "score"), (NINE, "shut"), (OtherBox(), "score")]
    others.append((NINE, Objective("score", lambda points: -(points**2))))
    refusals = []
    for other in others:
        with pytest.raises(ValueError, match="values") as refused:
            load_board_values(file, *other)
        refusals.append(str(refused.value).replace(str(file), "FILE"))
    assert refusals == snapshot


def test_an_objective_that_is_a_function_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="abs"):
        solve_boards(ShutTheBox(tiles=4), abs).save(tmp_path / "values.npy")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("failing", ["nine.npy", "nine.npy.json"])
def test_an_interrupted_save_leaves_no_json_beside_other_values(file, monkeypatch, failing):
    before, replace = file.read_bytes(), Path.replace

    def interrupted(aside, path):
        if path.name == failing:
            raise KeyboardInterrupt
        replace(aside, path)

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        solve_boards(NINE, "shut").save(file)
    monkeypatch.undo()
    assert (file.read_bytes() == before) == (failing == "nine.npy")
    assert {path.name for path in file.parent.iterdir()} <= {"nine.npy", "nine.npy.json"}
    check_refused(file, "nine.npy.json")


def test_a_save_that_fails_leaves_the_old_values(file, monkeypatch):
    before = file.read_bytes(), about(file).read_bytes()

    def disk_full(file, array):
        file.write(b"half of it")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "save", disk_full)
    with pytest.raises(OSError, match="no space left"):
        solve_boards(NINE, "shut").save(file)
    assert (file.read_bytes(), about(file).read_bytes()) == before
    assert len(list(file.parent.iterdir())) == 2
