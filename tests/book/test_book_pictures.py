"""The pictures of the book show what its tables say, and all of it can be read."""

from xml.etree import ElementTree

import numpy as np
import pytest

from stb_gym import ShutTheBox, solve, strategy
from stb_gym.book import boxes, players
from stb_gym.book.contents import contents
from stb_gym.book.pictures import Key, Panel, Picture, paint
from stb_gym.book.tree import LEAVES, tree
from stb_gym.exact import score_chances
from tests.book.reading import Drawn

ONE_TILE = ShutTheBox(1)


def picture_of(book, name):
    return contents(book.game)[name].picture(book.tables[name])


def drawn(book, name):
    return [Drawn(panel) for panel in picture_of(book, name).panels]


def values(table, heading):
    return table.columns[heading].values


def close(found, expected):
    """Places are rounded to tenths of a unit of SVG, of which a panel has hundreds."""
    assert len(found) == len(expected)
    found, expected = np.array(found, float), np.array(expected, float)
    assert (abs(found - expected) <= 0.002 * np.ptp(expected, axis=0) + 0.002).all()


def all_inside(picture):
    for panel in picture.panels:
        for text, first, last, down in Drawn(panel).words:
            assert first > -8, text
            assert last < panel.width + 8, text
            assert 10 < down < panel.height, text
    root = ElementTree.fromstring(picture.to_svg())
    assert root.findtext("{http://www.w3.org/2000/svg}title") == picture.caption
    assert [key.name for key in picture.keys if f">{key.name}<" not in picture.to_svg()] == []


@pytest.mark.slow
def test_all_words_of_pictures_are_inside_them(book):
    pictures = {name for name, page in contents(book.game).items() if page.picture and name in book.tables}
    assert {"openings", "tree", "frontier", "scores", "rounds", "winning", "evenings"} < pictures
    for name in pictures:
        all_inside(picture_of(book, name))
        assert (book.folder / f"{name}.svg").read_text() == picture_of(book, name).to_svg()


def test_pictures_of_the_smallest_game():
    for name in ("openings", "frontier", "scores", "winning", "evenings", "states-sum"):
        page = contents(ONE_TILE)[name]
        all_inside(page.picture(page.table()))


def test_axes_have_round_numbers_and_any_ends():
    said = [text for text, *_ in Drawn(Panel((0, 45), (-0.02, 0.013), "points", "share", percent=True)).words]
    assert said[:2] == ["points", "share"]
    assert {"0", "10", "40", "\N{MINUS SIGN}1%", "1%"} < set(said)
    flat = Drawn(Panel((3, 3), (0, 0)))
    assert flat.panel.x == (2.5, 3.5)
    assert "\N{MINUS SIGN}" not in "".join(text for text, *_ in Drawn(Panel((0, 1), (0, 1), bare=True)).words)


def test_words_from_outside_are_no_markup():
    picture = Picture([Panel((0, 1), (0, 1), title="<b>&")], "a < b", [Key("<i>", "red")])
    assert "<b>" not in picture.to_svg()
    ElementTree.fromstring(picture.to_svg())


def test_black_is_the_ink_of_the_page():
    assert paint("#000000") == "var(--ink)"
    assert paint("#0072b2") == "#0072b2"


@pytest.mark.slow
def test_boards(box):
    table = box.tables["states-sum"]
    panels = drawn(box, "states-sum")
    places = [(mean, cost) for panel in panels for mean, cost in panel.dots]
    boards = [
        (row, row[3] / row[1], 21 - best) for row, best in zip(table.rows, values(table, "best"), strict=True) if row[1]
    ]
    expected = [(mean, cost) for tiles in range(1, 7) for row, mean, cost in boards if row[1] == tiles]
    assert len(places) == 63
    close(sorted(places), sorted(expected))
    dearest, _, most = max(boards, key=lambda board: board[2])
    assert f"{dearest[0]} most, {most:.2f}" in picture_of(box, "states-sum").caption


@pytest.mark.slow
def test_scores_are_told_by_their_difference_from_the_best(box):
    table = box.tables["scores"]
    best, *others = drawn(box, "scores")
    names = ["optimal-score", *(name for name in boxes.PICTURED if name != "optimal-score")]
    close([high for _, _, high in best.bars], values(table, "optimal-score"))
    solution = solve(box.game)
    for name, panel in zip(names[1:], others, strict=True):
        differ = np.array(values(table, name)) - values(table, "optimal-score")
        close([low + high for _, low, high in panel.bars], differ)
        exact = [
            score_chances(solution.tables, solution.evaluate(strategy(box.game, each)).visits)
            for each in (name, names[0])
        ]
        behind = (exact[0] - exact[1]).cumsum()
        assert f"in {100 * abs(behind).max():.2f} of a hundred turns" in picture_of(box, "scores").caption


@pytest.mark.slow
def test_first_rolls_are_as_wide_as_they_are_likely(box):
    table, [panel] = box.tables["openings"], drawn(box, "openings")
    close([left for left, *_ in panel.bars], np.cumsum([0, *values(table, "chance of the roll")[:-1]]))
    close([high for *_, high in panel.bars], values(table, "expected points"))
    [mean] = panel.lines
    close(mean, [(0, solve(box.game).value), (1, solve(box.game).value)])
    assert {*values(table, "roll")} <= {text for text, *_ in panel.words}


@pytest.mark.slow
def test_the_frontier(threes):
    table, known = threes.tables["frontier"], players.ranking(threes.game)
    wide, near = drawn(threes, "frontier")
    corners = [*zip(values(table, "expected points"), values(table, "chance of score 0"), strict=True)]
    places = {
        *zip(
            *(np.round(values(known, heading), 9).tolist() for heading in ("expected points", "chance of score 0")),
            strict=True,
        )
    }
    for panel in (wide, near):
        [line] = panel.lines
        close(line, corners)
        assert len(panel.dots) >= len(corners)
    assert len(wide.dots) == len(corners) + len(places)
    close(sorted(wide.dots[len(corners) :]), sorted(places))
    named = ", ".join(key.name for key in picture_of(threes, "frontier").keys).split(", ")
    assert sorted(named) == sorted(["frontier", *values(known, "strategy")])


@pytest.mark.slow
def test_the_tree(box):
    table, [panel] = box.tables["tree"], drawn(box, "tree")
    assert LEAVES[0] <= len(table) <= LEAVES[1]
    words = {text for text, *_ in panel.words}
    for move, loses, _, roll, chance, reply, worth in table.rows:
        assert move in words
        assert ("best" if loses == 0 else f"loses {loses:.2f}") in words
        assert f"{roll} ({chance:.0%}): {reply}, {worth:.1f}" in words
    by_move = {}
    for move, loses, _, _, chance, _, worth in table.rows:
        by_move.setdefault((move, loses), []).append((chance, worth))
    mean = {key: sum(chance * worth for chance, worth in rolls) for key, rolls in by_move.items()}
    assert all(sum(chance for chance, _ in rolls) == pytest.approx(1) for rolls in by_move.values())
    least = min(mean.values())
    assert {loses: value - least for (_, loses), value in mean.items()} == pytest.approx(
        {loses: loses for _, loses in mean}
    )
    departures = box.tables["departures-fewest-then-biggest-by-cost"].rows
    _, _, plays, best, loss, *_ = next(row for row in departures if f": {row[0]}, roll {row[1]}" in table.title)
    assert by_move.keys() >= {(best, 0.0), (plays, loss)}
    assert len(tree(ONE_TILE, "random")) == 0


@pytest.mark.slow
def test_the_seats(threes):
    table, [panel] = threes.tables["rounds"], drawn(threes, "rounds")
    wins = [(row[0], row[2]) for row in table.rows if row[0] > 1]
    lefts = [sum(win for size, win in wins[:place] if size == wins[place][0]) for place in range(len(wins))]
    close([left for left, *_ in panel.bars], lefts)
    assert [text for text, *_ in panel.words if "." in text] == [f"{100 * win:.1f}" for _, win in wins]
    colours = [part.split("var(--")[1][:4] for part in panel.panel.parts if part.startswith("<rect")]
    assert colours == ["more" if size * win > 1 else "less" for size, win in wins]


@pytest.mark.slow
def test_winning(threes):
    table, [panel] = threes.tables["winning"], drawn(threes, "winning")
    shown = [f"{after} after{end}" for after in range(1, 6) for end in (", approximation", "")]
    for line, heading in zip(panel.lines, shown, strict=True):
        close(line, [*zip(values(table, "score"), values(table, heading), strict=True)])
    assert sum('class="band"' in part for part in panel.panel.parts) == 5
    assert [key.name for key in picture_of(threes, "winning").keys] == [f"{after} after" for after in range(1, 6)]


@pytest.mark.slow
def test_evenings(threes):
    table, [panel] = threes.tables["evenings"], drawn(threes, "evenings")
    [line] = panel.lines
    beats, loses = (np.array(values(table, f"{verb} threes-only")) for verb in ("beats", "loses to"))
    close(line, [*zip(values(table, "rounds"), (1 + beats - loses) / 2, strict=True)])


@pytest.mark.slow
def test_beat_and_take_or_rethrow(threes):
    table, [panel] = threes.tables["beat"], drawn(threes, "beat")
    for line, dice in zip(panel.lines, (1, 2, 3), strict=True):
        close(line, [*zip(values(table, "below"), values(table, f"{dice} left"), strict=True)])
    two = threes.tables["take-or-rethrow"].take(range(12))
    for panel, face in zip(drawn(threes, "take-or-rethrow"), (3, 1, 2, 4, 5, 6), strict=True):
        assert f"take a {face}" in {text for text, *_ in panel.words}
        for line, heading in zip(panel.lines, ("rethrow all", f"take a {face}"), strict=True):
            close(line, [*zip(values(two, "below"), values(two, heading), strict=True)])
    assert "never worse with 3." in picture_of(threes, "take-or-rethrow").caption
