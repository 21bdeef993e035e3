"""An answer as JSON or as text."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from stb_gym.output import Column, Table, escaped
from stb_gym.solver import Branch

SCHEMA = 1  # of the JSON: increased when a key goes, is renamed or changes its meaning
LONGEST = 36  # rows of a table of numbers, of which the first and the last half are printed
FEW = 10  # numbers that are printed in one line
IN_TITLE = ("game", "rules", "title", "unit")
ONLY_JSON = ("game", "rules", "unit", "optimum", "agreement", "mean_throws", "dearest_mistake")  # of a row
FORMATS = {  # of floats that are not in the unit of the objective
    name: form
    for form, names in {
        ".6%": "shut_probability illegal_mass",
        ".4%": "normalised_score agreement agreement_by_visits score_distribution scores chance probability distance "
        "shares wins tied win tie seats survival first best_response_gains exploitability match round rounds",
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
    groups: list[dict[str, list[str]]] = [{}]  # lists of the same length that follow each other
    parts = []
    for name, value in answer.items():
        label = name.replace("_", " ")
        if name in IN_TITLE or value is None:
            continue
        if value in ([], {}):
            single[label] = "none"
        elif isinstance(value, list) and not isinstance(value[0], dict):
            if len(value) not in map(len, groups[-1].values()):
                groups.append({})
            groups[-1][label] = [_cell(name, each, unit) for each in value]
            continue
        elif isinstance(value, list):
            names = [each for each in dict.fromkeys(each for row in value for each in row) if each not in ONLY_JSON]
            columns = {each.replace("_", " "): [_cell(each, row.get(each), unit) for row in value] for each in names}
            parts.append(f"{label}\n{_table(columns)}")
        elif isinstance(value, Branch):
            parts.append(str(value))
        elif isinstance(value, dict) and any(isinstance(each, dict) for each in value.values()):
            parts.append(f"{label}\n\n{as_text(value, unit)}")
        elif isinstance(value, dict):
            pairs = {str(key): _cell(name, each, unit, key) for key, each in value.items()}
            parts.append(f"{label}\n{_table(_columns(pairs), LONGEST)}")
        else:
            single[label] = _cell(name, value, unit)
        groups.append({})
    tables = []
    for group in groups:
        if len(group) > 1:
            places = {"": [str(place) for place, _ in enumerate(next(iter(group.values())), 1)]}
            tables.append(_table(places | group, LONGEST))
        else:
            single |= {label: ", ".join(cells) for label, cells in group.items() if len(cells) <= FEW}
    facts = _table(_columns(single)) if single else ""
    return "\n\n".join(filter(None, [escaped(answer.get("title", "")), facts, *tables, *parts]))


def _columns(pairs: Mapping[str, str]) -> dict[str, list[str]]:
    return {"": list(pairs), " ": list(pairs.values())}


def _table(columns: Mapping[str, list[str]], longest: int | None = None) -> str:
    """Return columns as text, numbers aligned to the right, and without the rows in the middle if it is too long."""
    aligned = {}
    for heading, cells in columns.items():
        is_number = set("".join(cells)) <= set("0123456789.,-%e ")
        aligned[heading] = Column(str if is_number else "", cells)
    lines = str(Table(aligned)).split("\n")
    if longest is not None and len(lines) > longest + 1:
        half = longest // 2
        lines = [*lines[:half], f"... {len(lines) - 2 * half} more, all with --json", *lines[-half:]]
    return "\n".join(lines)


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
        is_tiny = form.endswith("%") and 1e-12 < abs(value) < 1e-5
        return f"{100 * value:.3g}%" if is_tiny else format(value, f"z{form}")
    return f"{value:,}" if isinstance(value, int) and name != "seed" else str(value)
