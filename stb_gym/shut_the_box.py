"""Rules of Shut the Box: throw the dice, shut open tiles that add up to the roll, until no set of open tiles does.

`held` is the board as a bit mask: bit i set means that tile i + 1 is open.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stb_gym.game import Edges, IntArray, check_choice, check_integer, check_names, integers, rolls

NO_MOVE: tuple[int, ...] = ()
SCORES = ("sum", "count")


@dataclass(frozen=True)
class ShutTheBox:
    """One turn of Shut the Box.

    If the first roll of a turn matches no tiles at all (possible on small boards only), the one legal action is
    `NO_MOVE`, the last of the moves: it ends the turn with the board as it is.

    Attributes:
        tiles: number of tiles, numbered from 1; all start open.
        dice: number of dice in every throw.
        faces: faces of every die.
        score: points of a turn, fewest are best: "sum" of the open tiles, or "count" of them.

    Raises:
        ValueError: naming the field that is out of range, and the range.
    """

    tiles: int = 9
    dice: int = 2
    faces: int = 6
    score: str = "sum"

    name: ClassVar[str] = "shut-the-box"

    def __post_init__(self) -> None:
        check_integer("tiles", self.tiles, 1, 16)
        check_integer("dice", self.dice, 1, 7)
        check_integer("faces", self.faces, 2, 20)
        check_choice("score", self.score, SCORES)

    @cached_property
    def moves(self) -> tuple[tuple[int, ...], ...]:
        """The tiles each action shuts, ordered by their sum, then tile by tile from the lowest."""
        boards = np.arange(2**self.tiles)
        sums = self._tile_bits(boards) @ self._tile_numbers
        sets = boards[(sums >= self.dice) & (sums <= self.dice * self.faces)]
        moves = sorted((self._open_tiles(board) for board in sets), key=lambda tiles: (sum(tiles), tiles))
        matched = {sum(tiles) for tiles in moves}
        some_roll_fits_nothing = len(matched) < self.dice * self.faces - self.dice + 1
        return (*moves, NO_MOVE) if some_roll_fits_nothing else tuple(moves)

    @cached_property
    def observation_high(self) -> IntArray:
        return np.ones(self.tiles + self.dice * self.faces - self.dice + 1, np.uint8)

    @cached_property
    def _tile_numbers(self) -> NDArray[np.int64]:
        return np.arange(1, self.tiles + 1)

    @cached_property
    def _move_masks(self) -> NDArray[np.int64]:
        return np.array([board_of(tiles) for tiles in self.moves])

    def _tile_bits(self, held: IntArray) -> IntArray:
        """[B, tiles] 1 where the tile is open."""
        return held[:, None] >> np.arange(self.tiles) & 1

    def _open_tiles(self, board: int) -> tuple[int, ...]:
        return tuple(tile for tile in range(1, self.tiles + 1) if board >> tile - 1 & 1)

    def start(self) -> tuple[int, int]:
        return 2**self.tiles - 1, self.dice

    def states(self) -> tuple[IntArray, IntArray]:
        held = np.arange(2**self.tiles)
        dice = np.where(held > 0, self.dice, 0)
        if NO_MOVE in self.moves:
            return np.append(held, self.start()[0]), np.append(dice, 0)
        return held, dice

    def level(self, held: IntArray, dice: IntArray) -> IntArray:
        return np.bitwise_count(held) * (dice > 0)

    def roll_of(self, throws: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return throws.sum(axis=1, keepdims=True, dtype=np.uint8)

    def edges(self, held: IntArray, dice: int) -> Edges:
        if dice == 0:
            return Edges(*np.zeros((5, 0), np.int64))
        roll, action, needs = self._matches
        state, match = np.nonzero(held[:, None] & needs == needs)
        roll, action = roll[match], action[match]
        takes = self._move_masks[action]
        next_held = held[state] & ~takes
        return Edges(state, roll, action, next_held, np.where((next_held > 0) & (takes > 0), self.dice, 0))

    @cached_property
    def _matches(self) -> tuple[IntArray, IntArray, IntArray]:
        """[M] each: rolls, the actions that fit them, and the board that must be open for it; in order of the edges."""
        fits = rolls(self, self.dice).shown == [sum(tiles) for tiles in self.moves]  # [R, A]
        needs = self._move_masks.copy()
        if NO_MOVE in self.moves:
            fits[~fits.any(axis=1), -1] = True
            needs[-1] = self.start()[0]
        roll, action = np.nonzero(fits)
        return roll, action, needs[action]

    def edge_count(self) -> int:
        _, _, needs = self._matches
        return int((1 << self.tiles - np.bitwise_count(needs).astype(np.int64)).sum())

    def final_score(self, held: IntArray) -> IntArray:
        return self._tile_bits(held) @ (self._tile_numbers if self.score == "sum" else np.ones(self.tiles, np.int64))

    def observe(self, held: IntArray, dice: int) -> NDArray[np.uint8]:
        """The tiles, 1 = open, then the roll, a 1 in the place of the sum, counted from the lowest sum."""
        sums = rolls(self, dice).shown[:, 0]
        seen = np.zeros((len(held), len(sums), len(self.observation_high)), np.uint8)
        seen[:, :, : self.tiles] = self._tile_bits(held)[:, None]
        if dice > 0:
            seen[:, np.arange(len(sums)), self.tiles + np.arange(len(sums))] = 1
        return seen

    def locate(self, where: Mapping[str, Any]) -> tuple[int, int, NDArray[np.uint8] | None]:
        check_names("position", where, ("open", "roll"))
        tiles = integers("open tiles", where.get("open", range(1, self.tiles + 1)), 1, self.tiles)
        roll = where.get("roll")
        if not tiles or len(set(tiles)) < len(tiles):
            raise ValueError(f"open must name at least one tile, and each once, not {tiles}")
        if roll is None:
            return board_of(tiles), self.dice, None
        check_integer("roll", roll, self.dice, self.dice * self.faces)
        return board_of(tiles), self.dice, np.array([roll], np.uint8)

    def describe_state(self, held: int, dice: int) -> str:
        return f"open {','.join(map(str, self._open_tiles(held))) or 'none'}"

    def describe_roll(self, roll: NDArray[np.uint8]) -> str:
        return str(roll[0]) if roll[0] else "none"

    def describe_move(self, action: int) -> dict[str, Any]:
        return {"tiles": list(self.moves[action])}


def board_of(tiles: Iterable[int]) -> int:
    """The bit mask of a board with just these tiles open."""
    return sum(1 << int(tile) - 1 for tile in tiles)
