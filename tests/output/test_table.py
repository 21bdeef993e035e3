"""One table, the same in text, Markdown and HTML."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from stb_gym.output import Column, Table, column, html_table

TABLE = Table(
    {
        "The word": Column("", ["a", "longer", None]),
        "p (q)": column(".2%", np.array([0.5, 1 / 3, 0.0])),
        "count": Column(",d", [1, 1234567, None]),
        "time": Column(lambda seconds: f"{1000 * seconds:.3g} ms", [0.001, 0.25, 1.0]),
    },
    "Words and chances",
)
ROGUE = Table({"na|me": Column("", ["a|b", "c\\|d", "\x1b[2J\n| --- |", "<b>&\"'"]), "n": Column("d", [1, 2, 3, 4])})


class Cells(HTMLParser):
    """The caption and the cells of a table, each with its tag and attributes; tags must close in order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.caption = [], [], ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1][2] += data
        if self.open[-1:] == ["caption"]:
            self.caption += data


def split_markdown(line):
    """The cells of a line of Markdown: a pipe after an even number of backslashes ends one."""
    cells = re.findall(r"\| ((?:\\.|[^|\\])*) (?=\|)", line)
    return [re.sub(r"(\\*)\\\|", lambda found: found[1][: len(found[1]) // 2] + "|", cell) for cell in cells]


def test_text_aligns_words_to_the_left_and_numbers_to_the_right():
    assert TABLE.to_text().splitlines() == [
        "The word   p (q)      count      time",
        "a         50.00%          1      1 ms",
        "longer    33.33%  1,234,567    250 ms",
        "           0.00%             1e+03 ms",
    ]
    assert str(TABLE) == TABLE.to_text()


def test_trailing_blanks_are_stripped():
    assert Table.from_rows(("a", "b"), [("1", ""), ("", "long")]).to_text() == "a  b\n1\n   long"


def test_markdown_aligns_numbers_to_the_right():
    assert TABLE.to_markdown() == (
        "| The word | p (q) | count | time |\n| --- | ---: | ---: | ---: |\n"
        "| a | 50.00% | 1 | 1 ms |\n| longer | 33.33% | 1,234,567 | 250 ms |\n|  | 0.00% |  | 1e+03 ms |"
    )


@pytest.mark.parametrize(("limit", "rows"), [(0, 0), (2, 2), (3, 3), (9, 3)])
def test_a_table_of_a_notebook_is_cut_and_says_so(limit, rows):
    page = html_table("Words", {"word": ["a", "b", "c"], "n": [1, 2, None]}, limit)
    assert len(Cells(page).rows) == 1 + rows
    assert page.endswith(f"<p>The first {limit} of 3 rows.</p>" if rows < 3 else "</table>")


def test_html_is_a_table_with_headings_and_numbers():
    head, *rows = Cells(TABLE.to_html()).rows
    assert [text for _, _, text in head] == list(TABLE.columns)
    assert all(tag == "th" and attributes["scope"] == "col" for tag, attributes, _ in head)
    for (tag, attributes, _), *others in rows:
        assert (tag, attributes["scope"]) == ("th", "row")
        assert {tag for tag, *_ in others} == {"td"}
    assert [[text for *_, text in row] for row in rows] == TABLE.cells()
    for row in (head, *rows):
        assert [attributes.get("class") for _, attributes, _ in row] == [None, "number", "number", "number"]


def test_the_title_of_a_table_is_its_caption():
    assert Cells(TABLE.to_html()).caption == TABLE.title
    assert Cells(Table(TABLE.columns, "<\x1b>").to_html()).caption == "<\\x1b>"
    assert "caption" not in ROGUE.to_html()


def test_strange_names_break_nothing():
    cells = [["a|b", "1"], ["c\\|d", "2"], ["\\x1b[2J\\n| --- |", "3"], ["<b>&\"'", "4"]]
    assert ROGUE.cells() == cells
    assert [split_markdown(line) for line in ROGUE.to_markdown().splitlines()] == [
        ["na|me", "n"],
        ["---", "---:"],
        *cells,
    ]
    _, *rows = Cells(ROGUE.to_html()).rows
    assert [[text for *_, text in row] for row in rows] == cells
    assert len(ROGUE.to_text().splitlines()) == 5
    heading = Table.from_rows(("\x1b\n<i>|",), [("x",)])
    for written in (heading.to_text(), heading.to_markdown(), heading.to_html()):
        assert "\\x1b\\n" in written
        assert "\x1b" not in written
    assert "&lt;i&gt;" in heading.to_html()


def test_take_and_rows():
    taken = TABLE.take(np.array([2, 0]))
    assert taken.rows == [TABLE.rows[2], TABLE.rows[0]]
    assert taken.cells() == [TABLE.cells()[2], TABLE.cells()[0]]
    assert taken.title == TABLE.title
    assert TABLE.take([]).rows == []
    assert TABLE.take([]).to_text() == "The word  p (q)  count  time"


def test_arrays_become_plain_numbers():
    assert [type(value) for value in column("d", np.arange(2)).values] == [int, int]
    assert column("d", (n for n in range(2))).values == [0, 1]


def test_rows_without_a_common_format():
    pairs = [("value", "0.5"), ("exactly", "1/2"), ("states", None)]
    assert Table.from_rows((), pairs).to_text() == "value    0.5\nexactly  1/2\nstates"
    table = Table.from_rows(("", "win"), iter(pairs))
    assert table.to_text() == "         win\nvalue    0.5\nexactly  1/2\nstates"
    assert table.rows == pairs
    assert Table.from_rows(("a", "b"), []).to_text() == "a  b"


@pytest.mark.parametrize(
    ("headings", "rows"), [(("a", "a"), [("1", "2")]), (("a", "b"), [("1",)]), (("a",), [("1", "2")]), (("a", "a"), [])]
)
def test_rows_that_do_not_fit_their_headings_are_refused(headings, rows):
    with pytest.raises(ValueError, match="a cell in every row for each of its headings, which differ"):
        Table.from_rows(headings, rows)


@pytest.mark.parametrize("columns", [{}, {"a": Column("", ["x"]), "b": Column("d", [])}])
def test_columns_of_different_lengths_are_refused(columns):
    with pytest.raises(ValueError, match="columns of one length"):
        Table(columns)
