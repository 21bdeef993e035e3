"""Tianshou: its vector environments take ids, and its DQN finds the mask in the observation."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, SubprocVectorEnv
from tianshou.trainer import OffPolicyTrainerParams
from tianshou.utils.net.common import Net

import stb_gym
from tests.libraries import IDS, MASKED


def dqn(env, shape):
    net = Net(state_shape=shape, action_shape=env.action_space.n, hidden_sizes=[32])
    policy = DiscreteQLearningPolicy(model=net, action_space=env.action_space, eps_training=0.1)
    return DQN(policy=policy, optim=AdamOptimizerFactory(lr=0.01), target_update_freq=10)


@pytest.mark.parametrize("name", IDS)
def test_first_lines(name):
    env = gym.make(name)
    algorithm = dqn(env, env.observation_space.shape)
    collector = Collector(algorithm, DummyVectorEnv([lambda: gym.make(name)] * 2), VectorReplayBuffer(100, 2))
    collector.reset()
    assert collector.collect(n_step=20).n_collected_steps >= 20


def masked():
    return gym.make(MASKED, mask_names="tianshou", reward_scale=1 / 45)


@pytest.mark.parametrize("kind", [DummyVectorEnv, SubprocVectorEnv])
def test_its_dqn_learns_with_masks_and_is_measured(kind):
    np.random.seed(0)  # noqa: NPY002 (it draws from these)
    env, envs = masked(), kind([masked] * 4)
    algorithm, buffer = dqn(env, env.observation_space["obs"].shape), VectorReplayBuffer(2000, 4)
    collector = Collector(algorithm, envs, buffer, exploration_noise=True)
    collector.reset()

    def best(shown, masks):
        with torch.no_grad():
            return algorithm.policy(Batch(obs=Batch(shown), info=Batch())).act

    meter = stb_gym.RegretMeter(env)
    before = meter(best)
    options = {"training_collector": collector, "collection_step_num_env_steps": 20, "batch_size": 32}
    quiet = {"verbose": False, "show_progress": False}
    algorithm.run_training(OffPolicyTrainerParams(max_epochs=1, epoch_num_steps=400, **options, **quiet))
    envs.close()
    assert buffer.rew.min() > -1  # an illegal action would have lost all 45 points
    assert before.illegal_mass == meter(best).illegal_mass == 0
    assert meter(best).regret != before.regret
