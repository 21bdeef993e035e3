"""Shut the Box as moves that take tiles off a board, by which it is solved and stepped without arrays of edges."""

from collections.abc import Mapping, Sequence

import numpy as np

from stb_gym.games.boards import Boards, IntArray
from stb_gym.games.shut_the_box.hand import Hand


def boards_of(tiles: Sequence[int], matches: Mapping[int, IntArray], hand: Hand, additive: bool) -> Boards:
    """Every roll with every move it may lead to.

    Args:
        tiles: those that are open at the start, in ascending order.
        matches: the `match_table` of every number of dice thrown.
        hand: the rule of the dice. There is an action for every set of tiles and choice of dice.
        additive: whether the score is the sum of those of single tiles.
    """
    choices = len(hand.choices)
    parts = []
    for dice, (roll, place, taken, first, later) in matches.items():
        for choice in range(choices):
            part = np.stack((np.full_like(roll, dice), roll, choices * place + choice, taken, first, later))
            parts.append(part[:, (taken > 0) | (choice == 0)])  # to shut nothing ends the turn, and chooses nothing
    dice, roll, action, taken, first, later = np.concatenate(parts, axis=1)
    no_move = action[taken == 0]

    def next_dice(held: IntArray, action: IntArray) -> IntArray:
        throws = hand.next_throws(held, (held == 0) | np.isin(action, no_move))
        return throws[np.arange(len(held)), action % choices]

    chosen = None if len(hand.throws) == 1 else next_dice
    return Boards(
        things=[tile - 1 for tile in tiles],
        throws=hand.throws,
        additive=additive,
        dice=dice,
        roll=roll,
        action=action,
        taken=taken,
        first=first > 0,
        later=later > 0,
        may_throw=hand.may_throw,
        next_dice=chosen,
    )
