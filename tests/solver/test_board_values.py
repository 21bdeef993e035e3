"""Files of values by board: they hold the same values, tell their damage, and execute nothing."""

import dataclasses
import hashlib
import json
import os
import pickle
import re
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from stb_gym import Objective, ShutTheBox, load_board_values, solve_boards
from stb_gym.solver import open_board_values

NINE = ShutTheBox()
HEADER = 128  # bytes of a .npy file before its data


@pytest.fixture
def nine_file(tmp_path):
    solve_boards(NINE).save(tmp_path / "nine.npy")
    return tmp_path / "nine.npy"


def about(path):
    return path.with_name(f"{path.name}.json")


def change_entries(path, change):
    entries = json.loads(about(path).read_text())
    change(entries)
    about(path).write_text(json.dumps(entries))


def flip(path, place, mask=4):
    content = bytearray(path.read_bytes())
    content[place] ^= mask
    path.write_bytes(content)


# What is written is read


@pytest.mark.parametrize(
    ("game", "objective"),
    [(NINE, "at-most:3"), (ShutTheBox(tiles=6, open=(2, 5, 6)), "score"), (ShutTheBox(one_die="any-time"), "shut")],
)
def test_a_file_holds_the_same_values(tmp_path, game, objective):
    values, path = solve_boards(game, objective), tmp_path / "new" / "x.npy"
    values.save(path)
    for loaded in (load_board_values(path, game, objective), load_board_values(path, game, objective, check=True)):
        assert (loaded.game, loaded.objective) == (game, values.objective)
        assert loaded.utility.tolist() == values.utility.tolist()
        assert not loaded.utility.flags.writeable
        assert loaded.value == values.value
        assert [loaded.worth(2, dice) for dice in (0, 1, 2)] == [values.worth(2, dice) for dice in (0, 1, 2)]
    assert open_board_values(path).game == open_board_values(path, check=True).game == game
    loaded.save(tmp_path / "copy.npy")
    assert (tmp_path / "copy.npy").read_bytes() == path.read_bytes()
    assert about(tmp_path / "copy.npy").read_bytes() == about(path).read_bytes()
    assert sorted(each.name for each in path.parent.iterdir()) == ["x.npy", "x.npy.json"]


def test_the_values_are_an_npy_file_and_what_they_are_of_is_json(nine_file):
    content, entries = nine_file.read_bytes(), json.loads(about(nine_file).read_text())
    assert entries == {
        "game": "shut-the-box",
        "rules": json.loads(json.dumps(dataclasses.asdict(NINE))),
        "objective": "score",
        "shape": [1, 512],
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    stored = np.load(nine_file)
    assert (stored.dtype.str, stored.shape) == ("<f8", (1, 512))
    assert stored.tolist() == solve_boards(NINE).utility.tolist()
    assert len(content) == HEADER + 512 * 8
    assert np.frombuffer(content[HEADER:], "<f8").tolist() == stored[0].tolist()


def test_rules_of_numpy_integers_are_stored_as_any(tmp_path):
    solve_boards(ShutTheBox(tiles=np.int64(5))).save(tmp_path / "five.npy")
    assert load_board_values(tmp_path / "five.npy", ShutTheBox(tiles=5)).game == ShutTheBox(tiles=5)


def test_the_file_is_read_whole_only_to_check_it(nine_file, monkeypatch):
    read, digest = [], hashlib.file_digest
    monkeypatch.setattr(hashlib, "file_digest", lambda *asked: read.append(asked) or digest(*asked))
    assert load_board_values(nine_file, NINE).value == solve_boards(NINE).value
    assert not read
    load_board_values(nine_file, NINE, check=True)
    assert len(read) == 1


# Damage


@pytest.mark.parametrize("place", [*range(HEADER, HEADER + 9), HEADER + 1000, -8, -1])
@pytest.mark.parametrize("mask", [1, 128])
def test_the_check_finds_a_single_bit_of_the_values(nine_file, place, mask):
    flip(nine_file, place, mask)
    load_board_values(nine_file, NINE)  # without it nobody looks
    for load in (partial(load_board_values, nine_file, NINE), partial(open_board_values, nine_file)):
        with pytest.raises(ValueError, match=r"^.*nine.npy is damaged: it is not what was written$"):
            load(check=True)


@pytest.mark.slow
def test_the_check_finds_a_single_bit_of_the_header(nine_file):
    for place in range(HEADER):
        flip(nine_file, place)
        with pytest.raises(ValueError, match=r"^.*nine.npy is .*damaged.*") as refused:
            load_board_values(nine_file, NINE, check=True)
        assert "\n" not in str(refused.value), place
        flip(nine_file, place)


@pytest.mark.parametrize("place", [0, 3, 5, 6, 8, 9, 10, 11, 13, 22, 23, 60, 65, 70, 126])
def test_a_header_that_says_something_else_is_refused_unchecked(nine_file, place):
    flip(nine_file, place)
    with pytest.raises(ValueError, match=r"^.*nine.npy is .*damaged.*$"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize("size", [0, 1, 6, 40, HEADER, HEADER + 1, HEADER + 512 * 8 - 1])
def test_a_file_cut_short_is_refused(nine_file, size):
    nine_file.write_bytes(nine_file.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"^.*nine.npy is no .npy file, or is damaged: .*$") as refused:
        load_board_values(nine_file, NINE)
    assert "\n" not in str(refused.value)


def test_more_data_than_were_written_are_refused(nine_file):
    nine_file.write_bytes(nine_file.read_bytes() + b"x")
    with pytest.raises(ValueError, match=r"^.*nine.npy is damaged: it is longer than its values$"):
        load_board_values(nine_file, NINE)


@pytest.mark.slow
@pytest.mark.parametrize(("first", "mask"), [(0, 1), (1, 4), (2, 128)])
def test_a_single_bit_of_the_json_is_found_or_changes_nothing(nine_file, first, mask):
    """What is no JSON, or of another game, is refused; a space may become another letter that JSON skips."""
    game, same = ShutTheBox(tiles=4), 0
    whole = solve_boards(game)
    whole.save(nine_file)
    kept = about(nine_file).read_bytes()
    for place in range(first, len(kept), 3):
        flip(about(nine_file), place, mask)
        with suppress(ValueError):
            loaded = load_board_values(nine_file, game, check=True)
            assert (loaded.game, loaded.objective) == (whole.game, whole.objective)
            assert loaded.utility.tolist() == whole.utility.tolist()
            same += 1
        about(nine_file).write_bytes(kept)
    assert same < 0.1 * len(kept)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '"text"', "{}", "\x00" * 40])
def test_json_that_says_nothing_is_refused(nine_file, text):
    about(nine_file).write_text(text)
    with pytest.raises(ValueError, match=r"^.*nine.npy.json is damaged: .*$") as refused:
        load_board_values(nine_file, NINE)
    assert "\n" not in str(refused.value)


def test_json_cut_short_is_refused(nine_file):
    kept = about(nine_file).read_bytes()
    for size in range(0, len(kept) - 2, 7):  # what is left lacks the brace at the end
        about(nine_file).write_bytes(kept[:size])
        with pytest.raises(ValueError, match=r"^.*nine.npy.json is damaged: .*$"):
            load_board_values(nine_file, NINE)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"game":' * 5_000, "9" * 10_000])
def test_json_that_no_parser_reads_is_refused(nine_file, text):
    about(nine_file).write_text(text)
    with pytest.raises(ValueError, match=r"^.*nine.npy.json is damaged: .*$"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("rules", [], "dict[str, typing.Any]"),
        ("rules", None, "dict[str, typing.Any]"),
        ("game", ["shut-the-box"], "str"),
        ("objective", ["score"], "str"),
        ("shape", 512, "list[int]"),
        ("shape", [1.0, 512.0], "list[int]"),
        ("shape", [True, 512], "list[int]"),
        ("sha256", None, "str"),
    ],
)
def test_an_entry_of_another_kind_is_refused(nine_file, name, value, kind):
    change_entries(nine_file, lambda entries: entries.update({name: value}))
    with pytest.raises(ValueError, match=re.escape(f"nine.npy.json is damaged: {name} is {value!r}, not {kind}")):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize("name", ["nine.npy", "nine.npy.json"])
def test_a_named_pipe_is_not_waited_for(nine_file, name):
    (nine_file.parent / name).unlink()
    os.mkfifo(nine_file.parent / name)
    with pytest.raises(ValueError, match=f"{name} is a pipe or a device, not a file"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64])
def test_boards_are_integers_of_any_kind(kind):
    values = solve_boards(NINE)
    assert values.value_of(kind(5)) == values.value_of(5)
    assert values.worth(kind(5), kind(2)) == values.worth(5, 2)
    assert (values.worths(np.arange(100, dtype=kind), kind(2)) == values.worths(np.arange(100), 2)).all()
    with pytest.raises(ValueError, match="a board of this game has open tiles out of"):
        values.value_of(np.uint64(2**63 + 1))
    with pytest.raises(ValueError, match="a board of this game has open tiles out of"):
        values.value_of(2**70)


@pytest.mark.parametrize("name", ["game", "rules", "objective", "shape", "sha256"])
def test_an_entry_that_is_missing_is_told(nine_file, name):
    change_entries(nine_file, lambda entries: entries.pop(name))
    with pytest.raises(ValueError, match=f"nine.npy.json is damaged: the entry {name!r} is missing"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"shape": [2, 256]}, r"is damaged: it is float64 of shape \(1, 512\), not floats of \(2, 256\)$"),
        ({"shape": [512]}, "is damaged: it is float64 of shape"),
        ({"rules": {"tiles": 8}}, "is damaged: it is float64 of shape"),  # of 256 boards
        ({"sha256": "0" * 64}, None),
    ],
)
def test_entries_that_do_not_fit_the_values_are_refused(nine_file, entry, message):
    change_entries(nine_file, lambda entries: entries.update(entry))
    if message:
        with pytest.raises(ValueError, match=message):
            open_board_values(nine_file)
    with pytest.raises(ValueError, match=message or "is damaged: it is not what was written"):
        open_board_values(nine_file, check=True)


@pytest.mark.parametrize(
    "stored",
    [
        np.zeros((1, 512), "<f4"),
        np.zeros((1, 512), ">f8"),
        np.zeros((1, 512), "<i8"),
        np.zeros(512),
        np.zeros((512, 1)),
        np.zeros((1, 511)),
    ],
    ids=lambda array: f"{array.dtype.str} {array.shape}",
)
def test_an_array_of_another_kind_is_refused(nine_file, stored):
    np.save(nine_file, stored)
    with pytest.raises(ValueError, match=r"^.*nine.npy is damaged: it is .* of shape .*, not floats of \(1, 512\)$"):
        load_board_values(nine_file, NINE)


# Nothing is executed


class Trap:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def as_array(path, trap):
    np.save(path, np.full((1, 512), trap, object), allow_pickle=True)


def as_pickle(path, trap):
    path.write_bytes(pickle.dumps(trap))


def as_archive(path, trap):
    with path.open("wb") as file:
        np.savez(file, values=np.array([trap], object))


@pytest.mark.parametrize("write", [as_array, as_pickle, as_archive])
@pytest.mark.parametrize("check", [False, True])
def test_a_file_with_pickled_objects_is_refused_and_not_executed(nine_file, write, check):
    trap = nine_file.with_name("executed")
    write(nine_file, Trap(trap))
    change_entries(nine_file, lambda e: e.update(sha256=hashlib.sha256(nine_file.read_bytes()).hexdigest()))
    with pytest.raises(ValueError, match=r"^.*nine.npy is no .npy file, or is damaged: .*$"):
        load_board_values(nine_file, NINE, check=check)
    assert not trap.exists()


# Other files


def test_files_that_are_not_there_are_named(nine_file, tmp_path):
    with pytest.raises(ValueError, match=r"^there is no file of board values .*none.npy$"):
        load_board_values(tmp_path / "none.npy", NINE)
    kept = about(nine_file).read_bytes()
    about(nine_file).unlink()
    with pytest.raises(ValueError, match=r"^there is no file of board values .*nine.npy.json$"):
        load_board_values(nine_file, NINE)
    about(nine_file).write_bytes(kept)
    nine_file.unlink()
    with pytest.raises(ValueError, match=r"^there is no file of board values .*nine.npy$"):
        load_board_values(nine_file, NINE)


@pytest.mark.parametrize(
    ("rules", "objective", "words"),
    [
        ({"tiles": 10}, "score", "tiles 9, not 10"),
        ({"match": "two-at-most", "faces": 8}, "score", "faces 6, not 8; of match 'sum', not 'two-at-most'"),
        ({}, "shut", "objective 'score', not 'shut'"),
    ],
)
def test_values_of_another_game_are_refused_by_what_differs(nine_file, rules, objective, words):
    with pytest.raises(ValueError, match=f"^.*nine.npy holds other values: of {words}$"):
        load_board_values(nine_file, ShutTheBox(**rules), objective)


class OtherBox(ShutTheBox):
    """The same rules under another name."""

    name = "other-box"


def test_values_of_a_game_of_another_name_are_refused(nine_file):
    with pytest.raises(ValueError, match=r"^.*nine.npy holds values of shut-the-box, not of other-box$"):
        load_board_values(nine_file, OtherBox())


def test_a_file_without_rules_that_came_later_still_fits(nine_file):
    change_entries(nine_file, lambda entries: entries.update(rules={"tiles": 9, "dice": 2}))
    assert load_board_values(nine_file, NINE, check=True).game == NINE
    with pytest.raises(ValueError, match="of faces 6, not 8"):
        load_board_values(nine_file, ShutTheBox(faces=8))


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"rules": {"tiles": 9, "magic": True}}, "unknown rule 'magic': allowed are tiles, dice"),
        ({"rules": {"tiles": 99}}, "tiles must be an integer from 1 to 28, not 99"),
        ({"rules": {}, "game": "threes"}, "threes has no boards"),
        ({"game": "go"}, "unknown game 'go': allowed are shut-the-box, threes"),
        ({"objective": "win"}, "unknown objective 'win'"),
    ],
)
def test_a_file_of_rules_that_are_unknown_is_refused(nine_file, entry, message):
    change_entries(nine_file, lambda entries: entries.update(entry))
    with pytest.raises(ValueError, match=f"^.*nine.npy is of rules that are unknown here: {message}"):
        load_board_values(nine_file, NINE)


# Writing fails


@pytest.mark.parametrize("failing", ["nine.npy", "nine.npy.json"])
def test_a_write_that_fails_never_leaves_values_beside_what_they_are_not_of(nine_file, monkeypatch, failing):
    before, rename = nine_file.read_bytes(), Path.replace

    def fails(aside, path):
        if path.name == failing:
            raise KeyboardInterrupt
        rename(aside, path)

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(KeyboardInterrupt):
        solve_boards(NINE, "shut").save(nine_file)
    monkeypatch.undo()
    assert (nine_file.read_bytes() == before) == (failing == "nine.npy")
    assert {each.name for each in nine_file.parent.iterdir()} <= {"nine.npy", "nine.npy.json"}
    with pytest.raises(ValueError, match=r"^there is no file of board values .*nine.npy.json$"):
        load_board_values(nine_file, NINE)


def test_values_that_cannot_be_written_leave_the_old_ones(nine_file, monkeypatch):
    before = nine_file.read_bytes(), about(nine_file).read_bytes()

    def disk_full(file, array):
        file.write(b"half of it")
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "save", disk_full)
    with pytest.raises(OSError, match="no space left"):
        solve_boards(NINE, "shut").save(nine_file)
    monkeypatch.undo()
    assert (nine_file.read_bytes(), about(nine_file).read_bytes()) == before
    assert len(list(nine_file.parent.iterdir())) == 2
    assert load_board_values(nine_file, NINE, check=True).value == solve_boards(NINE).value


def test_an_objective_of_ones_own_is_not_found_in_a_file(tmp_path):
    game = ShutTheBox(tiles=4)
    solve_boards(game).save(tmp_path / "box.npy")
    with pytest.raises(ValueError, match="values are saved for score, shut and at-most:T, not for score"):
        load_board_values(tmp_path / "box.npy", game, Objective("score", lambda points: -(points**2)))
