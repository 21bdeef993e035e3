"""CleanRL's first lines, in words of our own, as it is no package: environments, then networks fed as its files do."""

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


def test_policy_gradients_learn():
    """One step of its PPO after another, without clipping: the regret falls."""
    envs = gym.vector.SyncVectorEnv([make_env(BOX, tiles=4, reward_scale=0.1)] * 8)
    meter, actor = stb_gym.RegretMeter(envs), network(envs, envs.single_action_space.n)
    optimizer = torch.optim.Adam(actor.parameters(), 0.01)

    @torch.no_grad()
    def regret():
        return meter(lambda seen: actor(torch.Tensor(seen)).argmax(dim=1)).regret

    before = regret()
    observation, _ = envs.reset(seed=1)
    for _ in range(60):
        terms = []
        for _ in range(16):
            chances = torch.distributions.Categorical(logits=actor(torch.Tensor(observation)))
            action = chances.sample()
            observation, reward, _, _, _ = envs.step(action.numpy())
            terms.append(chances.log_prob(action) * torch.as_tensor(reward + 0.5))
        optimizer.zero_grad()
        (-torch.stack(terms).mean()).backward()
        optimizer.step()
    assert regret() < before / 2


@pytest.mark.parametrize("vectorised", [True, False])
def test_its_dqn_feeds_the_network_with_what_the_buffer_holds(vectorised):
    """Without a conversion: the buffer is of the type of the space, which must therefore be one of floats."""
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
