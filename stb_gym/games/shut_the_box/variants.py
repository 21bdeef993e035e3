"""The variants of Shut the Box that have a name, as fields of its rules, and the tiles they start with."""

from typing import Any

from stb_gym.games.fields import Variant, check_choice, integers

# The tiles that may be open at the start, as a slice of all.
OPEN = {"all": slice(None), "odd": slice(None, None, 2), "even": slice(1, None, 2), "4-up": slice(3, None)}


VARIANTS: dict[str, Variant] = {
    "classic": Variant({}, "All dice are always thrown; any open tiles that add up to the roll may be shut."),
    "low-sum": Variant(
        {"one_die": "low-sum"}, "One die may be thrown once the open tiles add up to no more than it has faces."
    ),
    "high-shut": Variant(
        {"one_die": "high-shut"}, "One die may be thrown once no tile is open above the number of its faces."
    ),
    "any-time": Variant({"one_die": "any-time"}, "One die may be thrown at any time after the first throw."),
    "full-house": Variant({"tiles": 12}, "Twelve tiles."),
    "the-300": Variant({"tiles": 24, "dice": 4}, "Twenty-four tiles, which add up to 300, and four dice."),
    "against-all-odds": Variant({"open": "odd"}, "Only the odd tiles are open at the start."),
    "even-stevens": Variant({"open": "even"}, "Only the even tiles are open at the start."),
    "3-down-extreme": Variant({"open": "4-up"}, "1, 2 and 3 are shut at the start."),
    "lucky-seven": Variant({"open": (7,)}, "Only the 7 is open at the start."),
    "2-to-go": Variant({"first_move": 2}, "The first move must shut the 2, or the turn ends."),
    "3-to-go": Variant({"first_move": 3}, "The first move must shut the 3, or the turn ends."),
    "unlucky-seven": Variant({"ending_roll": 7}, "A roll of 7 ends the turn at once."),
    "thai-style": Variant({"match": "one-tile"}, "Each roll shuts one tile: that of a die, or that of the sum."),
    "jackpot": Variant({"match": "one-tile"}, "Another name of thai-style."),
    "two-at-most": Variant({"match": "two-at-most"}, "Each roll shuts one tile or two."),
    "faces-or-sum": Variant({"match": "faces-or-sum"}, "Each roll shuts the tiles of all dice, or that of the sum."),
    "golf": Variant({"score": "sum"}, "The open tiles are added up: the usual score."),
    "missionary": Variant({"score": "count"}, "The open tiles are counted."),
    "digital": Variant({"score": "digits"}, "The open tiles are read as one number: 1, 2 and 5 open are 125 points."),
}


def known_tiles(opened: Any, tiles: int) -> str | tuple[int, ...]:
    """The tiles that are open at the start, by a word of OPEN if there is one for them, else listed.

    Args:
        opened: such a word, or tile numbers as a collection or separated by commas.
        tiles: how many tiles there are.

    Raises:
        ValueError: if it is neither, or leaves no tile open.
    """
    if isinstance(opened, str) and opened.replace(",", "").isdecimal():
        opened = [int(number) for number in opened.split(",") if number]
    if isinstance(opened, str):
        check_choice("open", opened, [*OPEN, "a list of tiles"])
    else:
        listed = tuple(sorted(set(integers("open", opened, 1, tiles))))
        opened = next((word for word in OPEN if start_tiles(word, tiles) == listed), listed)
    if not start_tiles(opened, tiles):
        raise ValueError(f"open {opened} leaves none of {tiles} tiles open")
    return opened


def start_tiles(opened: str | tuple[int, ...], tiles: int) -> tuple[int, ...]:
    """The numbers of the tiles that are open at the start, as `known_tiles` gives them."""
    return tuple(range(1, tiles + 1)[OPEN[opened]]) if isinstance(opened, str) else opened
