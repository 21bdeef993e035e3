"""Test matches of several rounds against all sequences of scores of small matches."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from stb_gym import ShutTheBox, strategy
from stb_gym.rounds import BEGINS, Round, series
from tests import reference
from tests.cases import POLICIES
from tests.twins import twin

SMALL = ShutTheBox(tiles=3, dice=1, faces=3)


def all_sequences(plays, rounds, begins):
    """Return the chance that each player has won more rounds, by trying all scores.

    A player has one distribution of final scores when beginning a round, and another when not.
    """
    states = {(0, 0): Fraction(1)}  # who begins, and how many rounds the first player has won more
    for _ in range(rounds):
        after = Counter()
        for (first, more), chance in states.items():
            for (one, of_one), (other, of_other) in product(plays[0][first].items(), plays[1][1 - first].items()):
                won = (other > one) - (one > other)
                following = {"fixed": first, "alternating": 1 - first, "winner": (0, first, 1)[1 - won]}[begins]
                after[following, more + won] += chance * of_one * of_other
        states = after
    return [sum(chance for (_, more), chance in states.items() if sign * more > 0) for sign in (1, -1)]


def scores_of(name):
    distribution = reference.score_distribution(twin(SMALL), POLICIES[reference.ShutTheBox][name](twin(SMALL)))
    return {score: chance for score, chance in distribution.items() if chance}


def by_turn(first, later):
    return lambda tables, seen: strategy(SMALL, first if seen.lead is None else later)


@pytest.mark.slow
@pytest.mark.parametrize("begins", BEGINS)
def test_small_matches_are_those_of_all_sequences_of_scores(begins):
    names_of = [("random", "worst"), ("lowest-first", "random")]
    plays = [[scores_of(name) for name in names] for names in names_of]
    found = series(Round(SMALL), [by_turn(*names) for names in names_of], 3, begins)
    for rounds in range(1, 4):
        expected = all_sequences(plays, rounds, begins)
        assert found.wins[rounds - 1] == pytest.approx(np.array(expected, float), abs=1e-13)
        assert found.tied[rounds - 1] == pytest.approx(float(1 - sum(expected)), abs=1e-12)


@pytest.mark.parametrize(
    ("players", "count", "rounds", "begins", "error"),
    [
        (3, 3, 3, "fixed", "2 players"),
        (2, 2, 0, "fixed", "rounds"),
        (2, 2, 3, "best", "begin"),
        (2, 3, 5, "fixed", "3"),
    ],
)
def test_wrong_arguments_are_refused_before_a_round_is_evaluated(players, count, rounds, begins, error, monkeypatch):
    monkeypatch.setattr(Round, "evaluate", lambda *_: pytest.fail("a round was evaluated"))
    with pytest.raises(ValueError, match=error):
        series(Round(SMALL, players), ["random"] * count, rounds, begins)
