"""Test the opponents of a learner in self-play, and its measurements in rounds."""

from itertools import product
from types import SimpleNamespace

import pytest

from agents.self_play import SelfPlay, round_envs
from stb_gym import ShutTheBox, Threes
from stb_gym.rounds import Round, RoundMeter

ROUND = Round(Threes(dice=2), players=3)
POLICIES = ["random", "threes-only", "approximation"]
FIRST = SimpleNamespace(act=lambda observations, masks: masks.argmax(axis=1))


def everyone(name, rules=ROUND):
    return rules.evaluate([name] * rules.players)


def self_play_of(kind):
    self_play = SelfPlay(round_envs(ROUND.game, 8, 3, kind), kind)
    for name in POLICIES:
        self_play.add(everyone(name))
    return self_play


@pytest.mark.parametrize(
    ("kind", "probabilities"),
    [("naive", (0, 0, 1)), ("fictitious", (1 / 3, 1 / 3, 1 / 3)), ("league", (0.2 / 3, 0.2 / 3, 0.8 + 0.2 / 3))],
)
def test_opponents_draw_one_of_the_policies_for_every_turn(kind, probabilities):
    self_play = self_play_of(kind)
    random = RoundMeter(self_play._envs)(lambda observations, masks: masks / masks.sum(axis=1, keepdims=True))
    wins = 0.0
    for first, second in product(range(3), repeat=2):
        lineup = ROUND.evaluate(["random", POLICIES[first], POLICIES[second]])
        wins += probabilities[first] * probabilities[second] * lineup.seats[0]
    assert random.seats[0] == pytest.approx(wins, abs=1e-12)
    assert (self_play.newest.seats == everyone("approximation").seats).all()


def test_the_average_is_of_all_policies():
    expected = sum(ROUND.evaluate(lineup).seats / 27 for lineup in product(POLICIES, repeat=3))
    assert self_play_of("naive").average.seats == pytest.approx(expected, abs=1e-12)


def test_in_self_play_the_learner_is_measured_in_every_seat():
    game = ShutTheBox(tiles=3)
    envs = round_envs(game, 8, 2, "fictitious")
    self_play = SelfPlay(envs, "fictitious")
    lineup = envs.round.evaluate([RoundMeter(envs).strategy(FIRST.act)] * 2)
    gains = [lineup.best_response(seat).gain for seat in range(2)]
    self_play.add(everyone("optimal", envs.round))
    measured = self_play.measure(FIRST)
    assert list(measured) == ["gain", "gain_of_average", "exploitability", "gain_1", "gain_2", "wins_1", "wins_2"]
    assert [measured["gain_1"], measured["gain_2"]] == gains
    assert [measured["wins_1"], measured["wins_2"]] == lineup.seats.tolist()
    assert measured["gain"] == max(gains)
    assert measured["exploitability"] == pytest.approx(lineup.exploitability)
    assert measured["gain_of_average"] == max(self_play.average.best_response(seat).gain for seat in range(2)) > 0
    assert self_play.count == 2


def test_against_a_strategy_the_learner_is_measured_against_it():
    envs = round_envs(ShutTheBox(tiles=3), 8, 2, "optimal")
    chances = envs.opponents.chance.copy()
    measured = SelfPlay(envs, "optimal").measure(FIRST)
    found = RoundMeter(envs)(FIRST.act)
    assert measured == {
        "gain": found.gains.max(),
        "exploitability": found.gains.sum(),
        **{f"gain_{seat}": found.gains[seat - 1] for seat in (1, 2)},
        **{f"wins_{seat}": found.seats[seat - 1] for seat in (1, 2)},
    }
    assert (envs.opponents.chance == chances).all()
