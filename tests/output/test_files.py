"""Files appear whole or not at all, and their entries are checked."""

import errno
import os
import resource
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from stb_gym.output import (
    check_entries,
    from_json,
    from_toml,
    is_of,
    made_of,
    read_text,
    remove_leftovers,
    write_aside,
    write_text,
)


@pytest.fixture(params=["old", "new"])
def path(request, tmp_path):
    """Return the path of a file that exists, or of one that does not."""
    path = tmp_path / "file.txt"
    if request.param == "old":
        path.write_text("as it was\n")
    return path


def contents(folder):
    return {path.name: path.read_text() if path.is_file() else "a folder" for path in folder.iterdir()}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, MemoryError])
def test_an_error_or_an_interrupt_changes_nothing(path, error):
    def interrupted():
        with write_aside(path) as aside:
            aside.write_text("half of the")
            raise error

    before = contents(path.parent)
    with pytest.raises(error):
        interrupted()
    assert contents(path.parent) == before


def test_a_failing_rename_changes_nothing(path, monkeypatch):
    before = contents(path.parent)

    def fail(aside, target):
        raise OSError(errno.EXDEV, "no")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="no"):
        write_text(path, "all of the new")
    assert contents(path.parent) == before


def test_a_full_disk_changes_nothing(path):
    """The system refuses to write more than a kilobyte, so a part of the text is written."""
    before, limits = contents(path.parent), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_text(path, "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(path.parent) == before


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(path):
    before = contents(path.parent).get("file.txt")
    with write_aside(path) as aside:
        aside.write_text("new")
        assert contents(path.parent).get("file.txt") == before
    assert contents(path.parent) == {"file.txt": "new"}


def test_text_has_the_same_bytes_and_rights_everywhere(tmp_path):
    write_text(tmp_path / "a" / "b" / "c.txt", "é\nπ\n")
    (tmp_path / "plain").touch()
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"\xc3\xa9\n\xcf\x80\n"
    assert (tmp_path / "a" / "b" / "c.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(tmp_path):
    with write_aside(tmp_path / "file-1.txt") as aside:
        shutil.copytree(aside.parent, tmp_path / "copy")
    os.rename(tmp_path / "copy", aside.parent)
    (tmp_path / ".7-folder").mkdir()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {".7-folder", "file-1.txt"}


def test_leftovers_are_removed_after_a_day(tmp_path):
    for name in (".stb-gym-old", ".stb-gym-at-work", ".other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text("half")
        os.utime(tmp_path / name / "file.txt", (0, 0))
    (tmp_path / ".stb-gym-at-work" / "file.txt").touch()
    for folder in tmp_path.iterdir():
        os.utime(folder, (0, 0))
    write_text(tmp_path / "file.txt", "new")
    assert {path.name for path in tmp_path.iterdir()} == {"file.txt", ".stb-gym-at-work", ".other"}


def test_many_may_write_a_file_at_once(tmp_path):
    path, texts = tmp_path / ("x" * 251 + ".txt"), [f"{writer}" * 10_000 for writer in range(8)]
    with ThreadPoolExecutor(8) as writers:
        list(writers.map(lambda text: [write_text(path, text) for _ in range(20)], texts))
    assert path.read_text() in texts
    assert list(tmp_path.iterdir()) == [path]


def test_only_files_are_read_and_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with pytest.raises(OSError, match="not a file"):
            read_text(path)
    with pytest.raises(OSError, match="not a file"):
        write_text(tmp_path / "pipe", "text")
    (tmp_path / "text").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="decode"):
        read_text(tmp_path / "text")


@dataclass
class Trip:
    days: int
    miles: float
    places: list[str]
    notes: dict[str, float] = field(default_factory=dict)
    guide: str | None = None


WHOLE = {"days": 2, "miles": 10, "places": ["Bath", "Wells"]}


def test_entries_make_a_dataclass():
    assert made_of(Trip, WHOLE) == Trip(2, 10, ["Bath", "Wells"])
    assert made_of(Trip, {**WHOLE, "notes": {"hills": 1.5}, "guide": "Ann"}).notes == {"hills": 1.5}
    check_entries({"a": 1, "b": object()}, {"a": int, "b": Any})
    assert is_of(list[Any], [1, "x"])
    assert not is_of(list[Any], (1, "x"))


def test_the_first_wrong_entry_is_named(snapshot):
    errors = []
    for entries in (
        None, [("days", 2)], {"days": 2, "places": []}, {**WHOLE, "\x1b[31m": 1}, {**WHOLE, "days": 2.0},
        {**WHOLE, "days": True}, {**WHOLE, "days": "2" * 10**6}, {**WHOLE, "miles": False}, {**WHOLE, "places": "Bath"},
        {**WHOLE, "places": ["Bath", 5]}, {**WHOLE, "notes": {"hills": "high"}}, {**WHOLE, "guide": 5},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"^[ -~]+$") as refused:
            made_of(Trip, entries)
        errors.append(str(refused.value))
    assert errors == snapshot


@pytest.mark.parametrize("parse", [from_json, from_toml])
@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "[" * 5000 + "]" * 5000, '{"a":' * 5000])
def test_text_that_is_nested_too_deep_is_refused(parse, text):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        parse(text)
