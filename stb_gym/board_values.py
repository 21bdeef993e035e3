"""Values of every board of Shut the Box, looked up in an array or in a file of it that is mapped into memory.

The array is [rows, columns]. The lowest tiles of the start are the bits of the row, lowest tile lowest; the others are
the bits of the column, lowest tile highest: low tiles are in most moves, which so act on long runs of columns.

A file is a line (format, bytes and CRC-32 of the header), the header (JSON: game, rules, objective, shape, bytes of a
block, CRC-32 of every block; then spaces up to a multiple of ALIGNMENT bytes) and the array as little-endian floats. A
block is checked before its first use, so that a move is found, or damage to what it needs, without reading all of it.
"""

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.files import write_aside
from stb_gym.game import check_integer, make_game
from stb_gym.matching import board_of
from stb_gym.objectives import Objective, parse_objective
from stb_gym.shut_the_box import ShutTheBox
from stb_gym.solve import TIE

FIRST_LINE = "stb-gym board values 1 {:08d} {:08x}\n"  # length and CRC-32 of the header
BLOCK = 2**16  # bytes
ALIGNMENT = 2**12  # bytes


@dataclass(frozen=True, eq=False)
class BoardValues:
    """Perfect play of a game whose throws are all of the same dice and read as sums: the utility of every board.

    Attributes:
        game: the rules.
        objective: what is maximised.
        utility: [rows, columns] expected utility of every board before its throw, in the places of `tile_places`.
        path: the file it is mapped from, or None.
        checksums: CRC-32 of every block of that file's data.
    """

    game: ShutTheBox
    objective: Objective
    utility: NDArray[np.float64]
    path: Path | None = None
    checksums: Sequence[int] = ()
    _checked: set[int] = field(default_factory=set, init=False, repr=False)

    @property
    def value(self) -> float:
        """The value of a turn in the objective's unit."""
        return self.value_of(self.game.start()[0])

    def value_of(self, board: int) -> float:
        """The value of a board before its throw, in the objective's unit.

        Raises:
            ValueError: if a tile is open that the game does not start with, or the file is damaged there.
        """
        return self._natural(self._utility_at([self._place(board)])[0])

    def moves(self, board: int, roll: int) -> list[tuple[int, float]]:
        """Every legal (action, value) at a board and a roll, best first, and equally good ones lowest action first.

        Raises:
            ValueError: if there is no such board or roll, or the file is damaged where a move leads.
        """
        left = sorted(self._choices(board, roll), key=lambda choice: -choice[1])
        ranked: list[tuple[int, float]] = []
        while left:
            best = left[0][1]
            tied = [choice for choice in left if abs(choice[1] - best) <= TIE * abs(best)]
            ranked += sorted(tied)
            del left[: len(tied)]
        return [(action, self._natural(utility)) for action, utility in ranked]

    def node_value(self, board: int, roll: int) -> float:
        """The value of a board and a roll, before the choice.

        Raises:
            ValueError: if there is no such board or roll, or the file is damaged where a move leads.
        """
        utilities = [utility for _, utility in self._choices(board, roll)]
        return self._natural(max(utilities, default=self._utility_of_stopping(board)))

    def save(self, path: str | Path) -> None:
        """Write the values to a file that `load_board_values` reads; it appears whole or not at all.

        Raises:
            ValueError: if they come from a file that is damaged.
        """
        self._check(range(len(self.checksums)))
        data = _bytes_of(np.ascontiguousarray(self.utility, "<f8"))
        header = {
            "game": self.game.name,
            "rules": asdict(self.game),
            "objective": self.objective.name,
            "shape": self.utility.shape,
            "block": BLOCK,
            "checksums": [zlib.crc32(data[first : first + BLOCK]) for first in range(0, len(data), BLOCK)],
        }
        with write_aside(path) as aside, aside.open("wb") as file:
            file.write(_head(json.dumps(header, default=int).encode()))
            file.write(data)

    @cached_property
    def _places(self) -> dict[int, int]:
        return tile_places(self.game.start_tiles, self.utility.shape[1])

    @cached_property
    def _actions(self) -> dict[int, list[tuple[int, int]]]:
        """Of every roll the actions that may fit it, and their tiles as a board."""
        fitting: dict[int, list[tuple[int, int]]] = {}
        for action, tiles in enumerate(self.game.moves):
            fitting.setdefault(sum(tiles), []).append((action, board_of(tiles)))
        return fitting

    def _choices(self, board: int, roll: int) -> list[tuple[int, float]]:
        """Every legal action at a board and a roll, lowest first, and its utility."""
        place = self._place(board)
        check_integer("roll", roll, self.game.dice, self.game.dice * self.game.faces)
        legal = [(action, takes) for action, takes in self._actions.get(roll, []) if board & takes == takes]
        if not legal and board == self.game.start()[0]:
            return [(len(self.game.moves) - 1, self._utility_of_stopping(board))]  # NO_MOVE
        after = self._utility_at([place - self._place(takes) for _, takes in legal])
        return [(action, utility) for (action, _), utility in zip(legal, after, strict=True)]

    def _place(self, board: int) -> int:
        """Where a board is in the flat array."""
        if board & ~self.game.start()[0]:
            raise ValueError(f"a board of this game has open tiles out of {self.game.start_tiles}, not mask {board}")
        return sum(place for tile, place in self._places.items() if board >> tile - 1 & 1)

    def _utility_at(self, places: Iterable[int]) -> list[float]:
        flat = self.utility.reshape(-1)
        if self.checksums:
            self._check({place * flat.itemsize // BLOCK for place in places})
        return [float(flat[place]) for place in places]

    def _check(self, blocks: Iterable[int]) -> None:
        """Check blocks of the file that were not checked before."""
        data = _bytes_of(self.utility)
        for block in set(blocks) - self._checked:
            if zlib.crc32(data[block * BLOCK : (block + 1) * BLOCK]) != self.checksums[block]:
                raise ValueError(
                    f"{self.path} is damaged: block {block} of {len(self.checksums)} is not what was written"
                )
            self._checked.add(block)

    def _utility_of_stopping(self, board: int) -> float:
        return float(self.objective.utility(self.game.final_score(np.array([board])))[0])

    def _natural(self, utility: float) -> float:
        return self.objective.sign * utility + 0.0  # never -0.0


def _bytes_of(values: NDArray[np.float64]) -> memoryview:
    return values.reshape(-1).view(np.uint8).data


def tile_places(tiles: Sequence[int], columns: int) -> dict[int, int]:
    """The number that every open tile adds to a board's place in the flat array.

    Args:
        tiles: the tiles of the start, in ascending order.
        columns: a power of two, at most 2**len(tiles).
    """
    in_column = columns.bit_length() - 1
    bits = [*range(in_column, len(tiles)), *reversed(range(in_column))]
    return {tile: 1 << bit for tile, bit in zip(tiles, bits, strict=True)}


def load_board_values(path: str | Path, game: ShutTheBox, objective: str = "score") -> BoardValues:
    """Map a file that `BoardValues.save` wrote; nothing in it is executed, and its values are not read yet.

    Raises:
        ValueError: if there is no such file, its header is damaged, it is cut short, or it holds values of another game
            or objective.
    """
    values = open_board_values(path)
    there = {**asdict(values.game), "objective": values.objective.name}
    asked = {**asdict(game), "objective": parse_objective(objective).name}
    differing = [f"{name} {there[name]!r}, not {asked[name]!r}" for name in asked if asked[name] != there[name]]
    if differing:
        raise ValueError(f"{path} holds other values: of {'; of '.join(differing)}")
    return values


def open_board_values(path: str | Path) -> BoardValues:
    """Map a file of values, of whatever game it is.

    Raises:
        ValueError: if there is no such file, its header is damaged, it is cut short, or its rules are unknown here.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no file of board values {path}")
    with path.open("rb") as file:
        header = _read_header(path, file)
        try:
            game, goal = make_game(ShutTheBox, header["rules"]), parse_objective(header["objective"])
        except ValueError as error:
            raise ValueError(f"{path} is of rules that are unknown here: {error}") from None
        start, size = file.tell(), os.fstat(file.fileno()).st_size
        values = 8 * 2 ** len(game.start_tiles)
        if size != start + values:
            raise ValueError(f"{path} is damaged: it has {size:,} bytes, not {start + values:,}")
        if len(header["checksums"]) != -(-values // BLOCK):
            raise ValueError(f"{path} is damaged: it has {len(header['checksums'])} checksums, not one for every block")
        utility = np.memmap(file, "<f8", "r", start, tuple(header["shape"]))
    return BoardValues(game, goal, np.asarray(utility), path, header["checksums"])


def _head(header: bytes) -> bytes:
    """The first line of a file and its header, of which it tells the length and the checksum."""
    header = header.ljust(len(header) + -(len(FIRST_LINE.format(0, 0)) + len(header)) % ALIGNMENT)
    return FIRST_LINE.format(len(header), zlib.crc32(header)).encode() + header


def _read_header(path: Path, file: IO[bytes]) -> dict[str, Any]:
    """The header of a file, which is then at the first byte of its data."""
    line = file.read(len(FIRST_LINE.format(0, 0)))
    length = line[-18:-10]
    header = file.read(int(length)) if length.isdigit() else b""
    if line + header != _head(header):
        raise ValueError(f"{path} is not a file of board values of stb_gym, or its header is damaged")
    known: dict[str, Any] = json.loads(header)
    if missing := {"game", "rules", "objective", "shape", "block", "checksums"} - known.keys():
        raise ValueError(f"{path} is damaged: its header has no {min(missing)}")
    if (known["game"], known["block"]) != (ShutTheBox.name, BLOCK):
        raise ValueError(
            f"{path} is of {known['game']} in blocks of {known['block']}, not of {ShutTheBox.name} in {BLOCK}"
        )
    return known
