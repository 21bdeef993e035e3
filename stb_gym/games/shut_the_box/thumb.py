"""Rules of thumb for Shut the Box; where one calls several moves equal, the lowest action is played."""

from stb_gym.games.game import IntArray, Moves, RuleOfThumb, ranked
from stb_gym.games.shut_the_box.rules import ShutTheBox


def biggest_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the biggest tile that can be shut; of the moves that do, the next biggest, and so on."""
    return ranked(game, moves, lambda tiles: [-tile for tile in reversed(tiles)])


def fewest_then_biggest(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as few tiles as possible; of the moves that do, the biggest tiles."""
    return ranked(game, moves, lambda tiles: [len(tiles), *(-tile for tile in reversed(tiles))])


def most_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as many tiles as possible; of the moves that do, the one of lowest index (the lowest tiles)."""
    return ranked(game, moves, lambda tiles: [-len(tiles)])


def nine_eight_seven(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the highest tile of the box, else the second, else the third (9, 8, 7) if possible, else the smallest."""
    top = (game.tiles, game.tiles - 1, game.tiles - 2)
    return ranked(game, moves, lambda tiles: [*(tile not in tiles for tile in top), *tiles])


def lowest_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut the lowest tile that can be shut; of the moves that do, the next lowest, and so on."""
    return ranked(game, moves, lambda tiles: tiles)


def one_to_four_first(game: ShutTheBox, moves: Moves) -> IntArray:
    """Shut as many of the tiles 1 to 4 as possible."""
    return ranked(game, moves, lambda tiles: [-sum(tile <= 4 for tile in tiles)])


RULES_OF_THUMB: dict[str, RuleOfThumb] = {
    "biggest-first": biggest_first,
    "fewest-then-biggest": fewest_then_biggest,
    "most-first": most_first,
    "nine-eight-seven": nine_eight_seven,
    "lowest-first": lowest_first,
    "one-to-four-first": one_to_four_first,
}
