"""Shut the Box as moves that take tiles off a board, the form in which boxes too large for tables are solved.

It repeats the rules of `ShutTheBox` for many boards at once; tests compare it with `ShutTheBox.moves` at every node.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, ShutTheBox, rolls
from stb_gym.games.shut_the_box import board_of

LOW_BITS = 12  # of a board that are looked up at once


@dataclass(frozen=True, eq=False)
class Boards:
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
    first: NDArray[np.bool_]
    later: NDArray[np.bool_]

    @property
    def things(self) -> list[int]:
        """The bits of the board at the start, lowest first."""
        return [tile - 1 for tile in self.game.start_tiles]

    @property
    def throws(self) -> tuple[int, ...]:
        """The numbers of dice that are thrown in a turn, all of them first."""
        return self.game.throws

    @property
    def additive(self) -> bool:
        """Whether the score of a board is the sum of the scores of its tiles."""
        return self.game.score != "digits"

    @cached_property
    def _low_boards(self) -> NDArray[np.bool_]:
        """Whether one die may be thrown, by board; the last entry is for all boards with a tile above the faces."""
        return np.array([self.game.may_throw_one(board) for board in range((1 << self.game.faces) + 1)])

    def may_throw_one(self, boards: IntArray) -> NDArray[np.bool_]:
        """Return [B] whether one die may be thrown at boards after the first throw."""
        return self._low_boards.take(np.minimum(boards, 1 << self.game.faces))

    def may_throw(self, boards: IntArray, dice: int) -> NDArray[np.bool_]:
        """Return [B] whether so many dice may be thrown at boards that are not the first."""
        is_open = np.asarray(boards > 0)
        if len(self.throws) == 1:
            return is_open
        may_one = self.may_throw_one(boards)
        return is_open & (may_one if dice == 1 else ~(may_one & self.game.one_die_forced))

    def next_dice(self, boards: IntArray, action: IntArray) -> IntArray:
        """Return [B] how many dice are thrown next at the boards that actions leave.

        0 where the turn ends, and -1 where the action chooses a number of dice that may not be thrown.
        """
        game = self.game
        chosen = np.array(game.dice_after).take(action)
        if len(game.throws) == 1:
            dice = np.full(np.shape(boards), game.dice)
        elif game.one_die_forced:
            dice = np.where(self.may_throw_one(boards), 1, game.dice)
        else:
            dice = np.where((chosen == 1) & ~self.may_throw_one(boards), -1, chosen)
        # Where the turn ends nothing is thrown: of the actions for the same tiles, the first is legal.
        chosen_at_end = np.where(chosen > game.choices[0], -1, 0)
        shuts_nothing = np.array([not tiles for tiles in game.actions]).take(action)
        return np.where((np.asarray(boards) == 0) | shuts_nothing, chosen_at_end, dice)

    @cached_property
    def scores(self) -> IntArray:
        """[T] every final score that a board has, in ascending order."""
        if not self.additive:
            bits = 1 << np.array(self.things)
            return np.unique([self.game.final_score(board) for board in subset_sums(bits).tolist()])
        scores = np.zeros(1, np.int64)
        for bit in self.things:
            scores = np.union1d(scores, scores + self.game.final_score(1 << bit))
        return scores

    def final_scores(self, boards: Any) -> IntArray:
        """Return the points of turns that end at boards of any shape."""
        if self.additive:
            return self._tile_scores.of(boards)
        flat = [self.game.final_score(board) for board in np.ravel(boards).tolist()]
        return np.array(flat, np.int64).reshape(np.shape(boards))

    @cached_property
    def _tile_scores(self) -> "BoardSums":
        return BoardSums(np.array([self.game.final_score(1 << bit) for bit in range(self.game.tiles)]))


class BoardSums:
    """Sums over the open tiles of boards, looked up in two tables: of the lowest bits, and of the others.

    Args:
        tiles: [N, ...] the number, or row of numbers, that every tile adds, lowest bit first.
    """

    def __init__(self, tiles: NDArray[Any]):
        self._low, self._high = subset_sums(tiles[:LOW_BITS]), subset_sums(tiles[LOW_BITS:])

    def of(self, boards: Any) -> NDArray[Any]:
        """Return the sums of boards of any shape."""
        sums: NDArray[Any] = self._low.take(boards & (1 << LOW_BITS) - 1, axis=0)
        return sums + self._high.take(boards >> LOW_BITS, axis=0)


def subset_sums(parts: NDArray[Any]) -> NDArray[Any]:
    """Return [2**N, ...] the sums of all subsets of parts [N, ...]; bit i of an index says whether part i is in it."""
    sums = np.zeros((1, *parts.shape[1:]), parts.dtype)
    for part in parts:
        sums = np.concatenate((sums, sums + part))
    return sums


@lru_cache(maxsize=16)
def boards_of(game: Game) -> Boards:
    """Return the boards and moves of a box.

    Raises:
        ValueError: if the game is not Shut the Box, the only one that has boards.
    """
    if not isinstance(game, ShutTheBox):
        raise ValueError(f"{game.name} has no boards: it is solved and stepped by tables alone")
    moves = []
    for (dice, roll), sets in game.matches.items():
        place = rolls(game, dice).shown.index(roll)
        first = [tiles for tiles in sets if game.first_move is None or game.first_move in tiles]
        for tiles in sets:
            for choice in range(len(game.choices)):
                action = game.first_action[tiles] + choice
                moves.append((dice, place, action, board_of(tiles), tiles in first, True))
        if dice == game.dice and not first:
            moves.append((dice, place, len(game.actions) - 1, 0, True, False))  # the move that shuts nothing
    columns = np.array(moves, np.int64).reshape(-1, 6).T
    return Boards(game, columns[0], columns[1], columns[2], columns[3], columns[4] > 0, columns[5] > 0)
