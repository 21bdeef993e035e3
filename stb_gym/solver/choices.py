"""What there is to choose from at one node, and what each move loses there, for those who advise or explain."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Move, legal_moves
from stb_gym.large.values import BoardValues
from stb_gym.solver.values import Values


class Choice(NamedTuple):
    """The moves at a node, under perfect play afterwards.

    Attributes:
        moves: [A] the legal moves, lowest action first; none where the turn ends.
        after: [A] the expected utility after each.
        loss: [A] the expected utility that each loses against the best one: 0 of all that are as good.
        utility: the expected utility of the node: of its best move, or of the turn that ends there.
    """

    moves: list[Move]
    after: list[float]
    loss: list[float]
    utility: float

    @property
    def best(self) -> list[Move]:
        """The moves that lose nothing, lowest action first."""
        return [move for move, loss in zip(self.moves, self.loss, strict=True) if loss == 0]


def choice_at(known: Values | BoardValues, held: int, dice: int, roll: NDArray[np.uint8]) -> Choice:
    """What there is to choose from after a throw.

    Args:
        known: the values of perfect play.
        held: what the player holds.
        dice: how many dice were thrown.
        roll: [k] what the rules see of the throw.

    Raises:
        ValueError: if there is no such state.

    Example:
        >>> import numpy as np, stb_gym
        >>> best = stb_gym.solve(stb_gym.ShutTheBox())
        >>> choice = choice_at(best, 0b10011001, 2, np.array([9], np.uint8))
        >>> [best.game.moves[move.action] for move in choice.moves], [round(loss, 4) for loss in choice.loss]
        ([(1, 8), (4, 5)], [0.1389, 0.0])
    """
    moves = legal_moves(known.game, held, dice, roll)
    if not moves:
        return Choice([], [], [], known.worth(held, 0))
    left, thrown = np.array([(move.held, move.dice) for move in moves]).T
    after = known.worths(left, thrown).astype(float)
    best = after.max(keepdims=True)
    loss = np.where(known.tied(after, best), 0, best - after)
    return Choice(moves, after.tolist(), loss.tolist(), best.item())
