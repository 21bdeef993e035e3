"""Policies that look at what a move leads to, which need no array over nodes: for games of any size."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import IntArray
from stb_gym.solver.tables import Policy, TurnTables


@dataclass(frozen=True)
class Preference:
    """Plays the legal move that leads to the state it wants most; the lowest action among equals.

    Args:
        wanted: given what is held [B] (boards as bit masks, say) and the dice of the next throw [B], 0 where the turn
            ends, how much each of these states is wanted: [B] numbers, such as the values of an afterstate network.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> high_tiles_first = stb_gym.Preference(lambda boards, dice: -boards)
        >>> round(stb_gym.evaluate(game, high_tiles_first).regret, 6)
        0.215747
        >>> stb_gym.evaluate(game, stb_gym.Preference(stb_gym.solve(game).worths)).regret
        0.0
    """

    wanted: Callable[[IntArray, IntArray], NDArray[Any]]

    def of(self, held: IntArray, dice: IntArray) -> NDArray[Any]:
        """[B] how much states are wanted, checked.

        Raises:
            ValueError: unless there is a number for each.
        """
        wanted = np.asarray(self.wanted(held, dice))
        if wanted.shape != held.shape or wanted.dtype.kind not in "iufb" or not np.isfinite(wanted).all():
            raise ValueError(
                f"a preference must give a finite number for each of {held.size} states, not {wanted.dtype} of shape "
                f"{wanted.shape}"
            )
        return wanted


@dataclass(frozen=True)
class AnyMove:
    """Plays every legal move with the same probability."""


BoardPolicy = Preference | AnyMove


def policy_of_preference(tables: TurnTables, policy: BoardPolicy) -> Policy:
    """The same policy as an array over nodes."""
    if isinstance(policy, AnyMove):
        probabilities = np.zeros((tables.nodes, tables.actions))
        probabilities[tables.edge_node, tables.edge_action] = tables.uniform
        return probabilities
    return tables.greedy(tables.after_edges(policy.of(tables.held, tables.dice)))
