"""Test that files are written whole or not at all, and that unsafe ones are refused."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stb_gym.files import from_json, read_json, read_text, write_aside, write_json, write_text
from tests import PATIENCE


@pytest.fixture(params=["old", "new"])
def path(request, tmp_path):
    """Return the path of an existing file, or of a new one."""
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


def test_a_reader_sees_the_old_file_until_the_new_one_is_whole(path):
    before = contents(path.parent).get("file.txt")
    with write_aside(path) as aside:
        assert aside.read_bytes() == b""
        aside.write_text("new")
        assert contents(path.parent).get("file.txt") == before
    assert contents(path.parent) == {"file.txt": "new"}


def test_text_has_the_same_bytes_and_rights_everywhere(tmp_path):
    write_text(tmp_path / "a" / "b" / "c.txt", "é\nπ\n")
    (tmp_path / "plain").touch()
    assert (tmp_path / "a" / "b" / "c.txt").read_bytes() == b"\xc3\xa9\n\xcf\x80\n"
    assert (tmp_path / "a" / "b" / "c.txt").stat().st_mode == (tmp_path / "plain").stat().st_mode


WRITER = """
import sys
from stb_gym.files import write_aside
with write_aside(sys.argv[1]) as aside:
    aside.write_text("half of the")
    print(flush=True)
    input()
"""


@pytest.mark.slow
def test_the_next_writer_removes_what_killed_ones_left_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    argv = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        writer.stdout.readline()
    writers[0].kill()
    writers[0].communicate()
    (tmp_path / ".stb-gym-unlocked").mkdir()  # perhaps of a writer that is about to lock it
    (tmp_path / ".stb-gym-locked-yesterday").touch()
    (tmp_path / ".stb-gym-old").mkdir()
    os.utime(tmp_path / ".stb-gym-old", (0, 0))
    with write_aside(tmp_path / "other.txt"):
        write_text(tmp_path / "third.txt", "new")
        assert len([*tmp_path.glob(".stb-gym-*")]) == 4
    writers[1].communicate(b"\n", timeout=PATIENCE)
    assert contents(tmp_path).keys() == {
        "file.txt", "other.txt", "third.txt", ".stb-gym-unlocked", ".stb-gym-locked-yesterday",
    }  # fmt: skip
    assert path.read_text() == "half of the"


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (b"\xef\xbb\xbfa\r\nb\n", "a\nb\n"),
        (b"a\n\xff", "line 2 is not UTF-8"),
        (b"\xef\xbb\xbfa\r\nb\r\n\xe9\n", "line 3 is not UTF-8"),
        ("a".encode("utf-16"), "line 1 is not UTF-8"),
    ],
)
def test_text_is_utf_8_with_or_without_a_byte_order_mark(content, read, path):
    path.write_bytes(content)
    if "UTF-8" in read:
        with pytest.raises(ValueError, match=f"^{read}$"):
            read_text(path)
    else:
        assert read_text(path) == read


@pytest.mark.parametrize("text", ["[" * 5000 + "]" * 5000, '{"a":' * 5000])
def test_text_that_is_nested_too_deep_is_refused(text):
    with pytest.raises(ValueError, match="nested"):
        from_json(text)


@pytest.mark.parametrize(
    ("text", "fault"), [('{"a": [{"b": 1, "b": 1}]}', "key 'b' twice"), ("9" * 5000, "5,000 digits")]
)
def test_json_that_could_be_misread_is_refused(text, fault):
    with pytest.raises(ValueError, match=fault):
        from_json(text)


def test_json_is_read_as_it_was_written_or_refused(path):
    write_json(path, {"number": 1.5})
    assert read_json(path) == {"number": 1.5}
    path.write_text(path.read_text().replace("1.5", "1.6"))
    with pytest.raises(ValueError, match="SHA-256"):
        read_json(path)
