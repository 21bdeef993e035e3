"""Rows of numbers and words as CSV, and dataclasses of these."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def csv_text(names: Iterable[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as CSV below the names of their columns; what a row does not name is left empty."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def csv_rows(text: str) -> list[dict[str, str]]:
    """The rows of CSV, by the names of their columns.

    Raises:
        ValueError: if a row is not as long as the heading, the last line is not whole, or there is no row.
    """
    heading, *rows = csv.reader(io.StringIO(text)) if text.endswith("\n") else ([],)
    if not rows or any(len(row) != len(heading) for row in rows):
        raise ValueError("it is not whole")
    return [dict(zip(heading, row, strict=True)) for row in rows]


def to_csv(rows: Sequence[Any], kind: type[Any]) -> str:
    """Rows of a dataclass as CSV, with the names of its fields as the heading.

    Args:
        rows: instances of the dataclass.
        kind: the dataclass.
    """
    return csv_text([field.name for field in fields(kind)], map(vars, rows))


def from_csv(text: str, kind: type[T]) -> list[T]:
    """The rows that `to_csv` wrote, also when the dataclass had fewer fields: those that have a default may be missing.

    Args:
        text: the CSV.
        kind: the dataclass.

    Raises:
        ValueError: if the heading is another, a line is not whole, or there is no row.
    """
    kinds = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    optional = [field.name for field in fields(kind) if field.default is not MISSING]  # type: ignore[arg-type]
    rows = csv_rows(text)
    if list(rows[0]) != [name for name in kinds if name in rows[0] or name not in optional]:
        raise ValueError("it has other columns")
    return [kind(**{name: kinds[name](told) for name, told in row.items()}) for row in rows]  # type: ignore[operator]
