"""Perfect play by backward induction, the ground truth that every agent is measured against."""

from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from stb_gym.large import BoardEvaluation, evaluate_boards, solve_boards
from stb_gym.solver.compiling import compile_game, fits
from stb_gym.solver.evaluation import Evaluation, evaluate_against
from stb_gym.solver.objectives import Goal
from stb_gym.solver.preferences import BoardPolicy
from stb_gym.solver.tables import Policy
from stb_gym.solver.task import task_of
from stb_gym.solver.values import Values, optimise


class Solution(Values):
    """The best play of a game; see `Values` for what is known of it."""

    def evaluate(self, policy: Policy | BoardPolicy, illegal: str = "raise") -> Evaluation:
        """Measure a policy against this solution exactly; nothing is solved again.

        Args:
            policy: [N] actions or [N, A] probabilities, or a `Preference`.
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


def solve(what: Any, objective: Goal | None = None, *, worst: bool = False, exact: bool = False) -> Solution:
    """Solve a turn of a game.

    Args:
        what: the rules; or an environment or vector environment of this package, however wrapped, also in those of
            Gymnasium and stable-baselines3 that run several, which says what its rules are and what it rewards.
        objective: what is wanted, by name, as an `Objective` or as a function of final scores, see `objective_of`; by
            default what the environment says, and of a game "score".
        worst: solve for the opposite instead.
        exact: compute in fractions.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, or the game does not fit into arrays.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.solve(stb_gym.ShutTheBox(tiles=9)).value, 9)
        11.157508444
        >>> stb_gym.solve(stb_gym.Threes(dice=3), exact=True).value
        Fraction(2261, 432)
    """
    game, goal, _ = task_of(what, objective)
    goal, tables = goal.opposite if worst else goal, compile_game(game)
    utility: NDArray[Any] = goal.utilities(tables.final_score)
    utility = np.array([Fraction(u) for u in utility.tolist()], object) if exact else utility.astype(float)
    return Solution(tables, goal, *optimise(tables, utility))


@overload
def evaluate(what: Any, policy: Policy, objective: Goal | None = None, illegal: str | None = None) -> Evaluation: ...
@overload
def evaluate(
    what: Any, policy: BoardPolicy, objective: Goal | None = None, illegal: str | None = None
) -> Evaluation | BoardEvaluation: ...
def evaluate(
    what: Any, policy: Policy | BoardPolicy, objective: Goal | None = None, illegal: str | None = None
) -> Evaluation | BoardEvaluation:
    """Solve a game and measure a policy against perfect play exactly: see `Solution.evaluate`, `evaluate_boards`.

    Args:
        what: the rules, or an environment, see `solve`.
        policy: [N] actions or [N, A] probabilities; or a `Preference` for states that moves lead to, or `AnyMove`,
            which can be measured on boxes of any size.
        objective: what is wanted, see `solve`.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn; by default what the
            environment does, and of a game "raise".

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, and as `Solution.evaluate` and `evaluate_boards` do.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> round(stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).regret, 6)
        0.215747
    """
    game, goal, illegal = task_of(what, objective, illegal)
    if isinstance(policy, BoardPolicy) and not fits(game):
        return evaluate_boards(solve_boards(game, goal), policy)
    return solve(game, goal).evaluate(policy, illegal)
