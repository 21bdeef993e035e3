"""Simulate turns of a policy, and compare their mean with its exact value."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from stb_gym.checks import check_integer
from stb_gym.envs import stepper_of
from stb_gym.measure.play import draw_actions
from stb_gym.solver import GameOrEnv, Goal, Playable, policy_array, task_of
from stb_gym.solving import evaluate
from stb_gym.tracking import tracked

TURNS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Simulation:
    """The results of sampled turns beside the exact value.

    Attributes:
        final_scores: [T] the points of each turn.
        mean: the mean value of the turns, in the objective's unit.
        standard_error: the standard error of the mean, estimated from the turns: 0 if all have the same value.
        exact: the exact value, in the objective's unit.
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

    Returns:
        The final score of each turn, their mean value with its standard error, and the exact value.

    Raises:
        TypeError: if `what` is neither a game nor an environment of one.
        ValueError: if another argument is not allowed.

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
    actions_at, stepper = policy_array(evaluation.tables, policy), stepper_of(game, kind="tables")
    random = np.random.default_rng(seed)
    scores = np.empty(turns, np.int64)
    firsts = range(0, turns, TURNS_AT_ONCE)
    for first in tracked(firsts, "turns simulated", "batches", len(firsts)):
        batch = scores[first : first + TURNS_AT_ONCE]
        states = stepper.after_throws(stepper.start, random.integers(stepper.num_throws, size=len(batch)))
        playing = np.flatnonzero(~stepper.is_over(states))
        while len(playing):
            actions = draw_actions(actions_at[states[playing]], random)
            afterstates = stepper.after_actions(states[playing], actions)
            throws = random.integers(stepper.num_throws, size=len(playing))
            states[playing] = stepper.after_throws(afterstates, throws)
            playing = playing[~stepper.is_over(states[playing])]
        batch[:] = stepper.scores[stepper.score_index(states)]
    values = goal.sign * goal.utilities(scores).astype(float)
    return Simulation(scores, float(values.mean()), float(values.std(ddof=1) / math.sqrt(turns)), evaluation.value)
