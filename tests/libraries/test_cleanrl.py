"""CleanRL, which is no package, in our own words: its environments, and networks fed as its files feed them."""

import gymnasium as gym
import numpy as np
import pytest
import torch
from torch import nn

import stb_gym
from tests.libraries import BOX, IDS, measured


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


@pytest.mark.parametrize("vectorised", [True, False])
def test_its_dqn_learns_from_a_buffer_of_floats(vectorised):
    """The buffer has the dtype of the space and feeds the network without a conversion."""
    options = {"observation_dtype": "float32", "reward_scale": 1 / 45}
    envs = (
        gym.make_vec(BOX, num_envs=4, autoreset_mode="SameStep", **options)
        if vectorised
        else gym.vector.SyncVectorEnv([make_env(BOX, **options)] * 4, autoreset_mode="SameStep")
    )
    values = network(envs, envs.single_action_space.n)
    optimizer = torch.optim.Adam(values.parameters(), 1e-3)
    observation, _ = envs.reset(seed=1)
    envs.action_space.seed(1)
    for _ in range(100):
        action = envs.action_space.sample()
        following, reward, over, _, infos = envs.step(action)
        real = following.copy()
        for game in over.nonzero()[0]:
            real[game] = infos["final_obs"][game]
        with torch.no_grad():
            best = values(torch.as_tensor(real)).max(dim=1).values
            target = torch.Tensor(reward) + 0.99 * best * ~torch.as_tensor(over)
        played = values(torch.as_tensor(observation)).gather(1, torch.as_tensor(action)[:, None])[:, 0]
        optimizer.zero_grad()
        nn.functional.mse_loss(played, target).backward()
        optimizer.step()
        observation = following
    assert stb_gym.RegretMeter(envs)(values, masked=True).regret > 0
