"""A table of the book: raw numbers, and what people need to read them."""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        format: how people read its values, a format specification such as ".4f", ".2%" or ",d"; "" marks words.
        values: raw, one for each row; None where there is none.
    """

    format: str
    values: list[Any]


def column(spec: str, values: Iterable[Any]) -> Column:
    """A column of any values, those of arrays as plain numbers."""
    return Column(spec, values.tolist() if isinstance(values, np.ndarray) else list(values))


@dataclass(frozen=True)
class Table:
    """Columns of equal length.

    Attributes:
        title: what the table is of, in a few words.
        note: what a row is, what the columns count, and in which units.
        columns: by their headings.
    """

    title: str
    note: str
    columns: Mapping[str, Column]

    def __len__(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())).values)

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Every row as raw values."""
        return list(zip(*(values for _, values in self.columns.values()), strict=True))

    def take(self, places: Iterable[int]) -> "Table":
        """The table of the rows at these places, in this order."""
        places = [int(place) for place in places]
        columns = {
            heading: Column(spec, [values[place] for place in places])
            for heading, (spec, values) in self.columns.items()
        }
        return replace(self, columns=columns)

    def cells(self, limit: int | None = None) -> list[list[str]]:
        """The first `limit` rows as people read them (all by default)."""
        shown = [
            ["" if value is None else format(value, spec) for value in islice(values, limit)]
            for spec, values in self.columns.values()
        ]
        return [list(row) for row in zip(*shown, strict=True)]

    def to_csv(self) -> str:
        """The whole table as comma-separated values: names without spaces, numbers in full precision."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(re.sub(r"\W+", "_", heading.lower()) for heading in self.columns)
        writer.writerows(self.rows)
        return text.getvalue()

    def to_markdown(self, limit: int) -> str:
        """The title, the note and the first `limit` rows as a Markdown table; a line says so if any are cut."""
        rule = ["---:" if spec else "---" for spec, _ in self.columns.values()]
        lines = [f"| {' | '.join(cells)} |" for cells in (self.columns, rule, *self.cells(limit))]
        if len(self) > limit:
            lines += ["", f"The first {limit:,} of {len(self):,} rows; the CSV file beside this one has them all."]
        return "\n".join([f"# {self.title}", "", self.note, "", *lines, ""])
