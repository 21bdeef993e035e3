"""What changes with what a player sees: departures from the best play of a turn alone, and par scores.

Perfect play of a round departs from that of the turn alone where no move is best for both. Par is the worst score with
which who begins a round is not worse off, while all others are still to come, than before the turn.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.rounds.lineups import RoundSolution
from stb_gym.solver import TIE, Policy, optimise, solve


class Departures(NamedTuple):
    """At how many of the nodes that have a move the play of a round departs from that for the points of the turn.

    Attributes:
        positions: how many nodes have a move.
        first: at how many who begins the round departs.
        by_lead: [players - 1, T] at how many who sees each lead, held by one, while 0, 1 ... are still to come after.
    """

    positions: int
    first: int
    by_lead: NDArray[np.int64]


class Par(NamedTuple):
    """What who begins a round may expect.

    Attributes:
        after: how many players come after.
        first: the expected win before the turn.
        par: the worst score that is worth at least as much after it.
        even: the worst score that is worth half a win or more; None if there is none.
    """

    after: int
    first: float
    par: int
    even: int | None


def departures(solution: RoundSolution) -> Departures:
    """Where players depart from the play for the points, by the lead that they see and by how many come after.

    Example:
        >>> import stb_gym
        >>> rules = stb_gym.Round(stb_gym.ShutTheBox(), players=5)
        >>> departures(rules.solve()).first
        50
    """
    tables, standings = solution.evaluation.tables, solution.evaluation.standings
    alone = solve(tables.game).optimal
    counts = np.zeros((standings.players, len(standings.lead)), int)
    for after, reply in enumerate(solution.replies):
        for block in standings.blocks(standings.players - 1 - after):
            agrees = tables.reduce(np.logical_or, reply.best(block) & alone[:, None])
            counts[after, block] = (~agrees).sum(axis=0)
    by_lead = counts[:-1, standings.holders == 1]
    return Departures(len(tables.decisions), int(counts[-1, -1]), by_lead)


def pars(solution: RoundSolution) -> list[Par]:
    """Par by the number of players after: 0, 1 ... all others of the round.

    Example:
        >>> import stb_gym
        >>> [each.par for each in pars(stb_gym.Round(stb_gym.Threes(), players=5).solve())]
        [30, 5, 5, 4, 4]
    """
    worth, scores = solution.evaluation.worth, solution.evaluation.standings.scores
    return [
        Par(after, float(first), int(scores[row >= first * (1 - TIE)][-1]), _worst(scores, row >= (1 - TIE) / 2))
        for after, (first, row) in enumerate(zip(firsts(solution), worth, strict=True))
    ]


def firsts(solution: RoundSolution) -> NDArray[np.float64]:
    """[players] what who begins wins, by the number of players after."""
    tables = solution.evaluation.tables
    return optimise(tables, solution.evaluation.worth.T[tables.score_index])[0][tables.start]


def shares(solution: RoundSolution, policy: Policy) -> NDArray[np.float64]:
    """[players] what a policy that ignores the others wins, as a share of `firsts`; 1 where nobody can win anything."""
    chances = solve(solution.evaluation.tables.game).evaluate(policy).score_distribution
    scores = solution.evaluation.standings.scores.tolist()
    wins = solution.evaluation.worth @ [chances.get(score, 0.0) for score in scores]
    most = firsts(solution)
    share: NDArray[np.float64] = np.minimum(np.divide(wins, most, out=np.ones_like(most), where=most > 0), 1)
    return share


def _worst(scores: NDArray[Any], good: NDArray[np.bool_]) -> int | None:
    """The last of the good ones of scores [T], the best of which is first."""
    return int(scores[good][-1]) if good.any() else None
