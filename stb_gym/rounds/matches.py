"""Matches of several rounds between the same two players, exactly.

The chance that a player wins a round depends only on who begins it, and so does who begins the next round. With d the
number of rounds that the first player has won more than the second,

    P_r(b, d) = the chance that after r rounds player b is to begin and the difference is d

and one more round moves P_r(b, d) to P_{r+1}(b', d') with d' = d - 1, d or d + 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.checks import check_choice, check_integer
from stb_gym.rounds.round import Outcome, Round
from stb_gym.rounds.strategies import RoundStrategy, check_strategies

BEGINS = {
    "fixed": "the first player begins every round",
    "alternating": "every round the other player begins",
    "winner": "the player who wins a round begins the next; after a tie, the same player as before",
}


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """The chances of 2 players in a match of R rounds.

    Attributes:
        wins: [R, 2] the chance that a player has won more than the other after 1, 2 ... R rounds.
        tied: [R] the chance that both have won equally many.
    """

    wins: FloatArray
    tied: FloatArray

    def __repr__(self) -> str:
        wins = np.array2string(self.wins[-1], precision=4)
        return f"<{len(self.wins)} rounds: players win {wins}, tied {self.tied[-1]:.4g}>"


@checked
def series(rules: Round, strategies: Sequence[RoundStrategy], rounds: int, begins: str = "fixed") -> Series:
    """Compute the chances of two players in a match.

    Args:
        rules: the rules of every round.
        strategies: one for each of the 2 players, who plays in either seat.
        rounds: how many rounds are played, 1 to 10,000.
        begins: one of `BEGINS`.

    Returns:
        The chances after 1, 2 ... rounds.

    Raises:
        ValueError: if an argument is not allowed.

    Example:
        >>> import stb_gym
        >>> rules = stb_gym.rounds.Round(stb_gym.Threes())
        >>> found = stb_gym.rounds.series(rules, ["optimal", "optimal"], rounds=20, begins="winner")
        >>> found.wins[-1].round(4).tolist()
        [0.4452, 0.4553]
    """
    if rules.players != 2:
        raise ValueError(f"a match is between 2 players, not {rules.players}")
    check_integer("rounds", rounds, 1, 10_000)
    check_choice("way to begin", begins, list(BEGINS))
    check_strategies("match", strategies, rules.players)
    outcomes = [rules.evaluate(order).outcome for order in (strategies, strategies[::-1])]  # indexed by who begins
    one, other = (_moves(first, outcome, begins) for first, outcome in enumerate(outcomes))
    ahead = np.array([[1.0], [0.0]])  # [who begins, -r ... r] the chances after r rounds
    wins, tied = [], []
    for played in range(1, rounds + 1):
        ahead = np.array([np.convolve(ahead[0], one[b]) + np.convolve(ahead[1], other[b]) for b in range(2)])
        chances = ahead.sum(axis=0)
        wins.append((chances[played + 1 :].sum(), chances[:played].sum()))
        tied.append(chances[played])
    return Series(np.array(wins), np.array(tied))


def _moves(first: int, outcome: Outcome, begins: str) -> FloatArray:
    """Return the chances [2, 3] of a round that `first` begins: by who begins the next, and the change of d plus 1."""
    moves = np.zeros((2, 3))
    for winner, chance in ((first, outcome.win), (1 - first, outcome.loss), (None, outcome.tie)):
        following = {"fixed": first, "alternating": 1 - first, "winner": first if winner is None else winner}[begins]
        moves[following, 1 if winner is None else 2 - 2 * winner] += chance
    return moves
