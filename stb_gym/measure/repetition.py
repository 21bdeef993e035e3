"""Warn of agents that do not answer the same twice: a measurement would hold for one draw or one batch only."""

from collections.abc import Callable
from typing import Any
from warnings import warn

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import IntArray

ASKED_AGAIN = 64  # positions, or somewhat fewer
DRAWS = (
    "the agent draws its actions: let it return probabilities [B, A], or say deterministic=False to measure one draw"
)
DEPENDS_ON_BATCH = "the agent's answers depend on the other positions in its batch, as those of modules in training do"
ROUNDING = 0.02  # difference of probabilities that half precision may cause
MOST_ROUNDED = 0.1  # share of positions at which another size of a batch may change an answer, by rounding


def warn_of_other_answers(answers: NDArray[Any], ask: Callable[[IntArray], NDArray[Any]]) -> None:
    """Ask an agent twice more at some positions, and warn if it answers otherwise.

    The warning shows the line of the user, who called a method of a meter, whose helper calls this function.

    Args:
        answers: [B] its actions, or [B, A] its probabilities, from one batch.
        ask: returns its answers in another batch, of the positions with some indices.
    """
    some = np.arange(0, len(answers), -(-len(answers) // ASKED_AGAIN))
    again = ask(some)
    if _share_of_others(again, ask(some)) > 0:
        warn(DRAWS, stacklevel=4)
    elif _share_of_others(again, answers[some]) > MOST_ROUNDED:
        warn(DEPENDS_ON_BATCH, stacklevel=4)


def _share_of_others(answers: NDArray[Any], others: NDArray[Any]) -> float:
    """Return the share of positions at which actions differ, or probabilities by more than a rounding error."""
    differ = abs(answers - others).reshape(len(answers), -1).max(axis=1) > ROUNDING
    return float(differ.mean())
