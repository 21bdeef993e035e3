"""What choices lose against perfect play, worked out at the positions where they are made."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.envs import Stepper, stepper_of
from stb_gym.solver import BoardValues, Solution, evaluate_against, random_value, strategy

IntArray = NDArray[np.integer[Any]]
NEARLY_NOTHING = float(np.finfo(np.float64).tiny)


class Choices(NamedTuple):
    """Choices at B nodes.

    Attributes:
        utility: [B] what perfect play is worth there.
        plays: [B] the action that is taken there most often, -1 for an illegal one.
        best: [B] the optimal action of lowest index.
        loss: [B] what the choice loses, if play were perfect afterwards.
        optimal: [B] the probability with which it is optimal.
    """

    utility: NDArray[np.float64]
    plays: IntArray
    best: IntArray
    loss: NDArray[np.float64]
    optimal: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Losses:
    """What choices lose in a game.

    Attributes:
        stepper: the game that is stepped through.
        optimum: what every state is worth under perfect play.
    """

    stepper: Stepper
    optimum: Solution | BoardValues

    @cached_property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play."""
        if isinstance(self.optimum, BoardValues):
            return random_value(self.optimum.game, self.optimum.objective)
        return evaluate_against(self.optimum, strategy(self.optimum.game, "random")).value

    def of(self, node: IntArray, answer: NDArray[np.number], chosen: IntArray) -> Choices:
        """What is lost at nodes [B] that have a legal action.

        Args:
            node: the nodes.
            answer: an agent's actions [B], or probabilities [B, A].
            chosen: [B] the actions that are played. A legal one counts with what all legal ones lose on average, by
                their probabilities, an illegal one with all that it loses.
        """
        moves = self.stepper.legal_moves(node)
        first, row, action = moves.first, moves.place, moves.action
        weight = np.asarray(answer[row] == action if answer.ndim == 1 else answer[row, action], np.float64)
        weight /= np.maximum(np.add.reduceat(weight, first), NEARLY_NOTHING)[row]
        worth = self.optimum.worths(*self.stepper.position(self.stepper.after(node.take(moves.place), moves.action)))
        utility = np.maximum.reduceat(worth, first)
        optimal = self.optimum.tied(worth, utility[row])

        def lowest(marked: NDArray[np.bool_]) -> IntArray:
            """[B] the lowest of the actions of each node that are marked [E]."""
            return action[np.minimum.reduceat(np.where(marked, np.arange(len(row)), len(row) - 1), first)]

        illegal = ~np.logical_or.reduceat(action == chosen[row], first)
        lost = np.add.reduceat(weight * (utility[row] - worth), first)
        return Choices(
            utility=utility,
            plays=np.where(illegal, -1, lowest(weight == np.maximum.reduceat(weight, first)[row])),
            best=lowest(optimal),
            loss=np.where(illegal, utility - self.optimum.objective.forfeit(self.stepper.scores[1:-1]), lost),
            optimal=np.where(illegal, 0, np.add.reduceat(weight * optimal, first)),
        )


def losses_of(optimum: Solution | BoardValues) -> Losses:
    """What choices lose in the game of an optimum, against it."""
    return Losses(stepper_of(optimum.game), optimum)
