"""The pictures of a turn of any game: scores, first rolls, the trade-off with the perfect score, and a tree."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.book.pictures.charts import INK, WIDTH, Panel
from stb_gym.book.pictures.picture import Key, Picture, paint, values
from stb_gym.output import Style, Table

LOW = (WIDTH, 170)  # a panel of several that are read one by one
NAMED = 15  # first rolls, at most, that have room for their names
MEAN = (3.0, 2.0)  # the dashes of a mean
NEAR = 5  # lengths of the frontier: what is shown beside it
ROW = 20  # of a tree, in units of SVG
MOVE_AT, ROLL_AT, FAN = 0.0, 0.46, 0.1  # where its moves and rolls stand and its lines part, as shares of the width


def draw_scores(table: Table, names: Sequence[str], styles: Mapping[str, Style]) -> Picture:
    """The final scores of the best play, and how those of strategies differ, from `players.exact_scores`.

    Args:
        table: the exact chances.
        names: the best play, then the strategies to compare with it.
        styles: how each looks.
    """
    scores, best = values(table, "score"), values(table, names[0])
    ends = (scores.min() - 0.5, scores.max() + 0.5)
    panel = Panel(ends, (0, best.max()), "final score (points)", "chance", names[0], percent=True, size=LOW)
    panels, said = [panel], []
    _bars(panel, scores, best, paint(styles[names[0]].colour))
    for name in names[1:]:
        more = values(table, name) - best
        low, high = min(0, more.min()), max(0, more.max())
        panel = Panel(ends, (low, high), "final score (points)", "chance more or less", f"{name} beside {names[0]}",
                      percent=True, size=LOW)  # fmt: skip
        _bars(panel, scores, more, paint(styles[name].colour))
        panels.append(panel)
        behind = more.cumsum()  # the scores come best first
        place = abs(behind).argmax()
        often = "more" if behind[place] > 0 else "fewer"
        said.append(
            f"{name} ends with {scores[place]} or better in {100 * abs(behind[place]):.2f} of a hundred turns {often}"
        )
    return Picture(
        panels,
        f"How often perfect play for the points ends with every score, and how much more or less often others do. "
        f"Where they differ most, {'; '.join(said)}.",
        across=2,
    )


def draw_first_rolls(table: Table) -> Picture:
    """What every first roll is worth, from `positions.openings`."""
    chance, worth, rolled = (values(table, name) for name in ("chance of the roll", "expected points", "roll"))
    right = chance.cumsum()
    left, mean = right - chance, float(chance @ worth)
    panel = Panel((0, 1), (min(0, worth.min()), worth.max()), "share of first rolls, the luckiest on the left",
                  "expected points", whole=False)  # fmt: skip
    for place in range(len(worth)):
        panel.bar(left[place], right[place], 0, worth[place], "var(--accent)")
        if len(worth) <= NAMED:
            panel.say((left[place] + right[place]) / 2, worth[place] * 0.06, rolled[place], "inside")
    panel.line([0, 1], [mean, mean], INK, MEAN)
    return Picture(
        [panel],
        f"Expected points after every first roll, each as wide as it is likely; the dashed line is their mean, "
        f"{mean:.2f}. The luckiest, {rolled[0]}, leaves {worth[0]:.2f} to be expected, the unluckiest, {rolled[-1]}, "
        f"{worth[-1]:.2f}.",
    )


def draw_frontier(corners: Table, ranking: Callable[[], Table], styles: Mapping[str, Style]) -> Picture:
    """The trade-off of points and the perfect score, from `frontier.frontier`; `ranking` is `players.ranking`."""
    perfect = list(corners.columns)[1]
    points, chance = values(corners, "expected points"), values(corners, perfect)
    places = _by_place(ranking(), perfect)
    near = {
        (x, y): names
        for (x, y), names in places.items()
        if abs(points - x).min() <= NEAR * np.ptp(points) and chance.min() - y <= NEAR * np.ptp(chance)
    }
    panels = []
    for title, shown in (("all strategies", places), ("what comes near the frontier", near))[: len(points)]:
        xs, ys = np.array([*shown, *zip(points, chance, strict=True)]).T
        panel = Panel(_around(xs), _around(ys), "expected points", perfect, title, percent=True, whole=False)
        panel.line(points, chance, INK)
        panel.dots(points, chance, INK, 2.5)
        for (x, y), names in shown.items():
            panel.dots([x], [y], paint(styles[names[0]].colour), 5.5, hollow=bool(styles[names[0]].dashes))
        panels.append(panel)
    keys = [
        Key(", ".join(names), paint(styles[names[0]].colour), styles[names[0]].dashes, True)
        for names in places.values()
    ]
    least, most = chance.min(), chance.max()
    return Picture(
        panels,
        f"What plays expect and how often they reach the perfect score; none lies beyond the line. Along it the chance "
        f"grows from {least:.2%} to {most:.2%}, for {abs(points[-1] - points[0]):.3f} points.",
        [Key("frontier", INK), *keys],
        2,
    )


def draw_tree(table: Table) -> Picture:
    """A position on the left, its moves, and the next rolls on the right, from `tree`."""
    rows = table.rows
    panel = Panel(
        (0, 1), (-len(rows), 0), title=table.title.partition(": ")[2], size=(WIDTH, ROW * len(rows) + 70), bare=True
    )
    moves = dict.fromkeys(row[:3] for row in rows)
    middle = -len(rows) / 2
    for move, loses, _ in reversed(moves):  # the best one on top
        places = [place for place, row in enumerate(rows) if row[:2] == (move, loses)]
        colour = INK if loses == 0 else "var(--less)"
        height = -(places[0] + places[-1] + 1) / 2
        panel.line([-0.06, -0.03, -0.03, MOVE_AT], [middle, middle, height, height], colour)
        panel.say(MOVE_AT, height + 0.45, move, "title", "start")
        panel.say(MOVE_AT, height - 0.45, "best" if loses == 0 else f"loses {loses:.2f}", "soft", "start")
        for place in places:
            *_, rolled, chance, reply, worth = rows[place]
            panel.line([ROLL_AT - FAN, ROLL_AT - FAN / 2, ROLL_AT - 0.02], [height, -place - 0.5, -place - 0.5], colour)
            said = f"{rolled} ({chance:.0%}): {reply}" if rolled else reply
            panel.say(ROLL_AT, -place - 0.5, f"{said}, {worth:.1f}", "soft", "start")
    best, *others = moves
    lost = " and ".join(f"{move} loses {loses:.2f}" for move, loses, _ in others)
    return Picture(
        [panel],
        f"Every move, every next roll with its chance, the best reply and the points then to be expected: {best[0]} is "
        f"best, {lost}.",
    )


def _by_place(known: Table, perfect: str) -> dict[tuple[float, float], list[str]]:
    """The names of strategies by their expected points and chance of the perfect score; some are alike."""
    found: dict[tuple[float, float], list[str]] = {}
    headings = ("strategy", "expected points", perfect)
    for name, *place in zip(*(known.columns[heading].values for heading in headings), strict=True):
        points, chance = (round(value, 9) for value in place)
        found.setdefault((points, chance), []).append(name)
    return found


def _bars(panel: Panel, scores: NDArray[Any], heights: NDArray[Any], colour: str) -> None:
    for score, height in zip(scores.tolist(), heights.tolist(), strict=True):
        panel.bar(score - 0.5, score + 0.5, 0, height, colour)


def _around(numbers: NDArray[Any]) -> tuple[float, float]:
    """The ends of an axis with room beside the numbers."""
    room = 0.06 * float(np.ptp(numbers)) or 0.01
    return float(numbers.min()) - room, float(numbers.max()) + room
