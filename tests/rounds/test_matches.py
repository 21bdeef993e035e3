"""Test matches of several rounds against all sequences of scores of small matches."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from stb_gym import ShutTheBox, strategy
from stb_gym.rounds import BEGINS, TIES, Outcome, Round, match, series
from tests import every, reference
from tests.cases import POLICIES
from tests.reference_rounds import round_payoffs
from tests.twins import twin

SMALL = ShutTheBox(tiles=3, dice=1, faces=3)


def who_begins(begins, first, best, last, players):
    if begins == "alternating":
        return (first + 1) % players
    if begins == "winner" and len(best) == 1:
        return best[0]
    return last if begins == "loser" and len(best) < players else first


def all_sequences(plays, rounds, ties, begins):
    """Return the chance that each player alone has most points, and the mean points, by trying all scores.

    A player has one distribution of final scores when beginning a round, and another when not.
    """
    players = len(plays)
    states = {(0, (Fraction(0),) * players): Fraction(1)}  # who begins, and the points so far
    for _ in range(rounds):
        after = Counter()
        for (first, points), chance in states.items():
            order = [(first + seat) % players for seat in range(players)]
            for drawn in product(*(plays[player][seat > 0].items() for seat, player in enumerate(order))):
                scores = {player: score for player, (score, _) in zip(order, drawn, strict=True)}
                best = [player for player, score in scores.items() if score == min(scores.values())]
                last = max(scores, key=scores.get)
                wins = dict(zip(order, round_payoffs(tuple(scores.values()), ties, False), strict=True))
                total = tuple(points[player] + wins[player] for player in range(players))
                after[who_begins(begins, first, best, last, players), total] += chance * prod(p for _, p in drawn)
        states = after
    wins = [Fraction(0)] * players
    for (_, points), chance in states.items():
        if points.count(max(points)) == 1:
            wins[points.index(max(points))] += chance
    return wins, [sum(chance * points[player] for (_, points), chance in states.items()) for player in range(players)]


def scores_of(name):
    distribution = reference.score_distribution(twin(SMALL), POLICIES[reference.ShutTheBox][name](twin(SMALL)))
    return {score: chance for score, chance in distribution.items() if chance}


def by_turn(first, later):
    return lambda tables, seen: strategy(SMALL, first if seen.lead is None else later)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("players", "longest", "ties", "begins"),
    every(5, [(*size, *rules) for size in [(2, 3), (3, 2)] for rules in product(TIES, BEGINS)]),
)
def test_small_matches_are_those_of_all_sequences_of_scores(players, longest, ties, begins):
    names_of = [("random", "worst"), ("lowest-first", "random"), ("worst", "biggest-first")][:players]
    plays = [[scores_of(name) for name in names] for names in names_of]
    found = series(Round(SMALL, players, ties), [by_turn(*names) for names in names_of], longest, begins)
    for rounds in range(1, longest + 1):
        expected, points = (np.array(exact, float) for exact in all_sequences(plays, rounds, ties, begins))
        assert found.wins[rounds - 1] == pytest.approx(expected, abs=1e-13)
        assert found.points[rounds - 1] == pytest.approx(points, abs=1e-12)
        assert found.tied[rounds - 1] == pytest.approx(1 - sum(expected), abs=1e-12)


def test_a_match_goes_to_the_player_who_wins_more_rounds():
    outcome = Outcome(win=0.5, loss=0.3, tie=0.2)
    assert match(outcome, 3) == pytest.approx((0.56, 0.252, 0.188))  # 0.188 = ties alone, 0.008, or one of each, 0.18
    assert match(Outcome(0.6, 0.4, 0), 1000).win == pytest.approx(1)
    for wrong, rounds in ((outcome, 0), (Outcome(0.5, 0.5, 0.5), 1)):
        with pytest.raises(ValueError, match=r"rounds|win"):
            match(wrong, rounds)


@pytest.mark.parametrize(
    ("players", "count", "rounds", "begins", "error"),
    [
        (1, 1, 3, "fixed", "players"),
        (2, 2, 0, "fixed", "rounds"),
        (2, 2, 3, "best", "begin"),
        (3, 4, 5, "fixed", "strategies"),
        (5, 5, 20, "fixed", "too large"),
    ],
)
def test_wrong_arguments_are_refused_before_a_round_is_evaluated(players, count, rounds, begins, error, monkeypatch):
    monkeypatch.setattr(Round, "evaluate", lambda *_: pytest.fail("a round was evaluated"))
    with pytest.raises(ValueError, match=error):
        series(Round(SMALL, players), ["random"] * count, rounds, begins)
