"""The benchmarks: their arithmetic, with clocks that the tests turn; every comparison runs; peers get the same game."""

import json
import sys
import time
from contextlib import nullcontext
from functools import partial
from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import solving, timing
from benchmarks.timing import Comparison, timer
from stb_gym import ShutTheBox, solve


def test_a_timer_times_the_calls_alone_and_divides_by_their_units(monkeypatch):
    clock = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: clock.seconds)

    def advance(seconds):
        clock.seconds += seconds

    assert timer(partial(advance, 0.03), partial(advance, 100), units=10)() == pytest.approx(0.003)
    assert clock.seconds == pytest.approx(4 * 100.03)  # as many calls as fill a tenth of a second


def test_both_sides_take_turns_and_ratios_are_within_rounds():
    times = iter([1.0, 3.0, 2.0, 4.0, 4.0, 16.0])
    measured = Comparison("solving", "ms", times.__next__, "a peer", times.__next__)
    measured.measure(3)
    assert (measured.ours, measured.theirs, measured.ratios) == ([1, 2, 4], [3, 4, 16], [3, 2, 4])


def test_the_table_shows_times_ratios_and_verdicts(monkeypatch, capsys):
    stepping = Comparison("stepping", "steps/s", lambda: 2e-6, "a peer", lambda: 6e-6, least_ratio=2.5)
    monkeypatch.setattr(command, "BENCHMARKS", {"vector": lambda: [stepping]})
    assert command.main(["vector", "--rounds", "2"]) == 0
    row = " ".join(capsys.readouterr().out.split())
    assert "stepping 500 k steps/s a peer 167 k steps/s 3 3 3 ratio >= 2.5: met" in row


def test_an_interrupt_prints_the_results_so_far_as_json(monkeypatch, capsys):
    def interrupted():
        yield Comparison("solving", "ms", lambda: 0.25, most_seconds=0.2)
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "BENCHMARKS", {"solving": interrupted})
    assert command.main(["--json", "--rounds", "1"]) == 130
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert (result["name"], result["ours"], result["ratio"], result["met"]) == ("solving", [0.25], None, False)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "first"), [("solving", 6), ("measuring", 2), ("vector", 7), ("scalar", 2)])
def test_the_comparisons_run(name, first, monkeypatch):
    monkeypatch.setattr(timing, "SECONDS", 1e-9)  # one call a round
    for each in islice(command.BENCHMARKS[name](), first):
        each.measure(1)
        assert min(each.ours) > 0


@pytest.mark.parametrize("off", [0, 1])
def test_a_peer_must_find_the_values_of_the_same_game(off, monkeypatch):
    """Stand in for QuantEcon: compute the values from its transitions by the definition of backward induction."""

    def backward_induction(program, steps, values):
        transitions, states = program
        for _ in range(steps):
            best = np.full(len(values), -np.inf)
            np.maximum.at(best, states, transitions @ values)
            values = best
        return [values + off], None

    library = SimpleNamespace(
        DiscreteDP=lambda rewards, transitions, discount, states, actions: (transitions, states),
        backward_induction=backward_induction,
    )
    monkeypatch.setitem(sys.modules, "quantecon.markov.ddp", library)
    with pytest.raises(ArithmeticError, match="differs from ours") if off else nullcontext():
        assert solving.quantecon(solve(ShutTheBox(tiles=4)))() > 0
