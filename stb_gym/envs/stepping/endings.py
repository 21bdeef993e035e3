"""What boards are worth at the end of a turn."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.games import BoardSums, Game, IntArray, board_scores
from stb_gym.solver import Objective


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
        self.scores: Callable[[Any], IntArray] = game.final_score
        if game.boards().additive:
            self.scores = BoardSums(game.final_score(1 << np.arange(game.start()[0].bit_length()))).of
        self._all = board_scores(game.boards(), game.final_score)
        self._rewards = objective.utilities(self._all) * reward_scale
        self.worst = int(self._all[0 if game.more_is_better else -1]), objective.forfeit(self._all) * reward_scale

    def rewards(self, scores: IntArray) -> NDArray[np.float64]:
        """[B] the rewards of final scores [B]."""
        return self._rewards.take(self._all.searchsorted(scores))
