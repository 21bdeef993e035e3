"""PufferLib 1.0.1: emulated and vectorised environments, and its default policy, which learns by policy gradients."""

import gymnasium as gym
import pytest
import torch
from pufferlib.emulation import GymnasiumPufferEnv
from pufferlib.frameworks.cleanrl import Policy
from pufferlib.models import Default
from pufferlib.vector import Multiprocessing, Serial, make

import stb_gym
from tests.libraries import BOX, IDS


def creator(name=BOX, **options):
    return GymnasiumPufferEnv(env=gym.make(name, **options))


@pytest.mark.parametrize("name", IDS)
def test_first_lines(name):
    envs = make(creator, env_kwargs={"name": name}, num_envs=4, backend=Serial)
    observation, _ = envs.reset(seed=1)
    assert observation.shape == (4, *gym.make(name).observation_space.shape)
    policy = Policy(Default(envs.driver_env))
    for _ in range(20):
        observation, *_ = envs.step(policy(torch.as_tensor(observation))[0].numpy())
    envs.close()


def test_other_processes():
    envs = make(creator, num_envs=2, num_workers=2, backend=Multiprocessing)
    assert envs.reset(seed=1)[0].shape == (2, 20)
    envs.close()


def test_its_policy_learns_and_is_measured():
    envs = make(creator, env_kwargs={"reward_scale": 1 / 45}, num_envs=8, backend=Serial)
    policy = Policy(Default(envs.driver_env))
    meter = stb_gym.RegretMeter(gym.make(BOX))

    def best(shown, masks):
        with torch.no_grad():
            scores, _ = policy.policy(torch.as_tensor(shown))
        return torch.where(torch.as_tensor(masks), scores, -torch.inf).argmax(dim=1)

    before = meter(best).regret
    optimizer = torch.optim.Adam(policy.parameters(), 0.01)
    observation, _ = envs.reset(seed=1)
    for _ in range(30):
        action, _, _, _ = policy(torch.as_tensor(observation))
        _, chance, entropy, value = policy(torch.as_tensor(observation), action)
        observation, reward, *_ = envs.step(action.numpy())
        optimizer.zero_grad()
        ((value[:, 0] - torch.as_tensor(reward)) * chance - 0.01 * entropy).mean().backward()
        optimizer.step()
    envs.close()
    assert meter(best).regret != before
