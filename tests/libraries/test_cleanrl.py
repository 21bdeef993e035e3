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
    assert measured(envs, actor).regret > 0


@pytest.mark.parametrize("vectorised", [True, False])
def test_its_dqn_learns_from_buffers_of_floats(vectorised):
    """Its buffer has the dtype of the space and feeds the network without a conversion."""
    options = {"observation_dtype": "float32", "reward_scale": 1 / 45}
    envs = (
        gym.make_vec(BOX, num_envs=4, autoreset_mode="SameStep", **options)
        if vectorised
        else gym.vector.SyncVectorEnv([make_env(BOX, **options)] * 4, autoreset_mode="SameStep")
    )
    values = network(envs, envs.single_action_space.n)
    optimizer = torch.optim.Adam(values.parameters(), 1e-3)
    random, stored = np.random.default_rng(0), []
    observation, _ = envs.reset(seed=1)
    for _ in range(100):
        action = random.integers(envs.single_action_space.n, size=4)
        following, reward, over, _, infos = envs.step(action)
        real = following.copy()
        for game in over.nonzero()[0]:
            real[game] = infos["final_obs"][game]
        stored.append((observation, action, reward.astype(np.float32), over, real))
        observation = following
        batch = [torch.as_tensor(np.asarray(part)) for part in stored[random.integers(len(stored))]]
        assert batch[0].dtype == torch.float32
        with torch.no_grad():
            target = batch[2] + 0.99 * values(batch[4]).max(dim=1).values * ~batch[3]
        loss = nn.functional.mse_loss(values(batch[0]).gather(1, batch[1][:, None])[:, 0], target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert stb_gym.RegretMeter(envs)(values).regret > 0
