"""The utility of every board of a box, in an array or in a file that is mapped into memory.

The array is [rows, columns]. The lowest tiles of the start are the bits of the row, lowest tile lowest; the others are
the bits of the column, lowest tile highest. Most moves shut low tiles, so most act on long runs of columns.

A saved array is a plain `.npy` file with a JSON file beside it (FILE.npy.json: game, rules, objective, shape, and the
SHA-256 of the .npy file). Looking up a value reads only the pages it is on; the checksum is checked on request.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import index
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, all_rules, game_of
from stb_gym.large.boards import Boards, BoardSums, boards_of
from stb_gym.output import check_file, from_json, made_of, read_text, write_aside, write_text
from stb_gym.solver import Goal, Objective, is_as_good, is_named, objective_of


@dataclass(frozen=True)
class About:
    """The contents of the JSON file beside the values."""

    game: str
    rules: dict[str, Any]
    objective: str
    shape: list[int]
    sha256: str


@dataclass(frozen=True, eq=False, repr=False)
class BoardValues:
    """Perfect play of a box too large for tables: the utility of every board.

    Attributes:
        game: the rules.
        objective: what is maximised.
        utility: [rows, columns] expected utility of every board before its throw, at the place that `places_of` gives.
            Where one die may be thrown instead of all, the rows of boards before one die follow those before all dice.
    """

    game: Game
    objective: Objective
    utility: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<{self.game}: {self.objective.name} {self.value:.6g} {self.objective.unit}>"

    @property
    def value(self) -> float:
        """The value of a turn in the objective's unit."""
        return self.value_of(self.game.start()[0])

    def value_of(self, board: int) -> float:
        """Return the value of a board before a throw of all dice, in the objective's unit.

        Raises:
            ValueError: if a tile is open that is shut at the start.
        """
        return (
            float(self.objective.sign * self.utilities_at(np.array([index(board)]), self.game.dice)[0]) + 0.0
        )  # never -0.0

    def utilities_at(self, held: IntArray, dice: IntArray | int) -> NDArray[np.float64]:
        """Return the expected utilities of boards before a throw, or of turns that end there.

        Args:
            held: [B] boards.
            dice: [B] the dice of the next throw, 0 where the turn ends; or one number for all.

        Returns:
            [B] expected utilities.

        Raises:
            ValueError: if a tile is open that is shut at the start.
        """
        held = np.asarray(held)
        held = held.astype(np.int64, copy=False) if held.dtype.kind in "iu" else held  # short ones would overflow
        if (unknown := np.asarray(held & ~self.game.start()[0] != 0)).any():
            start = list(self._boards.game.start_tiles)
            raise ValueError(f"a board of this game has open tiles out of {start}, not mask {held[unknown][0]}")
        utilities, over = self.utility.reshape(-1).take(self.places(held, dice)), np.broadcast_to(dice, held.shape) == 0
        utilities[over] = self.objective.utilities(self._boards.final_scores(held[over]))
        return utilities

    def is_as_good(self, after: NDArray[Any], best: NDArray[Any]) -> NDArray[np.bool_]:
        """Return [E] True where moves of utility `after` [E] are as good as the best ones, of utility `best` [E]."""
        return is_as_good(after, best, best if is_named(self.game, self.objective) else self._extremes)

    @cached_property
    def _extremes(self) -> NDArray[np.float64]:
        """The least and the greatest utility. Objectives that have a name have utilities of one sign."""
        return np.array([self.utility.min(), self.utility.max()])

    def places(self, held: IntArray, dice: IntArray | int) -> IntArray:
        """Return [B] the places of boards in the flat array, before a throw of so many dice (0 counts as all)."""
        place = self._places.of(held)
        for number, fewer in enumerate(self._boards.throws[1:], 1):
            place += (np.asarray(dice) == fewer) * number * 2 ** len(self._boards.things)
        return place

    def save(self, path: str | Path) -> None:
        """Write the values as a .npy file, with a JSON file beside it; each appears whole or not at all.

        Raises:
            ValueError: if the objective is a function, which a file cannot store.
        """
        if not is_named(self.game, self.objective):
            raise ValueError(f"values are saved for score, shut and at-most:T, not for {self.objective.name}")
        path = Path(path)
        with write_aside(path) as aside:
            with aside.open("wb") as file:
                np.save(file, np.ascontiguousarray(self.utility, "<f8"))
            entries = {
                "game": self.game.name,
                "rules": all_rules(self.game),
                "objective": self.objective.name,
                "shape": list(self.utility.shape),
                "sha256": _sha256(aside),
            }
            _about(path).unlink(missing_ok=True)  # an interrupt now must not leave it beside other values
        write_text(_about(path), json.dumps(entries, default=int, indent=2) + "\n")

    @cached_property
    def _boards(self) -> Boards:
        return boards_of(self.game)

    @cached_property
    def _places(self) -> BoardSums:
        """The places of boards, as sums over their bits."""
        places = places_of(self._boards.things, self.utility.shape[1])
        return BoardSums(np.array([places.get(bit, 0) for bit in range(self.game.start()[0].bit_length())]))


def places_of(things: Sequence[int], columns: int) -> dict[int, int]:
    """Return what every bit of a board adds to its place in the flat array.

    Args:
        things: the bits of the start, in ascending order.
        columns: a power of two, at most 2**len(things).
    """
    in_column = columns.bit_length() - 1
    places = [*range(in_column, len(things)), *reversed(range(in_column))]
    return {bit: 1 << place for bit, place in zip(things, places, strict=True)}


def load_board_values(path: str | Path, game: Game, objective: Goal = "score", *, check: bool = False) -> BoardValues:
    """Map the files that `BoardValues.save` wrote into memory; nothing in them is executed.

    Args:
        path: the .npy file.
        game: the rules that the values must be of.
        objective: the objective that they must be solved for.
        check: read the whole file, and refuse it unless its SHA-256 is the one that was written.

    Raises:
        ValueError: if a file is missing, damaged or cut short, or the values are of another game or objective.

    Example:
        >>> import stb_gym, tempfile
        >>> box = stb_gym.ShutTheBox(tiles=8)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stb_gym.large.solve_boards(box).save(f"{folder}/box.npy")
        ...     print(round(stb_gym.large.load_board_values(f"{folder}/box.npy", box).value, 6))
        7.623689
    """
    if not is_named(game, goal := objective_of(game, objective)):
        raise ValueError(f"values are saved for score, shut and at-most:T, not for {goal.name}")
    values = open_board_values(path, check=check)
    stored = {**all_rules(values.game), "objective": values.objective.name}
    wanted = {**all_rules(game), "objective": goal.name}
    if values.game.name != game.name:
        raise ValueError(f"{path} holds values of {values.game.name}, not of {game.name}")
    differing = [f"{name} {stored[name]!r}, not {wanted[name]!r}" for name in wanted if wanted[name] != stored[name]]
    if differing:
        raise ValueError(f"{path} holds other values: {'; '.join(differing)}")
    return values


def open_board_values(path: str | Path, *, check: bool = False) -> BoardValues:
    """Map files of values of any game into memory; for the arguments and errors see `load_board_values`."""
    path = Path(path)
    about = _read_about(path)
    try:
        game = game_of(about.game, about.rules)
        goal, shape = objective_of(game, about.objective), tuple(about.shape)
        boards = len(boards_of(game).throws) * 2 ** len(boards_of(game).things)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} has rules that are not known here: {error}") from None
    try:
        check_file(path)
        utility = np.lib.format.open_memmap(path, mode="r")
        whole = utility.offset + utility.nbytes == path.stat().st_size
    except FileNotFoundError:
        raise ValueError(f"there is no file of board values {path}") from None
    except Exception as error:  # a damaged file fails in several ways
        raise ValueError(f"{path} is no .npy file, or is damaged: {error}") from None
    if utility.shape != shape or utility.size != boards or utility.ndim != 2 or utility.dtype != np.dtype("<f8"):
        raise ValueError(f"{path} is damaged: it is {utility.dtype} of shape {utility.shape}, not floats of {shape}")
    if not whole:
        raise ValueError(f"{path} is damaged: it is longer than its values")
    if check and _sha256(path) != about.sha256:
        raise ValueError(f"{path} is damaged: it is not what was written")
    return BoardValues(game, goal, np.asarray(utility))


def _about(path: Path) -> Path:
    """Return the path of the JSON file beside a file of values."""
    return path.with_name(f"{path.name}.json")


def _read_about(path: Path) -> About:
    try:
        return made_of(About, from_json(read_text(_about(path))))
    except FileNotFoundError:
        missing = path if not path.is_file() else _about(path)
        raise ValueError(f"there is no file of board values {missing}") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{_about(path)} is damaged: {error}") from None


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
