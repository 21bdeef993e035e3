"""One table for every reader: text for a terminal, Markdown and HTML."""

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

from stb_gym.output.console import escaped


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        format: how people read its values: a format specification such as ".4f", ".2%" or ",d", or a function that
            makes text of a value. With "" the values are words, aligned to the left; all others are numbers, aligned
            to the right.
        values: raw, one for each row; None where there is none.
    """

    format: str | Callable[[Any], str]
    values: list[Any]

    @property
    def is_number(self) -> bool:
        """Whether the cells are numbers, aligned to the right."""
        return self.format != ""

    def cells(self) -> list[str]:
        """Return the values as people read them, in one line each."""
        return ["" if value is None else escaped(self._cell(value)) for value in self.values]

    def _cell(self, value: Any) -> str:
        return self.format(value) if callable(self.format) else format(value, self.format)


def column(spec: str | Callable[[Any], str], values: Iterable[Any]) -> Column:
    """A column of any values, those of a NumPy array as plain numbers."""
    return Column(spec, list(values.tolist() if hasattr(values, "tolist") else values))


@dataclass(frozen=True)
class Table:
    """Columns of equal length.

    >>> print(Table({"rule": Column("", ["random", "best"]), "points": Column(".2f", [21, 9.5])}))
    rule    points
    random   21.00
    best      9.50

    Attributes:
        columns: at least one, by their headings.
        title: what the table is of, in a few words, shown above it in HTML; "" for none.
    """

    columns: Mapping[str, Column]
    title: str = ""

    def __post_init__(self) -> None:
        if len({len(column.values) for column in self.columns.values()}) != 1:
            lengths = {heading: len(column.values) for heading, column in self.columns.items()}
            raise ValueError(f"a table has one or more columns of one length, not {lengths}")

    @classmethod
    def from_rows(cls, headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> "Table":
        """A table of words without a title, for lines that have no common format, such as names and their values.

        Args:
            headings: one for each column; none at all if the text is to have no line of headings.
            rows: as many cells each.

        Raises:
            ValueError: if two headings are the same, or a row has more or fewer cells than there are headings.
        """
        rows = [list(row) for row in rows]
        headings = headings or [" " * place for place in range(len(rows[0]) if rows else 1)]
        if {len(headings)} | {len(row) for row in rows} != {len(set(headings))}:
            raise ValueError(f"a table has a cell in every row for each of its headings, which differ: {[*headings]}")
        columns = {heading: column("", [row[place] for row in rows]) for place, heading in enumerate(headings)}
        return cls(columns)

    def __str__(self) -> str:
        """All of it as text."""
        return self.to_text()

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """Every row as raw values."""
        return list(zip(*(column.values for column in self.columns.values()), strict=True))

    def take(self, places: Iterable[int]) -> "Table":
        """The table of the rows at these places, in this order."""
        places = [int(place) for place in places]
        columns = {
            heading: Column(spec, [values[place] for place in places])
            for heading, (spec, values) in self.columns.items()
        }
        return replace(self, columns=columns)

    def cells(self) -> list[list[str]]:
        """Return the rows as people read them."""
        return [list(row) for row in zip(*(column.cells() for column in self.columns.values()), strict=True)]

    @property
    def _headings(self) -> list[str]:
        return [escaped(heading) for heading in self.columns]

    def to_text(self) -> str:
        """Return the headings and the rows in aligned columns."""
        headed = any(heading.strip() for heading in self.columns)
        aligned = []
        for heading, column in self.columns.items():
            cells = [escaped(heading), *column.cells()][not headed :]
            width = max(map(len, cells), default=0)
            aligned.append([cell.rjust(width) if column.is_number else cell.ljust(width) for cell in cells])
        return "\n".join("  ".join(line).rstrip() for line in zip(*aligned, strict=True))

    def to_markdown(self) -> str:
        """Return the headings and the rows as a Markdown table, for a page that has a title of its own."""
        rule = ["---:" if column.is_number else "---" for column in self.columns.values()]
        lines = [self._headings, rule, *self.cells()]
        return "\n".join(f"| {' | '.join(map(_piped, line))} |" for line in lines)

    def to_html(self) -> str:
        """Return the rows as a <table> under its title; numbers are of the class "number".

        The first cell of a row is the heading of the row.
        """
        marks = [' class="number"' if column.is_number else "" for column in self.columns.values()]
        kinds = [("th", ' scope="row"'), *[("td", "")] * (len(marks) - 1)]
        head = "".join(
            f'<th scope="col"{mark}>{html.escape(cell)}</th>' for mark, cell in zip(marks, self._headings, strict=True)
        )
        rows = (
            "".join(
                f"<{tag}{scope}{mark}>{html.escape(cell)}</{tag}>"
                for (tag, scope), mark, cell in zip(kinds, marks, row, strict=True)
            )
            for row in self.cells()
        )
        body = "".join(f"<tr>{row}</tr>\n" for row in rows)
        caption = f"<caption>{html.escape(escaped(self.title))}</caption>\n" if self.title else ""
        return f"<table>\n{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"


def html_table(title: str, columns: Mapping[str, Sequence[Any]], limit: int = 12) -> str:
    """Return columns as an HTML table for a notebook.

    Args:
        title: what stands above it.
        columns: values of equal length by heading; numbers are shown to six digits.
        limit: how many rows to show at most.

    Returns:
        The table, and a line below it that says how many rows there are if not all are shown.
    """

    def shown(values: Sequence[Any]) -> Column:
        number = all(isinstance(value, int | float | Fraction | None) for value in values)
        return Column(lambda value: f"{float(value):.6g}", [*values]) if number else column("", map(str, values))

    rows = max(map(len, columns.values()))
    cut = f"<p>The first {limit:,} of {rows:,} rows.</p>" if rows > limit else ""
    return Table({heading: shown(values[:limit]) for heading, values in columns.items()}, title).to_html() + cut


def _piped(cell: str) -> str:
    """A cell of Markdown whose pipes, and the backslashes before them, do not end it."""
    return re.sub(r"(\\*)\|", r"\1\1\\|", cell)
