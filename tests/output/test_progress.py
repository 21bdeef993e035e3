"""Progress is told seldom, never breaks a line, and never stands in the way of the work."""

import errno
import fcntl
import io
import math
import os
import struct
import sys
import termios
import threading

import pytest

from stb_gym.output import Progress, expect, tick
from stb_gym.output import progress as module

LATE = 1e6  # seconds until a timer speaks that is not wanted


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class Terminal(io.StringIO):
    """A terminal of 60 columns."""

    def isatty(self):
        return True

    def fileno(self):
        raise io.UnsupportedOperation

    def screen(self):
        """The lines on it; what follows a carriage return covers as much of its line as it is long."""
        lines = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            lines.append(shown.rstrip())
        return lines


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(module, "_columns", lambda stream: 60 if stream.isatty() else None)
    return Terminal()


@pytest.fixture
def no_timer(monkeypatch):
    """Timers that never come due, as the clock of these tests is not that of the timers."""
    timer = threading.Timer
    monkeypatch.setattr(module.threading, "Timer", lambda seconds, function: timer(LATE, function))


@pytest.mark.usefixtures("no_timer")
class TestByAClock:
    def test_quick_work_is_silent(self, clock, terminal):
        with Progress("rows", total=10, stream=terminal, clock=clock) as progress:
            for row in range(10):
                clock.now += 0.19
                progress.tell(row + 1)
        assert terminal.getvalue() == ""

    def test_a_terminal_has_one_line_rewritten_once_a_second(self, clock, terminal):
        with Progress("rows solved", total=200, unit="rows", stream=terminal, clock=clock) as progress:
            for row in range(40):
                clock.now += 0.125
                progress.tell(row + 1)
            assert terminal.getvalue().count("\r") == 4  # after 2, 3, 4 and 5 seconds
            assert "\n" not in terminal.getvalue()
            assert terminal.screen() == ["rows solved: 40 of 200 rows (20%), 8/s, 0:00:20 left"]
        assert terminal.screen() == ["rows solved: 40 of 200 rows (20%), 8/s, 0:00:20 left", ""]

    def test_a_file_has_a_line_every_ten_seconds_and_the_last(self, clock):
        stream = io.StringIO()
        with Progress("games", stream=stream, clock=clock) as progress:
            for game in range(200):
                clock.now += 0.125
                progress.tell(game + 1)
        lines = stream.getvalue().splitlines()
        assert lines == ["games: 16, 8/s", "games: 96, 8/s", "games: 176, 8/s", "games: 200, 8/s"]

    def test_a_file_has_a_line_for_every_milestone_however_soon(self, clock):
        stream = io.StringIO()
        with Progress("ppo", 100, stream=stream, clock=clock, pause=math.inf) as progress:
            for steps in range(0, 101, 10):
                progress.tell(steps, note=f"after {steps}", milestone=steps % 50 == 0)
                clock.now += 60
        lines = stream.getvalue().splitlines()
        assert [line.split(", ")[-1] for line in lines] == ["after 0", "after 50", "after 100"]

    def test_a_milestone_is_no_reason_to_hurry_on_a_terminal(self, clock, terminal):
        with Progress("ppo", 100, stream=terminal, clock=clock, pause=math.inf) as progress:
            for steps in range(20):
                clock.now += 0.25
                progress.tell(steps, milestone=True)
        assert terminal.getvalue().count("\r") == 4  # after 2, 3, 4 and 5 seconds

    def test_what_was_said_is_not_said_again_at_the_end(self, clock):
        stream = io.StringIO()
        with Progress("games", stream=stream, clock=clock) as progress:
            clock.now += 4
            progress.tell(8)
            clock.now += 1
        assert stream.getvalue() == "games: 8, 2/s\n"

    def test_a_shorter_line_covers_a_longer_one(self, clock, terminal):
        with Progress("w", stream=terminal, clock=clock) as progress:
            clock.now += 2
            progress.tell(note="a long note")
            clock.now += 1
            progress.tell(note="short")
            assert terminal.screen() == ["w: short"]

    @pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
    def test_whatever_ends_the_block_ends_the_line(self, clock, terminal, error):
        def work():
            with Progress("w", total=10, stream=terminal, clock=clock) as progress:
                clock.now += 3
                progress.tell(3)
                progress.tell(6)
                raise error

        with pytest.raises(error):
            work()
        assert terminal.screen() == ["w: 6 of 10 (60%), 2/s, 0:00:02 left", ""]

    def test_the_line_fits_the_terminal(self, clock, terminal):
        with Progress("w" * 40, total=10, stream=terminal, clock=clock) as progress:
            clock.now += 3
            progress.tell(3, note="n" * 100)
            clock.now += 3
            progress.tell(4, note="")
        assert max(map(len, terminal.screen())) == 59
        assert max(len(part) for part in terminal.getvalue().replace("\n", "").split("\r")) == 59

    def test_what_is_not_told_stays(self, clock):
        stream = io.StringIO()
        with Progress("ppo", stream=stream, clock=clock, initial=1_000_000) as progress:
            progress.tell(2_000_000, 5_000_000, note="regret 0.0123")
            clock.now += 4
            progress.tell(3_000_000)
            progress.tell(note="regret 0.0100")
            clock.now += 4
        assert stream.getvalue().splitlines() == [
            "ppo: 3.0M of 5.0M (60%), 500,000/s, 0:00:04 left, regret 0.0123",
            "ppo: 3.0M of 5.0M (60%), 250,000/s, 0:00:08 left, regret 0.0100",
        ]

    def test_it_can_be_passed_to_a_function_that_calls_back_with_two_numbers(self, clock):
        stream = io.StringIO()
        with Progress("boards", stream=stream, clock=clock) as progress:
            clock.now += 2
            progress.tell(2, 4)
        assert stream.getvalue() == "boards: 2 of 4 (50%), 1/s, 0:00:02 left\n"

    @pytest.mark.parametrize(
        ("done", "total", "said"),
        [
            (0, 10, "0 of 10 (0%)"),
            (0, 0, "0"),
            (12, 10, "12 of 10 (100%), 4/s"),
            (999, 1000, "999 of 1,000 (99%), 333/s, 0:00:01 left"),
            (1e-9, 1e12, "1e-09 of 1000.0G (0%), 3.33e-10/s"),
            (1, None, "1, 0.333/s"),
            (299_999, None, "299,999, 100,000/s"),
            (300_000_000, None, "300.0M, 100.0M/s"),
        ],
    )
    def test_odd_numbers(self, clock, done, total, said):
        stream = io.StringIO()
        with Progress("w", total, stream=stream, clock=clock) as progress:
            clock.now += 3
            progress.tell(done)
        assert stream.getvalue() == f"w: {said}\n"

    def test_a_clock_that_stands_still(self, clock):
        stream = io.StringIO()
        with Progress("w", 2, stream=stream, clock=clock, patience=0) as progress:
            progress.tell(1)
        assert stream.getvalue() == "w: 1 of 2 (50%)\n"

    def test_names_cannot_steer_the_terminal(self, clock, terminal):
        with Progress("\x1b[2J", stream=terminal, clock=clock) as progress:
            clock.now += 3
            progress.tell(note="a\nb")
        assert terminal.screen() == ["\\x1b[2J: a\\nb", ""]

    def test_nothing_is_said_after_the_end(self, clock):
        stream = io.StringIO()
        with Progress("w", stream=stream, clock=clock) as progress:
            pass
        clock.now += 100
        progress.tell(1)
        progress._go_on()  # a timer that was due at the very end
        assert stream.getvalue() == ""

    def test_a_standard_error_that_is_closed_missing_or_full_is_no_error(self, clock, monkeypatch):
        class Full(io.StringIO):
            def write(self, text):
                raise OSError(errno.ENOSPC, "no space left")

        closed = io.StringIO()
        closed.close()
        for stream in (closed, None, Full()):
            monkeypatch.setattr(sys, "stderr", stream)
            with Progress("w", clock=clock) as progress:
                clock.now += 3
                progress.tell(1)


class Told(io.StringIO):
    """A stream that says when something was written."""

    def __init__(self):
        super().__init__()
        self.written = threading.Event()

    def write(self, text):
        super().write(text)
        self.written.set()


def test_work_that_tells_nothing_is_said_to_go_on():
    stream = Told()
    with Progress("solving", stream=stream, patience=0.01):
        assert stream.written.wait(30)
    assert stream.getvalue() == "solving: still working\n"


def test_work_that_told_something_early_is_said_to_go_on_from_there():
    stream = Told()
    with Progress("solving", 8, stream=stream, patience=0.05, clock=lambda: 0.0) as progress:
        progress.tell(2)
        assert stream.written.wait(30)
    assert stream.getvalue() == "solving: 2 of 8 (25%)\n"


def test_no_timer_is_left_waiting():
    with Progress("solving", stream=io.StringIO(), patience=LATE) as progress:
        assert progress._timer.is_alive()
        assert progress._timer.daemon
    progress._timer.join(30)
    assert not progress._timer.is_alive()


@pytest.mark.parametrize(("columns", "width"), [(40, 39), (0, 79)])
def test_a_true_terminal(clock, columns, width):
    """A pseudo-terminal, which may not know its width."""
    reading, writing = os.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(writing, "w") as stream, Progress("w" * 100, stream=stream, clock=clock) as progress:
        clock.now += 3
        progress.tell(1)
    shown = b""
    while not shown.endswith(b"\n"):  # a terminal hands over what is written in pieces
        shown += os.read(reading, 1000)
    os.close(reading)
    assert shown == b"\r" + b"w" * width + b"\r\n"


def test_a_pipe_is_no_terminal():
    reading, writing = os.pipe()
    with open(writing, "w") as stream:
        assert module._columns(stream) is None
    os.close(reading)


@pytest.mark.parametrize(("seconds", "told"), [(0.25, ""), (2.0, "work: 0 of 40 rows (0%), about 0:01:20 in all\n")])
def test_work_of_more_than_ten_seconds_is_told_before_it_begins(clock, seconds, told):
    stream = io.StringIO()
    with Progress("work", stream=stream, clock=clock, patience=LATE):
        expect(40, seconds, "rows")
        assert stream.getvalue() == told
    expect(40, 2.0, "rows")  # nobody waits


def test_whoever_works_need_not_know_who_waits(clock):
    inner, outer = io.StringIO(), io.StringIO()
    tick(1)
    with Progress("outer", stream=outer, clock=clock, patience=LATE, pause=0):
        expect(10, 0.0, "rows")
        with Progress("inner", stream=inner, clock=clock, patience=LATE, pause=0):
            clock.now += LATE
            tick(2)
            tick(3)
        clock.now += LATE
        tick(4)
    tick(1)
    assert [line.partition(",")[0] for line in inner.getvalue().splitlines()] == ["inner: 2", "inner: 5"]
    assert [line.partition(",")[0] for line in outer.getvalue().splitlines()] == ["outer: 4 of 10 rows (40%)"]
