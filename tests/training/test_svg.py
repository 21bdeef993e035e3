"""Pictures as SVG: well-formed, always the same, with words that are words, and light where the page is dark."""

import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from training.palette import INK, colour_of
from training.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"


def drawing():
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    axes.plot([1, 2], [3, 4], color=INK, label="optimum")
    axes.plot([1, 2], [4, 3], color=colour_of("ppo"), label="<ppo> & co.")
    axes.set_yscale("log")
    figure.legend(frameon=False)
    return figure


@pytest.fixture(scope="module")
def picture():
    return to_svg(drawing())


def test_it_is_xml_whose_words_can_be_read(picture):
    root = ElementTree.fromstring(picture)
    assert root.tag == f"{SVG}svg"
    words = {"".join(text.itertext()) for text in root.iter(f"{SVG}text")}
    assert {"optimum", "<ppo> & co.", "1.0"} <= words
    assert picture.count("font-family") == 1  # the reader's own


def test_ink_and_words_follow_the_colour_scheme_and_colours_stay(picture):
    assert INK not in picture
    light, dark = re.findall(r"svg \{ color: (#\w{6}) \}", picture)
    assert "prefers-color-scheme: dark" in picture[picture.index(light) : picture.index(dark)]
    assert "text { fill: currentColor;" in picture
    assert picture.count(f"stroke: {colour_of('ppo')}") == 2  # the line and its legend
    assert picture.count("stroke: currentColor") > 2


def test_it_has_no_ground(picture):
    grounds = [
        path for path in ElementTree.fromstring(picture).iter(f"{SVG}path") if "fill: #ffffff" in str(path.attrib)
    ]
    assert grounds == []


def test_the_same_figure_gives_the_same_text(picture):
    assert to_svg(drawing()) == picture
