"""A pocket card: a rule of thumb and the exceptions to it that are dearest to forget."""

from typing import NamedTuple

from stb_gym.exact.measured import Mistake
from stb_gym.exact.solution import Solution
from stb_gym.exact.tables import Policy


class PocketCard(NamedTuple):
    """A policy with exceptions.

    Attributes:
        exceptions: what is done otherwise, dearest first.
        regrets: the regret with none of them, the first, the first two ... all.
        policy: [N] the actions with all of them.
    """

    exceptions: list[Mistake]
    regrets: list[float]
    policy: Policy


def pocket_card(optimum: Solution, policy: Policy, exceptions: int) -> PocketCard:
    """Take the dearest mistake of a policy back, then that of what is left, and so on.

    Args:
        optimum: perfect play, which says what is a mistake.
        policy: [N] actions.
        exceptions: how many mistakes to take back; there are fewer exceptions if it makes fewer mistakes.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> card = pocket_card(stb_gym.solve(game), stb_gym.strategy(game, "fewest-then-biggest"), 10)
        >>> [round(card.regrets[count], 4) for count in (0, 5, 10)]
        [0.1656, 0.1235, 0.1021]
    """
    found: list[Mistake] = []
    corrected = policy.copy()
    evaluation = optimum.evaluate(corrected)
    regrets = [evaluation.regret]
    while len(found) < exceptions and (dearest := evaluation.mistakes(1)):
        corrected[dearest[0].node] = dearest[0].best
        evaluation = optimum.evaluate(corrected)
        found += dearest
        regrets.append(evaluation.regret)
    return PocketCard(found, regrets, corrected)
