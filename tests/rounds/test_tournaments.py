"""Test tournaments against all joint totals."""

from collections import defaultdict
from functools import cache
from itertools import product
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, evaluate, strategy
from stb_gym.rounds import TIES, tournament, tournaments
from stb_gym.solver import Solution
from tests import every
from tests.twins import MostThrees

NINE = ShutTheBox()
LOW, HIGH = ((0, 0.25), (1, 0.5), (3, 0.25)), ((0, 0.125), (2, 0.5), (5, 0.375))
FAR, NEVER = ((0, 0.5), (3, 0.25), (123456789, 0.125), (123456790, 0.125)), ((0, 1.0),)
ENDS = [("first-to", NINE), ("out-at", NINE), ("first-to", MostThrees())]
PLAYERS = [(LOW, HIGH), (LOW, FAR), (HIGH, LOW, HIGH), (FAR, FAR), (NEVER, LOW, LOW), (LOW,)]


@pytest.fixture
def any_turns(monkeypatch):
    """Let distributions of final scores stand for strategies."""
    monkeypatch.setattr(Solution, "evaluate", lambda _, turn: SimpleNamespace(score_distribution=dict(turn.tolist())))


@cache
def by_all_totals(turns, rule, limit, best=min):
    """Return, by tie rule, what each player wins, and the chances of the number of rounds."""
    wins, rounds = {ties: np.zeros(len(turns)) for ties in TIES}, []
    start = (0,) * len(turns)
    reached = {(start, start): 1.0}  # the chances of the totals before and after the last round
    while sum(reached.values()) > 1e-17:
        going, ended = defaultdict(float), 0.0
        for (before, totals), chance in reached.items():
            plays = [total < limit for total in totals]
            if all(plays) if rule == "first-to" else sum(plays) > 1:
                scores = [turn if playing else [(0, 1.0)] for turn, playing in zip(turns, plays, strict=True)]
                for drawn in product(*scores):
                    after = tuple(total + score for total, (score, _) in zip(totals, drawn, strict=True))
                    going[totals, after] += chance * prod(share for _, share in drawn)
                continue
            winners = np.array(plays if any(plays) else [total < limit for total in before])
            if rule == "first-to":
                winners = np.array([total == best(totals) for total in totals])
            ended += chance
            wins["all-win"] += chance * winners
            wins["split"] += chance * winners / winners.sum()
            wins["nobody"] += chance * winners * (winners.sum() == 1)
        rounds.append(ended)
        reached = going
    return wins, rounds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("turns", "limit", "rule", "game", "ties"),
    every(17, [(*who, *ends, ties) for who in product(PLAYERS, (1, 4)) for ends in ENDS for ties in TIES]),
    ids=str,
)
@pytest.mark.usefixtures("any_turns")
def test_wins_and_rounds_are_those_of_all_totals(turns, limit, rule, game, ties):
    wins, rounds = by_all_totals(turns, rule, limit, max if game.more_is_better else min)
    found = tournament(game, [np.array(turn, object) for turn in turns], rule, limit, ties)
    assert found.wins == pytest.approx(wins[ties], abs=1e-12)
    assert found.mean_rounds == pytest.approx(np.arange(len(rounds)) @ rounds, abs=1e-12)
    assert found.rounds == pytest.approx(rounds[: len(found.rounds)], abs=1e-12)
    assert (found.rule, found.limit, found.ties) == (rule, limit, ties)


def test_turns_are_those_of_the_strategies():
    game = ShutTheBox(tiles=3, dice=1)
    turns = [evaluate(game, strategy(game, name)).score_distribution for name in ("optimal", "worst")]
    wins, _ = by_all_totals(tuple(tuple(turn.items()) for turn in turns), "first-to", 3)
    assert tournament(game, ["optimal", strategy(game, "worst")], limit=3).wins == pytest.approx(wins["split"])


@pytest.mark.parametrize(("rule", "limit"), [("first-to", 100), ("out-at", 45)])
def test_one_win_is_shared_at_the_default_limit(rule, limit):
    found = tournament(NINE, ["optimal", "random", "biggest-first", "random"], rule)
    assert found.limit == limit
    assert found.wins.sum() == pytest.approx(1, abs=1e-12)
    assert found.rounds.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_rounding_does_not_add_up():
    assert tournament(NINE, ["optimal"] * 6, limit=500).wins.sum() == pytest.approx(1, abs=5e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((NINE, []), "players"),
        ((NINE, ["random"], "last-to"), "end of a tournament"),
        ((NINE, ["random"], "out-at", 0), "limit"),
        ((NINE, ["random"], "out-at", 10, "both"), "ties"),
        ((MostThrees(), ["random"], "out-at"), "out-at"),
        ((NINE, ["threes-only"]), "threes-only"),
        ((NINE, [np.zeros(3, int)]), "a policy of"),
        ((Threes(moon=True), ["optimal"]), "final scores"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error):
    with pytest.raises(ValueError, match=error):
        tournament(*arguments)


@pytest.mark.slow
@pytest.mark.usefixtures("any_turns")
def test_tournaments_that_are_too_large_or_never_end_are_refused(monkeypatch):
    low, high, never = (np.array(turn, object) for turn in (LOW, HIGH, NEVER))
    for turns, rule in (([never, never], "first-to"), ([never], "first-to"), ([low, never, never], "out-at")):
        with pytest.raises(ValueError, match="never ends"):
            tournament(NINE, turns, rule)
    monkeypatch.setattr(tournaments, "LARGEST_STEP", 4 * 2 * 5 - 1)
    with pytest.raises(ValueError, match="too large"):
        tournament(NINE, [low, high], limit=4)
