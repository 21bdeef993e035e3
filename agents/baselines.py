"""Policies that need no learning and that learners are compared with."""

from stb_gym.games import Game
from stb_gym.solver import Goal, Policy, compile_game, expected, objective_of


def greedy_step(game: Game, objective: Goal = "score") -> Policy:
    """Return the policy that is greedy on the exact action values of uniformly random play.

    It is one step of policy iteration from random play, and what `agents.tabular.MonteCarlo` approaches.

    Args:
        game: the rules.
        objective: what a turn is played for, see `stb_gym.solve`.

    Returns:
        [S] the action at every state, the lowest of equally good ones; -1 at states without a legal action.

    Raises:
        ValueError: if the game is too large for tables, or the objective is unknown.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> round(stb_gym.evaluate(game, greedy_step(game)).regret, 7)
        0.0069906
    """
    tables = compile_game(game)
    utility = objective_of(game, objective).utilities(tables.final_score).astype(float)
    afterstate_values, _ = expected(tables, tables.uniform, utility)
    return tables.greedy(tables.after_pairs(afterstate_values))
