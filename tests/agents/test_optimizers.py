"""The optimizer: steps in every weight, short gradients, and the same steps after a snapshot."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.networks import Perceptron
from agents.optimizers import Optimizer

SPACE = gym.spaces.Box(-1, 1, (3,))
ROWS = torch.linspace(-1, 1, 12).reshape(4, 3)


def network(seed=0):
    return Perceptron(SPACE, 8, 2, 1.0, torch.Generator().manual_seed(seed))


def weights(of):
    return np.concatenate([each.detach().numpy().ravel() for each in of.parameters()])


def test_hidden_matrices_move_by_orthogonal_steps_and_all_other_weights_by_adam():
    one = network()
    before = {name: each.detach().clone() for name, each in one.named_parameters()}
    Optimizer(one, max_gradient=1.0).step((one(ROWS) ** 3).sum(), 0.01)
    moved = {name: (each.detach() - before[name]) for name, each in one.named_parameters()}
    hidden = [name for name, each in one.named_parameters() for matrix in one.hidden_matrices() if each is matrix]
    assert hidden == ["layers.0.weight", "layers.3.weight"]
    for name, move in moved.items():
        assert move.abs().max() > 0, name
        if name not in hidden:
            assert move.abs().max().item() < 0.0101, name  # Adam's first step is the learning rate or less
    matrix, _ = one.hidden_matrices()
    step, gradient = (torch.linalg.svdvals(each) for each in (moved["layers.0.weight"], matrix.grad))
    assert step.max() / step.min() < 4 < gradient.max() / gradient.min()


def test_long_gradients_are_shortened():
    one, other = network(), network()
    Optimizer(one, max_gradient=1e-3).step(1e6 * one(ROWS).sum(), 0.01)
    Optimizer(other, max_gradient=1e-3).step(1e3 * other(ROWS).sum(), 0.01)
    norms = [torch.cat([each.grad.ravel() for each in of.parameters()]).norm() for of in (one, other)]
    assert [float(norm) for norm in norms] == pytest.approx([1e-3, 1e-3])


def test_one_that_is_restored_makes_the_same_steps():
    one = network()
    first = Optimizer(one, max_gradient=1.0)
    first.step(one(ROWS).square().sum(), 0.01)
    other = network()
    other.load_state_dict(one.state_dict())
    second = Optimizer(other, max_gradient=1.0)
    second.restore({name: array.copy() for name, array in first.snapshot().items()})
    for of, optimizer in ((one, first), (other, second)):
        for _ in range(3):
            optimizer.step(of(ROWS).square().sum(), 0.01)
    assert (weights(one) == weights(other)).all()


def test_one_that_made_steps_forgets_them_with_a_snapshot_of_none():
    one, other = network(), network()
    first, second = Optimizer(one, max_gradient=1.0), Optimizer(other, max_gradient=1.0)
    begun, before = first.snapshot(), [each.detach().clone() for each in one.parameters()]
    for _ in range(2):
        for each, was in zip(one.parameters(), before, strict=True):
            each.data.copy_(was)
        first.restore(begun)
        first.step(one(ROWS).square().sum(), 0.01)
    second.step(other(ROWS).square().sum(), 0.01)
    assert (weights(one) == weights(other)).all()
