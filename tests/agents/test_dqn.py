"""Test DQN: its replay, double Q-learning, the target network and exploration."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.common import Transition
from agents.dqn import DQN, DQNSettings, Replay, double_q_values
from stb_gym import check
from tests.agents import BOX, make

SETTINGS = DQNSettings(
    num_envs=32, learning_rate=1e-3, batch_size=64, replay_size=400, warm_up=200, target_period=3, width=16
)


def learner_of(settings=SETTINGS):
    return DQN(make(BOX, settings.num_envs, tiles=6), settings, seed=0)


def test_the_replay_keeps_the_newest_transitions_and_their_masks():
    replay = Replay(10, gym.spaces.Box(0, 200, (2,), np.uint8), actions=11)
    generator = torch.Generator().manual_seed(0)
    masks = np.random.default_rng(0).random((28, 11)) < 0.5

    def transitions(number):
        observation = np.stack([number, number], axis=1).astype(np.uint8)
        reward, terminated, truncated = number.astype(np.float32), number % 3 == 0, number % 3 == 1
        return observation, number % 11, Transition(reward, terminated, truncated, observation + 100, masks[number])

    for start in range(0, 28, 4):
        replay.add(*transitions(np.arange(start, start + 4)))
        drawn = replay.sample(300, generator)
        number = drawn.observation[:, 0].astype(int)
        assert set(number) == set(range(max(0, start + 4 - 10), start + 4))
        observation, action, step = transitions(number)
        expected = observation, action, step.reward, step.terminated, step.next_observation, step.next_mask
        np.testing.assert_equal(tuple(drawn), expected)


def test_targets_are_exact():
    def targets(batch):
        q_values, target_q_values, mask = map(torch.as_tensor, (batch.next_q_online, batch.next_q, batch.next_mask))
        next_value = double_q_values(q_values, target_q_values, mask).numpy()
        return batch.reward + batch.discount * np.where(batch.terminated, 0, next_value)

    assert check.q_targets(targets, kind="double")


def test_the_target_network_is_copied_every_period():
    learner = learner_of()
    learner.learn(256)
    copied = []
    for _ in range(7):
        learner._update(learner._replay.sample(64, learner._random))
        copied.append(bool((learner._target_network[1].weight == learner._network[1].weight).all()))
    assert copied == [(learner._updates - 6 + number) % 3 == 0 for number in range(7)]


def test_it_plays_the_best_action_or_with_probability_epsilon_a_random_legal_one():
    learner = learner_of(settings=replace(SETTINGS, num_envs=4000, replay_size=4000))
    seen = learner._episodes
    best = learner.act(seen.observation, seen.mask)
    expected = 0.4 + 0.6 * (1 / seen.mask.sum(axis=1)).mean()
    learner._play(0.6)
    assert (learner._replay._columns.action == best).mean() == pytest.approx(expected, abs=0.03)
