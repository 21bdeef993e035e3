"""Test afterstate learning: its targets and the control variate."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from agents.afterstates import Afterstates, AfterstatesSettings
from stb_gym import ShutTheBox, solve
from tests.agents import make, record, with_rewards

SETTINGS = AfterstatesSettings(num_envs=64, minibatches=2, learning_rate=1e-2, exploration=0.15, width=32)


def learner(envs=None, **changes):
    return Afterstates(envs or make(), replace(SETTINGS, **changes), seed=0)


@pytest.mark.parametrize("limit", [None, 2])
def test_a_target_is_the_reward_or_the_value_of_the_best_move_that_follows(limit, monkeypatch):
    agent, points = learner(with_rewards(make(max_episode_steps=limit), 2)), np.arange(1, 6)
    agent.learn(500)
    fits, steps, seen, cuts = [], record(agent._episodes, "step"), [], 0
    monkeypatch.setattr(agent, "_fit", lambda last, targets, rate: fits.append((last, targets)))
    agent.learn(agent.num_steps + 10 * 64, lambda: seen.append(agent._episodes.observation))
    for step, observation, (last, targets) in zip(steps, seen[1:], fits[1:], strict=False):
        goes_on = ~(step.terminated | step.truncated)
        assert (last.continues == goes_on).all()
        assert targets[goes_on] == pytest.approx(2 + agent._look(observation[goes_on]).value, abs=1e-6)
        left = last.afterstate[:, :5] @ points
        assert (targets[step.terminated] == 2 - left[step.terminated]).all()
        cut = step.truncated & ~step.terminated
        cuts += cut.sum()
        if cut.any():
            rest = agent._look(step.next_observation[cut]).value
            assert targets[cut] == pytest.approx(2 + rest, rel=1e-5)
    assert (cuts > 0) == (limit is not None)


@pytest.mark.nightly
def test_the_control_variate_lowers_the_loss_and_leaves_values_unbiased():
    losses, best = {}, solve(ShutTheBox(tiles=5))
    decisions = best.tables.decisions
    for control_variate in (True, False):
        agent = learner(exploration=0.3, control_variate=control_variate)
        agent.learn(10_000)
        losses[control_variate] = agent.figures["loss"]
        assert (agent.figures["effect_of_rolls"] > 0) == control_variate
        values = agent._look(best.tables.observation[decisions]).value
        assert abs(values - best.state_utilities[decisions]).mean() < 0.5
    assert losses[True] < 0.7 * losses[False]


def test_environments_without_afterstates_are_refused():
    with pytest.raises(ValueError, match="needs an environment with the method `afterstates`"):
        learner(gym.make_vec("CartPole-v1", 8))
