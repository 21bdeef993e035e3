"""The equilibrium of a round, as it was found."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact import Policy, Standing
from stb_gym.games import check_integer
from stb_gym.rounds.lineups import RoundEvaluation
from stb_gym.rounds.replies import Reply


@dataclass(frozen=True, eq=False)
class RoundSolution:
    """The equilibrium of a round.

    Attributes:
        evaluation: the round in which everyone plays it.
        replies: what a player does while 0, 1, 2 ... others are still to come.
    """

    evaluation: RoundEvaluation
    replies: tuple[Reply, ...]

    @property
    def seats(self) -> NDArray[np.float64]:
        """[players] the expected win of each seat."""
        return self.evaluation.seats

    @property
    def survival(self) -> NDArray[np.float64]:
        """[players, T] the chance that who leads with each final score is not beaten by the last 0, 1 ... players."""
        return self.evaluation.survival

    def policy(self, standing: Standing) -> Policy:
        """[N] what the player does who sees this standing.

        Raises:
            ValueError: if it cannot come about in this round.
        """
        check_integer("players after", standing.after, 0, len(self.replies) - 1)
        return self.replies[standing.after].policy(standing)
