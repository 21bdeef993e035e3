"""Test what is printed: control characters, tables, errors, closed pipes, and progress bars."""

import sys
from io import StringIO
from types import SimpleNamespace
from unittest.mock import MagicMock, call

import pytest

from stb_gym.console import RED, Column, Table, refuse, say
from stb_gym.messages import escaped
from stb_gym.tracking import ProgressBar, showing_progress, tracked


def test_tables_are_aligned_and_escaped(snapshot):
    table = Table(
        {
            "The word": Column("", ["a", "\x1b[2J\n", None]),
            "p (q)": Column(".2%", [0.5, 1 / 3, 0.0]),
            "count": Column(",d", [1, 1234567, None]),
            "time": Column(lambda seconds: f"{1000 * seconds:.3g} ms", [0.001, 0.25, 1.0]),
        }
    )
    facts = Table({"": Column("", ["value", "exactly"]), " ": Column("", ["0.5", "1/2"])})
    assert f"{table}\n\n{facts}" == snapshot


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("a name, nine tiles |\\ é π", "a name, nine tiles |\\ é π"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x9b31m \x7f \x00\r\n", "\\x9b31m \\x7f \\x00\\r\\n"),
        ("gnp.\u202etxt\u200b", "gnp.\\u202etxt\\u200b"),
        ("\udcff\U000e0041", "\\udcff\\U000e0041"),
    ],
)
def test_control_characters_are_escaped(text, visible, capsys):
    assert escaped(text) == visible
    say(f"{text}\nx".replace("\n", "") + "\nnext")
    assert capsys.readouterr().out.endswith("\nnext\n")
    assert refuse("command", ValueError(text)) == 2
    assert capsys.readouterr() == ("", f"command: {visible}\n")


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_is_ignored(closed, monkeypatch, capsys):
    monkeypatch.setattr(sys, closed, None)
    say("lost", error=closed == "stderr")
    say("printed", error=closed != "stderr")
    with ProgressBar("work", total=2, delay=0 if closed == "stderr" else 60) as bar:
        bar.tell(1)
    written = capsys.readouterr()
    assert written.out + written.err == "printed\n"


def test_a_full_standard_error_stops_no_work(monkeypatch):
    class Full(StringIO):
        def write(self, text):
            raise OSError("no space left on device")

    monkeypatch.setattr("sys.stderr", Full())
    say("lost", error=True)
    with ProgressBar("work", total=2, delay=1e-9) as bar:
        bar.tell(1, note="lost")
        bar.write("lost")
    monkeypatch.setattr("sys.stdout", Full())
    with pytest.raises(OSError, match="no space left"):
        say("an answer that is lost")


@pytest.mark.parametrize(("delay", "is_shown"), [(60, False), (0, True)])
def test_a_progress_bar_appears_after_its_delay_and_escapes_text(delay, is_shown, capsys):
    with ProgressBar("rows of \x1bboards", total=4, unit="rows", delay=delay) as bar:
        bar.tell(1, note="\x1bnote")
        bar.tell(2)
    shown = capsys.readouterr().err
    for part in ("2/4", "\\x1bboards", "\\x1bnote"):
        assert (part in shown) == is_shown
    assert "\x1bnote" not in shown


def test_a_line_stands_above_a_progress_bar(capsys):
    with ProgressBar("work", total=2, delay=0) as bar:
        bar.tell(1)
        bar.write("\x1bfailed")
        assert capsys.readouterr().err.endswith("\r\\x1bfailed\n")


# At a terminal


@pytest.fixture
def terminal(monkeypatch):
    """Make standard output a terminal of forty columns, and return a function that sets variables of its colours."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("stb_gym.console.at_terminal", lambda: True)
    return monkeypatch.setenv


LONG = "a sentence of more than forty characters breaks between its words"


def test_lines_are_as_long_as_those_of_the_terminal(capsys, terminal):
    say(LONG + "\n\nshort", wrapped=True)
    assert capsys.readouterr().out == "a sentence of more than forty characters\nbreaks between its words\n\nshort\n"


def test_lines_have_80_characters_without_a_terminal(capfd, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    say("word " * 20, wrapped=True)
    assert [*map(len, capfd.readouterr().out.splitlines())] == [79, 19]


@pytest.mark.parametrize(
    ("at_terminal", "variables", "coloured"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
    ],
)
def test_colours_are_for_terminals(at_terminal, variables, coloured, capsys, terminal, monkeypatch):
    monkeypatch.setattr("stb_gym.console.at_terminal", lambda: at_terminal)
    for name, value in variables.items():
        terminal(name, value)
    say("\x1b[32mone\ntwo", colour=RED)
    lines = ["\\x1b[32mone", "two"]
    assert capsys.readouterr().out.splitlines() == [f"\x1b[31m{line}\x1b[0m" if coloured else line for line in lines]


@pytest.mark.usefixtures("terminal")
def test_cells_of_a_table_break_between_words_where_its_lines_are_too_long():
    table = Table(
        {"name": Column("", ["a", "random"]), " ": Column("", [LONG, None]), "mean score": Column("d", [1, 2])}
    )
    assert str(table).splitlines() == [
        "name                              mean",
        "                                 score",
        "a       a sentence of more than      1",
        "        forty characters breaks",
        "        between its words",
        "random                               2",
    ]


@pytest.mark.usefixtures("terminal")
def test_words_of_a_table_stay_whole_where_they_need_longer_lines():
    table = Table({"a name": Column("", ["a" * 30]), "b": Column("", ["b" * 30])})
    assert str(table).splitlines() == ["a name" + " " * 26 + "b", f"{'a' * 30}  {'b' * 30}"]


def test_loops_show_progress_two_seconds_after_the_start_of_a_block_that_asks_for_it(monkeypatch):
    bars = MagicMock()
    monkeypatch.setattr("stb_gym.tracking.ProgressBar", bars)
    clock = iter([100.0, 100.0, 101.0, 150.0])
    monkeypatch.setattr("stb_gym.tracking.time", SimpleNamespace(monotonic=lambda: next(clock)))

    def read(is_long=False):
        assert [*tracked("ab", "letters read", "letters", 2, is_long=is_long)] == ["a", "b"]

    read()
    with showing_progress():
        for _ in range(3):
            read()
        read(is_long=True)
    read(is_long=True)
    assert bars.call_args_list == [call("letters read", 2, "letters", delay) for delay in (2.0, 1.0, 0.5, 0)]
    tell = bars.return_value.__enter__.return_value.tell
    assert tell.call_args_list == [call(1), call(2)] * 4
