"""The choice at one state: its moves, and the loss of each."""

from typing import NamedTuple

import numpy as np

from stb_gym.games import Game, Roll
from stb_gym.solver.measured import PerfectPlay


class Move(NamedTuple):
    """A legal move: the action, and the afterstate that it leads to."""

    action: int
    progress: int
    dice: int


class Choice(NamedTuple):
    """The moves at a state, under perfect play afterwards.

    Attributes:
        moves: [A] the legal moves, lowest action first; none where the turn ends.
        after: [A] the expected utility after each.
        loss: [A] the expected utility that each loses against the best one: 0 for all that are as good.
        utility: the expected utility of the state: of its best move, or of the turn that ends there.
    """

    moves: list[Move]
    after: list[float]
    loss: list[float]
    utility: float

    @property
    def best(self) -> list[Move]:
        """The moves that lose nothing, lowest action first."""
        return [move for move, loss in zip(self.moves, self.loss, strict=True) if loss == 0]


def legal_moves(game: Game, progress: int, dice: int, roll: Roll) -> list[Move]:
    """Return the legal moves at a state, lowest action first."""
    moves = game.moves((progress, dice), roll) if dice else {}
    return [Move(action, *after) for action, after in sorted(moves.items())]


def choice_at(best: PerfectPlay, progress: int, dice: int, roll: Roll) -> Choice:
    """Return the choice after a throw.

    Args:
        best: the values of perfect play.
        progress: the progress of an afterstate of the game.
        dice: how many dice were thrown.
        roll: the roll.

    Raises:
        ValueError: if a move leads to no afterstate of the game; the afterstate itself is not checked.

    Example:
        >>> import stb_gym
        >>> from stb_gym.solver import choice_at
        >>> best = stb_gym.solve(stb_gym.ShutTheBox())
        >>> choice = choice_at(best, 0b10011001, 2, (9,))
        >>> [best.game.actions[move.action] for move in choice.moves], [round(loss, 4) for loss in choice.loss]
        ([(1, 8), (4, 5)], [0.1389, 0.0])
    """
    moves = legal_moves(best.game, progress, dice, roll)
    if not moves:
        return Choice([], [], [], float(best.utilities_at(np.array([progress]), 0)[0]))
    left, thrown = np.array([(move.progress, move.dice) for move in moves]).T
    after = best.utilities_at(left, thrown).astype(float)
    greatest = after.max(keepdims=True)
    loss = np.where(best.is_as_good(after, greatest), 0, greatest - after)
    return Choice(moves, after.tolist(), loss.tolist(), greatest.item())
