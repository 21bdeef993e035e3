"""Tests of one turn by its tables."""

from typing import Any


def as_lines(columns: dict[str, list[Any]]) -> str:
    """Return columns as a line of names and a line per row, with floats to six places."""
    rows = zip(*columns.values(), strict=True)
    texts = [[str(round(value, 6) if isinstance(value, float) else value) for value in row] for row in rows]
    return "\n".join(" | ".join(row) for row in [[*columns], *texts])
