"""The page of a book: answers, then its sections by parts, in one file that needs nothing else.

A long table stands there with its first rows; the others are packed beside it, and a script fetches them for whoever
searches or sorts.
"""

import base64
import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from stb_gym.book.chapters import PARTS, Answer, Heat, Section
from stb_gym.games import Game, title, words_of
from stb_gym.output import Column, Table

HERE = Path(__file__).parent
STYLES = ("pictures/scheme.css", "page.css")
ROWS = 12  # of a long table, before one asks for more
MOST = 5000  # rows that a page can be asked for; the files have all
LONG = 50  # letters of a cell that has several lines
SHORT = 25  # rows that all stand on the page
STRONGEST, FAINTEST = 60, 0.01  # percent of a colour behind a number, and the share of it that is left out


def book_page(game: Game, answers: Sequence[Answer], sections: Sequence[Section]) -> str:
    """The text of the page.

    Args:
        game: the rules.
        answers: what stands at the beginning.
        sections: the tables that have rows, in the order of the book.
    """
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True)
    return environment.get_template("page.html.j2").render(
        heading=words_of(game).introduction(),
        how=words_of(game).how_to_play().split("\n"),
        rules=title(game),
        answers=answers,
        parts={
            words: [_shown(section) for section in sections if section.page.part == part]
            for part, words in PARTS.items()
            if part != "files" and any(section.page.part == part for section in sections)
        },
        sections=sections,
        style=Markup("".join((HERE / each).read_text("utf-8") for each in STYLES)),
        script=Markup((HERE / "page.js").read_text("utf-8")),
    )


def _shown(section: Section) -> dict[str, Any]:
    """What the template is told of a section."""
    table = section.shown
    rows = _rows(table, section.page.heat)
    first = len(rows) if len(rows) <= SHORT else ROWS
    rest = "".join(rows[first:MOST])
    return {
        "name": section.name,
        "title": table.title,
        "note": table.note,
        "picture": section.picture,
        "folded": section.page.part == "tables",
        "headings": [(heading, column.is_number) for heading, column in table.columns.items()],
        "rows": Markup("\n".join(rows[:first])),
        "shown": first,
        "count": len(rows),
        "rest": base64.b64encode(zlib.compress(rest.encode(), 9)).decode() if rest else "",
        "example": _example(table),
    }


def _example(table: Table) -> str:
    """What one might search for."""
    return next((column.cells(1)[0] for column in table.columns.values() if not column.is_number), "")


def _rows(table: Table, heat: Heat | None) -> list[str]:
    """The rows as HTML; the first cell of each names it."""
    first, *others = (_cells(heading, column, heat) for heading, column in table.columns.items())
    named = [f'<th scope="row"{cell}</th>' for cell in first]
    cells = [[f"<td{cell}</td>" for cell in column] for column in others]
    return [f"<tr>{''.join(row)}</tr>" for row in zip(named, *cells, strict=True)]


def _cells(heading: str, column: Column, heat: Heat | None) -> list[str]:
    """The cells of a column as HTML, without their tags: drawn where a value knows how, else in words."""
    texts, values = column.cells(), column.values
    kind = ' class="number"' if column.is_number else ' class="long"' if max(map(len, texts)) > LONG else ""
    shown = [
        value.__html__() if hasattr(value, "__html__") else escape(text)
        for value, text in zip(values, texts, strict=True)
    ]
    if heat is None or not column.is_number or heading not in (heat.headings or [heading]):
        return [f"{kind}>{text}" for text in shown]
    largest = max(values)
    colours = (_colour(value, heat, largest) for value in values)
    return [f"{kind}{colour}>{text}" for colour, text in zip(colours, shown, strict=True)]


def _colour(value: float, heat: Heat, largest: float) -> str:
    """The colour behind a number, as the attribute of its cell."""
    end, side = (largest if heat.high is None else heat.high, "more") if value > heat.middle else (heat.low, "less")
    strength = abs(value - heat.middle) / (abs(end - heat.middle) or 1)
    return f' style="--heat:{STRONGEST * strength:.0f}%;--side:var(--{side})"' if strength >= FAINTEST else ""
