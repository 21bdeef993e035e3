"""Rules of thumb for Shut the Box; where one calls several moves equal, the lowest action is played.

They look at the board that a move leaves. Of two boards that one roll may leave, the greater bit mask has the highest
tile that is open on one of them alone.
"""

import numpy as np

from stb_gym.games.game import IntArray, Moves, RuleOfThumb
from stb_gym.games.shut_the_box.rules import ShutTheBox


def biggest_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the biggest tile that can be shut; of the moves that do, the next biggest, and so on."""
    return moves.next_held


def fewest_then_biggest(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as few tiles as possible; of the moves that do, the biggest tiles."""
    return moves.next_held - (_count(moves.next_held) << game.tiles)


def most_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as many tiles as possible; of the moves that do, the one of lowest index (the lowest tiles)."""
    return _count(moves.next_held)


def nine_eight_seven(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the highest tile of the box, else the second, else the third (9, 8, 7) if possible, else the smallest."""
    return (moves.next_held >> max(0, game.tiles - 3) << game.tiles) + lowest_first(game, moves)


def lowest_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the lowest tile that can be shut; of the moves that do, the next lowest, and so on."""
    mirrored = np.zeros_like(moves.next_held)
    for tile in game.start_tiles:
        mirrored |= (moves.next_held >> tile - 1 & 1) << game.tiles - tile
    return mirrored


def one_to_four_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as many of the tiles 1 to 4 as possible."""
    return _count(moves.next_held & 0b1111)


def _count(boards: IntArray) -> IntArray:
    """How many tiles are open on each board."""
    return np.bitwise_count(boards).astype(np.int64)


RULES_OF_THUMB: dict[str, RuleOfThumb] = {
    "biggest-first": biggest_first,
    "fewest-then-biggest": fewest_then_biggest,
    "most-first": most_first,
    "nine-eight-seven": nine_eight_seven,
    "lowest-first": lowest_first,
    "one-to-four-first": one_to_four_first,
}
