"""Files of values by board: they hold the same values, their damage is found, and nothing in them is executed."""

import hashlib
import json
import os
import pickle
from dataclasses import asdict
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


def flip(path, place, mask=4):
    content = bytearray(path.read_bytes())
    content[place] ^= mask
    path.write_bytes(content)


def check_refused(path, key_word, check=False):
    with pytest.raises(ValueError, match=key_word) as refused:
        load_board_values(path, NINE, check=check)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("game", "objective"),
    [(ShutTheBox(tiles=np.int64(6), open=(2, 5, 6)), "at-most:3"), (ShutTheBox(one_die="any-time"), "shut")],
)
def test_a_file_holds_the_same_values(tmp_path, game, objective):
    values, path = solve_boards(game, objective), tmp_path / "new" / "x.npy"
    values.save(path)
    for loaded in (load_board_values(path, game, objective), open_board_values(path, check=True)):
        assert (loaded.game, loaded.objective, loaded.value) == (game, values.objective, values.value)
        assert loaded.utility.tolist() == np.load(path).tolist() == values.utility.tolist()
    loaded.save(tmp_path / "copy.npy")
    assert (tmp_path / "copy.npy").read_bytes() == path.read_bytes()
    assert sorted(path.parent.iterdir()) == [path, about(path)]


def test_the_json_file_names_the_game_and_the_objective(file):
    assert json.loads(about(file).read_text()) == {
        "game": "shut-the-box",
        "rules": asdict(NINE),
        "objective": "score",
        "shape": [1, 512],
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }


@pytest.mark.parametrize("place", [0, 6, 8, 10, 22, 60, 126, HEADER, HEADER + 1000, -1])
@pytest.mark.parametrize("mask", [1, 128])
def test_a_changed_bit_is_found(file, place, mask):
    flip(file, place, mask)
    if 0 <= place < HEADER:
        check_refused(file, "damaged")
    else:
        load_board_values(file, NINE)  # the values are read only by the check
    check_refused(file, "damaged", check=True)


@pytest.mark.parametrize("size", [0, 6, HEADER, HEADER + 512 * 8 - 1, HEADER + 512 * 8 + 1])
def test_files_cut_short_or_too_long_are_refused(file, size):
    file.write_bytes((file.read_bytes() + b"x")[:size])
    check_refused(file, "damaged")


@pytest.mark.parametrize("stored", [np.zeros((1, 512), "<f4"), np.zeros((1, 512), ">f8"), np.zeros(512)])
def test_arrays_of_another_kind_are_refused(file, stored):
    np.save(file, stored)
    check_refused(file, "damaged")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '"text"', "{}", "\x00" * 40, "[" * 100_000, "9" * 10_000])
def test_other_json_is_refused(file, text):
    about(file).write_text(text)
    check_refused(file, "nine.npy.json is damaged")


@pytest.mark.parametrize(
    "changes",
    [
        '{"rules": []}',
        '{"rules": {"tiles": 8}}',
        '{"rules": {"tiles": 9, "magic": true}}',
        '{"rules": {"tiles": 99}}',
        '{"rules": {"tiles": 9, "faces": 8}}',
        '{"rules": {}, "game": "threes"}',
        '{"game": "go"}',
        '{"game": ["shut-the-box"]}',
        '{"objective": null}',
        '{"objective": "win"}',
        '{"objective": "shut"}',
        '{"shape": [true, 512]}',
        '{"shape": [2, 256]}',
        '{"sha256": 1}',
        '{"sha256": "0000"}',
    ],
)
def test_entries_of_another_kind_or_that_do_not_fit_are_refused(file, changes):
    entries = json.loads(about(file).read_text())
    about(file).write_text(json.dumps(entries | json.loads(changes)))
    check_refused(file, "nine.npy", check=True)
    about(file).write_text(json.dumps(entries | {"rules": {}}))  # rules that were added later have their defaults
    assert load_board_values(file, NINE, check=True).game == NINE


class OtherBox(ShutTheBox):
    """The same rules under another name."""

    name = "other-box"


def test_functions_and_other_games_are_refused(file):
    for game, goal in ((NINE, Objective("score", abs)), (OtherBox(), "score")):
        with pytest.raises(ValueError, match="values"):
            load_board_values(file, game, goal)
    with pytest.raises(ValueError, match="abs"):
        solve_boards(NINE, abs).save(file.with_name("own.npy"))
    assert not file.with_name("own.npy").exists()


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def test_pickled_objects_are_refused_and_not_executed(file):
    trap = file.with_name("executed")
    np.save(file, np.full((1, 512), Trap(trap), object), allow_pickle=True)
    check_refused(file, "damaged")
    file.write_bytes(pickle.dumps(Trap(trap)))
    check_refused(file, "damaged")
    assert not trap.exists()


def test_missing_files_and_pipes_are_named(file):
    for path in (about(file), file):
        content = path.read_bytes()
        path.unlink()
        check_refused(file, f"no file.*{path.name}$")
        os.mkfifo(path)
        check_refused(file, f"{path.name}.*pipe")
        path.unlink()
        path.write_bytes(content)


@pytest.mark.parametrize("failing", ["nothing", "nine.npy", "nine.npy.json"])
def test_an_interrupted_save_leaves_no_json_beside_other_values(file, monkeypatch, failing):
    before, replace = file.read_bytes(), Path.replace

    def interrupted(aside, path):
        if path.name == failing:
            raise KeyboardInterrupt
        replace(aside, path)

    def half_written(file, array):
        file.write(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    if failing == "nothing":
        monkeypatch.setattr(np, "save", half_written)
    with pytest.raises(KeyboardInterrupt):
        solve_boards(NINE, "shut").save(file)
    assert (file.read_bytes() == before) == (failing != "nine.npy.json")
    assert sorted(file.parent.iterdir()) == ([file, about(file)] if failing == "nothing" else [file])
