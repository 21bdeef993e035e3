"""Files of which nothing is believed: what they hold is of the kinds that are asked for, or is refused in one line."""

import os
from dataclasses import dataclass, field
from typing import Any

import pytest

from stb_gym.output import check_entries, from_json, from_toml, is_of, made_of, read_text


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


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (None, "entries by name are wanted, not None"),
        ([("days", 2)], "entries by name are wanted, not [('days', 2)]"),
        ({"days": 2, "places": []}, "the entry 'miles' is missing"),
        ({**WHOLE, "\x1b[31m": 1}, r"unknown entry '\x1b[31m': allowed are days, miles, places, notes, guide"),
        ({**WHOLE, "days": 2.0}, "days is 2.0, not int"),
        ({**WHOLE, "days": True}, "days is True, not int"),
        ({**WHOLE, "days": "2"}, "days is '2', not int"),
        ({**WHOLE, "miles": False}, "miles is False, not float"),
        ({**WHOLE, "places": "Bath"}, "places is 'Bath', not list[str]"),
        ({**WHOLE, "places": ["Bath", 5]}, "places is ['Bath', 5], not list[str]"),
        ({**WHOLE, "notes": {"hills": "high"}}, "notes is {'hills': 'high'}, not dict[str, float]"),
        ({**WHOLE, "guide": 5}, "guide is 5, not str | None"),
        ({**WHOLE, "days": "2" * 10**6}, "days is '" + "2" * 56 + "..., not int"),
    ],
)
def test_the_first_entry_that_is_wrong_is_told_in_a_line(entries, message):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        made_of(Trip, entries)
    assert str(refused.value) == message


def test_entries_are_asked_for_by_name_too():
    check_entries({"a": 1, "b": object()}, {"a": int, "b": Any})
    with pytest.raises(ValueError, match="the entry 'b' is missing"):
        check_entries({"a": 1}, {"a": int, "b": Any})
    assert is_of(list[Any], [1, "x"])
    assert not is_of(list[Any], (1, "x"))


@pytest.mark.parametrize("parse", [from_json, from_toml])
def test_what_is_nested_a_thousand_deep_is_refused(parse):
    for text in ("a = " + "[" * 5000 + "]" * 5000, "[" * 5000 + "]" * 5000, '{"a":' * 5000):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            parse(text)


def test_only_files_are_read(tmp_path):
    (tmp_path / "text").write_text("é", encoding="utf-8")
    assert read_text(tmp_path / "text") == "é"
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, "/dev/zero"):
        with pytest.raises(OSError, match=r"is a (folder|pipe or a device), not a file"):
            read_text(path)
    with pytest.raises(FileNotFoundError):
        read_text(tmp_path / "none")
    (tmp_path / "text").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="decode"):
        read_text(tmp_path / "text")
