"""PufferLib 1.0.1: emulated and vectorised environments, and its default policy."""

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


def test_environments_begin_in_other_processes():
    envs = make(creator, num_envs=2, num_workers=2, backend=Multiprocessing)
    assert envs.reset(seed=1)[0].shape == (2, 20)
    envs.close()


def test_its_policy_is_measured():
    envs = make(creator, num_envs=2, backend=Serial)
    policy = Policy(Default(envs.driver_env))

    @torch.no_grad()
    def best(shown, masks):
        scores, _ = policy.policy(torch.as_tensor(shown))
        return torch.where(torch.as_tensor(masks), scores, -torch.inf).argmax(dim=1)

    evaluation = stb_gym.RegretMeter(gym.make(BOX))(best)
    assert evaluation.illegal_mass == 0
    assert evaluation.regret > 0
    envs.close()
