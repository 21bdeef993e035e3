"""One palette for every picture: an agent has the same colour in all of them, and the colour-blind can tell it apart.

Of the colours here, black and grey among them, any two differ by 12 or more (CIEDE2000), as most people see them and as
those who lack one of the three kinds of cones do. All of them show on white paper, and all but black on a dark page.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

INK = "#000000"  # of perfect play and of words; light in the dark, as the pages and their pictures draw it
AGENTS = {
    "ppo": "#0072b2",
    "dqn": "#f09600",
    "qrdqn": "#b40000",
    "qlearning": "#5ab4c3",
    "afterstate": "#a5785a",
    "limit": "#8787ff",
    "a2c": "#874b78",
    "optimal": INK,
    "optimum": INK,
    "random": "#8a8a8a",
}
OTHERS = ("#e14b0f", "#c3a578", "#a52d4b")  # of names that are not above, such as rules of thumb
SERIES = (*list(AGENTS.values())[:7], *OTHERS)  # of lines that stand for no agent
DASHES = ((), (6.0, 2.0), (2.0, 1.5), (6.0, 1.5, 1.0, 1.5))  # lengths of dashes and gaps in line widths; () is solid
RARE_DASHES = ((1.0, 3.0), (9.0, 1.5, 1.0, 1.5, 1.0, 1.5))  # of an agent's runs for which the others do not suffice

_AGENT = re.compile(
    r"(?<![a-z])(?:maskable[ -]?)?(ppo|a2c|qr-?dqn|dqn|q-?learning|afterstate|optimal|optimum|limit|random)s?(?![a-z])"
)
_NO_VARIANT = re.compile(r"\b(masked|tabular|seed|\d+)\b|[^a-z0-9]+")  # what also stands beside the name of an agent


class Style(NamedTuple):
    """How a line is drawn.

    Attributes:
        colour: as #rrggbb.
        dashes: lengths of dashes and gaps in turn, in line widths; () is a solid line.
    """

    colour: str
    dashes: tuple[float, ...]

    @property
    def linestyle(self) -> tuple[float, tuple[float, ...]]:
        """The dashes as matplotlib wants them."""
        return 0.0, self.dashes


def colour_of(name: str) -> str:
    """The colour of an agent, its variants and runs, of perfect and of random play; of another name, one of `OTHERS`.

    >>> colour_of("ppo"), colour_of("masked PPO, quick"), colour_of("ppo-nine-tiles-0")
    ('#0072b2', '#0072b2', '#0072b2')
    """
    return style_of(name).colour


def style_of(name: str) -> Style:
    """The line of a name: variants have their agent's colour and are dashed; the same name always has the same line.

    Two names may share a line; `styles_of` keeps those of one picture apart.
    """
    return _lines(name)[0]


def styles_of(names: Iterable[str]) -> dict[str, Style]:
    """The lines of all names in a picture, no two of them alike as long as there are enough.

    A name whose line is taken by one before it gets another: runs of an agent other dashes, other names other colours.

    >>> quick = styles_of(["ppo", "ppo quick", "biggest-first"])["ppo quick"]
    >>> quick.colour == colour_of("ppo"), quick.dashes == ()
    (True, False)
    """
    styles: dict[str, Style] = {}
    for name in dict.fromkeys(names):
        lines = _lines(name)
        styles[name] = next((line for line in lines if line not in styles.values()), lines[0])
    return styles


def _lines(name: str) -> list[Style]:
    """The lines that a name may have, its own first."""
    agent = _AGENT.search(name.lower())
    if agent is None:
        first = crc32(name.encode(errors="replace")) % len(OTHERS)
        return [Style(colour, dashes) for dashes in DASHES for colour in (*OTHERS[first:], *OTHERS[:first])]
    variant = _NO_VARIANT.sub(" ", name.lower().replace(agent[0], "", 1)).strip()
    first = 1 + crc32(variant.encode()) % (len(DASHES) - 1) if variant else 0
    in_turn = (*DASHES[first:], *DASHES[:first], *RARE_DASHES)
    return [Style(AGENTS[agent[1].replace("-", "")], dashes) for dashes in in_turn]
