"""Par scores: the target scores of the player who begins a round."""

from typing import NamedTuple

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.rounds.optimal_turn import best_values
from stb_gym.rounds.round import RoundSolution
from stb_gym.solver import TIE, Policy
from stb_gym.solving import solve


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


@checked
def pars(solution: RoundSolution) -> list[Par]:
    """Find the target scores of a player who begins, for rounds of every size up to that of a solved one.

    Args:
        solution: the equilibrium of the largest round.

    Returns:
        Par for 0, 1 ... players after.

    Example:
        >>> import stb_gym
        >>> solution = stb_gym.rounds.Round(stb_gym.Threes(), players=5).solve()
        >>> [each.par for each in stb_gym.rounds.pars(solution)]
        [30, 5, 5, 4, 4]
    """
    tables, found = solution.rules.tables, []
    scores, values = tables.scores, best_values(tables, solution.lead_value)
    for after, (first, value) in enumerate(zip(values.tolist(), solution.lead_value, strict=True)):
        at_par, even = scores[value >= first * (1 - TIE)], scores[value >= (1 - TIE) / 2]
        found.append(Par(after, first, int(at_par[-1]), int(even[-1]) if len(even) else None))
    return found


def shares(solution: RoundSolution, policy: Policy) -> FloatArray:
    """Compute the share of the first player's optimal expected win that a policy reaches, for rounds of every size.

    Args:
        solution: the equilibrium of the largest round.
        policy: a policy that ignores the others.

    Returns:
        [players] the share for 0, 1 ... players after; 1 where nobody can win anything.
    """
    tables = solution.rules.tables
    chances = solve(tables.game).evaluate(policy).score_distribution
    wins = solution.lead_value @ [chances.get(score, 0.0) for score in tables.scores.tolist()]
    best = best_values(tables, solution.lead_value)
    share: FloatArray = np.minimum(np.divide(wins, best, out=np.ones_like(best), where=best > 0), 1)
    return share
