"""The probabilities of legal actions, computed for these alone: of 757 actions of a large box some twelve are legal."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from agents.networks import Perceptron
from stb_gym.games import IntArray

FEW = 1 / 8  # share of legal actions up to which it is faster to compute the output of each alone


class MaskedCategorical(NamedTuple):
    """A categorical distribution of legal actions in each of U rows: P of them in all, row by row.

    Attributes:
        place: [P] the place of each among the U * A actions of all rows, legal or not: row * A + action.
        row: [P] its row.
        log_probability: [P] the logarithm of its probability.
    """

    place: torch.Tensor
    row: torch.Tensor
    log_probability: torch.Tensor

    def log_probability_at(self, place: torch.Tensor) -> torch.Tensor:
        """[N] the logarithm of the probability of legal actions at some places [N]."""
        return self.log_probability[torch.searchsorted(self.place, place)]

    def drawn(self, rows: IntArray, random: NDArray[Any]) -> IntArray:
        """Actions drawn with their probabilities.

        Args:
            rows: [N] for which rows one is drawn.
            random: [N] numbers from 0 to below 1.

        Returns:
            [N] which of the P actions.

        Raises:
            ValueError: if learning has diverged, so that a probability is not a number.
        """
        upper = np.exp(self.log_probability.numpy(force=True), dtype=np.float64).cumsum()
        if np.isnan(upper[-1]):
            raise ValueError("learning has diverged: probabilities are not numbers")
        row = self.row.numpy(force=True)
        # One search for all rows: the numbers of a row lie between where its first and where the next one's begin.
        begin = np.append(0, upper)[row.searchsorted(np.arange(row[-1] + 2))]
        return upper.searchsorted(begin[rows] + random * np.diff(begin)[rows], side="right")


def masked_categorical(network: Perceptron, observation: torch.Tensor, mask: torch.Tensor) -> MaskedCategorical:
    """The softmax of the outputs of legal actions, which is what a policy with a mask does.

    Args:
        network: has an output for each action.
        observation: [U, ...] the observations.
        mask: [U, A] True where an action is legal, in every row at least once.
    """
    place = mask.flatten().nonzero()[:, 0]
    row = place.div(mask.shape[1], rounding_mode="floor")
    if len(place) > FEW * mask.numel():
        output = network(observation).masked_fill(~mask, -torch.inf)
        return MaskedCategorical(place, row, output.log_softmax(dim=1).masked_select(mask))
    output = network.outputs_at(observation, place)
    greatest = output.new_zeros(len(mask)).scatter_reduce(0, row, output.detach(), "amax", include_self=False)
    above = output - greatest[row]
    total = output.new_zeros(len(mask)).index_add(0, row, above.exp())
    return MaskedCategorical(place, row, above - total.log()[row])
