"""Tournaments of several rounds between players who do not look at each other, exactly.

In every round each player plays one turn and adds the final score to a total. Fixed strategies make the totals
independent, so no joint state is needed. With p_i(t) the chance that after a round player i's total is t, and was below
the limit before it, and x^K standing for a tie with K others,

    first-to:  P(ends now, i wins) = sum over t of p_i(t) product over j != i of (P_j(total worse than t) + x p_j(t)),
               less the same with all totals below the limit
    out-at:    P(i wins) = sum over r of P(T_i = r) product over j != i of (P(T_j < r) + x P(T_j = r))

where T_i is the round in which i goes out. If all tied players win, x = 1; if nobody does, x = 0; and a shared win is
the integral over x from 0 to 1, for that of x^K is 1 / (1 + K). Gauss's quadrature takes it exactly.

All this is exact for fixed strategies. Players who look at the totals would play differently, and their equilibrium
needs the joint totals as its state: of people who adapt these numbers are only an approximation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game, IntArray, check_choice, check_game, check_integer, check_lineup
from stb_gym.rounds.standings import TIES
from stb_gym.solver import Policy, Solution, solve, strategy

ENDS = {
    "first-to": "the tournament ends after the round in which a total reaches the limit, and the best total wins",
    "out-at": "a player whose total reaches the limit is out; the last one wins, or the last ones tie if out together",
}
LIMITS = {"first-to": 100, "out-at": 45}  # as people play
LARGEST_STEP = 2**25  # sums of a total and a score: 256 MiB for each array of them
NEGLIGIBLE = 1e-15  # a chance too small to play on for

Chances = NDArray[np.float64]
ScoreChances = Mapping[int, float]  # the probability of every final score
Shares = list[tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Tournament:
    """How a tournament ends.

    Attributes:
        rule: "first-to" or "out-at".
        limit: the total that ends the tournament, or puts a player out.
        ties: "all-win", "split" or "nobody".
        wins: [players] the chance to win or, under "split", the expected share of the win.
        rounds: [R] the probability that it takes 0, 1, 2 ... R - 1 rounds.
    """

    rule: str
    limit: int
    ties: str
    wins: Chances
    rounds: Chances = field(repr=False)

    @property
    def mean_rounds(self) -> float:
        """Expected number of rounds."""
        return float(self.rounds @ np.arange(len(self.rounds)))


def tournament(
    game: Game,
    strategies: Sequence[str | Policy],
    rule: str = "first-to",
    limit: int | None = None,
    ties: str = "split",
) -> Tournament:
    """The exact chances of players with fixed strategies.

    As players may score 0 for ever, rounds are played until the chance that the tournament still goes on is below
    1e-15; that rest, less than rounding, is left out of `wins` and `rounds`.

    Args:
        game: the rules of each turn.
        strategies: one for each of 1 to 100 players: a name or a policy. "optimal" plays for the best expected points.
        rule: one of `ENDS`. Who is alone from the start of "out-at" wins after 0 rounds.
        limit: points, 1 to 10,000; by default as in `LIMITS`.
        ties: one of `stb_gym.rounds.TIES`.

    Example:
        >>> import stb_gym
        >>> golf = stb_gym.tournament(stb_gym.ShutTheBox(), ["optimal", "biggest-first"])
        >>> golf.wins.round(4).tolist()
        [0.5243, 0.4757]

    Raises:
        TypeError: if it is no game.
        ValueError: if an argument is not allowed, a strategy is unknown or does not fit the game, a final score is
            negative, or the tournament never ends because players always score 0.
    """
    check_game(game)
    check_lineup("tournament", strategies)
    check_integer("players", len(strategies), 1, 100)
    check_choice("end of a tournament", rule, list(ENDS))
    if rule == "out-at" and game.more_is_better:
        raise ValueError(
            f"out-at is for games in which points are bad, and in {game.name} more are better: say first-to"
        )
    limit = LIMITS[rule] if limit is None else limit
    check_integer("limit", limit, 1, 10_000)
    check_choice("ties", ties, list(TIES))
    keys = [plays if isinstance(plays, str) else np.asarray(plays).tobytes() for plays in strategies]
    kinds = dict(zip(keys, strategies, strict=True))
    optimum = solve(game)
    turns = [_turn(optimum, plays) for plays in kinds.values()]
    kind = np.array([list(kinds).index(key) for key in keys])
    wins, rounds = _play(turns, kind, rule, limit, _shares(ties, len(kind)), game.sign)
    return Tournament(rule, limit, ties, wins[kind], rounds)


def _turn(optimum: Solution, plays: str | Policy) -> ScoreChances:
    policy = strategy(optimum.game, plays) if isinstance(plays, str) else plays
    turn = optimum.evaluate(policy).score_distribution
    if min(turn) < 0:
        raise ValueError(f"totals must not fall in a tournament: final scores must be 0 or more, not {min(turn)}")
    whole = fsum(turn.values())  # 1, but for a rounding that would add up over the rounds
    return {score: chance / whole for score, chance in turn.items()}


def _play(
    turns: list[ScoreChances], kind: IntArray, rule: str, limit: int, shares: Shares, sign: int
) -> tuple[Chances, Chances]:
    """The wins [D] of players of D kinds and the chances of rounds [R]; `kind` [players] is the place in `turns`."""
    still = np.array([set(turn) == {0} for turn in turns], float)[kind]
    if _goes_on(rule, still) > 0:
        raise ValueError(f"the tournament never ends: {still.sum():g} of {len(kind)} players always score 0")
    scores = sorted({0}.union(*turns))
    if len(turns) * limit * len(scores) > LARGEST_STEP:
        raise ValueError(
            f"a tournament to {limit:,} of {len(turns)} strategies with {len(scores):,} final scores is too large: "
            f"limit x strategies x scores must be at most {LARGEST_STEP:,}"
        )
    chances = [[turn.get(score, 0.0) for score in scores] for turn in turns]
    totals, place = np.unique(np.add.outer(np.arange(limit), scores), return_inverse=True)  # 0 to limit - 1 are first
    below, left, counts = np.eye(1, limit).repeat(len(turns), axis=0), np.ones(len(turns)), np.bincount(kind)
    gone, wins = np.zeros((2, len(turns)))
    rounds = [1 - _goes_on(rule, left[kind])]
    while _goes_on(rule, left[kind]) >= NEGLIGIBLE:
        grown = [np.outer(start, chance).ravel() for start, chance in zip(below, chances, strict=True)]
        after = np.array([np.bincount(place.ravel(), steps, len(totals)) for steps in grown])
        below, over = after[:, :limit], after[:, limit:]
        left, out = below.sum(axis=1), over.sum(axis=1)
        if rule == "first-to":
            # Of totals below the limit and those over it the former are better where fewer points are.
            behind, ahead = (left, 0 * out) if sign > 0 else (0 * left, out)
            wins += _best(over, _worse(over, sign) + behind[:, None], counts, shares)
            best_of_all = _best(below, _worse(below, sign) + ahead[:, None], counts, shares)
            wins += best_of_all - _best(below, _worse(below, sign), counts, shares)
        else:
            wins += _best(out[:, None], gone[:, None], counts, shares)
        gone += out
        ends = _goes_on(rule, (left + out)[kind]) - _goes_on(rule, left[kind])
        rounds.append(max(0.0, ends))  # rounding may pass 0
    if rule == "out-at":
        wins += _best(left[:, None], gone[:, None], counts, _shares("nobody", len(kind)))
    return wins, np.array(rounds)


def _goes_on(rule: str, left: Chances) -> float:
    """The chance that a tournament goes on, given that of each player [players] to be below the limit."""
    none, one, more = 1.0, 0.0, 0.0
    for chance in left.tolist():
        none, one, more = none * (1 - chance), one * (1 - chance) + none * chance, more + one * chance
    return more if rule == "out-at" else float(left.prod())


def _worse(totals: Chances, sign: int) -> Chances:
    """[D, M] the chance of a worse one of M ascending totals: a higher one, or a lower one where more is better."""
    if sign > 0:
        return _worse(totals[:, ::-1], -sign)[:, ::-1]
    return np.hstack([totals[:, :0:-1].cumsum(axis=1)[:, ::-1], np.zeros((len(totals), 1))])


def _shares(ties: str, players: int) -> Shares:
    """Pairs (x, weight) such that the sum of weight x^K is what each wins who is tied with K others."""
    nodes, weights = np.polynomial.legendre.leggauss((players + 1) // 2)
    shared = list(zip(((1 + nodes) / 2).tolist(), (weights / 2).tolist(), strict=True))
    return {"all-win": [(1.0, 1.0)], "split": shared, "nobody": [(0.0, 1.0)]}[ties]


def _best(result: Chances, worse: Chances, counts: IntArray, shares: Shares) -> Chances:
    """[D] what a player of each kind wins by having the best result.

    Args:
        result: [D, M] the chances of M results for a player of each kind.
        worse: [D, M] the chance of a result worse than each.
        counts: [D] how many players there are of each kind.
        shares: as `_shares` gives them.
    """
    wins = np.zeros(len(counts))
    for x, weight in shares:
        factor = worse + x * result
        but_one = factor ** (counts[:, None] - 1)
        kinds, one = but_one * factor, np.ones_like(factor[:1])
        before = np.vstack([one, kinds[:-1]]).cumprod(axis=0)
        after = np.vstack([one, kinds[:0:-1]]).cumprod(axis=0)[::-1]
        wins += weight * (result * but_one * before * after).sum(axis=1)
    return wins
