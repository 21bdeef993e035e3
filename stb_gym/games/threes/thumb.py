"""Rules of thumb for Threes."""

import numpy as np
from numpy.typing import NDArray

from stb_gym.games.game import IntArray, Moves, RuleOfThumb
from stb_gym.games.threes.rules import Threes


def threes_only(game: Threes, moves: Moves) -> NDArray[np.integer]:
    """Keep the threes (the dice worth nothing) and nothing else; without any, the one lowest die."""
    threes = (moves.roll == game.free_face).sum(axis=1)
    return abs(moves.action - np.maximum(threes - 1, 0))


def take_all(game: Threes, moves: Moves) -> IntArray:
    """Keep all dice of every throw."""
    return -moves.action


RULES_OF_THUMB: dict[str, RuleOfThumb] = {"threes-only": threes_only, "take-all": take_all}
