"""Test the benchmarks: their arithmetic with a fake clock, every comparison, and the game that peers get."""

import json
import sys
import time
from contextlib import nullcontext
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import learners, solving, timing
from benchmarks.timing import Comparison, time_limit, timer
from stb_gym import ShutTheBox, solve


def test_a_timer_times_the_calls_alone_and_divides_by_their_units(monkeypatch):
    clock = SimpleNamespace(seconds=0.0)
    monkeypatch.setattr(time, "perf_counter", lambda: clock.seconds)

    def advance(seconds):
        clock.seconds += seconds

    assert timer(advance, lambda: [advance(100) or 0.03], units=10)() == pytest.approx(0.003)
    assert clock.seconds == pytest.approx(4 * 100.03)  # as many calls as fill a tenth of a second


def test_both_sides_take_turns_and_ratios_are_within_rounds():
    times = iter([1.0, 3.0, 2.0, 4.0, 4.0, 16.0])
    result = Comparison("solving", times.__next__, "a peer", times.__next__, goal=3).measure(3)
    assert (result.ours, result.theirs, result.ratios, result.met) == ([1, 2, 4], [3, 4, 16], [3, 2, 4], True)


@pytest.mark.slow
def test_results_are_rows_of_a_table_or_lines_of_json(monkeypatch, capsys):
    comparisons = [
        Comparison("stepping", lambda: 2e-6, "a peer", lambda: 6e-6, 2.5),
        time_limit("solving", 0.2, lambda: 0.25),
        Comparison("solving", lambda: 0.25, "another", None, 2),
    ]
    monkeypatch.setattr(command, "BENCHMARKS", {"vector": lambda: comparisons})
    assert command.main(["vector", "--rounds", "1"]) == 0
    assert [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()[3:]] == [
        "stepping 2.0 µs a peer 6.0 µs 3.00 3.00 3.00 2.5: met",
        "solving 250.0 ms time limit 200.0 ms 0.80 0.80 0.80 1: missed",
        "solving 250.0 ms another not installed",
    ]
    assert command.main(["--json", "--rounds", "2"]) == 0
    results = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["met"] for each in results] == [True, False, None]
    assert results[1]["theirs"] == [0.2, 0.2]


@pytest.mark.parametrize(("regrets", "expected"), [([5.0, 2.0, 0.9], 0.0), ([5.0] * 9, inf)])
def test_the_time_until_a_regret_leaves_out_measurements(regrets, expected, monkeypatch):
    clock, found = SimpleNamespace(seconds=0.0), iter(regrets)

    def measure(config, learner):
        clock.seconds += 100
        return SimpleNamespace(greedy=SimpleNamespace(regret=next(found)))

    monkeypatch.setattr(time, "process_time", lambda: clock.seconds)
    monkeypatch.setattr(learners, "measure", measure)
    monkeypatch.setattr(learners, "MEASUREMENTS", len(regrets))
    timer = learners.until(1.0, "monte-carlo", steps=9000, settings={"num_envs": 8, "num_steps": 10})
    assert timer() == expected
    assert list(found) == []


def test_wrong_arguments_are_refused_in_one_line(capsys):
    assert command.main(["threes"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["solving", "vector", "scalar"])
def test_the_comparisons_run(name, monkeypatch):
    monkeypatch.setattr(timing, "SECONDS", 1e-9)  # one call a round
    for each in command.BENCHMARKS[name]():
        assert min(each.measure(1).ours) > 0


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
