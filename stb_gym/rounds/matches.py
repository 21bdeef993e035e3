"""Matches: several independent rounds between the same two players, exactly."""

from typing import NamedTuple

import numpy as np

from stb_gym.games import check_integer


class Outcome(NamedTuple):
    """How it ends for the first of two players; the three sum to 1."""

    win: float
    loss: float
    tie: float


def match(outcome: Outcome, rounds: int) -> Outcome:
    """The outcome of a match that goes to the player who wins more of the rounds, given that of one round.

    Args:
        outcome: win, loss and tie of the first of two players in one round.
        rounds: how many rounds are played, 1 to 10,000.

    Example:
        >>> import stb_gym
        >>> stb_gym.match(stb_gym.Outcome(win=0.5, loss=0.25, tie=0.25), rounds=2)
        Outcome(win=0.5, loss=0.1875, tie=0.3125)

    Raises:
        ValueError: if the number of rounds is not from 1 to 10,000.
    """
    check_integer("rounds", rounds, 1, 10_000)
    ahead = np.ones(1)  # the chances of being -n ... n rounds ahead after n rounds
    for _ in range(rounds):
        ahead = np.convolve(ahead, [outcome.loss, outcome.tie, outcome.win])
    return Outcome(float(ahead[rounds + 1 :].sum()), float(ahead[:rounds].sum()), float(ahead[rounds]))
