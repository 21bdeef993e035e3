"""sbx: stable-baselines3 in JAX. Its models do not reveal their probabilities, so stochastic play is sampled."""

import gymnasium as gym
import numpy as np
import pytest
import sbx

import stb_gym
from tests.libraries import BOX


@pytest.mark.parametrize("algorithm", [sbx.PPO, sbx.DQN])
def test_its_models_are_measured(algorithm):
    meter = stb_gym.RegretMeter(gym.make(BOX))
    model = algorithm("MlpPolicy", gym.make(BOX), seed=0).learn(1000)
    evaluation = meter(model)
    assert evaluation.regret > 0
    assert evaluation.masked is False
    for masked in (True, False):
        with pytest.raises(ValueError, match=r"takes no masks|does not reveal its probabilities"):
            meter(model, deterministic=False, masked=masked)
    played = meter.sample(model, 1000)
    assert abs(played.regret - evaluation.regret) <= 4 * played.standard_error


def test_its_stochastic_ppo_is_measured_at_play_and_by_its_distribution():
    meter = stb_gym.RegretMeter(gym.make(BOX))
    model = sbx.PPO("MlpPolicy", gym.make(BOX), seed=0, n_steps=256).learn(1024)
    sampled = meter.sample(model, 4000, deterministic=False)
    actor = model.policy.actor_state
    exact = meter(lambda seen: np.asarray(actor.apply_fn(actor.params, seen).probs_parameter()))
    assert abs(sampled.regret - exact.regret) <= 4 * sampled.standard_error > 0
