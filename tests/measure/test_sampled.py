"""Compare sampled regrets with the exact ones within their noise, with tables and without."""

import numpy as np
import pytest

from stb_gym import MaskInObservation, Objective, RegretMeter, ShutTheBox, Threes, solve
from stb_gym.envs import TurnEnv
from tests import every
from tests.measure.test_agents import Masked
from tests.measure.test_meter import NINE, SIX, biggest_first, first_legal, player, uniform

PERFECT = player(NINE, solve(NINE).policy)


def mostly_perfect(observations, masks):
    """Return the probabilities of perfect play, mixed with random play."""
    return 0.2 * uniform(observations, masks) + 0.8 * np.eye(masks.shape[1])[PERFECT(observations)]


def careless(observations, masks):
    """Return probabilities of any action after a roll of 7, and mostly of legal ones after others."""
    weights = masks + 0.1 / masks.shape[1]
    weights[observations[:, 14] == 1] = 1
    return weights / weights.sum(axis=1, keepdims=True)


def careless_anywhere(observations, masks):
    """Return the lowest legal action, or sometimes the one in the middle."""
    return np.where(observations.sum(axis=1) % 5 == 0, masks.shape[1] // 2, masks.argmax(axis=1))


MIDDLE = Objective("middle", lambda points: 9 - (points - 5) ** 2)
AGENTS = {
    "a heuristic": (RegretMeter(NINE), biggest_first),
    "probabilities": (RegretMeter(NINE), mostly_perfect),
    "illegal actions": (RegretMeter(TurnEnv(NINE)), careless),
    "a model": (RegretMeter(TurnEnv(NINE)), Masked(first_legal, NINE)),
    "masks observed": (RegretMeter(MaskInObservation(TurnEnv(SIX))), lambda seen: seen["action_mask"].argmax(1)),
    "other rules": (RegretMeter(ShutTheBox(tiles=7, one_die="any-time", score="digits"), "at-most:99"), uniform),
    "an own objective": (RegretMeter(Threes(dice=4), MIDDLE), first_legal),
}


@pytest.mark.parametrize("name", every(3, AGENTS, pytest.mark.slow))
def test_a_sampled_regret_estimates_the_exact_one(name):
    meter, agent = AGENTS[name]
    exact = meter(agent)
    sampled = meter.sample(agent, 5000, seed=2)
    assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error > 0
    assert abs(sampled.value - exact.value) <= 4 * sampled.standard_error
    assert sampled.mean_throws == pytest.approx(exact.mean_throws, abs=0.1)
    assert sampled.agreement_by_visits == pytest.approx(exact.agreement_by_visits, abs=0.02)
    shares = {-1: sampled.illegal_mass, **sampled.score_distribution}
    for score, chance in {-1: exact.illegal_mass, **exact.score_distribution}.items():
        noise = np.sqrt(chance * (1 - chance) / 5000)
        assert shares.pop(score, 0) == pytest.approx(chance, abs=4 * noise + 2 / 5000)
    assert not shares


def test_the_standard_error_is_that_of_a_mean_and_the_interval_is_cut_at_0():
    sampled = RegretMeter(NINE).sample(biggest_first, 10)
    losses = np.bincount(sampled.turn, sampled.loss, 10)
    assert sampled.standard_error == pytest.approx(np.std(losses, ddof=1) / np.sqrt(10))
    assert sampled.interval == pytest.approx((0, sampled.regret + 1.96 * sampled.standard_error), rel=1e-4)
    assert 0 < sampled.regret < 1.96 * sampled.standard_error


def test_a_model_receives_where_turns_begin():
    class Remembering(Masked):
        def predict(self, observation, state=None, episode_start=None, deterministic=False, action_masks=None):
            all_open = observation[:, :9].all(axis=1)
            assert (episode_start == all_open).all()
            return super().predict(observation, all_open, None, deterministic, action_masks)

    assert RegretMeter(NINE).sample(Remembering(first_legal, NINE), 200).turns == 200


@pytest.mark.slow
@pytest.mark.parametrize("agent", every(2, [uniform, biggest_first]))
def test_mistakes_are_those_of_the_policy(agent):
    meter = RegretMeter(NINE)
    known = {mistake.state: mistake for mistake in meter(agent).mistakes()}
    sampled = meter.sample(agent, 5000)
    mistakes = sampled.mistakes()
    assert sum(mistake.cost for mistake in mistakes) == pytest.approx(sampled.regret)
    assert sampled.mistakes(3) == mistakes[:3]
    for mistake in mistakes:
        observations = sampled.stepper.observe(np.array([mistake.state]))
        truth = known[int(meter.solution.tables.find_states(observations)[0])]
        assert (mistake.best, mistake.plays, mistake.loss) == (truth.best, truth.plays, pytest.approx(truth.loss))
        assert mistake.visits == pytest.approx(truth.visits, abs=4 * np.sqrt(truth.visits / 5000) + 1e-3)


def test_the_seed_determines_the_turns():
    meter = RegretMeter(SIX)
    one, same, other = (meter.sample(uniform, 500, seed) for seed in (7, 7, 8))
    assert (one.lost == same.lost).all()
    assert one.summary() == same.summary()
    assert one.regret != other.regret


def test_the_seed_determines_the_actions_that_are_drawn():
    meter = RegretMeter(Threes(dice=2))  # one action throws again, and the other one ends the turn
    assert {len(meter.sample(uniform, 2, seed).state) for seed in range(20)} == {2, 3, 4}


def test_a_function_may_remember_its_turns():
    """A player that changes its mind in the middle of a turn. It is asked about the sampled turns alone."""
    meter, met = RegretMeter(SIX), {}

    def first_then_last(observations, masks, turns):
        choices = []
        for turn, mask in zip(turns.tolist(), masks, strict=True):
            met[turn] = met.get(turn, 0) + 1
            choices.append(mask.nonzero()[0][0 if met[turn] == 1 else -1])
        return np.array(choices)

    with pytest.raises(ValueError, match="the agent has a memory"):
        meter(first_then_last)
    sampled = meter.sample(first_then_last, 5000)  # more turns than games side by side
    assert sorted(met) == list(range(5000))
    for turn in (0, 100, 4999):
        moves = np.flatnonzero(sampled.turn == turn)
        legal = [sampled.stepper.masks(int(state)).nonzero()[0] for state in sampled.state[moves]]
        assert sampled.plays[moves].tolist() == [each[0 if not place else -1] for place, each in enumerate(legal)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "game", [NINE, ShutTheBox(tiles=8, first_move=3), ShutTheBox(tiles=7, one_die="low-sum", score="count")], ids=str
)
@pytest.mark.parametrize("agent", every(2, [careless_anywhere, first_legal]))
def test_tables_and_boards_measure_the_same(game, agent, monkeypatch):
    one = RegretMeter(game).sample(agent, 1000)
    monkeypatch.setattr("stb_gym.games.afterstates.LARGEST_TABLE", 1000)
    meter = RegretMeter(game)
    other = meter.sample(agent, 1000)
    assert not meter.is_exact
    assert not hasattr(other.stepper, "tables")
    assert one.lost == pytest.approx(other.lost, abs=1e-9)
    for name in ("plays", "best", "final_score"):
        assert (getattr(one, name) == getattr(other, name)).all()
    assert one.summary() == pytest.approx(other.summary(), abs=1e-9)
    assert (one.illegal_mass > 0) is (agent is careless_anywhere)
    assert one.costliest_mistake == other.costliest_mistake
    assert one.random_value == pytest.approx(other.random_value, abs=1e-9)


def test_text(snapshot):
    sampled = RegretMeter(SIX).sample(first_legal, 1000)
    assert [repr(sampled), sampled.costliest_mistake] == snapshot


def hardly_careless(observations, masks):
    """Return probabilities of illegal actions that are too small to be drawn."""
    weights = np.where(masks, 1, 1e-9)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("agent", [careless_anywhere, hardly_careless])
def test_illegal_actions_may_raise(agent):
    with pytest.raises(ValueError, match="illegal action at open"):
        RegretMeter(NINE, illegal="raise").sample(agent)


@pytest.mark.parametrize("arguments", [{"turns": 1}, {"turns": 2.5}, {"turns": 10**6 + 1}, {"seed": -1}], ids=str)
def test_other_numbers_of_turns_and_seeds_are_refused(arguments):
    with pytest.raises(ValueError, match=next(iter(arguments))):
        RegretMeter(SIX).sample(first_legal, **arguments)
