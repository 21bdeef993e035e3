"""Muon for the matrices of hidden layers and Adam for all other weights, as one optimizer.

Jordan et al., "Muon: an optimizer for hidden layers in neural networks", 2024; Kingma and Ba, "Adam", 2015.
"""

from collections.abc import Mapping
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from agents.networks import Perceptron


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
        return {
            f"{name}.{number}.{entry}": array.numpy(force=True)
            for name, part in self._parts.items()
            for number, entries in part.state_dict()["state"].items()
            for entry, array in entries.items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Remember what a snapshot tells."""
        for name, part in self._parts.items():
            state: dict[int, dict[str, torch.Tensor]] = {}
            for key, array in arrays.items():
                of, number, entry = key.split(".")
                if of == name:
                    state.setdefault(int(number), {})[entry] = torch.tensor(array)
            part.load_state_dict({**part.state_dict(), "state": state})
