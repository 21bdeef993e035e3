"""The pictures of the book show what its tables say, and all of it can be read."""

from functools import cache
from itertools import chain

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from stb_gym import ShutTheBox, Threes
from stb_gym.book import boxes, pictures, players
from stb_gym.book.contents import contents
from stb_gym.rounds import TIES

pytestmark = pytest.mark.slow  # for pictures take their time

BOX, THREES, ONE_TILE = ShutTheBox(6), Threes(3), ShutTheBox(1)


@cache
def table_of(game, name):
    return contents(game)[name].table()


def drawn(game, name):
    return contents(game)[name].picture(table_of(game, name))


def values(table, heading):
    return table.columns[heading].values


def lines(axes):
    return [tuple(line.get_xydata().T.tolist()) for line in axes.lines]


EVERY_PICTURE = [
    pytest.param(game, name, id=f"{game.name}-{name}")
    for game in (BOX, THREES, ONE_TILE)
    for name, page in contents(game).items()
    if page.picture is not None and len(table_of(game, name)) > 0
]


@pytest.mark.parametrize(("game", "name"), EVERY_PICTURE)
def test_all_words_of_a_picture_are_inside_it(game, name):
    figure = drawn(game, name)
    FigureCanvasAgg(figure).draw()
    used, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(used.x0, used.y0, width - used.x1, height - used.y1) > -0.02, used
    axes = figure.axes[0]
    for legend in figure.legends:
        assert not any(legend.get_window_extent().overlaps(below.get_tightbbox()) for below in figure.axes)
    assert figure.get_suptitle() or axes.get_title()
    assert figure.get_supxlabel() or axes.get_xlabel()
    assert figure.get_supylabel() or axes.get_ylabel() or axes.get_yticklabels()


def test_boards():
    table = table_of(BOX, "states-sum")
    panels = drawn(BOX, "states-sum").axes[:6]
    shown = np.concatenate([axes.collections[0].get_offsets() for axes in panels])
    boards = [row for row in table.rows if row[1] > 0]
    assert len(shown) == len(boards) == 63
    costs = {row[0]: 21 - best for row, best in zip(table.rows, values(table, "best"), strict=True)}
    expected = sorted((open_sum / tiles, costs[state]) for state, tiles, _, open_sum, *_ in boards)
    assert sorted(map(tuple, shown.round(9).tolist())) == sorted((round(x, 9), round(y, 9)) for x, y in expected)
    assert [axes.get_title() for axes in panels][:2] == ["1 tile open", "2 tiles open"]
    [full] = panels[5].collections[0].get_offsets()
    assert full.tolist() == [3.5, 21 - values(table, "best")[0]]


def test_scores():
    exact, sampled = table_of(BOX, "scores"), table_of(BOX, "scores-sampled")
    [axes] = drawn(BOX, "scores-sampled").axes
    names = boxes.PICTURED
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(names)
    assert lines(axes) == [
        (values(table, "score"), values(table, name)) for name in names for table in (exact, sampled)
    ]


def test_the_frontier():
    table, known = table_of(THREES, "frontier"), players.ranking(THREES)
    figure = drawn(THREES, "frontier")
    wide, close = figure.axes
    corners = (values(table, "expected points"), values(table, "chance of score 0"))
    assert lines(wide)[0] == lines(close)[0] == corners
    places = set(zip(values(known, "expected points"), values(known, "chance of score 0"), strict=True))
    marked = {(x, y) for [x], [y] in lines(wide)[1:]}
    assert len(marked) <= len(places)
    for place in places:
        assert min(np.abs(np.array(list(marked)) - place).max(axis=1)) < 1e-8
    near = {(x, y) for [x], [y] in lines(close)[1:]}
    assert near < marked
    assert corners[0][0] == pytest.approx(min(near)[0], abs=1e-8)
    named = [text.get_text().replace("\n", " ").split(", ") for text in figure.legends[0].get_texts()]
    assert sorted(chain(*named)) == sorted(["frontier", *values(known, "strategy")])


def test_the_dearest_mistakes():
    table = table_of(BOX, "departures-biggest-first-by-cost")
    [axes] = drawn(BOX, "departures-biggest-first-by-cost").axes
    assert [bar.get_width() for bar in axes.patches] == values(table, "cost")[: pictures.BARS]
    state, roll, plays, best, *_ = table.rows[0]
    assert axes.get_yticklabels()[0].get_text() == f"{state}, roll {roll}\n{plays}; best {best}"
    assert axes.yaxis_inverted()
    assert "biggest-first" in axes.get_title()


@pytest.mark.parametrize("ties", ["split", "all-win"])
def test_the_tournament(ties):
    table = table_of(THREES, f"tournament-{ties}")
    [axes] = drawn(THREES, f"tournament-{ties}").axes
    names = values(table, "first player")
    assert [label.get_text() for label in axes.get_yticklabels()] == names
    assert [label.get_text() for label in axes.get_xticklabels()] == names
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    for row, first in enumerate(table.rows):
        assert [shown[across, row] for across in range(len(names))] == [f"{100 * win:.1f}" for win in first[1:]]
    assert TIES[ties] in axes.get_title()


def test_winning():
    table = table_of(THREES, "winning")
    [axes] = drawn(THREES, "winning").axes
    shown = [heading for heading in list(table.columns)[1:] if "all win" not in heading]
    assert lines(axes) == [(values(table, "score"), values(table, heading)) for heading in shown]
    for after, band in enumerate(axes.collections, 1):
        [path] = band.get_paths()
        headings = [f"{after} after, all win: {end}" for end in ("least", "most")]
        ends = [zip(values(table, "score"), values(table, heading), strict=True) for heading in headings]
        assert {*map(tuple, path.vertices.tolist())} == {*chain(*ends)}
    assert [line.get_linestyle() for line in axes.lines] == ["-", "--"] * 5
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [f"{after} after" for after in range(1, 6)]


def test_beat_and_take_or_rethrow():
    table = table_of(THREES, "beat")
    [axes] = drawn(THREES, "beat").axes
    assert lines(axes) == [(values(table, "below"), values(table, f"{dice} left")) for dice in (1, 2, 3)]
    two = table_of(THREES, "take-or-rethrow").take(range(12))
    panels = drawn(THREES, "take-or-rethrow").axes
    assert [axes.get_title() for axes in panels] == [f"take a {face}" for face in (3, 1, 2, 4, 5, 6)]
    for axes in panels:
        take, rethrow = (values(two, heading) for heading in (axes.get_title(), "rethrow all"))
        assert lines(axes) == [(values(two, "below"), take), (values(two, "below"), rethrow)]
