"""Multilayer perceptrons with layer normalisation, and what they see of an observation.

Without normalisation more gradient steps of the same size do harm; with it they are what brings a learner to the
optimum.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray

from agents.products import Products

HIGHEST_IN_UNARY = 255


def check_device(device: str) -> None:
    """Raise a ValueError if torch has no such device."""
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:  # as torch was built without it, or the machine has none
        raise ValueError(f"there is no device {device!r}: {str(error).splitlines()[0]}") from None


class Perceptron(torch.nn.Module):
    """A network of two hidden layers over observations.

    Whole numbers from 0 to a small h are seen in unary: v becomes h inputs, the first v of them 1 and the rest 0. So
    zeros and ones are seen as they are. Everything else is seen as it is, too.

    Args:
        space: what observations are. Each of them is flattened.
        width: units in each hidden layer.
        outputs: how many numbers it puts out for an observation.
        gain: scale of the weights of the last layer at first.
        generator: random numbers that the weights are drawn from.

    Raises:
        ValueError: if observations are no arrays of numbers.
    """

    _column: torch.Tensor
    _least: torch.Tensor

    def __init__(self, space: gym.Space, width: int, outputs: int, gain: float, generator: torch.Generator):  # type: ignore[type-arg]
        super().__init__()
        if not isinstance(space, gym.spaces.Box):
            raise ValueError(f"observations must be arrays of numbers, a Box, not a {type(space).__name__}")
        counts = np.issubdtype(space.dtype, np.integer) and (space.low == 0).all()
        self.unary = bool(counts and space.high.max(initial=0) <= HIGHEST_IN_UNARY)
        high = space.high.ravel().astype(np.int64) if self.unary else np.ones(space.high.size, np.int64)
        least = np.concatenate([np.arange(1, most + 1) for most in high])
        self.register_buffer("_column", torch.as_tensor(np.repeat(np.arange(len(high)), high)), persistent=False)
        self.register_buffer("_least", torch.as_tensor(least), persistent=False)
        layers: list[torch.nn.Module] = []
        for inputs in (len(least), width):
            layers += [linear(inputs, width, 2**0.5, generator), torch.nn.LayerNorm(width), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers, linear(width, outputs, gain, generator))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """[B, outputs] for observations [B, ...]."""
        output: torch.Tensor = self.layers(self._seen(observations))
        return output

    def first_output(self, observations: torch.Tensor) -> torch.Tensor:
        """[B] the first of the outputs alone, for observations [B, ...]."""
        weight, bias = self.layers[-1].parameters()
        return torch.nn.functional.linear(self.layers[:-1](self._seen(observations)), weight[:1], bias[:1])[:, 0]

    def outputs_at(self, observations: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        """[P] some of the [B, outputs] for observations [B, ...], each computed alone: those at rising places [P]."""
        hidden, (weight, bias) = self.layers[:-1](self._seen(observations)), self.layers[-1].parameters()
        found: torch.Tensor = Products.apply(hidden, weight, place)  # type: ignore[no-untyped-call]
        return found + bias[place % len(weight)]

    def _seen(self, observations: torch.Tensor) -> torch.Tensor:
        """[B, inputs] what the first layer is given."""
        flat = observations.flatten(1)
        return (flat[:, self._column] >= self._least if self.unary else flat).float()

    def hidden_matrices(self) -> list[torch.Tensor]:
        """The weights of the hidden layers, without their biases."""
        *hidden, _ = (layer for layer in self.layers if isinstance(layer, torch.nn.Linear))
        return [layer.weight for layer in hidden]


def linear(inputs: int, outputs: int, gain: float, generator: torch.Generator) -> torch.nn.Linear:
    """A linear layer with orthogonal weights, as PPO's usual ones, and no bias at first."""
    layer = torch.nn.Linear(inputs, outputs)
    torch.nn.init.orthogonal_(layer.weight, gain, generator)
    torch.nn.init.zeros_(layer.bias)
    return layer


@torch.no_grad()
def average(averaged: torch.nn.Module, learned: torch.nn.Module, share: float) -> None:
    """Move averaged weights by a share of the way to those that are learned."""
    for slow, fast in zip(averaged.parameters(), learned.parameters(), strict=True):
        slow.lerp_(fast, share)


def weights_of(network: torch.nn.Module) -> dict[str, NDArray[Any]]:
    """The weights of a network as arrays, by name."""
    return {name: weights.numpy(force=True) for name, weights in network.state_dict().items()}


def load(network: torch.nn.Module, weights: Mapping[str, NDArray[Any]]) -> None:
    """Give a network weights that `weights_of` told, which may stand among other arrays.

    Raises:
        KeyError: if one is missing.
        RuntimeError: if one is of another shape.
    """
    network.load_state_dict({name: torch.tensor(weights[name]) for name in network.state_dict()})
