"""Rules of Shut the Box: throw the dice and shut open tiles that match the roll, until no open tiles match.

The whole game, in pseudo-code:

    open = the tiles of the start
    while open:
        throw the dice; the roll is their sum
        sets = the sets of open tiles that add up to the roll
        if there is no such set: break
        choose one of them, and shut its tiles: open = open - set
    score = the sum of the tiles still open; fewest points are best

The fields of `ShutTheBox` vary this. `board` is the board as a bit mask: bit i set means that tile i + 1 is open.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from stb_gym.arrays import IntArray
from stb_gym.checks import check_choice, check_integer, integers
from stb_gym.games.game import LARGEST_THROW_TABLE, Afterstate, Game, Heuristic, Moves, Roll, dice_in_words
from stb_gym.games.rules import Variant, document_fields, rule
from stb_gym.games.throws import rolls

Tiles = tuple[int, ...]

NO_MOVE: Tiles = ()
MAX_DIGITS = 14  # tiles whose digits make a number of 64 bits
MAX_SETS = 2**16  # sets of tiles that rolls may shut, counted over all rolls

# Which tiles are open at the start, by name, as a slice of all.
OPEN = {"all": slice(None), "odd": slice(None, None, 2), "even": slice(1, None, 2), "4-up": slice(3, None)}

# Which open tiles a roll may shut.
MATCH = {
    "sum": "any open tiles that add up to the roll",
    "one-tile": "the tile of one of the dice, or that of their sum",
    "two-at-most": "one open tile or two that add up to the roll",
    "faces-or-sum": "the tiles of all dice (equal dice name one tile), or that of their sum",
}
BY_SUM = ("sum", "two-at-most")  # with these, only the sum of the dice counts

# When one die may be thrown instead of all, after the first throw, by name; "never" is the default.
ONE_DIE = {
    "low-sum": "while the open tiles add up to no more than a die has faces",
    "high-shut": "while no tile above the faces of a die is open",
    "any-time": "at any time",
}

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
    "two-at-most": Variant({"match": "two-at-most"}, "Each roll shuts one tile or two."),
    "faces-or-sum": Variant({"match": "faces-or-sum"}, "Each roll shuts the tiles of all dice, or that of the sum."),
    "missionary": Variant({"score": "count"}, "The open tiles are counted."),
    "digital": Variant({"score": "digits"}, "The open tiles are read as one number: 1, 2 and 5 open are 125 points."),
}


@document_fields
@dataclass(frozen=True, repr=False)
class ShutTheBox(Game):
    """One turn of Shut the Box.

    Where one die may be thrown instead of all, the choice belongs to the move before: there is an action for every set
    of tiles and number of dice. If the first roll of a turn leaves no move at all, the one legal action is `NO_MOVE`,
    the last of the actions: it ends the turn with the board as it is.

    Raises:
        ValueError: naming the field that is out of range, and the range.

    Example:
        >>> import stb_gym
        >>> stb_gym.ShutTheBox(tiles=10, one_die="low-sum").start()  # the open tiles as bits, and two dice
        (1023, 2)
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
    open: str | Tiles = rule(  # noqa: RUF009 (a tuple cannot change)
        "all",
        "the tiles that are open at the start: all, odd, even, 4-up (4 and above), or their numbers, such as 1,3,7",
    )
    one_die: str = rule(
        "never",
        "when one die may be thrown instead of all, after the first throw. "
        + "; ".join(f"{name}: {when}" for name, when in ONE_DIE.items()),
        choices=("never", *ONE_DIE),
    )
    one_die_forced: bool = rule(False, "whenever one die may be thrown, it must be")
    match: str = rule(
        "sum",
        "which open tiles a roll may shut. " + "; ".join(f"{name}: {which}" for name, which in MATCH.items()),
        choices=tuple(MATCH),
    )
    first_move: int | None = rule(None, "a tile that the first move must shut; if it cannot, the turn ends")
    ending_roll: int | None = rule(None, "a sum of the dice that ends the turn at once")

    name: ClassVar[str] = "shut-the-box"
    position_options: ClassVar[Mapping[str, str]] = {
        "open": "open tiles (such as 1,4,5,8; default those of the start)",
        "roll": "sum of the dice, or the dice",
        "dice": "how many dice were thrown",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.score == "digits" and self.tiles > MAX_DIGITS:
            raise ValueError(f"score digits is for at most {MAX_DIGITS} tiles, not {self.tiles}")
        object.__setattr__(self, "open", _open_at_start(self.open, self.tiles))
        if self.one_die_forced and self.one_die == "never":
            raise ValueError("one_die_forced needs a one_die other than never")
        if self.first_move is not None:
            check_integer("first_move", self.first_move, 1, self.tiles)
            check_choice("tile of the first move", self.first_move, self.start_tiles)
        if self.ending_roll is not None:
            check_integer("ending_roll", self.ending_roll, min(self.throws), self.dice * self.faces)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> "ShutTheBox":
        """Return the rules of a named variant, with other fields changed.

        Args:
            name: one of `VARIANTS`.
            **changes: fields of the rules.

        Raises:
            ValueError: if there is no variant of this name, or the value of a field is not allowed.

        Example:
            >>> import stb_gym
            >>> stb_gym.ShutTheBox.preset("thai-style", tiles=12)
            ShutTheBox(tiles=12, match='one-tile')
        """
        check_choice("variant", name, list(VARIANTS))
        return cls(**{**VARIANTS[name].fields, **changes})

    @cached_property
    def start_tiles(self) -> Tiles:
        """The tiles that are open at the start, in ascending order."""
        return _tiles_of(self.open, self.tiles)

    @cached_property
    def throws(self) -> tuple[int, ...]:
        """How many dice a throw can have: all, and then one where the rules allow it."""
        return (self.dice,) if self.one_die == "never" or self.dice == 1 else (self.dice, 1)

    @cached_property
    def choices(self) -> tuple[int, ...]:
        """How many dice a player may choose to throw next, fewest first; (0,) if there is no choice."""
        return (0,) if self.one_die_forced or len(self.throws) == 1 else (1, self.dice)

    @cached_property
    def matches(self) -> dict[tuple[int, Roll], list[Tiles]]:
        """The sets of tiles that a roll may shut, by (number of dice, roll), in the order of the actions.

        Raises:
            ValueError: if there are more than MAX_SETS.
        """
        matches = {}
        total = 0
        for dice in self.throws:
            for roll in rolls(self, dice).shown:
                sets = list(islice(self._sets_of(roll), MAX_SETS + 1))
                total += len(sets)
                if total > MAX_SETS:
                    raise ValueError(f"{self} has more than {MAX_SETS:,} sets of tiles that rolls may shut")
                matches[dice, roll] = sorted(sets)
        return matches

    def _sets_of(self, roll: Roll) -> Iterator[Tiles]:
        """Yield the sets of tiles that a roll may shut."""
        total = sum(roll)
        if total == self.ending_roll:
            return
        if self.match in BY_SUM:
            yield from _adding_up(total, self.start_tiles, 2 if self.match == "two-at-most" else self.tiles)
            return
        named = {(face,) for face in roll} if self.match == "one-tile" else {tuple(sorted(set(roll)))}
        for tiles in named | {(total,)}:
            if set(tiles) <= set(self.start_tiles):
                yield tiles

    @cached_property
    def first_action(self) -> dict[Tiles, int]:
        """The first action of every set of tiles that some roll may shut, in the order of the actions.

        Sets are ordered by their sum, then tile by tile from the lowest; each has an action for each of `choices`.
        """
        sets = {tiles for sets in self.matches.values() for tiles in sets}
        in_order = sorted(sets, key=lambda tiles: (sum(tiles), tiles))
        return {tiles: len(self.choices) * number for number, tiles in enumerate(in_order)}

    @cached_property
    def actions(self) -> tuple[Tiles, ...]:
        """The tiles each action shuts: each set that a roll may shut, for each of `choices`; perhaps `NO_MOVE`."""
        shut = tuple(tiles for tiles in self.first_action for _ in self.choices)
        for (dice, _), moves in self.masked_moves.items():
            if dice == self.dice and not any(may_be_first for _, _, may_be_first in moves):
                return (*shut, NO_MOVE)
        return shut

    @cached_property
    def dice_after(self) -> tuple[int, ...]:
        """How many dice each action chooses to throw next; 0 if there is no choice."""
        return (self.choices * len(self.first_action) + (0,))[: len(self.actions)]

    @cached_property
    def masked_moves(self) -> dict[tuple[int, Roll], list[tuple[int, int, bool]]]:
        """For every set in `matches`: its bit mask, its first action, and whether the first move may shut it."""
        return {
            thrown: [(board_of(tiles), self.first_action[tiles], self.first_move in (None, *tiles)) for tiles in sets]
            for thrown, sets in self.matches.items()
        }

    @cached_property
    def _start_board(self) -> int:
        return board_of(self.start_tiles)

    def start(self) -> Afterstate:
        return self._start_board, self.dice

    def moves(self, afterstate: Afterstate, roll: Roll) -> dict[int, Afterstate]:
        board, dice = afterstate
        is_first = board == self._start_board
        all_dice = self.choices[1:]  # the second of the actions for the same tiles, if there are two
        legal = {}
        for taken, first_action, may_be_first in self.masked_moves[dice, roll]:
            if board & taken == taken and (may_be_first or not is_first):
                left = board ^ taken
                for next_dice in self.throws_at(left) or (0,):
                    legal[first_action + (next_dice in all_dice)] = (left, next_dice)
        if is_first and not legal:
            return {len(self.actions) - 1: (board, 0)}  # NO_MOVE
        return legal

    def may_throw_one(self, board: int) -> bool:
        """Return whether one die may be thrown at a board after the first throw."""
        if self.one_die == "low-sum":
            return board < 1 << self.faces and sum(open_tiles(board)) <= self.faces
        if self.one_die == "high-shut":
            return board < 1 << self.faces
        return self.one_die == "any-time"

    def throws_at(self, board: int) -> tuple[int, ...]:
        """Return how many dice may be thrown at a board, fewest first; () if no tile is open."""
        if board == 0:
            return ()
        if len(self.throws) == 1 or board == self._start_board or not self.may_throw_one(board):
            return (self.dice,)
        return (1,) if self.one_die_forced else self.choices

    def positions(self) -> Iterator[Afterstate]:
        """Yield every board with every number of dice that may be thrown there."""
        board = 0
        while board := (board - self._start_board) & self._start_board:  # the next subset of the tiles
            yield from ((board, dice) for dice in self.throws_at(board))

    def max_states(self) -> int:
        return 2 ** len(self.start_tiles) * sum(len(rolls(self, dice).shown) for dice in self.throws)

    def final_score(self, board: int) -> int:
        tiles = open_tiles(board)
        if self.score == "digits":
            return int("".join(map(str, tiles)) or 0)
        return sum(tiles) if self.score == "sum" else len(tiles)

    def roll_of(self, throw: Roll) -> Roll:
        return (sum(throw),) if self.match in BY_SUM else tuple(sorted(throw))

    @cached_property
    def _index_of_roll(self) -> dict[tuple[int, Roll], int]:
        return {dice_and_roll: index for index, dice_and_roll in enumerate(self.matches, self.tiles)}

    @property
    def observation_high(self) -> list[int]:
        return [1] * (self.tiles + len(self._index_of_roll))

    def observe(self, afterstate: Afterstate, roll: Roll) -> list[int]:
        """Return a 1 for every open tile, then a one-hot roll: the rolls of all dice, then those of one die."""
        numbers = [afterstate[0] >> bit & 1 for bit in range(self.tiles)] + [0] * len(self._index_of_roll)
        if roll:
            numbers[self._index_of_roll[afterstate[1], roll]] = 1
        return numbers

    def find_progress(self, options: Mapping[str, Any]) -> tuple[int, list[int]]:
        named = options.get("open", self.start_tiles)
        tiles = integers("open tiles", named if isinstance(named, Iterable) else [named], 1, self.tiles)
        if not tiles or len(set(tiles)) < len(tiles):
            raise ValueError(f"open must name at least one tile, and each once, not {tiles}")
        for tile in tiles:
            check_choice("open tile", tile, self.start_tiles)
        board = board_of(tiles)
        return board, sorted(self.throws_at(board), reverse=True)

    def options_at(self, board: int, dice: int) -> dict[str, Any]:
        return {"open": open_tiles(board), "dice": dice}

    def describe_afterstate(self, board: int, dice: int) -> str:
        tiles = f"open {','.join(map(str, open_tiles(board))) or 'none'}"
        return tiles if len(self.throws) == 1 or dice == 0 else f"{tiles}, {dice_in_words(dice)}"

    def describe_move(self, action: int, goes_on: bool = True, roll: Roll | None = None) -> str:
        if not self.actions[action]:
            return "no move"
        dice = self.dice_after[action]
        then = f", throw {dice_in_words(dice)}" if dice and goes_on else ""
        return f"shut {','.join(map(str, self.actions[action]))}{then}"


def _open_at_start(opened: Any, tiles: int) -> str | Tiles:
    """Return the tiles that are open at the start: a word of OPEN if one fits, else their numbers.

    Args:
        opened: a word of OPEN, or tile numbers, as a collection or separated by commas.
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
        opened = next((word for word in OPEN if _tiles_of(word, tiles) == listed), listed)
    if not _tiles_of(opened, tiles):
        raise ValueError(f"open must leave a tile open, but {opened} leaves none of {tiles} tiles open")
    return opened


def _tiles_of(opened: str | Tiles, tiles: int) -> Tiles:
    return tuple(range(1, tiles + 1)[OPEN[opened]]) if isinstance(opened, str) else opened


def board_of(tiles: Iterable[int]) -> int:
    """Return the bit mask of a board with just these tiles open."""
    return sum(1 << int(tile) - 1 for tile in tiles)


def open_tiles(board: int) -> Tiles:
    """Return the numbers of the open tiles of a board, in ascending order."""
    return tuple(bit + 1 for bit in range(board.bit_length()) if board >> bit & 1)


def _adding_up(total: int, tiles: Tiles, most: int) -> Iterator[Tiles]:
    """Yield every set of at most so many of the tiles that adds up to the total."""
    if total == 0:
        yield ()
    elif most > 0:
        for place, tile in enumerate(tiles):
            if tile > total:
                return
            yield from ((tile, *rest) for rest in _adding_up(total - tile, tiles[place + 1 :], most - 1))


# Heuristics. They look at the board that a move leaves. Of two boards that one roll may leave, the greater bit mask has
# the highest tile that is open on one of them alone.


def biggest_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the biggest tile that can be shut; of the moves that do, the next biggest, and so on."""
    return moves.next_progress


def fewest_then_biggest(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as few tiles as possible; of the moves that do, the biggest tiles."""
    return moves.next_progress - (_count(moves.next_progress) << game.tiles)


def most_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as many tiles as possible; of the moves that do, the one of lowest index (the lowest tiles)."""
    return _count(moves.next_progress)


def nine_eight_seven(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the highest tile of the box, else the second, else the third (9, 8, 7) if possible, else the smallest."""
    return (moves.next_progress >> max(0, game.tiles - 3) << game.tiles) + lowest_first(game, moves)


def lowest_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the lowest tile that can be shut; of the moves that do, the next lowest, and so on."""
    mirrored = np.zeros_like(moves.next_progress)
    for tile in game.start_tiles:
        mirrored |= (moves.next_progress >> tile - 1 & 1) << game.tiles - tile
    return mirrored


def one_to_four_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as many of the tiles 1 to 4 as possible."""
    return _count(moves.next_progress & 0b1111)


def _count(boards: IntArray) -> IntArray:
    """Return how many tiles are open on each board."""
    return np.bitwise_count(boards).astype(np.int64)


HEURISTICS: dict[str, Heuristic] = {
    "biggest-first": biggest_first,
    "fewest-then-biggest": fewest_then_biggest,
    "most-first": most_first,
    "nine-eight-seven": nine_eight_seven,
    "lowest-first": lowest_first,
    "one-to-four-first": one_to_four_first,
}

# What every environment is made with, by the name of its id: fields of the rules, the objective, and the mean reward of
# perfect play. The larger boxes would take too long to be solved at import.
ENVIRONMENTS: dict[str, Mapping[str, Any]] = {
    "ShutTheBox-v0": {"reward_threshold": -11.157508444202623},
    "ShutTheBoxShut-v0": {"objective": "shut", "reward_threshold": 0.07143162230560597},
    "ShutTheBoxOneDie-v0": {"one_die": "low-sum", "reward_threshold": -11.021120546222791},
    "ShutTheBoxThai-v0": {"match": "one-tile", "reward_threshold": -13.760077213682294},
    "ShutTheBox10-v0": {"tiles": 10, "reward_threshold": -16.64572136166177},
    "ShutTheBox10OneDie-v0": {"tiles": 10, "one_die": "low-sum", "reward_threshold": -16.577890023639007},
    "ShutTheBox12-v0": {"tiles": 12, "reward_threshold": -35.08142065292144},
    "ShutTheBox12OneDie-v0": {"tiles": 12, "one_die": "low-sum", "reward_threshold": -35.07588588694802},
    "ShutTheBox16-v0": {"tiles": 16, "dice": 3, "reward_threshold": -46.49611759405547},
    "ShutTheBox300-v0": {"tiles": 24, "dice": 4, "reward_threshold": -142.64714318250637},
}
