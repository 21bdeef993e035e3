"""The rules of Shut the Box for many boards at once, as boxes too large for tables need them.

Tests compare values by boards with those by tables, and steps at every state.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from inspect import getattr_static
from typing import Any

import numpy as np

from stb_gym.arrays import BoolArray, IntArray, cached_arrays, freeze
from stb_gym.checks import listed
from stb_gym.games import Game, ShutTheBox, cached_by_rules, rolls

LOW_BITS = 12  # the bits of a board that the first table of `board_sums` looks up

# What a subclass of Shut the Box may change without other rules: names and words.
WORDS = {
    *("name", "preset", "position_options", "find_progress", "options_at"),
    *("describe_afterstate", "describe_move", "describe_roll", "describe_state"),
}


@dataclass(frozen=True, eq=False)
class Box:
    """A box, with every roll and every move it may lead to: M moves.

    A board is a bit mask of open tiles. A turn ends when no tile is open, and with the move that shuts nothing.

    Attributes:
        game: the rules.
        dice, roll: [M] how many dice were thrown, and the index of the roll among those of so many dice.
        action, taken: [M] the action, and the tiles it shuts as a bit mask; it is legal where all of them are open.
        first, later: [M] whether the move may be made on the first throw of a turn, and on later ones.
    """

    game: ShutTheBox
    dice: IntArray
    roll: IntArray
    action: IntArray
    taken: IntArray
    first: BoolArray
    later: BoolArray

    def __post_init__(self) -> None:
        freeze(vars(self))

    @cached_arrays
    def _may_throw_one(self) -> BoolArray:
        """[2**faces + 1] True where one die may be thrown; the last entry stands for all larger boards."""
        return np.array([self.game.may_throw_one(board) for board in range((1 << self.game.faces) + 1)])

    def may_throw(self, boards: IntArray, dice: int) -> BoolArray:
        """Return [B] whether so many dice may be thrown at boards after the first throw."""
        is_open = np.asarray(boards > 0)
        if len(self.game.throws) == 1:
            return is_open
        may_one = self._may_throw_one.take(np.minimum(boards, 1 << self.game.faces))
        return is_open & (may_one if dice == 1 else ~(may_one & self.game.one_die_forced))

    def next_dice(self, boards: IntArray, action: IntArray) -> IntArray:
        """Return [B] how many dice are thrown next at the boards that actions leave.

        0 where the turn ends, and -1 where the action chooses a number of dice that may not be thrown.
        """
        game = self.game
        chosen = np.array(game.dice_after).take(action)
        may_last = self.may_throw(boards, game.throws[-1])  # the one number of dice, or one die
        if game.choices == (0,):
            dice = np.where(may_last, game.throws[-1], game.dice)
        else:
            dice = np.where((chosen == 1) & ~may_last, -1, chosen)
        # Where the turn ends nothing is thrown: of the actions for the same tiles, the first is legal.
        chosen_at_end = np.where(chosen > game.choices[0], -1, 0)
        shuts_nothing = np.array([not tiles for tiles in game.actions]).take(action)
        return np.where((np.asarray(boards) == 0) | shuts_nothing, chosen_at_end, dice)

    @property
    def bits(self) -> IntArray:
        """The bit of each tile that is open at the start, highest tile first."""
        return 1 << np.array(self.game.start_tiles[::-1]) - 1

    @cached_property
    def places(self) -> Callable[[Any], IntArray]:
        """A function that returns the places of boards of any shape; see `stb_gym.large.grid`."""
        bits = np.zeros(self.game.tiles, np.int64)
        bits[np.array(self.game.start_tiles[::-1]) - 1] = 1 << np.arange(len(self.bits))
        return board_sums(bits)

    @cached_arrays
    def scores(self) -> IntArray:
        """[T] every final score that a board has, in ascending order."""
        if self.game.score == "digits":
            return np.unique(self.final_scores(subset_sums(self.bits)))
        scores = np.zeros(1, np.int64)
        for bit in self.bits.tolist():
            scores = np.union1d(scores, scores + self.game.final_score(bit))
        return scores

    @cached_property
    def final_scores(self) -> Callable[[Any], IntArray]:
        """A function that returns the points of turns that end at boards of any shape."""
        if self.game.score == "digits":  # a box with at most 14 tiles
            return np.vectorize(self.game.final_score, [np.int64])
        return board_sums(np.array([self.game.final_score(1 << bit) for bit in range(self.game.tiles)]))


def board_sums(tiles: IntArray) -> Callable[[Any], IntArray]:
    """Return a function that adds up the numbers of the open tiles of boards of any shape.

    It looks them up in two tables: of the lowest bits, and of the others.

    Args:
        tiles: [N] the number that every tile adds, lowest bit first.
    """
    low, high = subset_sums(tiles[:LOW_BITS]), subset_sums(tiles[LOW_BITS:])
    return lambda boards: low.take(boards & (1 << LOW_BITS) - 1) + high.take(boards >> LOW_BITS)


def subset_sums(parts: IntArray) -> IntArray:
    """Return [2**N] the sums of all subsets of parts [N]; bit i of an index says whether part i is in it."""
    sums = np.zeros(1, np.int64)
    for part in parts:
        sums = np.concatenate((sums, sums + part))
    return sums


def changed_rules(rules: type[Game]) -> list[str]:
    """Return the names of rules that a subclass of Shut the Box changes: methods and properties, but no fields."""
    fields_of_box = {field.name for field in fields(ShutTheBox)}
    known = {name for parent in (ShutTheBox, Game) for name in vars(parent) if not name.startswith(("__", "_abc_"))}
    return [
        name
        for name in sorted(known - fields_of_box - WORDS)
        if getattr_static(rules, name, None) is not getattr_static(ShutTheBox, name, None)
    ]


def is_box(game: Game) -> bool:
    """Return whether a game has boards: Shut the Box, or a subclass that does not change its methods."""
    return isinstance(game, ShutTheBox) and not changed_rules(type(game))


@cached_by_rules(16)
def box_of(game: Game) -> Box:
    """Return the boards and moves of a box.

    Raises:
        ValueError: if the game is not Shut the Box, the only one that has boards, or a subclass with other rules.
    """
    if not isinstance(game, ShutTheBox):
        raise ValueError(f"{game.name} has no boards: it is solved and stepped by tables alone")
    if changed := changed_rules(type(game)):
        raise ValueError(
            f"boards follow the rules of ShutTheBox, and {type(game).__name__} changes {listed(changed, 60)}: use "
            "tables (if few positions are reachable, override positions and max_states)"
        )
    moves = []
    for (dice, roll), sets in game.masked_moves.items():
        index = rolls(game, dice).shown.index(roll)
        for tiles, first_action, may_be_first in sets:
            for choice in range(len(game.choices)):
                moves.append((dice, index, first_action + choice, tiles, may_be_first, True))
        if dice == game.dice and not any(may_be_first for _, _, may_be_first in sets):
            moves.append((dice, index, len(game.actions) - 1, 0, True, False))  # the move that shuts nothing
    dice_thrown, roll_index, action, taken, first, later = np.array(moves, np.int64).reshape(-1, 6).T
    return Box(game, dice_thrown, roll_index, action, taken, first > 0, later > 0)
