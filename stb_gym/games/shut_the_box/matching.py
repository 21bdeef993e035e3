"""Which sets of tiles a roll of Shut the Box may shut, for every way to match tiles with dice.

Each way is a function of a roll, as the rules see it, and of the tiles that are open at the start; it gives sets of
tiles, each in ascending order. Whether they are still open is another question.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

Tiles = tuple[int, ...]
MOST_SETS = 2**16


def any_sum(roll: Tiles, tiles: Tiles) -> Iterator[Tiles]:
    """Any open tiles that add up to the roll."""
    return _adding_up(sum(roll), tiles, len(tiles))


def two_at_most(roll: Tiles, tiles: Tiles) -> Iterator[Tiles]:
    """One open tile or two that add up to the roll."""
    return _adding_up(sum(roll), tiles, 2)


def one_tile(roll: Tiles, tiles: Tiles) -> Iterator[Tiles]:
    """The tile of one of the dice, or that of their sum."""
    return ((tile,) for tile in {*roll, sum(roll)} if tile in tiles)


def faces_or_sum(roll: Tiles, tiles: Tiles) -> Iterator[Tiles]:
    """The tiles of all dice (equal dice name one tile), or that of their sum."""
    sets = {tuple(sorted(set(roll))), (sum(roll),)}
    return (chosen for chosen in sets if set(chosen) <= set(tiles))


def _adding_up(total: int, tiles: Tiles, most: int) -> Iterator[Tiles]:
    """Every set of at most so many of the tiles that adds up to the total."""
    if total == 0:
        yield ()
    elif most > 0:
        for place, tile in enumerate(tiles):
            if tile > total:
                return
            yield from ((tile, *rest) for rest in _adding_up(total - tile, tiles[place + 1 :], most - 1))


MATCHES: dict[str, Callable[[Tiles, Tiles], Iterator[Tiles]]] = {
    "sum": any_sum,
    "one-tile": one_tile,
    "two-at-most": two_at_most,
    "faces-or-sum": faces_or_sum,
}
BY_SUM = ("sum", "two-at-most")  # these see nothing of a roll but its sum


def sets_to_shut(match: str, rolls: list[Tiles], tiles: Tiles) -> list[list[Tiles]]:
    """[R] the sets that each roll may shut, ordered by their sum, then tile by tile from the lowest.

    Raises:
        ValueError: if there are more than MOST_SETS.
    """
    highest = max(map(sum, rolls))
    if match == "sum" and _sets_up_to(highest, tiles) > MOST_SETS:
        raise ValueError(f"more than {MOST_SETS:,} sets of {len(tiles)} tiles add up to at most {highest}: too many")
    return [sorted(MATCHES[match](roll, tiles), key=in_order) for roll in rolls]


def match_table(
    fitting: list[list[Tiles]], sets: list[Tiles], first_move: int | None, first_throw: bool
) -> NDArray[np.int64]:
    """Which rolls may shut which sets of tiles.

    Args:
        fitting: [R] the sets that each roll may shut.
        sets: all of them, in order.
        first_move: a tile that the first move must shut, or None.
        first_throw: whether the first throw of a turn is with these dice.

    Returns:
        [5, M] each: rolls, places in `sets`, the same sets as boards, whether they may be shut first, and whether later
        in a turn. A first roll that may shut nothing shuts no tiles, in the place after all sets.
    """
    place = {tiles: number for number, tiles in enumerate(sets)}
    rows = []
    for roll, fits in enumerate(fitting):
        first = [first_move is None or first_move in tiles for tiles in fits]
        rows += [(roll, place[tiles], board_of(tiles), may, True) for tiles, may in zip(fits, first, strict=True)]
        if first_throw and not any(first):
            rows.append((roll, len(sets), 0, True, False))
    return np.array(rows, np.int64).reshape(-1, 5).T


def board_of(tiles: Iterable[int]) -> int:
    """The bit mask of a board with just these tiles open."""
    return sum(1 << int(tile) - 1 for tile in tiles)


def in_order(tiles: Tiles) -> tuple[int, Tiles]:
    """What sets of tiles are ordered by."""
    return sum(tiles), tiles


def _sets_up_to(total: int, tiles: Tiles) -> int:
    """How many sets of tiles add up to at most so much."""
    ways = np.zeros(total + 1, np.int64)
    ways[0] = 1
    for tile in tiles:
        ways[tile:] += ways[: max(0, len(ways) - tile)].copy()
    return int(ways.sum())
