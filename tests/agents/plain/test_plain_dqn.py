"""DQN that sees observations and masks learns games, also those that are not ours, and resumes to the bit."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
import torch

import stb_gym
from agents.plain.dqn import DQN, DQNSettings, quantile_loss
from agents.plain.replay import OVER, Positions, Replay

SMALL = DQNSettings(
    num_envs=256, batch_size=2048, gradient_steps=4, averaging=0.05, warm_up=2000, replay_size=100_000, width=64
)


def make(settings=SMALL, mode="SameStep", seed=0, **rules):
    envs = gym.make_vec("stb_gym/ShutTheBox-v0", settings.num_envs, autoreset_mode=mode, **{"tiles": 4, **rules})
    return DQN(envs, settings, seed), stb_gym.RegretMeter(envs)


def regret(learner, meter):
    return meter(lambda observations, masks: learner.probabilities(observations, masks).argmax(axis=1)).regret


def nothing():
    pass


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("settings", [{}, {"double": True}, {"quantiles": 8}])
def test_it_learns_nearly_perfect_play_and_what_it_is_worth(settings, mode):
    learner, meter = make(replace(SMALL, **settings), mode)
    learner.learn_until(30_000, nothing)
    assert regret(learner, meter) < 0.03  # of random play: 0.094
    tables = meter.optimum.tables
    masks = tables.legal(tables.decisions)
    error = learner.values(tables.observation[tables.decisions], masks) - meter.optimum.node_utility[tables.decisions]
    assert np.abs(error).mean() < 0.5


def test_a_run_resumed_is_the_same_run():
    whole, _ = make()
    whole.learn_until(10_000, nothing)
    first, _ = make()
    first.learn_until(5_000, nothing)  # lower learning rates than the whole run has
    snapshot = first.snapshot()
    second, _ = make(seed=1)
    second.restore(snapshot)
    for learner in (first, second):
        learner.learn_until(10_000, nothing)
    for name, weight in first.snapshot().items():
        np.testing.assert_array_equal(second.snapshot()[name], weight, err_msg=name)
    assert any((whole.weights()[name] != weight).any() for name, weight in first.weights().items())


class Doors(gym.Env):
    """Five doors in a row; only some can be opened, which the mask tells, and the last good one has the prize."""

    observation_space = gym.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gym.spaces.Discrete(5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.room = 0
        return self._shown()

    def step(self, action):
        assert self.mask[action]
        reward = float(action == np.flatnonzero(self.mask)[-1]) * 2 - 1
        self.room += 1
        return (*self._shown()[:1], reward, self.room == 3, False, self.info)

    def _shown(self):
        self.mask = np.zeros(5, np.int8)
        if self.room < 3:
            self.mask[[self.room, self.room + 2]] = 1
        self.info = {"action_mask": self.mask}
        return np.eye(3, dtype=np.float32)[self.room % 3] - 0.5, self.info


@pytest.mark.parametrize("mode", list(gym.vector.AutoresetMode)[:2])
def test_it_learns_an_environment_that_is_not_ours(mode):
    envs = gym.vector.SyncVectorEnv([Doors] * 16, autoreset_mode=mode)
    learner = DQN(envs, replace(SMALL, num_envs=16, warm_up=500, batch_size=256), seed=0)
    learner.learn_until(3000, nothing)
    observations = np.eye(3, dtype=np.float32) - 0.5
    masks = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1]])
    assert learner.probabilities(observations, masks).argmax(axis=1).tolist() == [2, 3, 4]
    np.testing.assert_allclose(learner.values(observations, masks), [3, 2, 1], atol=0.2)


def test_truncated_turns_go_on_in_the_targets():
    learner, _ = make(max_episode_steps=1)
    learner.learn_until(6000, nothing)
    batch = learner._replay.sample(5000, np.random.default_rng(0))
    ended = batch.next == OVER
    assert 0.1 < ended.mean() < 0.9  # the first throw can be the last
    tiles = learner._positions.observations[:, :4].sum(axis=1)
    assert (tiles[batch.next[~ended]] < tiles[batch.position[~ended]]).all()  # not the begin of another turn


def test_positions_are_numbered_once_however_many_come():
    shown = np.arange(3000, dtype=np.int32)[:, None] % 1500
    masks = np.ones((3000, 3), np.int8)
    positions = Positions(shown[0], 3)
    numbers = positions.numbers(shown, masks)
    assert len(positions) == 1501
    np.testing.assert_array_equal(positions.observations[numbers], shown)
    np.testing.assert_array_equal(positions.find(shown[::-1], masks), numbers[::-1])
    assert positions.find(shown[:1], 0 * masks[:1]).tolist() == [OVER]  # another mask is another position


def test_a_full_replay_forgets_the_oldest():
    replay, random = Replay(10), np.random.default_rng(0)
    for number in range(1, 5):
        replay.add(*(np.full(4, number) for _ in range(4)))
    assert len(replay) == 10
    assert set(replay.sample(200, random).position.tolist()) == {2, 3, 4}


def test_quantiles_of_samples_are_what_loses_least():
    samples = torch.arange(100.0)[:, None]
    estimates = torch.zeros(1, 4, requires_grad=True)
    optimizer = torch.optim.SGD([estimates], 20.0)
    for _ in range(2000):
        optimizer.zero_grad()
        quantile_loss(estimates.expand(100, 4), samples).backward()
        optimizer.step()
    np.testing.assert_allclose(estimates.detach()[0], [12.5, 37.5, 62.5, 87.5], atol=1.5)
