"""What is printed cannot steer a terminal, and a reader who leaves is no error."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from stb_gym.output import escaped, refuse, say

FOLDER = Path(__file__).parents[2] / "stb_gym" / "output"


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("a name, nine tiles |\\ é π", "a name, nine tiles |\\ é π"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("two\r\nlines\t", "two\\r\\nlines\\t"),
        ("\x9b31m \x7f \x00", "\\x9b31m \\x7f \\x00"),
        ("gnp.\u202etxt\u200b", "gnp.\\u202etxt\\u200b"),
        ("\udcff\U000e0041", "\\udcff\\U000e0041"),
    ],
)
def test_what_is_not_printable_is_made_visible(text, visible):
    assert escaped(text) == visible
    assert escaped(text).isprintable()
    escaped(text).encode()


def test_lines_are_said_and_what_would_steer_a_terminal_is_made_visible(capsys):
    say("two\nlines of \x1b[31mred\r")
    say()
    say(5)
    say("\x9b2J", error=True)
    assert capsys.readouterr() == ("two\nlines of \\x1b[31mred\\r\n\n5\n", "\\x9b2J\n")


def test_a_command_refuses_in_one_line(capsys):
    assert refuse("training.train", ValueError("there is no folder a\nb\x1b[2J")) == 2
    assert capsys.readouterr() == ("", "training.train: there is no folder a\\nb\\x1b[2J\n")


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("length", [1, 200_000])
def test_a_reader_may_leave(guarded, length):
    """Without the guard the same program fails, so the pipe is truly broken; a short text waits in a buffer."""
    guard = "reader_may_leave()" if guarded else "contextlib.nullcontext()"
    code = f"import contextlib, sys\nfrom console import reader_may_leave\nwith {guard}:\n    print('x' * {length})\n"
    read, write = os.pipe()
    os.close(read)
    buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=FOLDER, env=buffered, stdout=write, stderr=subprocess.PIPE, check=False
    )
    os.close(write)
    assert (done.returncode == 0) == guarded
    assert (done.stderr == b"") == guarded


def test_the_package_needs_nothing_but_python():
    """But for pictures of matplotlib, which whoever has one has too."""
    drawing = {FOLDER / "svg.py": "matplotlib"}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                own = name.startswith("stb_gym.output.") or name == drawing.get(path)
                assert own or name.split(".")[0] in sys.stdlib_module_names, path


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_what_is_closed_is_not_written_to_nor_something_else_in_its_place(closed, monkeypatch, capsys):
    monkeypatch.setattr(sys, closed, None)
    say("lost", error=closed == "stderr")
    say("told", error=closed != "stderr")
    written = capsys.readouterr()
    assert written.out + written.err == "told\n"


def test_standard_error_that_takes_nothing_stops_nobody(monkeypatch):
    class Full:
        def write(self, text):
            raise OSError("no space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    say("told to nobody", error=True)
    monkeypatch.setattr("sys.stdout", Full())
    with pytest.raises(OSError, match="no space left"):
        say("an answer that is lost")
