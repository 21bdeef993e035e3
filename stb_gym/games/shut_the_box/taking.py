"""Shut the Box as moves that take tiles off a board, from which an environment works out moves without arrays."""

from collections.abc import Mapping

import numpy as np

from stb_gym.games.boards import IntArray, Takes
from stb_gym.games.shut_the_box.hand import Hand


def takes_of(matches: Mapping[int, IntArray], hand: Hand, additive: bool) -> Takes:
    """Every roll with every move it may lead to.

    Args:
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
    return Takes(hand.throws, additive, dice, roll, action, taken, first > 0, later > 0, chosen)
