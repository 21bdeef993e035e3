"""Equal rows: the same as comparing them one by one, whatever they are made of."""

from types import SimpleNamespace

import numpy as np
import pytest

from agents import rows
from agents.rows import distinct

RANDOM = np.random.default_rng(1)


@pytest.mark.parametrize(
    "columns",
    [
        (RANDOM.integers(2, size=(500, 9), dtype=np.uint8),),
        (RANDOM.integers(3, size=(500, 2, 2)), RANDOM.integers(2, size=(500, 3)).astype(bool)),
        (RANDOM.integers(4, size=(300, 1)).astype(np.float32), RANDOM.integers(9, size=300)),
        (np.arange(256, dtype=np.uint8)[:, None],),
        (np.zeros((7, 20), np.uint8),),
        (np.arange(40).reshape(20, 2)[::2, 1:],),
        (RANDOM.integers(7, size=(20_000, 6)).astype(np.float64),),  # whose low bytes are all 0
        (RANDOM.integers(7, size=(20_000, 6)).astype(np.float32), RANDOM.integers(2, size=(20_000, 5)).astype(bool)),
    ],
)
def test_rows_are_told_apart_as_by_comparing_them(columns):
    first, place = distinct(*columns)
    as_tuples = list(zip(*(column.reshape(len(column), -1).tolist() for column in columns), strict=True))
    assert len(first) == len({str(row) for row in as_tuples})
    assert [as_tuples[first[p]] for p in place] == as_tuples


def test_different_rows_of_the_same_sum_are_told_apart(monkeypatch):
    drawn = [np.array([1, 1]), np.array([1, 2])]
    unlucky = SimpleNamespace(integers=lambda high, size: drawn.pop(0))
    monkeypatch.setattr(rows.np.random, "default_rng", lambda seed: unlucky)
    first, place = distinct(np.array([[3, 4], [4, 3], [3, 4]]))
    assert len(first) == 2
    assert place[0] == place[2] != place[1]
    assert drawn == []
