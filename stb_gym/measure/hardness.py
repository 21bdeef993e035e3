"""What makes a game hard for agents that learn by playing: how far its play must look ahead, its gaps, its dice.

Nothing is sampled, and no agent is needed.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from stb_gym.games import Game, fits
from stb_gym.large import solve_large
from stb_gym.large.solution import values_of_random_play
from stb_gym.solver import (
    TIE,
    AfterstateScorePolicy,
    GameOrEnv,
    Goal,
    Objective,
    UniformRandom,
    expected,
    optimal_pairs,
    solve_tables,
    task_of,
)

EPISODES = 100_000


@dataclass(frozen=True)
class Hardness:
    """What makes a game hard; regrets are in the objective's unit.

    For boxes too large for tables, the numbers that need tables are None, and `shares` has only its first entry.

    Attributes:
        game: the rules.
        objective: what is maximised.
        random_regret: the regret of uniformly random play.
        shares: the regret of playing greedily on the k-step action values of random play, for k = 1, 2, ... until it
            is 0, as shares of `random_regret`. One-step values are those of random play; each further step maximises
            over the next action once more. Of equally good actions the lowest is played, which is a convention.
        look_ahead: the least k whose regret is 0.
        effective_horizon: the stochastic effective horizon, the least k + log(1 / gap**2) / log(A). The gap is the
            least difference between the best k-step action values and the next ones, over all positions that a turn can
            meet, as a share of the range of the utilities of a turn; a k counts only if its best actions are optimal
            at all of these. A is the largest number of their legal actions. None without choices that matter.
        decisions: the number of positions with a legal action that a turn can meet.
        coverage: the expected share of these that random play meets in 100,000 episodes.
        dice_share: the share of the variance of random play's return that the dice cause; its own choices cause the
            rest. 0 if the return does not vary.
        mean_gap: the mean action gap at positions that have one, weighted by the visits of perfect play; None if it
            visits none. The action gap is the loss of the best action that is not optimal, divided by `random_regret`,
            so that tasks can be compared.
        least_gap: the least action gap at any position.
        reciprocal_gaps: the sum over actions that are not optimal of the visits of perfect play divided by their loss,
            which is also divided by `random_regret`.
    """

    game: Game
    objective: Objective
    random_regret: float
    shares: tuple[float, ...]
    look_ahead: int | None = None
    effective_horizon: float | None = None
    decisions: int | None = None
    coverage: float | None = None
    dice_share: float | None = None
    mean_gap: float | None = None
    least_gap: float | None = None
    reciprocal_gaps: float | None = None

    def summary(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON; unknown ones are left out."""
        left_out = ("game", "objective")
        return {name: value for name, value in asdict(self).items() if name not in left_out and value is not None}


def hardness(what: GameOrEnv, objective: Goal | None = None) -> Hardness:
    """Measure what makes a game hard for agents that learn by playing.

    The first share is the regret that remains after one greedy step on the values of random play, the simplest kind of
    exploration. The effective horizon counts, as an exponent of the number of actions, how many episodes of random
    play find the best actions (Laidlaw, Zhu, Russell and Dragan, "The effective horizon explains deep RL performance
    in stochastic environments", 2024). The gaps follow Conserva and Rauber ("Hardness in Markov decision processes:
    theory and practice", 2022).

    Args:
        what: the rules, or an environment, see `stb_gym.solve`.
        objective: what is maximised; by default the objective of the environment, and for a game "score".

    Returns:
        The regret of random play in the objective's unit, the shares of it that k-step look-ahead leaves, the effective
        horizon, and numbers on exploration, dice and action gaps; `summary()` has them by name.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if the objective is unknown.

    Example:
        >>> import stb_gym
        >>> found = stb_gym.hardness(stb_gym.Threes())
        >>> [round(share, 3) for share in found.shares], round(found.effective_horizon, 1)
        ([0.199, 0.031, 0.024, 0.0], 10.5)
    """
    game, goal, _ = task_of(what, objective)
    return hardness_of_tables(game, goal) if fits(game) else hardness_of_large(game, goal)


def hardness_of_tables(game: Game, goal: Objective) -> Hardness:
    """Return the hardness of a game that fits into tables."""
    best = solve_tables(game, goal)
    tables = best.tables
    random = best.evaluate(UniformRandom())
    utility = goal.utilities(tables.final_score).astype(float)
    random_at_afterstates, random_at_states = expected(tables, tables.uniform, utility)
    by_afterstate = random_at_afterstates
    regrets: list[float] = []
    actions = tables.choices[random.visits > 0].max()
    met = tables.at_pairs(random.visits) > 0
    returns = goal.utilities(np.array([score for score, chance in random.score_distribution.items() if chance > 0]))
    horizon = np.inf
    for steps in range(1, len(tables.levels) + 1):  # at the last of them the values are those of perfect play
        after = tables.after_pairs(by_afterstate)
        by_state = utility[tables.state_origin]
        by_state[tables.decisions] = tables.reduce(np.maximum, after)
        greedy = optimal_pairs(tables, by_afterstate, by_state)
        if not regrets or regrets[-1] > 0:
            regrets.append(best.evaluate(tables.lowest_actions(greedy)).regret)
        if not (greedy & ~best.optimal & met).any():
            losses = np.where(greedy | ~met, np.inf, tables.at_pairs(by_state) - after)
            gap = losses.min() / float(np.ptp(returns))
            horizon = min(horizon, steps - 2 * np.log(gap) / np.log(actions)) if gap < np.inf else 0.0
        if regrets[-1] == 0 and steps + 1 >= horizon:
            break
        by_afterstate = tables.mean_over_rolls(by_state)

    chances = random.visits[tables.decisions]  # a turn meets a position at most once
    chances = chances[chances > 0]
    by_dice = random.visits @ (random_at_states - random_at_afterstates[tables.state_origin]) ** 2
    steps = tables.after_pairs(random_at_afterstates) - tables.at_pairs(random_at_states)
    by_choices = tables.at_pairs(random.visits) * tables.uniform @ steps**2
    varies = by_dice + by_choices > (TIE * abs(utility).max()) ** 2  # by more than rounding

    found = Hardness(
        game,
        goal,
        random.regret,
        _shares(regrets, random.regret),
        look_ahead=len(regrets),
        effective_horizon=float(horizon) if horizon else None,
        decisions=len(chances),
        coverage=float(np.mean(1 - (1 - chances) ** EPISODES)),
        dice_share=float(by_dice / (by_dice + by_choices)) if varies else 0.0,
    )
    other = ~best.optimal & met
    if not other.any():
        return found
    losses = np.where(other, -best.advantage.astype(float) / random.regret, np.inf)
    gaps = tables.reduce(np.minimum, losses)
    visits = best.evaluate(best.policy).visits
    weights = visits[tables.decisions] * (gaps < np.inf)
    return replace(
        found,
        mean_gap=float(np.average(np.where(gaps < np.inf, gaps, 0), weights=weights)) if weights.any() else None,
        least_gap=float(gaps.min()),
        reciprocal_gaps=float(tables.at_pairs(visits) @ (1 / losses)),
    )


def hardness_of_large(game: Game, goal: Objective) -> Hardness:
    """Return the hardness of a box too large for tables."""
    best, random = solve_large(game, goal), values_of_random_play(game, goal)
    greedy = best.evaluate(AfterstateScorePolicy(random.utilities_at))
    random_regret = abs(best.value - random.value)
    return Hardness(game, goal, random_regret, _shares([greedy.regret], random_regret))


def _shares(regrets: list[float], random_regret: float) -> tuple[float, ...]:
    return tuple(regret / random_regret if random_regret > 0 else 0.0 for regret in regrets)
