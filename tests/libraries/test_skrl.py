"""skrl: `wrap_env` of one environment and of many, and its DQN."""

import gymnasium as gym
import pytest
import torch
from skrl.agents.torch.dqn import DQN, DQN_CFG
from skrl.envs.wrappers.torch import wrap_env
from skrl.memories.torch import RandomMemory
from skrl.models.torch import DeterministicMixin, Model
from skrl.trainers.torch import SequentialTrainer

import stb_gym
from tests.libraries import BOX, IDS, MASKED


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("wrapper", ["auto", "gymnasium"])
def test_first_line(name, wrapper):
    for env, count in ((gym.make(name), 1), (gym.make_vec(name, num_envs=3), 3)):
        wrapped = wrap_env(env, wrapper=wrapper)
        observation, _ = wrapped.reset()
        assert observation.shape == (count, len(env.unwrapped.game.observation_high))
        assert wrapped.num_envs == count
        _, reward, terminated, _, _ = wrapped.step(torch.zeros((count, 1), dtype=torch.int64))
        assert reward.shape == terminated.shape == (count, 1)


class Solution(DeterministicMixin, Model):
    """A Q-network of skrl."""

    def __init__(self, env):
        Model.__init__(self, observation_space=env.observation_space, action_space=env.action_space, device="cpu")
        DeterministicMixin.__init__(self)
        width = self.num_observations
        self.net = torch.nn.Sequential(
            torch.nn.Linear(width, 32), torch.nn.ReLU(), torch.nn.Linear(32, env.action_space.n)
        )

    def compute(self, inputs, role=""):
        return self.net(inputs["observations"]), {}


def test_its_dqn_learns_and_is_measured(tmp_path):
    env = wrap_env(gym.make_vec(BOX, num_envs=4, reward_scale=1 / 45))
    values, memory = Solution(env), RandomMemory(memory_size=500, num_envs=4)
    experiment = {"directory": str(tmp_path), "write_interval": 0, "checkpoint_interval": 0}
    agent = DQN(
        models={"q_network": values, "target_q_network": Solution(env)},
        memory=memory,
        cfg=DQN_CFG(learning_starts=50, learning_rate=0.01, experiment=experiment),
        observation_space=env.observation_space,
        action_space=env.action_space,
        device="cpu",
    )
    meter = stb_gym.RegretMeter(gym.make(BOX))
    before = meter(values.net, masked=True).regret
    how = {"timesteps": 150, "headless": True, "disable_progressbar": True, "close_environment_at_exit": False}
    SequentialTrainer(env=env, agents=agent, cfg=how).train()
    assert meter(values.net, masked=True).regret != before


def test_the_mask_in_the_observation():
    env = wrap_env(gym.make_vec(MASKED, num_envs=3, mask_names="skrl"))
    observation, _ = env.reset()
    assert observation.shape == (3, 62 + 20)
    assert env.observation_space["action_mask"].shape == (62,)
