"""What networks see of observations."""

import gymnasium as gym
import numpy as np
import torch

from agents.networks import Perceptron


def seen(space, rows):
    """What the first layer is given."""
    network = Perceptron(space, 4, 1, 1.0, torch.Generator())
    network.layers = torch.nn.Identity()
    return network(torch.as_tensor(np.array(rows))).tolist()


def test_whole_numbers_are_seen_in_unary_and_others_as_they_are():
    whole = gym.spaces.Box(0, np.array([3, 1]), dtype=np.int64)
    assert seen(whole, [[0, 1], [2, 0], [3, 1]]) == [[0, 0, 0, 1], [1, 1, 0, 0], [1, 1, 1, 1]]
    assert seen(gym.spaces.Box(-1, 1, (2,)), [[0.5, -1.0]]) == [[0.5, -1.0]]
    assert seen(gym.spaces.Box(0, 10**6, (1, 2), np.int32), [[[7, 9]]]) == [[7, 9]]


def test_the_highest_number_that_is_seen_in_unary_is_255():
    assert seen(gym.spaces.Box(0, 255, (1,), np.int64), [[200]]) == [[1] * 200 + [0] * 55]
    assert seen(gym.spaces.Box(0, 256, (1,), np.int64), [[200]]) == [[200]]
