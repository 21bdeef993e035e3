"""DQN: its replay and targets, masks, equal rows, exploration, and learning."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.common import Transition
from agents.dqn import DQN, DQNSettings, Replay
from stb_gym import ShutTheBox
from tests.agents import BOX, make, regret_of

SETTINGS = DQNSettings(
    num_envs=32, learning_rate=1e-3, batch_size=64, replay_size=400, warm_up=200, target_period=3, width=16
)


def learner_of(seed=0, tiles=6, settings=SETTINGS, **options):
    return DQN(make(BOX, settings.num_envs, tiles=tiles, **options), settings, seed)


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


@pytest.mark.parametrize("delta", [0.5, 100.0])
def test_the_loss_over_equal_rows_is_that_of_transitions_one_by_one(delta):
    learner = learner_of(settings=replace(SETTINGS, gamma=0.9, target_period=7, learning_rate=0.1, huber_delta=delta))
    learner.learn(600)
    batch = learner._replay.sample(64, learner._random)
    assert batch.terminated.any()
    assert len(np.unique(batch.observation, axis=0)) < 64
    total = 0.0
    with torch.no_grad():
        for observation, action, reward, terminated, following, mask in zip(*batch, strict=True):
            following = torch.as_tensor(following)[None]
            legal = np.flatnonzero(mask)
            target = reward
            if not terminated:
                best = legal[learner._network(following)[0].numpy()[legal].argmax()]
                target += 0.9 * learner._target_network(following)[0, best].item()
            error = abs(learner._network(torch.as_tensor(observation)[None])[0, action].item() - target)
            total += error**2 / 2 if error < delta else delta * (error - delta / 2)
    learner._update(batch)
    assert learner.figures["loss"] == pytest.approx(total / 64, rel=1e-3)


def test_the_target_network_is_copied_every_period():
    learner = learner_of()
    learner.learn(256)
    copied = []
    for _ in range(7):
        learner._update(learner._replay.sample(64, learner._random))
        copied.append(bool((learner._target_network[1].weight == learner._network[1].weight).all()))
    assert copied == [(learner._updates - 6 + number) % 3 == 0 for number in range(7)]


def test_exploration_and_learning_rate_decay(monkeypatch):
    learner, epsilons, rates = learner_of(), [], []
    play = learner._play

    def record(epsilon):
        epsilons.append(epsilon)
        rates.append(learner._optimizer.param_groups[0]["lr"])
        play(epsilon)

    monkeypatch.setattr(learner, "_play", record)
    learner.learn(1600)
    assert learner._updates == 44 * SETTINGS.gradient_steps  # from the 200th step on
    assert epsilons == pytest.approx([1, 0.82, 0.64, 0.46, 0.28] + [0.1] * 45)
    assert rates == pytest.approx([1e-3 * (1 - number / 50) for number in range(50)])


def test_it_plays_the_best_action_or_with_probability_epsilon_a_random_legal_one():
    learner = learner_of(settings=replace(SETTINGS, num_envs=4000, replay_size=4000))
    seen = learner._episodes
    best = learner.act(seen.observation, seen.mask)
    expected = 0.4 + 0.6 * (1 / seen.mask.sum(axis=1)).mean()
    learner._play(0.6)
    assert (learner._replay._columns.action == best).mean() == pytest.approx(expected, abs=0.03)


@pytest.mark.nightly
def test_it_learns():
    settings = DQNSettings(num_envs=64, batch_size=256, replay_size=50_000, warm_up=2000, target_period=50, width=64)
    learner = learner_of(settings=settings)
    assert regret_of(learner, ShutTheBox(tiles=6)) > 1
    learner.learn(150_000)
    assert regret_of(learner, ShutTheBox(tiles=6)) < 0.2
