"""Test checks of formulas: right estimators pass in every style, wrong ones fail and are named."""

import numpy as np
import pytest
import torch
from stable_baselines3.common.buffers import RolloutBuffer
import gymnasium as gym

from stb_gym import check
from stb_gym.check import faults


def loop(batch):
    """Return generalised advantages as most loops compute them, from the last step to the first."""
    advantage, last = np.zeros(batch.reward.shape), 0.0
    next_value = np.where(batch.terminated, 0, batch.next_value)
    for t in reversed(range(len(advantage))):
        error = batch.reward[t] + batch.discount * next_value[t] - batch.value[t]
        last = error + batch.discount * batch.lam * ~batch.done[t] * last
        advantage[t] = last
    return advantage


def in_torch(batch):
    """Return generalised advantages in single precision."""
    batch = batch.map(torch.as_tensor)
    advantage = torch.zeros(batch.reward.shape)
    last = torch.zeros(())
    for t in reversed(range(len(advantage))):
        goes_on = 1 - batch.done[t].float()
        next_value = batch.next_value[t].float() * (1 - batch.terminated[t].float())
        error = batch.reward[t].float() + batch.discount * next_value - batch.value[t].float()
        last = error + batch.discount * batch.lam * goes_on * last
        advantage[t] = last
    return advantage


def in_buffer(batch):
    """Return the advantages of the buffer of stable-baselines3, whose collector adds the value after a truncation."""
    length, width = batch.reward.shape
    box, actions = gym.spaces.Box(0, 1, (1,)), gym.spaces.Discrete(2)
    buffer = RolloutBuffer(length, box, actions, gae_lambda=batch.lam, gamma=batch.discount, n_envs=width)
    begins = np.ones(width)
    for t in range(length):
        reward = batch.reward[t] + batch.discount * batch.truncated[t] * batch.next_value[t]
        value = torch.as_tensor(batch.value[t]).float()
        buffer.add(np.zeros((width, 1)), np.zeros((width, 1)), reward, begins, value, torch.zeros(width))
        begins = batch.done[t]
    buffer.compute_returns_and_advantage(torch.as_tensor(batch.last_value).float(), begins)
    return buffer.advantages


@pytest.mark.parametrize(("function", "layout"), [(loop, "both"), (in_torch, "both"), (in_buffer, "TB")])
def test_right_advantages_pass_in_every_style(function, layout):
    assert check.advantages(function, layout=layout)


def test_streams_may_come_across():
    assert check.advantages(lambda batch: loop(batch.map(np.transpose)).T, layout="BT", lam=[0.9], discount=[1.0])


RIGHT = {
    "lambda-return": lambda batch: faults.gae(batch) + batch.value,
    "n-step": faults.n_step,
    "v-trace": lambda batch: faults.v_trace(batch, faults.clipped(batch), faults.clipped(batch)) + batch.value,
}


@pytest.mark.parametrize("kind", RIGHT)
def test_other_estimators_pass(kind):
    assert check.advantages(RIGHT[kind], kind=kind, layout="TB")
