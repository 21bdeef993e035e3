"""Test the meter: exact regrets of agents, and what it reads from an environment."""

import pickle

import pytest

from stb_gym import MaskInObservation, Objective, RegretMeter, ShutTheBox, evaluate, save_policy, strategy
from stb_gym.envs import TurnEnv
from stb_gym.measure import meter as meter_module
from stb_gym.measure import read_policy
from stb_gym.solver import compile_game

NINE, SIX = ShutTheBox(), ShutTheBox(tiles=6)


def first_legal(observations, masks):
    return masks.argmax(axis=1)


def uniform(observations, masks):
    return masks / masks.sum(axis=1, keepdims=True)


def player(game, policy):
    """Return a policy [S] as a function of observations."""
    tables = compile_game(game)
    return lambda observations: policy[tables.find_states(observations)]


biggest_first = player(NINE, strategy(NINE, "biggest-first"))


def test_arguments_override_the_environment():
    squares = Objective("squares", lambda points: -(points**2))
    meter = RegretMeter(TurnEnv(SIX, "shut", "end"), squares, "raise")
    assert (meter.objective, meter.illegal, meter.is_exact) == (squares, "raise", True)
    assert meter(first_legal).regret == evaluate(SIX, meter.policy(first_legal), squares).regret


@pytest.mark.parametrize("agent", [first_legal, uniform])
def test_a_policy_of_the_meter_can_be_saved_and_evaluated(agent, tmp_path, monkeypatch):
    meter = RegretMeter(SIX)
    policy = meter.policy(agent)
    save_policy(tmp_path / "policy.npz", SIX, policy)
    assert read_policy(tmp_path / "policy.npz").evaluate().regret == meter(agent).regret > 0
    monkeypatch.setattr(meter_module, "AT_ONCE", 7)
    assert (meter.policy(agent) == policy).all()


def test_illegal_actions_end_the_turn_or_raise():
    evaluation = RegretMeter(SIX)(lambda observations, masks: masks.argmin(axis=1))
    assert evaluation.illegal_mass == pytest.approx(1)
    assert evaluation.value == pytest.approx(21)
    with pytest.raises(ValueError, match="illegal action"):
        RegretMeter(SIX, illegal="raise")(lambda observations, masks: masks.argmin(axis=1))


def test_a_box_too_large_for_tables_is_only_sampled():
    meter = RegretMeter(ShutTheBox(tiles=16))
    assert not meter.is_exact
    for measure in (meter, meter.policy):
        with pytest.raises(ValueError, match="sample"):
            measure(first_legal)


def test_a_meter_can_be_sent_to_another_process():
    meter = RegretMeter(MaskInObservation(TurnEnv(SIX)))
    assert pickle.loads(pickle.dumps(meter))(first_legal).regret == meter(first_legal).regret
