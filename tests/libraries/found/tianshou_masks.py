"""Tianshou 2.0.1: without double Q-learning, targets take their maximum over illegal actions, too."""

import gymnasium as gym
import numpy as np
import torch
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.data import Batch, ReplayBuffer


class Net(torch.nn.Module):
    """Action values: 1 of the legal action, and 100 of the illegal one."""

    def __init__(self):
        super().__init__()
        self.values = torch.nn.Parameter(torch.tensor([1.0, 100.0]))

    def forward(self, obs, state=None, info=None):
        return self.values.repeat(len(obs), 1), state


for is_double in (True, False):
    policy = DiscreteQLearningPolicy(model=Net(), action_space=gym.spaces.Discrete(2))
    algorithm = DQN(policy=policy, optim=AdamOptimizerFactory(), target_update_freq=100, is_double=is_double)
    shown = Batch(obs=np.zeros(1), mask=np.array([True, False]))
    buffer = ReplayBuffer(1)
    buffer.add(Batch(obs=shown, act=0, rew=0.0, terminated=False, truncated=False, obs_next=shown, info={}))
    print(f"is_double={is_double}: value of the next state {algorithm._target_q(buffer, np.array([0])).item():.0f}")
