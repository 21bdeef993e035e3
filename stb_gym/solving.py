"""Solve a turn, evaluate policies and name strategies, by tables or, for boxes too large for them, by boards."""

from stb_gym.games import Game, fits
from stb_gym.large import is_box, large_strategies, large_strategy, solve_large
from stb_gym.solver import (
    Evaluation,
    GameOrEnv,
    Goal,
    PerfectPlay,
    Playable,
    Solution,
    objective_of,
    solve_tables,
    table_strategies,
    table_strategy,
    task_of,
)


def solve(what: GameOrEnv, objective: Goal | None = None, *, worst: bool = False, exact: bool = False) -> Solution:
    """Solve a turn of a game.

    Args:
        what: the rules; or an environment or vector environment of this package, with any wrappers, also in those of
            Gymnasium and stable-baselines3 that run several.
        objective: what is maximised: "score" (fewest points, or most where more are better), "shut" (the probability of
            the perfect score), "at-most:T", an `Objective`, or a function from final scores [T] to utilities [T]; by
            default the environment's objective, and for a game "score".
        worst: minimise instead: the worst play.
        exact: compute in fractions.

    Returns:
        The value and the optimal actions of every position.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, the game is too large for tables, or a wrapper of the environment
            changes what is played; see `stb_gym.RegretMeter`.

    Example:
        >>> import stb_gym
        >>> round(stb_gym.solve(stb_gym.ShutTheBox(tiles=9)).value, 9)
        11.157508444
        >>> stb_gym.solve(stb_gym.Threes(dice=3), exact=True).value
        Fraction(2261, 432)
    """
    game, goal, _ = task_of(what, objective)
    if not fits(game) and is_box(game):
        raise ValueError(f"{game} is too large for tables: stb_gym.large.solve_large(game) solves and evaluates it")
    return solve_tables(game, goal, worst=worst, exact=exact)


def perfect_play(game: Game, objective: Goal, *, worst: bool = False, exact: bool = False) -> PerfectPlay:
    """Solve a turn of a game of any size, by tables if it fits.

    Args:
        game: the rules.
        objective: what is maximised, see `solve`.
        worst: minimise instead: the worst play.
        exact: compute in fractions.

    Returns:
        A `Solution`, or a `LargeSolution` of a box too large for tables.

    Raises:
        ValueError: if fractions are needed and the game is too large for tables.
    """
    goal = objective_of(game, objective)
    if fits(game) or not is_box(game):
        return solve_tables(game, goal, worst=worst, exact=exact)
    if exact:
        raise ValueError("fractions are for games that fit into tables")
    return solve_large(game, goal, worst=worst)


def evaluate(
    what: GameOrEnv, policy: Playable, objective: Goal | None = None, illegal: str | None = None
) -> Evaluation:
    """Solve a game and measure a policy against perfect play exactly.

    Args:
        what: the rules, or an environment, see `solve`.
        policy: [S] actions or [S, A] probabilities; or an `AfterstateScorePolicy` or `UniformRandom`.
        objective: what is maximised, see `solve`.
        illegal: "raise" refuses a policy that takes an illegal action, "end" lets it end the turn; by default what the
            environment does, and for a game "raise".

    Returns:
        The exact value, regret, visits and costliest mistakes of the policy.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if there is no such objective, if the game is too large for tables, and as `Solution.evaluate` does.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> round(stb_gym.evaluate(game, stb_gym.strategy(game, "biggest-first")).regret, 6)
        0.215747
    """
    game, goal, illegal = task_of(what, objective, illegal)
    return solve(game, goal).evaluate(policy, illegal)


def strategies(what: GameOrEnv) -> dict[str, str]:
    """Return the strategies of a game by name, with a line on how each plays.

    Args:
        what: the rules or an environment; boxes too large for tables have fewer strategies.

    Returns:
        A line on how each strategy plays, by name.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.

    Example:
        >>> import stb_gym
        >>> list(stb_gym.strategies(stb_gym.Threes()))[:3]
        ['random', 'threes-only', 'take-all']
    """
    game = task_of(what).game
    return table_strategies(game) if fits(game) else large_strategies(game)


def strategy(what: GameOrEnv, name: str) -> Playable:
    """Return the policy of a named strategy.

    Args:
        what: the rules or an environment.
        name: one of `strategies(what)`.

    Returns:
        An array; for boxes too large for tables an `AfterstateScorePolicy` or `UniformRandom`.

    Raises:
        ValueError: if this game has no such strategy.

    Example:
        >>> import stb_gym
        >>> stb_gym.strategy(stb_gym.ShutTheBox(), "biggest-first").shape
        (5622,)
        >>> stb_gym.strategy(stb_gym.ShutTheBox.preset("the-300"), "random")
        UniformRandom()
    """
    game = task_of(what).game
    return table_strategy(game, name) if fits(game) else large_strategy(game, name)
