"""List the costliest mistakes of a policy, and correct them one by one."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.checks import check_integer
from stb_gym.solver import Measured, Mistake, Solution
from stb_gym.words import words_of


class PocketCard(NamedTuple):
    """A policy with exceptions.

    Attributes:
        exceptions: the mistakes that are corrected, costliest first.
        regrets: the regret before any correction and after each, in the objective's unit.
        policy: [S] the actions after all corrections.
    """

    exceptions: list[Mistake]
    regrets: list[float]
    policy: NDArray[Any]

    def __repr__(self) -> str:
        return f"<{len(self.exceptions)} exceptions: regret {self.regrets[0]:.4g}, with them {self.regrets[-1]:.4g}>"


def pocket_card(optimum: Solution, policy: NDArray[Any], exceptions: int) -> PocketCard:
    """Correct the costliest mistake of a policy, then the costliest one that is left, and so on.

    Args:
        optimum: perfect play, such as `stb_gym.solve(game)`.
        policy: [S] actions.
        exceptions: how many mistakes to correct; fewer if the policy makes fewer.

    Returns:
        The corrected mistakes, the regret after each correction, and the corrected policy.

    Raises:
        TypeError: if `optimum` is not a solution, or `policy` has other than one dimension.
        ValueError: if the policy is not one of the game, or `exceptions` is negative.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> policy = stb_gym.strategy(game, "fewest-then-biggest")
        >>> card = stb_gym.measure.pocket_card(stb_gym.solve(game), policy, 10)
        >>> [round(card.regrets[count], 4) for count in (0, 5, 10)]
        [0.1656, 0.1235, 0.1021]
    """
    check_integer("exceptions", exceptions, 0, 2**31)
    corrected = np.array(policy)
    if not isinstance(optimum, Solution) or corrected.ndim != 1:
        raise TypeError("a pocket card is made of a solution, such as stb_gym.solve(game), and an array of actions [S]")
    found: list[Mistake] = []
    evaluation = optimum.evaluate(corrected)
    regrets = [evaluation.regret]
    while len(found) < exceptions and (costliest := evaluation.mistakes(1)):
        corrected[costliest[0].state] = costliest[0].best
        evaluation = optimum.evaluate(corrected)
        found += costliest
        regrets.append(evaluation.regret)
    return PocketCard(found, regrets, corrected)


def mistakes_in_json(evaluation: Measured, limit: int) -> list[dict[str, Any]]:
    """Return the costliest mistakes of a policy, ready for JSON: the state, the moves, and the numbers."""
    words = words_of(evaluation.optimum.game)
    return [
        {
            "state": mistake.position,
            "plays": None if mistake.plays is None else words.move(mistake.plays),
            "best": words.move(mistake.best),
            "visits": mistake.visits,
            "loss": mistake.loss,
            "cost": mistake.cost,
        }
        for mistake in evaluation.mistakes(limit)
    ]
