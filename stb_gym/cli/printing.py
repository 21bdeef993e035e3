"""An answer as JSON or as text."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stb_gym.output import Column, Table, escaped
from stb_gym.solver import Branch

SCHEMA = 1  # of the JSON: increased when a key goes, is renamed or changes its meaning
LONGEST = 36  # rows of a table of numbers, of which the first and the last half are printed
HIDDEN = ("game", "rules", "unit")  # the title says them
FORMATS = {  # of floats that are not in the unit of the objective
    name: form
    for form, names in {
        ".6%": "shut_probability illegal_mass",
        ".4%": "normalised_score agreement agreement_by_visits score_distribution scores chance probability distance "
        "shares wins tied win tie seats survival first best_response_gains exploitability match round",
        ".4f": "throws mean_throws mean_rounds",
        ".5f": "loss cost costs visits",
        ".2g": "z largest_error largest_relative_error",
    }.items()
    for name in names.split()
}


def as_json(answer: Mapping[str, Any]) -> str:
    """Return an answer as one line of JSON."""
    return json.dumps({"schema": SCHEMA, **answer}, default=asdict)


def as_text(answer: Mapping[str, Any], unit: str = "points") -> str:
    """Return an answer as text: a heading, single values, then a table for each list and dictionary.

    Args:
        answer: values by name.
        unit: the unit of values that have no format of their own, if the answer has none.
    """
    unit = answer.get("unit", unit)
    single: dict[str, str] = {}
    parallel: dict[int, dict[str, list[str]]] = {}  # by length
    parts = []
    for name, value in answer.items():
        label = name.replace("_", " ")
        if name in (*HIDDEN, "title") or value is None:
            continue
        if isinstance(value, Branch):
            parts.append(str(value))
        elif isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
            parts.append(f"{label}\n\n{as_text(value, unit)}")
        elif isinstance(value, dict):
            parts.append(f"{label}\n{_pairs({key: _cell(name, each, unit, key) for key, each in value.items()}, str)}")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            parts.append(f"{label}\n{_rows(value, unit)}")
        elif isinstance(value, list):
            parallel.setdefault(len(value), {})[label] = [_cell(name, each, unit) for each in value]
        else:
            single[label] = _cell(name, value, unit)
    for length, columns in parallel.items():
        if len(columns) > 1:
            numbers = {"": [str(number) for number in range(1, length + 1)]}
            parts.insert(0, _shortened({heading: Column("", cells) for heading, cells in (numbers | columns).items()}))
        elif length <= LONGEST:
            single |= {heading: ", ".join(cells) for heading, cells in columns.items()}
    return "\n\n".join(filter(None, [escaped(answer.get("title", "")), _pairs(single), *parts]))


def _pairs(cells: Mapping[Any, str], form: Any = "") -> str:
    if not cells:
        return ""
    return _shortened({"": Column(form, [str(key) for key in cells]), " ": Column(form, list(cells.values()))})


def _rows(rows: list[dict[str, Any]], unit: str) -> str:
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if name not in HIDDEN:
            is_number = all(isinstance(value, int | float | None) for value in values)
            cells = [_cell(name, value, unit) for value in values]
            columns[name.replace("_", " ")] = Column(str if is_number else "", cells)
    return str(Table(columns))


def _shortened(columns: dict[str, Column]) -> str:
    lines = str(Table(columns)).split("\n")
    if len(lines) <= LONGEST + 1:
        return "\n".join(lines)
    half = LONGEST // 2
    return "\n".join([*lines[:half], f"... {len(lines) - LONGEST} more, all with --json", *lines[-half:]])


def _cell(name: str, value: Any, unit: str, key: Any = None) -> str:
    """Return a value as text, in the format of its name or else of its key."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{inner} {_cell(name, each, unit, inner)}" for inner, each in value.items())
    if isinstance(value, list | tuple):
        between = " or " if value and isinstance(value[0], dict) else ", "
        return between.join(_cell(name, each, unit, key) for each in value)
    if isinstance(value, float):
        form = FORMATS.get(name) or FORMATS.get(key) or (".6%" if unit == "probability" else ".6f")
        is_tiny = form.endswith("%") and 0 < abs(value) < 1e-5
        return f"{100 * value:.3g}%" if is_tiny else format(value + 0.0, form)
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)
