"""What evaluations mean in play: two score distributions, a policy's costly mistakes, and sampled turns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import IntArray
from stb_gym.checks import check_chances, check_integer
from stb_gym.envs import Stepper, TurnVectorEnv, stepper_of
from stb_gym.measure.play import draw_actions
from stb_gym.solver import (
    AfterstateScorePolicy,
    GameOrEnv,
    Goal,
    Measured,
    Mistake,
    Playable,
    Policy,
    RulePolicy,
    Solution,
    UniformRandom,
    compile_game,
    task_of,
)
from stb_gym.solving import evaluate
from stb_gym.tracking import tracked
from stb_gym.words import words_of

GAMES_AT_ONCE = 4096


class Comparison(NamedTuple):
    """Two distributions of final scores.

    Attributes:
        distance: the greatest difference between their chances of a score of at most some number.
        at: that number, the lowest if there are several.
        shares: [2] the two chances there.
        means: [2] the expected scores.
    """

    distance: float
    at: int
    shares: list[float]
    means: list[float]


@checked
def compare(one: Mapping[int, float], other: Mapping[int, float]) -> Comparison:
    """Compare two distributions of final scores, exactly.

    Args:
        one: the chance of every final score, such as `Evaluation.score_distribution`.
        other: the same.

    Raises:
        TypeError: if one is not such a distribution.
        ValueError: if its chances do not sum to 1.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> best = stb_gym.solve(game)
        >>> heuristic = best.evaluate(stb_gym.strategy(game, "biggest-first"))
        >>> found = compare(best.evaluate(best.policy).score_distribution, heuristic.score_distribution)
        >>> round(found.distance, 6), found.at
        (0.014757, 10)
    """
    for each in (one, other):
        check_chances("the final scores", each.values())
    scores = sorted({*one, *other})
    chances = np.array([[each.get(score, 0.0) for score in scores] for each in (one, other)])
    up_to = chances.cumsum(axis=1)
    difference = abs(up_to[0] - up_to[1])
    greatest = int(np.argmax(difference > difference.max() * (1 - 1e-12)))  # the first of those that rounding separates
    return Comparison(
        distance=float(difference[greatest]),
        at=scores[greatest],
        shares=up_to[:, greatest].tolist(),
        means=(chances @ scores).tolist(),
    )


# Mistakes


class PocketCard(NamedTuple):
    """A policy with exceptions.

    Attributes:
        exceptions: the mistakes that are corrected, costliest first.
        regrets: the regret with none of them corrected, the first, the first two ... all.
        policy: [S] the actions with all of them corrected.
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

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> card = pocket_card(stb_gym.solve(game), stb_gym.strategy(game, "fewest-then-biggest"), 10)
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


# Sampled turns


@dataclass(frozen=True, eq=False)
class Simulation:
    """Sampled turns and the exact value.

    Attributes:
        final_scores: [T] the points of each turn.
        mean: the mean value of the turns, in the objective's unit.
        standard_error: of the mean, estimated from the turns: 0 if all end alike.
        exact: the exact value.
    """

    final_scores: NDArray[np.int64] = field(repr=False)
    mean: float
    standard_error: float
    exact: float

    @property
    def z(self) -> float:
        """The difference of the mean and the exact value in standard errors; 0 where only rounding differs."""
        difference = self.mean - self.exact
        if abs(difference) < 1e-12:
            return 0.0
        return difference / self.standard_error if self.standard_error else math.copysign(math.inf, difference)


def simulate(
    what: GameOrEnv,
    policy: Playable,
    turns: int,
    seed: int | None = None,
    objective: Goal | None = None,
) -> Simulation:
    """Play turns to their ends and compare their mean with the exact value.

    Args:
        what: the rules, or an environment, see `stb_gym.solve`.
        policy: the policy that plays.
        turns: how many, 2 or more.
        seed: of the dice and of the policy's own random choices.
        objective: what a turn is played for, see `stb_gym.solve`.

    Raises:
        ValueError: if an argument is not allowed.

    Example:
        >>> import stb_gym
        >>> game = stb_gym.ShutTheBox()
        >>> simulation = stb_gym.simulate(game, stb_gym.solve(game).policy, turns=2000, seed=1)
        >>> abs(simulation.z) < 4
        True
    """
    check_integer("turns", turns, 2, 10**9)
    if seed is not None:
        check_integer("seed", seed, 0, 2**63 - 1)
    game, goal, _ = task_of(what, objective)
    evaluation = evaluate(game, policy, goal)
    dice_seed, policy_seed = np.random.SeedSequence(seed).generate_state(2).tolist()
    stepper = stepper_of(game)
    random = np.random.default_rng(policy_seed)
    choose = (
        partial(_rule_actions, policy, stepper, random)
        if isinstance(policy, AfterstateScorePolicy | UniformRandom)
        else partial(_array_actions, np.asarray(policy), stepper, random)
    )
    scores = np.empty(turns, np.int64)
    firsts = range(0, turns, GAMES_AT_ONCE)
    for first in tracked(firsts, "turns simulated", "batches", len(firsts)):
        batch = scores[first : first + GAMES_AT_ONCE]
        env = TurnVectorEnv(game, len(batch), illegal="raise")
        env.reset(seed=dice_seed + first)
        playing = np.ones(len(batch), np.bool_)  # only the first turn of each environment counts
        while playing.any():
            _, _, over, _, info = env.step(choose(env.states))
            ended = playing & over
            if ended.any():
                batch[ended] = info["final_score"][ended]
            playing &= ~over
    values = goal.sign * goal.utilities(scores)
    return Simulation(scores, float(values.mean()), float(values.std(ddof=1) / math.sqrt(turns)), evaluation.value)


def _array_actions(policy: Policy, stepper: Stepper, random: np.random.Generator, states: IntArray) -> IntArray:
    """Return the actions [B] of an array of actions or probabilities; 0 where the turn is over."""
    actions = draw_actions(policy[states], random)
    return np.where(compile_game(stepper.game).choices[states] > 0, actions, 0)


def _rule_actions(policy: RulePolicy, stepper: Stepper, random: np.random.Generator, states: IntArray) -> IntArray:
    """Return the actions [B] of a policy that looks at the afterstates its moves lead to; 0 where the turn is over."""
    row, action = stepper.legal_moves(states)
    after = stepper.afterstates(states[row], action)
    wanted = random.random(len(action))
    if isinstance(policy, AfterstateScorePolicy):
        wanted = policy.scores(*stepper.position(after))
    actions = np.zeros(len(states), np.int64)
    order = np.lexsort((-action, wanted))  # the most wanted move comes last, the lowest action among equals
    actions[row[order]] = action[order]
    return actions
