"""Rules of Shut the Box: throw the dice, shut open tiles that match the roll, until there are none that do.

`held` is the board as a bit mask: bit i set means that tile i + 1 is open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import (
    Edges,
    IntArray,
    check_choice,
    check_flag,
    check_integer,
    check_names,
    integers,
    make_game,
    rolls,
    rules_in_words,
)
from stb_gym.hand import ONE_DIE, Hand
from stb_gym.matching import BY_SUM, MATCHES, board_of, in_order, match_table, sets_to_shut
from stb_gym.variants import VARIANTS, known_tiles, start_tiles

NO_MOVE: tuple[int, ...] = ()
SCORES = ("sum", "count", "digits")
MOST_DIGITS = 14  # tiles whose digits make a number of 64 bits


@dataclass(frozen=True, repr=False)
class ShutTheBox:
    """One turn of Shut the Box.

    Where one die may be thrown instead of all, the choice belongs to the move before: there is an action for every set
    of tiles and number of dice. If the first roll of a turn leaves no move at all, the one legal action is `NO_MOVE`,
    the last of the moves: it ends the turn with the board as it is.

    Attributes:
        tiles: number of tiles, numbered from 1.
        dice: number of dice in a throw, and always in the first.
        faces: faces of every die.
        score: points of a turn, fewest are best: "sum" of the open tiles, "count" of them, or their "digits" read as
            one number, lowest tile first (1, 2 and 5 are 125).
        open: the tiles that are open at the start: "all", "odd", "even", "4-up" (4 and above), or their numbers.
        one_die: when one die may be thrown instead of all: "never", "low-sum" (while the open tiles add up to at most
            the number of faces), "high-shut" (while no tile above the number of faces is open) or "any-time".
        one_die_forced: whenever one die may be thrown, it must be.
        match: what a roll may shut: "sum" (any tiles that add up to it), "two-at-most" (one tile or two that do),
            "one-tile" (the tile of a die, or that of the sum) or "faces-or-sum" (the tiles of all dice, equal dice
            naming one tile; or the tile of the sum).
        first_move: a tile that the first move must shut; if it cannot, the turn ends.
        ending_roll: a sum of the dice that ends the turn at once.

    Raises:
        ValueError: naming the field that is out of range, and the range.
    """

    tiles: int = 9
    dice: int = 2
    faces: int = 6
    score: str = "sum"
    open: str | tuple[int, ...] = "all"
    one_die: str = "never"
    one_die_forced: bool = False
    match: str = "sum"
    first_move: int | None = None
    ending_roll: int | None = None

    name: ClassVar[str] = "shut-the-box"

    def __post_init__(self) -> None:
        check_integer("tiles", self.tiles, 1, 24)
        check_integer("dice", self.dice, 1, 7)
        check_integer("faces", self.faces, 2, 20)
        check_choice("score", self.score, SCORES)
        if self.score == "digits" and self.tiles > MOST_DIGITS:
            raise ValueError(f"score digits is for at most {MOST_DIGITS} tiles, not {self.tiles}")
        object.__setattr__(self, "open", known_tiles(self.open, self.tiles))
        check_choice("one_die", self.one_die, list(ONE_DIE))
        check_flag("one_die_forced", self.one_die_forced)
        if self.one_die_forced and self.one_die == "never":
            raise ValueError(
                f"one_die_forced says that one die must be thrown when it may: {', '.join([*ONE_DIE][1:])}"
            )
        check_choice("match", self.match, list(MATCHES))
        if self.first_move is not None:
            check_integer("first_move", self.first_move, 1, self.tiles)
            check_choice("tile of the first move", self.first_move, self.start_tiles)
        if self.ending_roll is not None:
            check_integer("ending_roll", self.ending_roll, min(self.throws), self.dice * self.faces)

    __repr__ = rules_in_words

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
    def _hand(self) -> Hand:
        return Hand(self.dice, self.faces, self.one_die, self.one_die_forced)

    @property
    def throws(self) -> tuple[int, ...]:
        """The numbers of dice that are thrown in a turn, all of them first."""
        return self._hand.throws

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
        sets = [tiles for tiles in self._sets for _ in self._hand.choices]
        takes = self._matches[self.dice][2]
        return tuple(sets) if takes.all() else (*sets, NO_MOVE)

    @cached_property
    def dice_after(self) -> tuple[int, ...]:
        """How many dice each action chooses to throw next, fewest first for equal tiles; 0 if there is no choice."""
        return (self._hand.choices * len(self._sets) + (0,))[: len(self.moves)]

    @cached_property
    def observation_high(self) -> IntArray:
        return np.ones(self.tiles + sum(len(rolls(self, dice).counts) for dice in self.throws), np.uint8)

    def _tile_bits(self, held: IntArray) -> IntArray:
        """[B, tiles] 1 where the tile is open."""
        return held[:, None] >> np.arange(self.tiles) & 1

    def _open_tiles(self, board: int) -> tuple[int, ...]:
        return tuple(tile for tile in range(1, self.tiles + 1) if board >> tile - 1 & 1)

    def start(self) -> tuple[int, int]:
        return board_of(self.start_tiles), self.dice

    def states(self) -> tuple[IntArray, IntArray]:
        start = self.start()[0]
        boards = np.zeros(1, np.int64)
        for tile in self.start_tiles:
            boards = np.append(boards, boards | 1 << tile - 1)
        later = boards[:-1]
        parts = [(later[self._hand.may_throw(later, dice)], dice) for dice in self.throws]
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
        if dice == 0:
            return Edges(*np.zeros((5, 0), np.int64))
        roll, chosen, takes, first, later = self._matches[dice]
        may = np.where(held[:, None] == self.start()[0], first, later)
        state, match = np.nonzero((held[:, None] & takes == takes) & (may > 0))
        next_held = held[state] & ~takes[match]
        throws = self._hand.next_throws(next_held, (next_held == 0) | (takes[match] == 0))
        edge, choice = np.nonzero(throws >= 0)
        action = len(self._hand.choices) * chosen[match] + np.arange(len(self._hand.choices))[:, None]
        return Edges(state[edge], roll[match[edge]], action[choice, edge], next_held[edge], throws[edge, choice])

    def most_edges(self) -> int:
        takes = np.concatenate([self._matches[dice][2] for dice in self.throws])
        boards = 1 << len(self.start_tiles) - np.bitwise_count(takes).astype(np.int64)
        return len(self._hand.choices) * int(boards[takes > 0].sum()) + len(rolls(self, self.dice).counts)

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
        seen[:, :, : self.tiles] = self._tile_bits(held)[:, None]
        if dice > 0:
            before = self.tiles + sum(len(rolls(self, more).counts) for more in self.throws if more > dice)
            seen[:, np.arange(count), before + np.arange(count)] = 1
        return seen

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        check_names("position", where, ("open", "dice", "roll"))
        tiles = integers("open tiles", where.get("open", self.start_tiles), 1, self.tiles)
        if not tiles or len(set(tiles)) < len(tiles):
            raise ValueError(f"open must name at least one tile, and each once, not {tiles}")
        for tile in tiles:
            check_choice("open tile", tile, self.start_tiles)
        board = board_of(tiles)
        allowed = [dice for dice in self.throws if self._is_state(board, dice)]
        if "dice" in where:
            check_choice("number of dice there", where["dice"], allowed)
            allowed = [where["dice"]]
        if where.get("roll") is None:
            return board, allowed[0], None
        return board, *self._locate_roll(where["roll"], allowed)

    def _is_state(self, board: int, dice: int) -> bool:
        if board == self.start()[0]:
            return dice == self.dice
        return bool(self._hand.may_throw(np.array([board]), dice)[0])

    def _locate_roll(self, roll: Any, allowed: list[int]) -> tuple[int, NDArray[np.uint8]]:
        """The number of dice and the roll, given by its dice or, if nothing else matters, by their sum."""
        if self.match in BY_SUM and isinstance(roll, int | np.integer):
            check_integer("roll", roll, min(allowed), max(allowed) * self.faces)
            dice = next(dice for dice in allowed if dice <= roll <= dice * self.faces)
            return dice, np.array([roll], np.uint8)
        if isinstance(roll, int | np.integer) and allowed != [1]:
            raise ValueError(f"single dice matter here: roll must be the faces of {allowed[0]} dice, not {roll}")
        shown = integers("dice shown", [roll] if isinstance(roll, int | np.integer) else roll, 1, self.faces)
        check_choice("number of dice shown", len(shown), allowed)
        return len(shown), self.roll_of(np.array([shown], np.uint8))[0]

    def describe_state(self, held: int, dice: int) -> str:
        board = f"open {','.join(map(str, self._open_tiles(held))) or 'none'}"
        return board if len(self.throws) == 1 or dice == 0 else f"{board}, {dice} {'die' if dice == 1 else 'dice'}"

    def describe_roll(self, roll: NDArray[np.uint8]) -> str:
        return ",".join(map(str, roll[roll > 0])) or "none"

    def describe_move(self, action: int) -> dict[str, Any]:
        dice = self.dice_after[action]
        return {"tiles": list(self.moves[action]), **({"dice": dice} if dice else {})}
