"""Results that are kept: once each, up to so many bytes, those asked for last; errors never."""

from dataclasses import dataclass
from functools import cached_property
from threading import Thread
from time import sleep

import numpy as np
import pytest
from stb_gym.games.keeping import array_bytes

from stb_gym.games import kept

KIBIBYTE = 2**10


def counted(mebibytes, of=lambda size: np.zeros(size * KIBIBYTE, np.uint8)):
    """A function of kibibytes that keeps its results, and the arguments it was truly called with."""
    calls = []

    @kept(mebibytes=mebibytes)
    def make(size, mark=0):
        calls.append((size, mark))
        return of(size)

    return make, calls


def test_a_result_is_made_once():
    make, calls = counted(1)
    assert make(3) is make(3)
    assert make(3, mark=1) is make(3, mark=1) is not make(3)
    assert calls == [(3, 0), (3, 1)]
    assert make.cache_bytes() == 2 * 3 * KIBIBYTE
    assert make.__name__ == "make"


def test_all_results_take_no_more_bytes_than_allowed():
    make, calls = counted(1)
    for mark in range(20):
        make(100, mark)
        assert make.cache_bytes() == min(mark + 1, 10) * 100 * KIBIBYTE
    assert len(calls) == 20
    make(24, 20)  # 1,024 KiB together with ten others: just as many as allowed
    assert make.cache_bytes() == 1024 * KIBIBYTE
    make(1, 21)
    assert make.cache_bytes() == 925 * KIBIBYTE


def test_those_not_asked_for_longest_are_forgotten_first():
    make, calls = counted(1)
    for mark in range(3):
        make(300, mark)
    make(300, 0)
    make(300, 3)  # 1 was not asked for longest
    assert calls == [(300, mark) for mark in range(4)]
    for mark in (0, 2, 3):
        make(300, mark)
    assert len(calls) == 4
    make(300, 1)
    assert calls[4:] == [(300, 1)]


def test_a_large_result_pushes_out_as_many_as_needed_and_is_kept_itself():
    make, calls = counted(1)
    for mark in range(8):
        make(100, mark)
    make(700, 8)
    assert make.cache_bytes() == 1000 * KIBIBYTE
    make(5000)  # more than is allowed, but the last
    assert make.cache_bytes() == 5000 * KIBIBYTE
    make(5000)
    assert len(calls) == 10
    make(1)
    assert make.cache_bytes() == KIBIBYTE


def test_errors_are_not_kept():
    calls = []

    @kept(mebibytes=1)
    def fails_first(size):
        calls.append(size)
        if len(calls) == 1:
            raise ValueError("not yet")
        return size

    with pytest.raises(ValueError, match="not yet"):
        fails_first(3)
    assert fails_first(3) == fails_first(3) == 3
    assert calls == [3, 3]


def test_what_is_forgotten_on_demand_is_made_anew():
    make, calls = counted(1)
    first = make(3)
    make.cache_clear()
    assert make.cache_bytes() == 0
    assert make(3) is not first
    assert len(calls) == 2
    for mark in range(10):
        make(100, mark)
    make.cache_clear()
    for mark in range(10, 20):
        make(100, mark)
        assert make.cache_bytes() == (mark - 9) * 100 * KIBIBYTE  # what was forgotten takes no more room


@dataclass(eq=False)
class Growing:
    """Has an array, a tuple of arrays, and one that it makes later on."""

    size: int

    def __post_init__(self):
        self.array, self.pair = np.zeros(self.size, np.uint8), (np.zeros(3, np.uint8), np.zeros(4, np.uint8))

    @cached_property
    def more(self):
        return np.zeros(600 * KIBIBYTE, np.uint8)


def test_arrays_of_a_result_are_counted_wherever_they_are():
    grown = Growing(10)
    assert array_bytes(grown) == 17
    assert array_bytes((np.zeros(2), "text", (np.zeros(1), 5))) == 24
    assert array_bytes(3) == array_bytes("text") == array_bytes(None) == 0
    grown.more.any()
    assert array_bytes(grown) == 17 + 600 * KIBIBYTE


def test_arrays_that_a_result_makes_later_on_count_with_the_next_one():
    make, calls = counted(1, Growing)
    for mark in range(3):
        make(mark).more.any()
    assert make.cache_bytes() == 1 + 2 + 2 * 7 + 2 * 600 * KIBIBYTE  # the third made the first be forgotten
    make(9)
    assert make.cache_bytes() == 2 + 9 + 2 * 7 + 600 * KIBIBYTE
    assert len(calls) == 4


def test_many_small_results_are_measured_a_few_times_each(monkeypatch):
    measured = []
    monkeypatch.setattr(
        "stb_gym.games.keeping.array_bytes", lambda result: measured.append(result) or array_bytes(result)
    )
    make, calls = counted(1, lambda size: np.zeros(1, np.uint8))
    for mark in range(2000):
        make(1, mark)
    assert len(calls) == 2000
    assert len(measured) < 20 * 2000


def test_threads_share_a_result():
    def slowly(size):
        sleep(0.05)
        return np.zeros(size)

    make, calls = counted(1, slowly)
    results = []
    threads = [Thread(target=lambda: results.append(make(3))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert all(result is results[0] for result in results)


def test_a_function_may_ask_itself():
    @kept(mebibytes=1)
    def factorial(number):
        return 1 if number == 0 else number * factorial(number - 1)

    assert factorial(5) == 120


def test_what_is_kept_cannot_be_changed_by_anybody():
    @kept(mebibytes=1)
    def make(count):
        return np.zeros(count), (np.ones(count),)

    zeros, (ones,) = make(3)
    for array in (zeros, ones):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7
