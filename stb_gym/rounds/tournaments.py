"""Tournaments of several rounds between two players who ignore each other, exactly.

In every round each player plays one turn and adds the final score to a total. The tournament ends after the round in
which a total reaches the limit, and the best total wins. Fixed strategies make the totals independent, so no joint
state is needed. Let p_i(t) be the chance that player i's total is t after a round and was below the limit before it.
Then

    P(ends now, i wins) = sum over t of p_i(t) (P_j(total worse than t) + p_j(t) / 2),
                          less the same with both totals below the limit

All this is exact for fixed strategies. Players who look at the totals would play differently, and their equilibrium
needs the joint totals as its state. For people who adapt, these numbers are an approximation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.checks import check_integer
from stb_gym.games import Game, check_game
from stb_gym.rounds.strategies import check_strategies
from stb_gym.solver import Policy
from stb_gym.solving import solve, strategy

LARGEST_STEP = 2**25  # sums of a total and a score: 256 MiB for each array of them
NEGLIGIBLE = 1e-15  # no further rounds are played if the tournament goes on with a smaller chance

ScoreChances = dict[int, float]  # the probability of every final score


@dataclass(frozen=True, eq=False)
class Tournament:
    """The exact chances of the players of a tournament.

    Attributes:
        limit: the total that ends the tournament.
        wins: [2] the expected share of the win: tied players share it.
        rounds: [R] the probability that it takes 0, 1, 2 ... R - 1 rounds.
    """

    limit: int
    wins: FloatArray
    rounds: FloatArray = field(repr=False)

    @property
    def mean_rounds(self) -> float:
        """The expected number of rounds."""
        return float(self.rounds @ np.arange(len(self.rounds)))


def tournament(game: Game, strategies: Sequence[str | Policy], limit: int = 100) -> Tournament:
    """Compute the exact chances of two players with fixed strategies.

    Players may score 0 for ever. So rounds are played until the tournament goes on with a chance below 1e-15; the rest
    is missing from `wins` and `rounds`.

    Args:
        game: the rules of each turn.
        strategies: one for each of the 2 players: a name or a policy. "optimal" optimises the expected points.
        limit: points, 1 to 10,000.

    Returns:
        The chances of both players, and of every number of rounds.

    Raises:
        TypeError: if `game` is not a game.
        ValueError: if an argument is not allowed, a strategy is unknown or does not fit the game, a final score is
            negative, or the tournament never ends because both players always score 0.

    Example:
        >>> import stb_gym
        >>> golf = stb_gym.rounds.tournament(stb_gym.ShutTheBox(), ["optimal", "biggest-first"])
        >>> golf.wins.round(4).tolist()
        [0.5243, 0.4757]
    """
    check_game(game)
    check_strategies("tournament", strategies, 2)
    check_integer("limit", limit, 1, 10_000)
    optimum, turns = solve(game), []
    for plays in strategies:
        policy = strategy(game, plays) if isinstance(plays, str) else plays
        turn = optimum.evaluate(policy).score_distribution
        if min(turn) < 0:
            raise ValueError(f"totals must not fall in a tournament: final scores must be 0 or more, not {min(turn)}")
        total = fsum(turn.values())  # 1, except for a rounding error that would add up over the rounds
        turns.append({score: chance / total for score, chance in turn.items()})
    wins, rounds = _play(turns, limit, game.sign)
    return Tournament(limit, wins, rounds)


def _play(turns: list[ScoreChances], limit: int, sign: int) -> tuple[FloatArray, FloatArray]:
    """Return the wins [2] and the chances of rounds [R], given each player's chances of final scores."""
    if all(set(turn) == {0} for turn in turns):
        raise ValueError("the tournament never ends: both players always score 0")
    scores = sorted({0}.union(*turns))
    if limit * len(scores) > LARGEST_STEP:
        raise ValueError(
            f"a tournament to {limit:,} with {len(scores):,} final scores is too large: limit x scores must be at most "
            f"{LARGEST_STEP:,}"
        )
    chances = [[turn.get(score, 0.0) for score in scores] for turn in turns]
    totals, index = np.unique(np.add.outer(np.arange(limit), scores), return_inverse=True)
    below = np.eye(1, limit).repeat(2, axis=0)  # [2, limit] the chances of the totals below the limit
    wins, going_on = np.zeros(2), 1.0
    rounds = [0.0]
    while going_on >= NEGLIGIBLE:
        grown = [np.outer(start, chance).ravel() for start, chance in zip(below, chances, strict=True)]
        after = np.array([np.bincount(index.ravel(), steps, len(totals)) for steps in grown])
        below = after[:, :limit]  # the first totals are 0 to limit - 1
        wins += _best(after[:, ::sign]) - _best(below[:, ::sign])
        before, going_on = going_on, float(below.sum(axis=1).prod())
        rounds.append(max(0.0, before - going_on))  # rounding may make it negative
    return wins, np.array(rounds)


def _best(result: FloatArray) -> FloatArray:
    """Return [2] what each player wins by the better result, given the chances [2, M] of M results, the worst first."""
    worse = result.cumsum(axis=1) - result / 2  # equal results count half
    return np.asarray((result * worse[::-1]).sum(axis=1))
