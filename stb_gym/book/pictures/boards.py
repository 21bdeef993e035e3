"""The pictures of single games: the boards of Shut the Box, and the dice of Threes."""

import numpy as np

from stb_gym.book.pictures.charts import Panel, ramp
from stb_gym.book.pictures.picture import Key, Picture, values
from stb_gym.output import Table

SMALL = (300, 200)  # a panel of several side by side
PANELS = 6  # faces of a die that are shown


def draw_boards(table: Table) -> Picture:
    """What every board costs, from `states` counted in the sum of the tiles shut."""
    tiles, highest, sums = (values(table, heading) for heading in ("open tiles", "highest open", "open sum"))
    cost = sums.max() - values(table, "best")
    some = tiles > 0
    mean = sums / np.maximum(tiles, 1)
    panels = []
    for number in range(1, int(tiles.max()) + 1):
        here = tiles == number
        title = "1 tile open" if number == 1 else f"{number} tiles open"
        panel = Panel(
            (0.5, highest.max() + 0.5), (0, cost.max()), "mean of the open tiles", "left open", title, size=SMALL
        )
        for x, y, high in zip(mean[here], cost[here], highest[here], strict=True):
            panel.dots([x], [y], ramp(high / highest.max()), 3.5)
        panels.append(panel)
    state, least, most = (table.columns["state"].values, *(np.where(some, cost, end) for end in (np.inf, -np.inf)))
    return Picture(
        panels,
        "The points that every board is expected to leave, by the number of its open tiles and their mean, in the "
        f"colour of its highest open tile. Of those not shut {state[least.argmin()]} costs least, {least.min():.2f}, "
        f"and {state[most.argmax()]} most, {most.max():.2f}.",
        [Key(f"highest open tile {tile}", ramp(tile / highest.max())) for tile in sorted({1, int(highest.max())})],
        3,
    )


def draw_beat(table: Table) -> Picture:
    """The greatest chance of a total below a number, from `beat`."""
    below, (first, *others) = values(table, "below"), list(table.columns)[1:]
    panel = Panel((0, below.max()), (0, 1), "total to stay below", "greatest chance", percent=True)
    keys = []
    for place, heading in enumerate([first, *others]):
        keys.append(Key(heading, ramp(place / max(1, len(others)))))
        panel.line(below, values(table, heading), keys[-1].colour)
        panel.dots(below, values(table, heading), keys[-1].colour, 2.5)
    likely = values(table, keys[-1].name)
    even = below[likely >= 0.5][0]
    return Picture(
        [panel],
        "The greatest chance of a total below a number, by the dice left to throw. With all dice it is even or better "
        f"from {even} on: a total below {even} can be had in {likely[likely >= 0.5][0]:.1%} of the turns.",
        keys,
    )


def draw_take_or_rethrow(table: Table) -> Picture:
    """Taking one of two dice or throwing both again, from `take_or_rethrow`."""
    two = table.take(np.flatnonzero(values(table, "dice left") == 2))
    takes = [heading for heading in table.columns if heading.startswith("take")][:PANELS]
    below, rethrow = values(two, "below"), values(two, "rethrow all")
    panels, never = [], []
    for heading in takes:
        take = values(two, heading)
        panel = Panel((0, below.max()), (0, 1), "total to stay below", "chance", heading, percent=True, size=(300, 200))
        panel.line(below, rethrow, "var(--soft)", (3.0, 2.0))
        panel.line(below, take, "var(--accent)")
        panels.append(panel)
        if (take >= rethrow).all():
            never.append(heading.removeprefix("take a "))
    return Picture(
        panels,
        "Two dice are left and one shows a certain face: the chance of a total of the two below a number by taking it "
        f"or by throwing both again. Taking is never worse with {' or '.join(never) or 'no face at all'}.",
        [Key("take it", "var(--accent)"), Key("throw both again", "var(--soft)", (3.0, 2.0))],
        3,
    )
