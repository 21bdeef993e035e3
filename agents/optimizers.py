"""Muon for the matrices of hidden layers and Adam for all other weights, as one optimizer.

Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024; Kingma and Ba, "Adam", 2015.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from agents.networks import Perceptron
from agents.snapshots import check_like, named
from agents.snapshots import part as part_of


class Optimizer:
    """Changes the weights of perceptrons.

    Args:
        networks: whose weights they are.
        max_gradient: the greatest norm of a gradient over all weights; longer ones are shortened to it.
    """

    def __init__(self, *networks: Perceptron, max_gradient: float):
        self._max_gradient = max_gradient
        self._weights = [weights for network in networks for weights in network.parameters()]
        hidden = {matrix for network in networks for matrix in network.hidden_matrices()}
        muon = torch.optim.Muon(  # Steps as long as Adam's, so that one learning rate does for both.
            [each for each in self._weights if each in hidden], weight_decay=0.0, adjust_lr_fn="match_rms_adamw"
        )
        adam = torch.optim.Adam([each for each in self._weights if each not in hidden], eps=1e-5, fused=True)
        self._parts: dict[str, torch.optim.Optimizer] = {"muon": muon, "adam": adam}

    def step(self, loss: torch.Tensor, learning_rate: float) -> None:
        """Make a loss smaller."""
        for part in self._parts.values():
            part.param_groups[0]["lr"] = learning_rate
            part.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self._weights, self._max_gradient)
        for part in self._parts.values():
            part.step()

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """What it remembers of gradients, as arrays by name."""
        parts = [named(name, remembered(part)) for name, part in self._parts.items()]
        return {name: array for arrays in parts for name, array in arrays.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Remember what a snapshot tells.

        Raises:
            ValueError: if it is of other weights.
        """
        for name, part in self._parts.items():
            remember(part, part_of(arrays, name))


def remembered(optimizer: torch.optim.Optimizer) -> dict[str, NDArray[Any]]:
    """What an optimizer of torch remembers of gradients, as arrays by the number of the weights and a name."""
    state = optimizer.state_dict()["state"].items()
    return {f"{n}.{name}": torch.as_tensor(entry).numpy(force=True) for n, of in state for name, entry in of.items()}


def remember(optimizer: torch.optim.Optimizer, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Let an optimizer remember what another one did, which may be nothing.

    Raises:
        ValueError: if it is not what this one would remember after a step.
    """
    if not arrays:
        optimizer.state.clear()
        return
    stepped = deepcopy(optimizer)
    for weights in (weights for group in stepped.param_groups for weights in group["params"]):
        weights.grad = torch.zeros_like(weights)
    stepped.step()
    check_like(arrays, remembered(stepped))
    state: dict[int, dict[str, torch.Tensor]] = {}
    for key, array in arrays.items():
        number, _, name = key.partition(".")
        state.setdefault(int(number), {})[name] = torch.tensor(array)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
