"""CleanRL, which is no package, in our own words: its environments, and networks fed as its files feed them."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

from tests.libraries import IDS, measured


def make_env(name, **options):
    return lambda: gym.wrappers.RecordEpisodeStatistics(gym.make(name, **options))


def network(envs, outputs):
    inputs = int(np.array(envs.single_observation_space.shape).prod())
    return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, outputs))


@pytest.mark.parametrize("name", IDS)
def test_first_lines(name):
    envs = gym.vector.SyncVectorEnv([make_env(name)] * 4)
    assert isinstance(envs.single_action_space, gym.spaces.Discrete)
    observation, _ = envs.reset(seed=1)
    actor, returns = network(envs, envs.single_action_space.n), []
    for _ in range(40):
        logits = actor(torch.Tensor(observation))
        observation, _, _, _, infos = envs.step(torch.distributions.Categorical(logits=logits).sample().numpy())
        if "episode" in infos:
            returns += infos["episode"]["r"][infos["_episode"]].tolist()
    assert len(returns) > 5
    assert measured(envs, actor, masked=False).regret > 0
