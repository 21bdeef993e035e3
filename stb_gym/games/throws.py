"""Every roll of a number of dice, with its exact probability."""

from functools import lru_cache
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import freeze
from stb_gym.checks import check_integer
from stb_gym.games.game import Game, Roll, ask
from stb_gym.messages import quoted

MAX_DICE = 64  # more dice have too many throws, even with two faces
LARGEST_THROW_TABLE = 2**22  # throws, which take a second to count


class Rolls(NamedTuple):
    """Every roll of a number of dice.

    Attributes:
        shown: the R rolls, as `Game.roll_of` returns them, in ascending order.
        counts: [R] int64, how many of the equally likely throws give the roll; they sum to faces**dice.
        of_throw: [faces**dice] index of the roll that each throw gives. The base-`faces` digits of a throw's number,
            each plus one, are the faces of its dice, first die first.
    """

    shown: tuple[Roll, ...]
    counts: NDArray[np.int64]
    of_throw: NDArray[np.int64]


@lru_cache(maxsize=256, typed=True)
def rolls(game: Game, dice: int) -> Rolls:
    """Return every roll of a number of dice, counted over all faces**dice throws.

    Args:
        game: the rules.
        dice: how many dice are thrown.

    Raises:
        ValueError: if there are more throws than LARGEST_THROW_TABLE.

    Example:
        >>> import stb_gym
        >>> from stb_gym.games import rolls
        >>> sums = rolls(stb_gym.ShutTheBox(), 2)
        >>> sums.shown[:3], sums.counts[:3].tolist()
        (((2,), (3,), (4,)), [1, 2, 3])
    """
    if not isinstance(game, Game):
        raise TypeError(f"{quoted(game)} is not a game: make one, such as stb_gym.Threes()")
    check_integer("dice", dice, 0, MAX_DICE)
    if game.faces**dice > LARGEST_THROW_TABLE:
        raise ValueError(
            f"{dice} dice of {game.faces} faces have {game.faces**dice:,} throws; at most {LARGEST_THROW_TABLE:,} fit"
        )
    faces = range(1, game.faces + 1)
    sorted_throws = combinations_with_replacement(faces, dice)
    roll_of = {throw: ask(game, "roll_of", throw) if throw else () for throw in sorted_throws}
    found = [*roll_of.values()]
    are_tuples = all(isinstance(roll, tuple) and len(roll) == len(found[0]) for roll in found)
    if not (are_tuples and all(isinstance(number, int) and 0 <= number <= 255 for roll in found for number in roll)):
        rules = type(game).__name__
        raise ValueError(f"roll_of of {rules} must return tuples of integers to 255, all as long, not {quoted(found)}")
    shown = tuple(sorted(set(roll_of.values())))
    index = {roll: number for number, roll in enumerate(shown)}
    shape = (game.faces,) * dice
    of_sorted = np.zeros(shape, np.int64)  # the order of the dice does not matter
    for throw, roll in roll_of.items():
        of_sorted[tuple(face - 1 for face in throw)] = index[roll]
    throws = np.indices(shape).reshape(dice, game.faces**dice)
    of_throw = of_sorted[tuple(np.sort(throws, axis=0))].reshape(-1)
    return freeze(Rolls(shown, np.bincount(of_throw), of_throw))


def throw_faces(throw: int, dice: int, faces: int) -> tuple[int, ...]:
    """Return the faces of the dice of throw number `throw`, as `Rolls.of_throw` numbers them."""
    return tuple(throw // faces**place % faces + 1 for place in reversed(range(dice)))
