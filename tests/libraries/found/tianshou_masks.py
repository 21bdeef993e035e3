"""Tianshou 2.0.1: without double Q-learning, targets ignore the mask."""

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


shown = Batch(obs=np.zeros(1), mask=np.array([True, False]))
ends = {"terminated": False, "truncated": False}
buffer = ReplayBuffer(1)
buffer.add(Batch(obs=shown, act=0, rew=0.0, **ends, obs_next=shown, info={}))
policy = DiscreteQLearningPolicy(model=Net(), action_space=gym.spaces.Discrete(2))
for double in (True, False):
    dqn = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(),
        target_update_freq=100,
        is_double=double,
    )
    value = dqn._target_q(buffer, np.array([0])).item()
    print(f"is_double={double}: value of the next state {value:.0f}")
