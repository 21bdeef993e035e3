"""Every roll of a number of dice, with its exact probability."""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import freeze
from stb_gym.checks import check_integer
from stb_gym.games.contract import cached_by_rules
from stb_gym.games.game import LARGEST_THROW_TABLE, MAX_DICE, Game, Roll
from stb_gym.messages import quoted


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


@cached_by_rules(256)
def rolls(game: Game, dice: int) -> Rolls:
    """Return every roll of a number of dice, counted over all faces**dice throws.

    Args:
        game: the rules.
        dice: how many dice are thrown.

    Raises:
        ValueError: if there are more throws than LARGEST_THROW_TABLE, or `roll_of` does not return tuples of as many
            integers that the order of the dice does not change.

    Example:
        >>> import stb_gym
        >>> from stb_gym.games import rolls
        >>> sums = rolls(stb_gym.ShutTheBox(), 2)
        >>> sums.shown[:3], sums.counts[:3].tolist()
        (((2,), (3,), (4,)), [1, 2, 3])
    """
    check_integer("dice", dice, 0, MAX_DICE)
    number_of_throws = int(game.faces) ** int(dice)
    if number_of_throws > LARGEST_THROW_TABLE:
        raise ValueError(
            f"{dice} dice of {game.faces} faces have more throws than fit: at most {LARGEST_THROW_TABLE:,}"
        )
    roll_of: dict[Roll, Roll] = {}
    for throw in combinations_with_replacement(range(1, game.faces + 1), dice):
        roll_of[throw] = roll_at(game, throw)
        for other in (throw[::-1], throw[1:] + throw[:1]):  # `check_game` tries every order
            check_order(game, other, roll_of[throw])
    shown = tuple(sorted(set(roll_of.values())))
    if len({*map(len, shown)}) > 1:
        raise ValueError(f"roll_of of {type(game).__name__} must return tuples of one length, not {quoted(shown)}")
    index = {roll: number for number, roll in enumerate(shown)}
    shape = (game.faces,) * dice
    of_sorted = np.zeros(shape, np.int64)  # the order of the dice does not matter
    for throw, roll in roll_of.items():
        of_sorted[tuple(face - 1 for face in throw)] = index[roll]
    throws = np.indices(shape).reshape(dice, number_of_throws)
    of_throw = of_sorted[tuple(np.sort(throws, axis=0))].reshape(-1)
    counts = np.bincount(of_throw)
    freeze((counts, of_throw))
    return Rolls(shown, counts, of_throw)


def roll_at(game: Game, throw: Roll) -> Roll:
    """Return the roll of a throw in Python's integers; raise ValueError unless `roll_of` returns integers to 255."""
    roll = game.roll_of(throw) if throw else ()
    try:
        if isinstance(roll, tuple):
            return tuple(bytes(roll))  # only of integers from 0 to 255
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"roll_of of {type(game).__name__} must return a tuple of integers from 0 to 255, not {quoted(roll)} for "
        f"{quoted(throw, 40)}"
    )


def check_order(game: Game, throw: Roll, roll: Roll) -> None:
    """Raise ValueError unless a throw, the same dice in another order, gives the same roll."""
    if roll_at(game, throw) != roll:
        raise ValueError(
            f"roll_of of {type(game).__name__} must return the same for every order of the dice and whenever it is "
            f"called, but does not for {quoted(throw, 40)}"
        )


def throw_faces(throw: int, dice: int, faces: int) -> tuple[int, ...]:
    """Return the faces of the dice of throw number `throw`, as `Rolls.of_throw` numbers them."""
    return tuple(throw // faces**place % faces + 1 for place in reversed(range(dice)))
