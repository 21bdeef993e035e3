"""Tables of `stb_gym.output` as Markdown and HTML."""

import re
from html import escape

from stb_gym.output import Table, escaped


def markdown(table: Table) -> str:
    """Return a table in Markdown."""
    rule = ["---" if column.format == "" else "---:" for column in table.columns.values()]
    rows = zip(*(column.cells() for column in table.columns.values()), strict=True)
    lines = [[escaped(heading) for heading in table.columns], rule, *rows]
    # A pipe inside a cell is escaped, and so are the backslashes before it.
    piped = [[re.sub(r"(\\*)\|", r"\1\1\\|", cell) for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in piped)


def html(table: Table, title: str) -> str:
    """Return a table in HTML with a caption; cells with numbers have the class "number"."""
    marks = ["" if column.format == "" else ' class="number"' for column in table.columns.values()]
    head = "".join(
        f'<th scope="col"{mark}>{escape(escaped(heading))}</th>'
        for heading, mark in zip(table.columns, marks, strict=True)
    )
    body = ""
    for first, *others in zip(*(column.cells() for column in table.columns.values()), strict=True):
        body += f'<tr><th scope="row"{marks[0]}>{escape(first)}</th>'
        for mark, cell in zip(marks[1:], others, strict=True):
            body += f"<td{mark}>{escape(cell)}</td>"
        body += "</tr>\n"
    caption = f"<caption>{escape(escaped(title))}</caption>"
    return f"<table>\n{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>"
