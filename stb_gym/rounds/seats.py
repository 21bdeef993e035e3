"""The exact play of one seat of a round, by the scores so far."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from stb_gym.arrays import FloatArray, IntArray
from stb_gym.rounds.scores_so_far import ScoresSoFarTable, batches
from stb_gym.solver import expected_visits, score_chances


class Seat(NamedTuple):
    """The play of one seat, by the scores so far.

    Both arrays are 0 at scores so far that the seat cannot meet. Where the round is over, the seat has the worst score.

    Attributes:
        chances: [Z, T] the probabilities of its final scores.
        throws: [Z] the expected number of throws.
    """

    chances: FloatArray
    throws: FloatArray


def play_seat(scores_so_far: ScoresSoFarTable, seat: int, weights: Callable[[IntArray], FloatArray]) -> Seat:
    """Compute the exact play of a seat.

    Args:
        scores_so_far: the Z scores so far of the round.
        seat: the index in turn order, from 0.
        weights: returns the probabilities of all pairs at rows [B], as [P, B], or as [P, 1] if they are equal.

    Returns:
        The play.
    """
    tables = scores_so_far.tables
    chances, throws = np.zeros(scores_so_far.next_row.shape), np.zeros(len(scores_so_far.lead))
    chances[scores_so_far.over, -1] = 1
    throwing = tables.dice[tables.state_origin, None] > 0
    for rows in batches(tables, scores_so_far.reachable_by(seat)):
        visits = expected_visits(tables, weights(rows))
        chances[rows] = score_chances(tables, visits).T
        throws[rows] = (visits * throwing).sum(axis=0)
    return Seat(chances, throws)
