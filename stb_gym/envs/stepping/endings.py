"""What boards are worth at the end of a turn, and sums over the things on a board."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact import Objective
from stb_gym.games import Game, IntArray

LOW_BITS = 12


class BoardSums:
    """Sums over the things on boards, each read from two tables: of the lowest bits, and of the others.

    Args:
        things: [N, ...] what is added for every thing, lowest bit first.
    """

    def __init__(self, things: NDArray[Any]):
        self._low, self._high = _of_subsets(things[:LOW_BITS]), _of_subsets(things[LOW_BITS:])

    def of(self, boards: Any) -> NDArray[Any]:
        """[*B, ...] the sums of boards [*B]."""
        sums: NDArray[Any] = self._low.take(boards & (1 << LOW_BITS) - 1, axis=0)
        return sums + self._high.take(boards >> LOW_BITS, axis=0)


class Endings:
    """Scores and rewards of turns that end at boards.

    Args:
        game: the rules.
        objective: what is rewarded.
        reward_scale: what rewards are multiplied by.

    Attributes:
        worst: the score and the reward of the forfeit, the worst there are.
    """

    def __init__(self, game: Game, objective: Objective, reward_scale: float):
        start = game.start()[0]
        self.scores: Callable[[Any], IntArray] = game.final_score
        if game.boards().additive:
            points = game.final_score(1 << np.arange(start.bit_length()))
            self.scores = BoardSums(points).of
            self._all = np.zeros(1, points.dtype)
            for more in points:
                self._all = np.union1d(self._all, self._all + more)
        else:
            boards = np.arange(start + 1)
            self._all = np.unique(game.final_score(boards[boards & ~start == 0]))
        self._rewards = objective.utilities(self._all) * reward_scale
        self.worst = int(self._all[0 if game.more_is_better else -1]), objective.forfeit(self._all) * reward_scale

    @property
    def worth(self) -> tuple[Any, ...]:
        """The rewards of all final scores there are, the lowest first."""
        return tuple(self._rewards.tolist())

    def rewards(self, scores: IntArray) -> NDArray[np.float64]:
        """[B] the rewards of final scores [B]."""
        return self._rewards.take(self._all.searchsorted(scores))


def _of_subsets(rows: NDArray[Any]) -> NDArray[Any]:
    """[2**N, ...] the sums of the subsets of rows [N, ...], in the order of the numbers of which they are the bits."""
    sums = np.zeros((1, *rows.shape[1:]), rows.dtype)
    for row in rows:
        sums = np.concatenate((sums, sums + row))
    return sums
