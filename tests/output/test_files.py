"""Files appear whole or not at all, whatever interrupts their writing."""

import errno
import os
import resource

import pytest

from stb_gym.output import files, remove_leftovers, write_aside, write_text

OLD = "as it was\n"


@pytest.fixture(params=["old", "new"])
def path(request, tmp_path):
    """A file that is there already, or one that is not."""
    path = tmp_path / "file.txt"
    if request.param == "old":
        path.write_text(OLD)
    return path


def contents(folder):
    return {path.name: path.read_text() for path in folder.iterdir()}


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

    monkeypatch.setattr(files, "put_in_place", fail)
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
        assert aside.parent == path.parent
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


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "getpid", lambda: 4321)
    with write_aside(tmp_path / "file-1.txt") as aside:
        aside.write_text("half")
        os.link(aside, tmp_path / "kept aside")
    os.rename(tmp_path / "kept aside", aside)  # as a killed writer leaves it
    for name in (".gitignore", ".x-1", "12-34", ".12", "-5"):
        (tmp_path / name).write_text("")
    (tmp_path / ".7-folder").mkdir()
    assert aside.exists()
    remove_leftovers(tmp_path)
    left = {".gitignore", ".x-1", "12-34", ".12", "-5", ".7-folder", "file-1.txt"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_what_killed_writers_left_a_day_ago_is_removed_when_the_file_is_written_again(tmp_path):
    (tmp_path / ".5-file[1].txt").mkdir()
    for name in (".5-file[1].txt/a", ".12-file[1].txt", ".13-file[1].txt", ".12-file1.txt", ".x-file[1].txt"):
        (tmp_path / name).write_text("half")
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / ".14-file[1].txt").mkdir()
    (tmp_path / ".14-file[1].txt" / "new").write_text("half")
    for name in (".5-file[1].txt", ".14-file[1].txt"):
        os.utime(tmp_path / name, (0, 0))
    os.utime(tmp_path / ".13-file[1].txt")
    write_text(tmp_path / "file[1].txt", "new")
    left = {"file[1].txt", ".13-file[1].txt", ".14-file[1].txt", ".12-file1.txt", ".x-file[1].txt"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_a_link_in_the_place_of_the_unfinished_file_is_not_followed(tmp_path):
    target, path = tmp_path / "somebody's", tmp_path / "file.txt"
    target.write_text("kept")
    (tmp_path / f".{os.getpid()}-file.txt").symlink_to(target)
    write_text(path, "new")
    assert contents(tmp_path) == {"somebody's": "kept", "file.txt": "new"}
    (tmp_path / f".{os.getpid()}-file.txt").symlink_to(tmp_path / "nowhere")
    write_text(path, "newer")
    assert contents(tmp_path) == {"somebody's": "kept", "file.txt": "newer"}
    assert not path.is_symlink()


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe is a pipe or a device, not a file"):
        write_text(tmp_path / "pipe", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
    assert (tmp_path / "pipe").is_fifo()
