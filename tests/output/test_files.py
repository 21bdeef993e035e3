"""Files appear whole or not at all, whatever interrupts their writing."""

import errno
import os
import resource
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stb_gym.output import remove_leftovers, write_aside, write_text

OLD = "as it was\n"


@pytest.fixture(params=["old", "new"])
def path(request, tmp_path):
    """A file that is there already, or one that is not."""
    path = tmp_path / "file.txt"
    if request.param == "old":
        path.write_text(OLD)
    return path


def contents(folder):
    return {path.name: path.read_text() if path.is_file() else "a folder" for path in folder.iterdir()}


def write_then(path, error):
    with write_aside(path) as aside:
        aside.write_text("half of the")
        raise error


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(143), MemoryError()])
def test_an_error_or_an_interrupt_inside_the_block_changes_nothing(path, error):
    before = contents(path.parent)
    with pytest.raises(type(error)):
        write_then(path, error)
    assert contents(path.parent) == before


@pytest.mark.parametrize("error", [OSError(errno.EXDEV, "no"), KeyboardInterrupt()])
def test_a_failing_rename_changes_nothing(path, error, monkeypatch):
    before, seen = contents(path.parent), []

    def fail(aside, target):
        seen.append((aside.read_text(), target))
        raise error

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(type(error)):
        write_text(path, "all of the new")
    assert seen == [("all of the new", path)]
    assert contents(path.parent) == before


def test_a_full_disk_changes_nothing(path):
    """The system refuses to write more than a kilobyte, as a full disk would, and so leaves a part of the text."""
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
        assert aside.parent.parent == path.parent
        assert contents(path.parent).get("file.txt") == before
    assert contents(path.parent) == {"file.txt": "new"}


def test_text_is_the_same_bytes_everywhere_and_folders_are_made(tmp_path):
    write_text(tmp_path / "a" / "b" / "c.txt", "é\nπ\n")
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"\xc3\xa9\n\xcf\x80\n"


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder is a folder, not a file"):
        write_text(tmp_path / "folder", "text")
    assert contents(tmp_path / "folder") == {}


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(tmp_path):
    with write_aside(tmp_path / "file-1.txt") as aside:
        aside.write_text("half")
        shutil.copytree(aside.parent, tmp_path / "as a killed writer leaves it")
    os.rename(tmp_path / "as a killed writer leaves it", aside.parent)
    for name in (".gitignore", ".12-file-1.txt", "stb-gym-1"):
        (tmp_path / name).write_text("")
    (tmp_path / ".7-folder").mkdir()
    assert aside.read_text() == "half"
    remove_leftovers(tmp_path)
    left = {".gitignore", ".12-file-1.txt", "stb-gym-1", ".7-folder", "file-1.txt"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_what_killed_writers_left_a_day_ago_is_removed_when_something_is_written_again(tmp_path):
    for name in (".stb-gym-old", ".stb-gym-at-work", ".2024-01-15-file.txt"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text("half")
        os.utime(tmp_path / name / "file.txt", (0, 0))
    (tmp_path / ".stb-gym-at-work" / "file.txt").touch()
    for folder in tmp_path.iterdir():
        os.utime(folder, (0, 0))
    write_text(tmp_path / "file.txt", "new")
    left = {"file.txt", ".stb-gym-at-work", ".2024-01-15-file.txt"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_many_may_write_a_file_at_once_and_its_name_may_be_as_long_as_any(tmp_path):
    path = tmp_path / ("x" * 251 + ".txt")
    texts = [f"{writer}" * 10_000 for writer in range(8)]

    def write(text):
        for _ in range(20):
            write_text(path, text)

    with ThreadPoolExecutor(8) as writers:
        list(writers.map(write, texts))
    assert path.read_text() in texts
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


def test_a_file_has_the_rights_that_files_have(tmp_path):
    (tmp_path / "plain").touch()
    write_text(tmp_path / "written", "text")
    assert (tmp_path / "written").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe is a pipe or a device, not a file"):
        write_text(tmp_path / "pipe", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert (tmp_path / "pipe").is_fifo()
