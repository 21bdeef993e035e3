"""Entries of files are checked by name and type, and what killed writers left is removed."""

import os
import shutil
from dataclasses import dataclass, field
from typing import Any

import pytest

from stb_gym.output import write_aside
from training.entries import check_entries, is_of, made_of, remove_leftovers


@dataclass
class Trip:
    days: int
    miles: float
    places: list[str]
    notes: dict[str, float] = field(default_factory=dict)
    guide: str | None = None


WHOLE = {"days": 2, "miles": 10, "places": ["Bath", "Wells"]}


def test_entries_make_a_dataclass():
    assert made_of(Trip, WHOLE) == Trip(2, 10, ["Bath", "Wells"])
    assert made_of(Trip, {**WHOLE, "notes": {"hills": 1.5}, "guide": "Ann"}).notes == {"hills": 1.5}
    check_entries({"a": 1, "b": object()}, {"a": int, "b": Any})
    assert is_of(list[Any], [1, "x"])
    assert not is_of(list[Any], (1, "x"))


def test_the_first_wrong_entry_is_named(snapshot):
    errors = []
    for entries in (
        None, [("days", 2)], {"days": 2, "places": []}, {**WHOLE, "\x1b[31m": 1}, {**WHOLE, "days": 2.0},
        {**WHOLE, "days": True}, {**WHOLE, "days": "2" * 10**6}, {**WHOLE, "miles": False}, {**WHOLE, "places": "Bath"},
        {**WHOLE, "places": ["Bath", 5]}, {**WHOLE, "notes": {"hills": "high"}}, {**WHOLE, "guide": 5},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"^[ -~]+$") as refused:
            made_of(Trip, entries)
        errors.append(str(refused.value))
    assert errors == snapshot


def test_leftovers_of_killed_writers_are_removed_and_nothing_else(tmp_path):
    with write_aside(tmp_path / "file-1.txt") as aside:
        shutil.copytree(aside.parent, tmp_path / "copy")
    os.rename(tmp_path / "copy", aside.parent)
    (tmp_path / ".7-folder").mkdir()
    remove_leftovers(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {".7-folder", "file-1.txt"}
