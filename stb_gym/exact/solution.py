"""Perfect play by backward induction, the ground truth that every agent is measured against."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.exact.compiling import compile_game
from stb_gym.exact.evaluation import Evaluation, evaluate_against
from stb_gym.exact.objectives import Goal, objective_of
from stb_gym.exact.tables import Policy
from stb_gym.exact.values import Values, optimise
from stb_gym.games import Game


class Solution(Values):
    """The best (or worst) play of a game; see `Values` for what is known of it."""

    def evaluate(self, policy: Policy, illegal: str = "raise") -> Evaluation:
        """Measure a policy against this solution exactly; nothing is solved again.

        Args:
            policy: [N] actions or [N, A] probabilities.
            illegal: as in the environments: "raise" refuses a policy that takes an illegal action; with "end" such an
                action ends the turn with the worst score there is.

        Raises:
            ValueError: if the policy does not fit the game, takes an illegal action that is refused, or is no
                distribution, naming the first (state, roll) where it is not.

        Example:
            >>> import stb_gym
            >>> best = stb_gym.solve(stb_gym.ShutTheBox())
            >>> best.evaluate(best.policy).regret
            0.0
        """
        return evaluate_against(self, policy, illegal)


def solve(game: Game, objective: Goal = "score", *, worst: bool = False, exact: bool = False) -> Solution:
    """Solve a turn of a game.

    Args:
        game: the rules.
        objective: what is wanted, by name, as an `Objective` or as a function of final scores; see `objective_of`.
        worst: minimise instead.
        exact: compute in fractions.

    Raises:
        ValueError: if there is no such objective, or the game does not fit into arrays.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.solve(stb_gym.ShutTheBox(tiles=9)).value, 9)
        11.157508444
        >>> stb_gym.solve(stb_gym.Threes(dice=3), exact=True).value
        Fraction(2261, 432)
    """
    goal = objective_of(game, objective)
    tables = compile_game(game)
    utility: NDArray[Any] = goal.utilities(tables.final_score)
    utility = np.array([Fraction(u) for u in utility.tolist()], object) if exact else utility.astype(float)
    return Solution(tables, goal, *optimise(tables, utility, worst=worst))


def evaluate(game: Game, policy: Policy, objective: Goal = "score", illegal: str = "raise") -> Evaluation:
    """Solve a game and measure a policy against perfect play exactly: see `Solution.evaluate`.

    Args:
        game: the rules.
        policy: [N] actions or [N, A] probabilities.
        objective: what is wanted, see `solve`.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn.

    Raises:
        ValueError: if there is no such objective, and as `Solution.evaluate` does.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> round(stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).regret, 6)
        0.215747
    """
    return solve(game, objective).evaluate(policy, illegal)
