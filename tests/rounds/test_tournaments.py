"""Test tournaments against all joint totals."""

from collections import defaultdict
from functools import cache
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from stb_gym import ShutTheBox, Threes, evaluate, strategy
from stb_gym.rounds import tournament, tournaments
from stb_gym.solver import Solution
from tests import every
from tests.twins import MostThrees

NINE = ShutTheBox()
LOW, HIGH = ((0, 0.25), (1, 0.5), (3, 0.25)), ((0, 0.125), (2, 0.5), (5, 0.375))
FAR, NEVER = ((0, 0.5), (3, 0.25), (123456789, 0.125), (123456790, 0.125)), ((0, 1.0),)
PLAYERS = [(LOW, HIGH), (LOW, FAR), (FAR, FAR), (NEVER, LOW)]


@pytest.fixture
def any_turns(monkeypatch):
    """Let distributions of final scores stand for strategies."""
    monkeypatch.setattr(Solution, "evaluate", lambda _, turn: SimpleNamespace(score_distribution=dict(turn.tolist())))


@cache
def by_all_totals(turns, limit, best=min):
    """Return what each player wins, and the chances of the number of rounds."""
    wins, rounds = np.zeros(2), []
    reached = {(0, 0): 1.0}  # the chances of the totals
    while sum(reached.values()) > 1e-17:
        going, ended = defaultdict(float), 0.0
        for totals, chance in reached.items():
            if max(totals) < limit:
                for (one, of_one), (other, of_other) in product(*turns):
                    going[totals[0] + one, totals[1] + other] += chance * of_one * of_other
                continue
            winners = np.array([total == best(totals) for total in totals])
            ended += chance
            wins += chance * winners / winners.sum()
        rounds.append(ended)
        reached = going
    return wins, rounds


@pytest.mark.slow
@pytest.mark.parametrize(("turns", "limit", "game"), every(5, product(PLAYERS, (1, 4), (NINE, MostThrees()))), ids=str)
@pytest.mark.usefixtures("any_turns")
def test_wins_and_rounds_are_those_of_all_totals(turns, limit, game):
    wins, rounds = by_all_totals(turns, limit, max if game.more_is_better else min)
    found = tournament(game, [np.array(turn, object) for turn in turns], limit)
    assert found.wins == pytest.approx(wins, abs=1e-12)
    assert found.mean_rounds == pytest.approx(np.arange(len(rounds)) @ rounds, abs=1e-12)
    assert found.rounds == pytest.approx(rounds[: len(found.rounds)], abs=1e-12)
    assert found.limit == limit


def test_turns_are_those_of_the_strategies():
    game = ShutTheBox(tiles=3, dice=1)
    turns = [evaluate(game, strategy(game, name)).score_distribution for name in ("optimal", "worst")]
    wins, _ = by_all_totals(tuple(tuple(turn.items()) for turn in turns), 3)
    assert tournament(game, ["optimal", strategy(game, "worst")], limit=3).wins == pytest.approx(wins)


def test_rounding_does_not_add_up():
    found = tournament(NINE, ["optimal", "random"], limit=500)
    assert found.wins.sum() == pytest.approx(1, abs=5e-14)
    assert found.rounds.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((NINE, ["random"]), "2 players"),
        ((NINE, ["random"] * 2, 0), "limit"),
        ((NINE, ["threes-only"] * 2), "threes-only"),
        ((NINE, [np.zeros(3, int)] * 2), "a policy of"),
        ((Threes(moon=True), ["optimal"] * 2), "final scores"),
    ],
)
def test_wrong_arguments_are_refused(arguments, error):
    with pytest.raises(ValueError, match=error):
        tournament(*arguments)


@pytest.mark.slow
@pytest.mark.usefixtures("any_turns")
def test_tournaments_that_are_too_large_or_never_end_are_refused(monkeypatch):
    low, high, never = (np.array(turn, object) for turn in (LOW, HIGH, NEVER))
    with pytest.raises(ValueError, match="never ends"):
        tournament(NINE, [never, never])
    monkeypatch.setattr(tournaments, "LARGEST_STEP", 4 * 5 - 1)
    with pytest.raises(ValueError, match="too large"):
        tournament(NINE, [low, high], limit=4)
