"""Probabilities of legal actions alone: they are the softmax over all outputs, and so are their gradients."""

import gymnasium as gym
import numpy as np
import pytest
import torch

from agents.masked_categorical import FEW, masked_categorical
from agents.networks import Perceptron

ROWS, ACTIONS = 6, 200
SPACE = gym.spaces.Box(-1, 1, (5,), np.float32)


def a_case(legal, bias):
    """A network, its observations, and masks with 1 to `legal` legal actions."""
    generator, random = torch.Generator().manual_seed(3), np.random.default_rng(3)
    network = Perceptron(SPACE, 16, ACTIONS, 9.0, generator)
    torch.nn.init.normal_(network.layers[-1].bias, bias, generator=generator)
    mask = np.zeros((ROWS, ACTIONS), np.bool_)
    for row in mask:
        row[random.choice(ACTIONS, random.integers(1, legal + 1), replace=False)] = True
    return network, torch.randn(ROWS, 5, generator=generator), torch.tensor(mask)


@pytest.mark.parametrize(("legal", "bias"), [(1, 0), (12, 0), (12, 200), (12, -200), (ACTIONS, 0)])
def test_they_are_the_softmax_over_legal_actions_with_its_gradients(legal, bias, monkeypatch):
    network, observation, mask = a_case(legal, bias)
    alone = mask.float().mean() <= FEW
    assert alone == (legal <= 12)
    monkeypatch.setattr(network, "forward" if alone else "outputs_at", None)
    weight = torch.randn(int(mask.sum()), generator=torch.Generator().manual_seed(4))
    found = masked_categorical(network, observation, mask)
    (found.log_probability * weight).sum().backward()
    gradients = [weights.grad.clone() for weights in network.parameters()]
    network.zero_grad()
    output = network.layers(observation)
    expected = torch.stack([row - row[legal].logsumexp(0) for row, legal in zip(output, mask, strict=True)])[mask]
    (expected * weight).sum().backward()
    torch.testing.assert_close(found.log_probability, expected, rtol=1e-4, atol=1e-4)
    for gradient, weights in zip(gradients, network.parameters(), strict=True):
        torch.testing.assert_close(gradient, weights.grad, rtol=1e-3, atol=1e-3)
    assert found.place.tolist() == np.flatnonzero(mask).tolist()
    assert found.row.tolist() == mask.nonzero()[:, 0].tolist()
    chosen = torch.tensor([len(weight) - 1, 0])
    assert (found.log_probability_at(found.place[chosen]) == found.log_probability[chosen]).all()


def test_nothing_is_drawn_with_probabilities_that_are_not_numbers():
    network, observation, mask = a_case(12, 0)
    network.layers[-1].bias.data[int(mask[1].nonzero()[0])] = torch.nan
    with torch.no_grad(), pytest.raises(ValueError, match="learning has diverged: probabilities are not numbers"):
        masked_categorical(network, observation, mask).drawn(np.arange(ROWS), np.full(ROWS, 0.5))
