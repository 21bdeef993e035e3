"""How the place in a round changes play: par scores, and where optimal round play departs from optimal solo play."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.rounds.equilibrium import RoundSolution, best_values
from stb_gym.rounds.standings import blocks
from stb_gym.solver import TIE, Policy
from stb_gym.solving import solve


class Departures(NamedTuple):
    """Numbers of decisions where no move is optimal both in the round and for the points of the turn.

    Attributes:
        positions: how many decisions there are.
        first: the number for the player who begins the round.
        by_lead: [players - 1, T] the number for a player who sees a lead held by one player, by the number of players
            after (0, 1 ...) and the place of the lead.
    """

    positions: int
    first: int
    by_lead: NDArray[np.int64]


class Par(NamedTuple):
    """The target scores of the player who begins a round.

    Attributes:
        after: how many players come after.
        first: the expected win before the turn.
        par: the worst final score that is worth at least `first`.
        even: the worst final score that is worth at least half a win; None if there is none.
    """

    after: int
    first: float
    par: int
    even: int | None


def departures(solution: RoundSolution) -> Departures:
    """Count the decisions where optimal round play differs from optimal solo play.

    Example:
        >>> import stb_gym
        >>> rules = stb_gym.rounds.Round(stb_gym.ShutTheBox(), players=5)
        >>> departures(rules.solve()).first
        50
    """
    tables, standings = solution.rules.tables, solution.rules.standings
    alone = solve(tables.game).optimal
    counts = np.zeros((standings.players, len(standings.lead)), int)
    for after, reply in enumerate(solution.replies):
        for block in blocks(tables, standings.met_by(standings.players - 1 - after)):
            agrees = tables.reduce(np.logical_or, reply.optimal(block) & alone[:, None])
            counts[after, block] = (~agrees).sum(axis=0)
    return Departures(len(tables.decisions), int(counts[-1, -1]), counts[:-1, standings.holders == 1])


@checked
def pars(solution: RoundSolution) -> list[Par]:
    """Return par by the number of players after: 0, 1 ... all others of the round.

    Example:
        >>> import stb_gym
        >>> [each.par for each in pars(stb_gym.rounds.Round(stb_gym.Threes(), players=5).solve())]
        [30, 5, 5, 4, 4]
    """
    tables, rows = solution.rules.tables, []
    scores, values = tables.scores, best_values(tables, solution.worth)
    for after, (first, worth) in enumerate(zip(values.tolist(), solution.worth, strict=True)):
        at_par, even = scores[worth >= first * (1 - TIE)], scores[worth >= (1 - TIE) / 2]
        rows.append(Par(after, first, int(at_par[-1]), int(even[-1]) if len(even) else None))
    return rows


def shares(solution: RoundSolution, policy: Policy) -> FloatArray:
    """Return [players] the share of the first player's optimal expected win that a policy reaches.

    By the number of players after. The policy ignores the others; the share is 1 where nobody can win anything.
    """
    tables = solution.rules.tables
    chances = solve(tables.game).evaluate(policy).score_distribution
    wins = solution.worth @ [chances.get(score, 0.0) for score in tables.scores.tolist()]
    most = best_values(tables, solution.worth)
    share: FloatArray = np.minimum(np.divide(wins, most, out=np.ones_like(most), where=most > 0), 1)
    return share
