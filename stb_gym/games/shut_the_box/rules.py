"""Rules of Shut the Box: throw the dice, shut open tiles that match the roll, until there are none that do.

The whole game, in pseudo-code:

    open = the tiles of the start
    while open:
        throw the dice; the roll is their sum
        sets = the sets of open tiles that add up to the roll
        if there is no such set: break
        choose one of them, and shut its tiles: open = open - set
    score = the sum of the tiles still open; fewest points are best

The fields of `ShutTheBox` vary this: which sets match a roll (`matching`), how many dice are thrown (`hand`), which
tiles are open at the start, and how the open tiles are scored.
`held` is the board as a bit mask: bit i set means that tile i + 1 is open.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.boards import Boards, subset_sums
from stb_gym.games.fields import check_choice, check_integer, make_game, rule
from stb_gym.games.game import LARGEST_THROW_TABLE, Edges, Game, IntArray, rolls
from stb_gym.games.shut_the_box.hand import ONE_DIE, Hand
from stb_gym.games.shut_the_box.matching import BY_SUM, MATCHES, board_of, in_order, match_table, sets_to_shut
from stb_gym.games.shut_the_box.taking import boards_of
from stb_gym.games.shut_the_box.variants import OPEN, VARIANTS, known_tiles, start_tiles

NO_MOVE: tuple[int, ...] = ()
MOST_DIGITS = 14  # tiles whose digits make a number of 64 bits


@dataclass(frozen=True, repr=False)
class ShutTheBox(Game):
    """One turn of Shut the Box.

    Where one die may be thrown instead of all, the choice belongs to the move before: there is an action for every set
    of tiles and number of dice. If the first roll of a turn leaves no move at all, the one legal action is `NO_MOVE`,
    the last of the moves: it ends the turn with the board as it is.

    Raises:
        ValueError: naming the field that is out of range, and the range.
    """

    tiles: int = rule(9, "number of tiles, numbered from 1", low=1, high=28, size=True)
    dice: int = rule(2, "number of dice in a throw, and always in the first", low=1, high=7, size=True)
    faces: int = rule(
        6, f"faces of every die; faces**dice is at most {LARGEST_THROW_TABLE:,}", low=2, high=20, size=True
    )
    score: str = rule(
        "sum",
        "points of a turn: the sum of the open tiles, the count of them, or their digits read as one number, lowest "
        "tile first (1, 2 and 5 are 125)",
        choices=("sum", "count", "digits"),
        size=True,
    )
    open: str | tuple[int, ...] = rule(
        "all",
        "the tiles that are open at the start: a word (4-up: 4 and above) or their numbers",
        flag="start-open",
        sample="|".join([*OPEN, "1,3,7"]),
    )
    one_die: str = rule(
        "never",
        "when one die may be thrown instead of all, after the first throw. "
        + "; ".join(f"{name}: {when}" for name, when in ONE_DIE.items() if name != "never"),
        choices=tuple(ONE_DIE),
    )
    one_die_forced: bool = rule(False, "whenever one die may be thrown, it must be")
    match: str = rule(
        "sum",
        "which open tiles a roll may shut. "
        + "; ".join(f"{name}: {way.__doc__}".rstrip(".") for name, way in MATCHES.items()),
        choices=tuple(MATCHES),
    )
    first_move: int | None = rule(
        None, "a tile that the first move must shut; if it cannot, the turn ends", sample="TILE"
    )
    ending_roll: int | None = rule(None, "a sum of the dice that ends the turn at once", sample="N")

    name: ClassVar[str] = "shut-the-box"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.score == "digits" and self.tiles > MOST_DIGITS:
            raise ValueError(f"score digits is for at most {MOST_DIGITS} tiles, not {self.tiles}")
        object.__setattr__(self, "open", known_tiles(self.open, self.tiles))
        if self.one_die_forced and self.one_die == "never":
            raise ValueError(
                f"one_die_forced says that one die must be thrown when it may: {', '.join([*ONE_DIE][1:])}"
            )
        if self.first_move is not None:
            check_integer("first_move", self.first_move, 1, self.tiles)
            check_choice("tile of the first move", self.first_move, self.start_tiles)
        if self.ending_roll is not None:
            check_integer("ending_roll", self.ending_roll, min(self.throws), self.dice * self.faces)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> "ShutTheBox":
        """The rules of a named variant, with other fields changed: `ShutTheBox.preset("thai-style", tiles=12)`.

        Raises:
            ValueError: if there is no variant of this name, or a change is not allowed.
        """
        check_choice("variant", name, list(VARIANTS))
        return make_game(cls, {**VARIANTS[name].fields, **changes})

    @cached_property
    def start_tiles(self) -> tuple[int, ...]:
        """The tiles that are open at the start, in ascending order."""
        return start_tiles(self.open, self.tiles)

    @cached_property
    def hand(self) -> Hand:
        """The rule of the dice."""
        return Hand(self.dice, self.faces, self.one_die, self.one_die_forced)

    @property
    def throws(self) -> tuple[int, ...]:
        """The numbers of dice that are thrown in a turn, all of them first."""
        return self.hand.throws

    @cached_property
    def _fitting(self) -> dict[int, list[list[tuple[int, ...]]]]:
        """For every number of dice thrown and each of their rolls the sets of tiles that it may shut."""
        fitting = {}
        for dice in self.throws:
            shown = [tuple(roll) for roll in rolls(self, dice).shown.tolist()]
            sets = sets_to_shut(self.match, shown, self.start_tiles)
            fitting[dice] = [[] if sum(roll) == self.ending_roll else s for roll, s in zip(shown, sets, strict=True)]
        return fitting

    @cached_property
    def _sets(self) -> list[tuple[int, ...]]:
        """The sets of tiles that some roll may shut."""
        found = {tiles for by_roll in self._fitting.values() for sets in by_roll for tiles in sets}
        return sorted(found, key=in_order)

    @cached_property
    def moves(self) -> tuple[tuple[int, ...], ...]:
        """The tiles each action shuts, ordered by their sum, then tile by tile from the lowest; see `dice_after`."""
        sets = [tiles for tiles in self._sets for _ in self.hand.choices]
        takes = self._matches[self.dice][2]
        return tuple(sets) if takes.all() else (*sets, NO_MOVE)

    @cached_property
    def dice_after(self) -> tuple[int, ...]:
        """How many dice each action chooses to throw next, fewest first for equal tiles; 0 if there is no choice."""
        return (self.hand.choices * len(self._sets) + (0,))[: len(self.moves)]

    @cached_property
    def observation_high(self) -> IntArray:
        return np.ones(self.tiles + sum(len(rolls(self, dice).counts) for dice in self.throws), np.uint8)

    def start(self) -> tuple[int, int]:
        return board_of(self.start_tiles), self.dice

    def states(self) -> tuple[IntArray, IntArray]:
        start = self.start()[0]
        later = subset_sums(1 << np.array(self.start_tiles) - 1)[:-1]
        parts = [(later[self.hand.may_throw(later, dice)], dice) for dice in self.throws]
        parts += [(np.array([start]), self.dice), (np.zeros(1, np.int64), 0)]
        if NO_MOVE in self.moves:
            parts.append((np.array([start]), 0))
        return np.concatenate([held for held, _ in parts]), np.repeat([d for _, d in parts], [len(h) for h, _ in parts])

    def level(self, held: IntArray, dice: IntArray) -> IntArray:
        return np.bitwise_count(held) * (dice > 0)

    def roll_of(self, throws: NDArray[np.uint8]) -> NDArray[np.uint8]:
        if self.match in BY_SUM:
            return throws.sum(axis=1, keepdims=True, dtype=np.uint8)
        return np.sort(throws, axis=1)

    @cached_property
    def _matches(self) -> dict[int, IntArray]:
        """The `match_table` of every number of dice thrown."""
        return {
            dice: match_table(fitting, self._sets, self.first_move, dice == self.dice)
            for dice, fitting in self._fitting.items()
        }

    def edges(self, held: IntArray, dice: int) -> Edges:
        roll, chosen, takes, first, later = self._matches[dice]
        may = np.where(held[:, None] == self.start()[0], first, later)
        state, match = np.nonzero((held[:, None] & takes == takes) & (may > 0))
        next_held = held[state] & ~takes[match]
        throws = self.hand.next_throws(next_held, (next_held == 0) | (takes[match] == 0))
        edge, choice = np.nonzero(throws >= 0)
        action = len(self.hand.choices) * chosen[match] + np.arange(len(self.hand.choices))[:, None]
        return Edges(state[edge], roll[match[edge]], action[choice, edge], next_held[edge], throws[edge, choice])

    def most_edges(self) -> int:
        takes = np.concatenate([self._matches[dice][2] for dice in self.throws])
        boards = 1 << len(self.start_tiles) - np.bitwise_count(takes).astype(np.int64)
        return len(self.hand.choices) * int(boards[takes > 0].sum()) + len(rolls(self, self.dice).counts)

    def final_score(self, held: IntArray) -> IntArray:
        points = np.zeros(held.shape, np.int64)
        for tile in self.start_tiles:
            is_open = held >> tile - 1 & 1
            if self.score == "digits":
                points = np.where(is_open, points * 10 ** len(str(tile)) + tile, points)
            else:
                points += is_open * (tile if self.score == "sum" else 1)
        return points

    def observe(self, held: IntArray, dice: int) -> NDArray[np.uint8]:
        """The tiles, 1 = open, then a 1 in the place of the roll: all rolls of all dice in order, then of one die."""
        count = len(rolls(self, dice).counts)
        seen = np.zeros((len(held), count, len(self.observation_high)), np.uint8)
        seen[:, :, : self.tiles] = (held[:, None] >> np.arange(self.tiles) & 1)[:, None]
        if dice > 0:
            before = self.tiles + sum(len(rolls(self, more).counts) for more in self.throws if more > dice)
            seen[:, np.arange(count), before + np.arange(count)] = 1
        return seen

    def smaller(self) -> "Iterator[ShutTheBox]":
        for tiles in range(self.tiles - 1, 0, -1):
            with suppress(ValueError):  # too few tiles for those that have to be open
                yield replace(self, tiles=tiles)

    def boards(self) -> Boards:
        return boards_of(self.start_tiles, self._matches, self.hand, self.score != "digits")
