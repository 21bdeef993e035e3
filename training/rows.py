"""Dataclasses of numbers and words as CSV, a row each."""

import csv
import io
from collections.abc import Sequence
from dataclasses import MISSING, fields
from typing import Any, TypeVar

T = TypeVar("T")


def to_csv(rows: Sequence[Any], kind: type[Any]) -> str:
    """Rows of a dataclass as CSV, with the names of its fields as the heading.

    Args:
        rows: instances of the dataclass.
        kind: the dataclass.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, [field.name for field in fields(kind)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(vars(row) for row in rows)
    return text.getvalue()


def from_csv(text: str, kind: type[T]) -> list[T]:
    """The rows that `to_csv` wrote, also when the dataclass had fewer fields: those that have a default may be missing.

    Args:
        text: the CSV.
        kind: the dataclass.

    Raises:
        ValueError: if the heading is another, the last line is not whole, or there is no row.
    """
    kinds = {field.name: field.type for field in fields(kind)}  # type: ignore[arg-type]
    optional = [field.name for field in fields(kind) if field.default is not MISSING]  # type: ignore[arg-type]
    rows = list(csv.DictReader(io.StringIO(text)))
    heading = list(rows[0]) if rows else []
    if heading != [name for name in kinds if name in heading or name not in optional] or not text.endswith("\n"):
        raise ValueError("it is not whole")
    return [kind(**{name: kinds[name](row[name]) for name in heading}) for row in rows]  # type: ignore[operator]
