"""Test PPO: its formulas, truncation, and how actions are drawn."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from agents import ppo
from agents.ppo import PPO, PPOSettings, clipped_objective, generalized_advantages
from stb_gym import check
from tests.agents import BOX, make

SETTINGS = PPOSettings(num_envs=32, num_steps=8, minibatches=2, width=16)


def learner_of(settings=SETTINGS, **options):
    return PPO(make(BOX, settings.num_envs, tiles=6, **options), settings, seed=0)


def probabilities(learner, *seen):
    return learner._logits(*map(torch.as_tensor, seen)).softmax(dim=1).numpy(force=True)


def test_advantages_are_exact():
    def advantages(batch):
        next_value = np.where(batch.terminated, 0, batch.next_value)
        return generalized_advantages(batch.reward, batch.value, next_value, batch.done, batch.discount, batch.lam)

    assert check.advantages(advantages, layout="TB")


def test_the_gradient_of_the_objective_is_exact():
    def loss(logits, batch):
        log_probability = logits.masked_fill(~batch.mask, torch.finfo(logits.dtype).min).log_softmax(dim=1)
        ratio = (log_probability.gather(1, batch.action[:, None])[:, 0] - batch.old_log_prob).exp()
        return -clipped_objective(ratio, batch.advantage, batch.clip)

    assert check.policy_loss(loss)


def test_advantages_are_normalised_and_the_critic_learns_returns():
    settings = replace(SETTINGS, gamma=1.0, gae_lambda=1.0)
    learner, copy = learner_of(settings=settings), learner_of(settings=settings)
    _, samples = learner._play()
    assert samples.advantage.mean() == pytest.approx(0, abs=1e-5)
    assert samples.advantage.std(correction=0) == pytest.approx(1, abs=1e-4)
    steps = [copy._episodes.step(action.numpy()) for action in samples.action.reshape(8, 32)]
    rewards = np.full(32, np.nan)  # at the end of the episode, where the rollout has it
    for step, targets in zip(steps[::-1], samples.value_target.reshape(8, 32).numpy()[::-1], strict=True):
        rewards[step.terminated] = step.reward[step.terminated]
        known = ~np.isnan(rewards)
        assert targets[known] == pytest.approx(rewards[known], abs=1e-4)
    assert known.sum() > 16


def test_actions_are_drawn_with_their_probabilities_and_the_best_is_the_likeliest():
    learner = learner_of(settings=replace(SETTINGS, num_envs=4000))
    learner._actor[-1].weight.data *= 1000  # so that the probabilities differ
    seen = learner._episodes.observation, learner._episodes.mask
    action, log_probability = learner._sample(*seen)
    chances = probabilities(learner, *seen)
    assert np.exp(log_probability) == pytest.approx(chances[np.arange(4000), action], rel=1e-4)
    assert np.bincount(action, minlength=chances.shape[1]) == pytest.approx(chances.sum(axis=0), abs=60)
    assert (learner.act(*seen) == chances.argmax(axis=1)).all()


def test_a_truncated_episode_has_the_value_of_its_last_observation(monkeypatch):
    learner = learner_of(max_episode_steps=1)
    seen = {}

    def record(reward, value, next_value, over, gamma, gae_lambda):
        seen.update(next_value=next_value, over=over)
        return generalized_advantages(reward, value, next_value, over, gamma, gae_lambda)

    monkeypatch.setattr(ppo, "generalized_advantages", record)
    copy = learner_of(max_episode_steps=1)
    _, samples = learner._play()
    step = copy._episodes.step(samples.action[:32].numpy())
    assert seen["over"].all()
    assert step.truncated.any()
    expected = np.where(step.terminated, 0, learner._values(step.next_observation))
    assert seen["next_value"][0] == pytest.approx(expected, abs=1e-6)
