"""Tables as Markdown and HTML."""

from html.parser import HTMLParser

import pytest

from stb_gym.output import Column, Table
from training.tables import html, markdown

TABLE = Table(
    {
        "The word": Column("", ["a", "longer", None]),
        "p (q)": Column(".2%", [0.5, 1 / 3, 0.0]),
        "time": Column(lambda seconds: f"{1000 * seconds:.3g} ms", [0.001, 0.25, 1.0]),
    }
)
ROGUE = Table({"na|me": Column("", ["a|b", "c\\|d", "\x1b[2J\n| --- |", "<b>&\"'"]), "n": Column("d", [1, 2, 3, 4])})


@pytest.mark.parametrize("table", [TABLE, ROGUE], ids=["numbers", "strange names"])
def test_tables(table, snapshot):
    assert f"{markdown(table)}\n\n{html(table, 'Words & <chances>')}" == snapshot


def test_html_closes_its_tags():
    class Tags(HTMLParser):
        """A stack of open tags."""

        stack: list

        def handle_starttag(self, tag, attributes):
            self.stack.append(tag)

        def handle_endtag(self, tag):
            assert self.stack.pop() == tag

    parser = Tags()
    parser.stack = []
    parser.feed(html(TABLE, "Words") + html(ROGUE, "<i>"))
    assert parser.stack == []
