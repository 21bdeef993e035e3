"""Reading a book as its readers' programs do: what stands on its page, and where things lie in its pictures."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

from stb_gym.book.pictures.charts import BOTTOM, LEFT, RIGHT

VOID = ("meta", "input", "br", "rect", "circle", "use", "path")


class Page(HTMLParser):
    """Checks that tags close in order; collects what is on the page.

    Attributes:
        links: where links lead; `ids`: places on the page.
        sections: by the id of a section or a folded table, the rows of its table, drawn cells by their labels.
        captions, headings: of the tables, by the same ids: the caption, and (text, scope) of every heading.
        pictures: by the same ids, the ids of the words that label the picture.
        words: all text by the id of its innermost element that has one.
        tags: every tag that there is.
    """

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.ids, self.tags = [], [], [], []
        self.sections, self.captions, self.headings, self.pictures, self.words = {}, {}, {}, {}, {}
        self.place, self.within = "", [""]
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
            self.within.append(found.get("id", self.within[-1]))
        if "id" in found:
            self.ids.append(found["id"])
        if tag in ("section", "details") and "id" in found:
            self.place = found["id"]
        if tag == "a":
            self.links.append(found["href"])
        if tag == "table":
            self.sections[self.place], self.headings[self.place] = [], []
        if tag == "th" and "thead" in self.open:
            self.headings[self.place].append(["", found.get("scope")])
        if tag == "tr" and "tbody" in self.open:
            self.sections[self.place].append([])
        if tag in ("td", "th") and "tbody" in self.open:
            assert found.get("scope") == ("row" if tag == "th" else None)
            assert (tag == "th") == (self.sections[self.place][-1] == [])
            self.sections[self.place][-1].append("")
        if found.get("role") == "img" and "figure" in self.open:
            self.pictures[self.place] = found["aria-labelledby"]
        elif found.get("role") == "img" and "tbody" in self.open:
            self.sections[self.place][-1][-1] += found["aria-label"]

    def handle_startendtag(self, tag, attrs):
        assert tag in VOID

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.within.pop()

    def handle_data(self, data):
        self.words[self.within[-1]] = self.words.get(self.within[-1], "") + data
        if "caption" in self.open:
            self.captions[self.place] = data
        if "th" in self.open and "thead" in self.open:
            self.headings[self.place][-1][0] += data
        elif {"td", "th"} & {*self.open} and "span" not in self.open:
            self.sections[self.place][-1][-1] += data


class Drawn:
    """What lies on a panel, in the numbers of its axes."""

    def __init__(self, panel):
        self.panel, self.root = panel, ElementTree.fromstring(str(panel))

    def across(self, x):
        low, high = self.panel.x
        return low + (float(x) - LEFT) / (self.panel.width - LEFT - RIGHT) * (high - low)

    def up(self, y):
        low, high = self.panel.y
        return low + (self.panel.height - BOTTOM - float(y)) / (self.panel.height - BOTTOM - self.panel.top) * (
            high - low
        )

    @property
    def words(self):
        """The texts, and where they begin and end across, for letters of a common width."""
        for text in self.root.iter("text"):
            wide, x = 7.1 * len(text.text), float(text.get("x"))
            first = x - {"start": 0, "middle": 0.5, "end": 1}[text.get("text-anchor")] * wide
            yield text.text, first, first + wide, float(text.get("y"))

    @property
    def dots(self):
        return [(self.across(dot.get("cx")), self.up(dot.get("cy"))) for dot in self.root.iter("circle")]

    @property
    def lines(self):
        """The places of every line, those of grids and bands apart."""
        drawn = (path.get("d") for path in self.root.iter("path") if not path.get("class"))
        return [[(self.across(x), self.up(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)] for path in drawn]

    @property
    def bars(self):
        """(left, low, high) of every bar."""
        return [
            (
                self.across(bar.get("x")),
                self.up(float(bar.get("y")) + float(bar.get("height"))),
                self.up(bar.get("y")),
            )
            for bar in self.root.iter("rect")
        ]
