"""The pictures of several players of any game: what a lead is worth, the seats, and evenings."""

from collections.abc import Mapping

import numpy as np

from stb_gym.book.pictures.charts import Panel, ramp
from stb_gym.book.pictures.picture import Key, Picture, paint, values
from stb_gym.output import Style, Table

SEAT_ROW = 30  # units of SVG
APPROXIMATION = (3.0, 2.0)  # the dashes of published numbers


def draw_winning(table: Table) -> Picture:
    """What a lead is worth, from `contests.winning`."""
    after, scores = [heading for heading in table.columns if heading.endswith(" after")], values(table, "score")
    panel = Panel((scores.min(), scores.max()), (0, 1), "score of the one who leads", "share of the win", percent=True)
    colours = [ramp(place / max(1, len(after) - 1)) for place in range(len(after))]
    even = []
    for colour, heading in zip(colours, after, strict=True):
        share = values(table, heading)
        least, most = (values(table, f"{heading}, all win: {end}") for end in ("least", "most"))
        panel.band(scores.tolist(), least.tolist(), most.tolist(), colour)
        panel.line(scores, values(table, f"{heading}, approximation"), colour, APPROXIMATION)
        panel.line(scores, share, colour)
        even.append(f"{scores[share >= 0.5][-1] if (share >= 0.5).any() else 'none'} ({heading})")
    return Picture(
        [panel],
        "What a score wins if ties split (solid), and if all tied players win: between the bounds of what the "
        "indifferent may do (band), and as it was published (dashed). If ties split, one wins half or more with a "
        f"score of {', '.join(even)}, or a better one.",
        [Key(heading, colour) for heading, colour in zip(after, colours, strict=True)],
    )


def draw_seats(table: Table) -> Picture:
    """What every seat wins if ties split, from `contests.rounds`."""
    players, wins = values(table, "players"), values(table, "split")
    sizes = [size for size in np.unique(players).tolist() if size > 1]
    most = max(abs(wins * players - 1).max(), 1e-12)
    panel = Panel((0, 1), (-len(sizes), 0), "percent that each seat wins, the first on the left", "players",
                  size=(480, SEAT_ROW * len(sizes) + 68), bare=True)  # fmt: skip
    for row, size in enumerate(sizes):
        shares = wins[players == size]
        right = shares.cumsum()
        panel.say(-0.05, -row - 0.5, f"{size}", "soft")
        for left, end, share in zip(right - shares, right, shares, strict=True):
            panel.bar(left, end, -row - 0.92, -row - 0.08, _leaning((share * size - 1) / most))
            panel.say((left + end) / 2, -row - 0.5, f"{100 * share:.1f}")
    last = wins[players == sizes[-1]]
    return Picture(
        [panel],
        "The share of the win of every seat when all play the equilibrium and ties split; blue seats have more than an "
        f"equal share, orange ones less. Of {sizes[-1]} players the first wins {last[0]:.2%}, the last {last[-1]:.2%}.",
    )


def draw_evenings(table: Table, styles: Mapping[str, Style]) -> Picture:
    """How surely the better play wins an evening, from `contests.evenings`."""
    rounds, said = values(table, "rounds"), []
    names = [heading.removeprefix("beats ") for heading in table.columns if heading.startswith("beats ")]
    shares = {name: (1 + values(table, f"beats {name}") - values(table, f"loses to {name}")) / 2 for name in names}
    most = max(share.max() for share in shares.values())
    panel = Panel((0, rounds.max()), (0.5, most), "rounds", "share of the evenings won", percent=True)
    for name, share in shares.items():
        panel.line(rounds, share, paint(styles[name].colour), styles[name].dashes)
        said.append(f"{share[-1]:.1%} against {name}")
    return Picture(
        [panel],
        "The share of evenings of so many rounds that perfect play wins, ties counted as half, if the players begin in "
        f"turns. Of {rounds[-1]} rounds it is {', '.join(said)}.",
        [Key(f"against {name}", paint(styles[name].colour), styles[name].dashes) for name in names],
    )


def _leaning(share: float) -> str:
    """A colour for more (to 1) or less (to -1) than an equal share."""
    colour = "var(--more)" if share > 0 else "var(--less)"
    return f"color-mix(in oklab, {colour} {15 + 45 * abs(share):.0f}%, var(--card))"
