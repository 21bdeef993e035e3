"""Matches of several rounds between the same players, exactly.

A round ends with one or more players who hold the lead, and one player in the last place. The chance of each ending
depends only on who begins, and so does who begins the next round. With d the lead of each player over the last one in
points,

    P_r(b, d) = the chance that after r rounds player b is to begin and the leads are d

and one more round moves P_r(b, d) to P_{r+1}(b', d'), for every ending of a round that b begins.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.checks import check_chances, check_choice, check_integer
from stb_gym.rounds.evaluation import Outcome, RoundEvaluation
from stb_gym.rounds.round import Round
from stb_gym.rounds.strategies import RoundStrategy, check_strategies

BEGINS = {
    "fixed": "the first player begins every round",
    "alternating": "every round the next player begins",
    "winner": "a player who wins a round alone begins the next, else the same player as before",
    "loser": "the player who came last begins the next round; after a tie of all, the same player as before",
}
LARGEST_SERIES = 2**21  # combinations of the players' leads
MOST_PLAYERS = 8

EndingOfRound = tuple[tuple[int, ...], int]  # the seats that hold the lead, in order, and the seat that came last
Transition = tuple[int, int, tuple[float, ...]]  # who began a round, who begins the next, and each player's points


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """The chances of N players in a match of R rounds.

    Attributes:
        wins: [R, N] the chance that a player alone has the most points after 1, 2 ... R rounds.
        tied: [R] the chance that several players have the most points.
        points: [R, N] the expected points of a player.
    """

    wins: FloatArray
    tied: FloatArray
    points: FloatArray

    def __repr__(self) -> str:
        wins = np.array2string(self.wins[-1], precision=4)
        return f"<{len(self.wins)} rounds: players win {wins}, tied {self.tied[-1]:.4g}>"


def match(outcome: Outcome, rounds: int) -> Outcome:
    """Compute the outcome of a match that goes to the player who wins more of the rounds.

    Args:
        outcome: win, loss and tie of the first of two players in one round.
        rounds: how many rounds are played, 1 to 10,000.

    Returns:
        Win, loss and tie of the first player in the match.

    Raises:
        ValueError: if the number of rounds is out of range, or the chances do not sum to 1.

    Example:
        >>> import stb_gym
        >>> stb_gym.rounds.match(stb_gym.rounds.Outcome(win=0.5, loss=0.25, tie=0.25), rounds=2)
        Outcome(win=0.5, loss=0.1875, tie=0.3125)
    """
    check_integer("rounds", rounds, 1, 10_000)
    outcome = Outcome(*outcome)
    check_chances("win, loss and tie", outcome)
    ahead = np.ones(1)  # the chances of being -n ... n rounds ahead after n rounds
    for _ in range(rounds):
        ahead = np.convolve(ahead, [outcome.loss, outcome.tie, outcome.win])
    return Outcome(float(ahead[rounds + 1 :].sum()), float(ahead[:rounds].sum()), float(ahead[rounds]))


@checked
def series(rules: Round, strategies: Sequence[RoundStrategy], rounds: int, begins: str = "fixed") -> Series:
    """Compute the chances of players in a match.

    A won round is one point; tied players get what the tie rule gives.

    Args:
        rules: the rules of every round.
        strategies: one for each of 2 to 8 players, who keep their order around the table; each plays in any seat.
        rounds: how many rounds are played, 1 to 10,000.
        begins: one of `BEGINS`.

    Returns:
        The chances and expected points after 1, 2 ... rounds.

    Raises:
        ValueError: if an argument is not allowed, or there are too many rounds for that many players.

    Example:
        >>> import stb_gym
        >>> rules = stb_gym.rounds.Round(stb_gym.Threes())
        >>> found = stb_gym.rounds.series(rules, ["optimal", "optimal"], rounds=20, begins="winner")
        >>> found.wins[-1].round(4).tolist()
        [0.4452, 0.4553]
    """
    players = rules.players
    check_integer("players of a match", players, 2, MOST_PLAYERS)
    check_integer("rounds", rounds, 1, 10_000)
    check_choice("way to begin", begins, list(BEGINS))
    check_strategies("match", strategies, players)
    # The leads are multiples of 1 / unit: a win that all players share changes no lead.
    unit = math.lcm(*range(1, players)) if rules.ties == "split" else 1
    if (2 * rounds * unit + 1) ** (players - 1) > LARGEST_SERIES:
        raise ValueError(
            f"a match of {rounds} rounds between {players} players is too large: with leads in 1/{unit} points "
            f"(2 x rounds x {unit} + 1)^{players - 1} must be at most {LARGEST_SERIES:,}"
        )
    transitions = _transitions(rules, strategies, begins)
    ahead = np.zeros((players, *[1] * (players - 1)))
    ahead[0] = 1
    gained = np.zeros((players, players))  # the expected points of each player, by who begins
    for (first, _, won), chance in transitions.items():
        gained[first] += chance * np.array(won)
    wins, points = [], []
    for _ in range(rounds):
        points.append(ahead.reshape(players, -1).sum(axis=1) @ gained)
        ahead = _after_a_round(ahead, transitions, unit)
        wins.append(_ahead_alone(ahead.sum(axis=0)))
    return Series(np.array(wins), np.maximum(0, 1 - np.sum(wins, axis=1)), np.cumsum(points, axis=0))


def _transitions(rules: Round, strategies: Sequence[RoundStrategy], begins: str) -> dict[Transition, float]:
    """Return the chance of every transition, given who begins the round."""
    transitions: dict[Transition, float] = defaultdict(float)
    for first in range(rules.players):
        order = [(first + seat) % rules.players for seat in range(rules.players)]
        evaluation = rules.evaluate([strategies[player] for player in order])
        for (holders, worst), chance in endings_of(evaluation).items():
            winners = [order[seat] for seat in holders]
            share = float(rules.scores_so_far.share[len(winners) - 1])  # the same at every score
            points = tuple(share * (player in winners) for player in range(rules.players))
            following = first
            if begins == "alternating":
                following = order[1]
            elif begins == "winner" and len(winners) == 1:
                following = winners[0]
            elif begins == "loser" and len(winners) < len(order):
                following = order[worst]
            transitions[first, following, points] += chance
    return transitions


def endings_of(evaluation: RoundEvaluation) -> dict[EndingOfRound, float]:
    """Compute the probability of each ending of a round.

    If several tie for the last place, the first of them came last. A seat that does not play has the worst score.

    Returns:
        The probabilities by ending.
    """
    players, (first, *others) = evaluation.rules.players, evaluation.played
    leads = np.arange(first.chances.shape[1])
    # The probability of each ending so far, by the best and the worst score.
    ways: dict[EndingOfRound, FloatArray] = {((0,), 0): np.diag(first.chances[-1])}
    for seat, played in enumerate(others, 1):
        after: dict[EndingOfRound, Any] = defaultdict(float)
        for (holders, worst), chance in ways.items():
            turn = played.chances[leads * players + len(holders) - 1]
            better, behind = np.tril(turn, -1), np.triu(turn, 1)
            after[(seat,), worst] += better.T @ chance
            after[(*holders, seat), worst] += turn.diagonal()[:, None] * chance
            after[holders, worst] += chance * behind.cumsum(axis=1)
            after[holders, seat] += behind * (chance.cumsum(axis=1) - chance)
        ways = after
    return {ending: float(chance.sum()) for ending, chance in ways.items()}


def _after_a_round(ahead: FloatArray, transitions: dict[Transition, float], unit: int) -> FloatArray:
    """Return [N, *leads] the chance of each next player to begin and of each set of leads, after one more round."""
    others = range(len(ahead) - 1)
    before = np.pad(ahead, [(0, 0), *[(unit, unit) for _ in others]])
    after = np.zeros_like(before)
    for (first, following, points), chance in transitions.items():
        shifts = [round(unit * (won - points[-1])) for won in points[:-1]]
        after[following] += chance * np.roll(before[first], shifts, axis=others)
    return after


def _ahead_alone(ahead: FloatArray) -> FloatArray:
    """Return [N] the chance that each player alone has the most points, given the chances of the leads."""
    leads = np.indices(ahead.shape) - len(ahead) // 2
    totals = np.append(leads, np.zeros((1, *ahead.shape), int), axis=0)
    top = totals == totals.max(axis=0)
    return np.array([ahead[is_top & (top.sum(axis=0) == 1)].sum() for is_top in top])
