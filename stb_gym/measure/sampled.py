"""Estimate an agent's regret from turns that it plays. The loss of each choice is exact, so the noise is small."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray, IntArray, cached_arrays
from stb_gym.envs import Stepper
from stb_gym.solver import Measured, Mistake, PerfectPlay

NORMAL_95 = 1.96  # standard errors to either side of a mean
TINY = float(np.finfo(np.float64).tiny)


class MeanLoss:
    """The mean of the losses of sampled turns.

    Attributes:
        lost: [T] the sum of the losses of each turn, in the objective's unit.
    """

    lost: FloatArray

    @cached_property
    def regret(self) -> float:
        """The mean loss of a turn."""
        return float(self.lost.mean())

    @cached_property
    def standard_error(self) -> float:
        """The standard error of the regret: 0 if the turns contain no mistake, though the agent may make rare ones."""
        return float(self.lost.std(ddof=1) / math.sqrt(len(self.lost)))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the regret: 1.96 standard errors to either side, cut at 0."""
        width = NORMAL_95 * self.standard_error
        return max(self.regret - width, 0.0), self.regret + width


@dataclass(frozen=True, eq=False, repr=False)
class SampledEvaluation(MeanLoss, Measured):
    """An agent measured against perfect play by T turns with V choices; values are in the objective's unit.

    By the performance difference lemma (`stb_gym.solver.solution`), the regret is the expected sum of the losses of a
    turn's choices. The turns are sampled and the losses are exact. So the mean of those sums is unbiased, and its noise
    shrinks with the regret: on nine tiles it can be hundreds of times less than that of the mean score. If the agent
    returns probabilities, a legal choice counts with its expected loss.

    Attributes:
        optimum: the values of perfect play.
        stepper: the game that was stepped through.
        masked: whether the agent received masks or was masked.
        end: [T] the state at which each turn ended.
        turn: [V] the turn of each choice.
        state: [V] the state of each choice.
        utility: [V] the optimal utility there.
        plays: [V] the most probable of the agent's actions that are not optimal; its most probable action if all are
            optimal; -1 for an illegal one.
        best: [V] the optimal action of lowest index.
        loss: [V] the loss of the choice if play were perfect afterwards.
        optimal: [V] the probability with which the choice is optimal.
    """

    # Without the normalised score, which may take a while.
    SUMMARY = (
        "regret", "standard_error", "turns", "agreement_by_visits", "shut_probability", "mean_throws", "illegal_mass",
        "masked",
    )  # fmt: skip
    optimum: PerfectPlay
    stepper: Stepper
    masked: bool
    end: IntArray
    turn: IntArray
    state: IntArray
    utility: FloatArray
    plays: IntArray
    best: IntArray
    loss: FloatArray
    optimal: FloatArray

    def __repr__(self) -> str:
        low, high = self.interval
        unit = self.optimum.objective.unit
        return f"<regret {self.regret:.4g} ({low:.4g} to {high:.4g}) {unit} in {self.turns:,} turns>"

    @property
    def turns(self) -> int:
        """The number of turns T."""
        return len(self.end)

    @cached_arrays
    def lost(self) -> FloatArray:
        """[T] the sum of the losses of each turn."""
        return np.asarray(np.bincount(self.turn, self.loss, self.turns), np.float64)

    @property
    def value(self) -> float:  # type: ignore[override]
        """The expected value of a turn, computed from the regret, with the same standard error."""
        return float(self.optimum.value - self.optimum.objective.sign * self.regret)

    @property
    def agreement_by_visits(self) -> float:
        """The share of moves, forced ones included, that are optimal."""
        return float(self.optimal.mean())

    @property
    def illegal_mass(self) -> float:
        """The share of turns that ended with an illegal action."""
        return float((self.end == self.stepper.illegal_state).mean())

    @cached_property
    def final_score(self) -> IntArray:
        """[T] the points of each turn."""
        return np.asarray(self.stepper.scores[self.stepper.score_index(self.end)])

    @cached_property
    def score_distribution(self) -> dict[int, float]:
        """The share of turns that ended with each final score, best first."""
        sign = self.optimum.game.sign
        scores, counts = np.unique(-sign * self.final_score, return_counts=True)
        return dict(zip((-sign * scores).tolist(), (counts / self.turns).tolist(), strict=True))

    @property
    def mean_throws(self) -> float:
        """Throws in a turn: one for each choice, and one if a throw left no move."""
        _, dice = self.stepper.position(self.stepper.origin_of(self.end))
        return float((len(self.state) + np.count_nonzero(dice)) / self.turns)

    def _costliest(self, limit: int | None) -> list[Mistake]:
        wrong = np.flatnonzero(self.loss > 0)
        choices = np.stack((self.state, self.plays), axis=1)[wrong]
        _, first, mistake = np.unique(choices, axis=0, return_index=True, return_inverse=True)
        times = np.bincount(mistake.ravel())
        lost = np.bincount(mistake.ravel(), self.loss[wrong])
        found = []
        for index in np.argsort(-lost, kind="stable")[:limit].tolist():
            choice = wrong[first[index]]
            found.append(
                Mistake(
                    state=int(self.state[choice]),
                    position=self.stepper.describe(int(self.state[choice])),
                    plays=None if self.plays[choice] < 0 else int(self.plays[choice]),
                    best=int(self.best[choice]),
                    visits=float(times[index] / self.turns),
                    loss=float(lost[index] / times[index]),
                )
            )
        return found


def measured_choices(
    optimum: PerfectPlay, stepper: Stepper, state: IntArray, answer: NDArray[Any], is_legal: BoolArray
) -> tuple[FloatArray, IntArray, IntArray, FloatArray, FloatArray]:
    """Return `utility`, `plays`, `best`, `loss` and `optimal` [B] of choices at states; see `SampledEvaluation`.

    Args:
        optimum: the values of perfect play.
        stepper: the game.
        state: [B] states with a legal move.
        answer: the agent's actions [B] or probabilities [B, A].
        is_legal: [B] whether the action that is played is legal. Then the choice counts with the expected loss over all
            legal actions, else with the loss of an illegal one.
    """
    row, action = stepper.legal_moves(state)
    first = np.flatnonzero(np.diff(row, prepend=-1))
    after = stepper.after_actions(state[row], action)
    weight = np.asarray(answer[row] == action if answer.ndim == 1 else answer[row, action], np.float64)
    weight /= np.maximum(np.add.reduceat(weight, first), TINY)[row]
    value = optimum.utilities_at(*stepper.position(after))
    utility = np.maximum.reduceat(value, first)
    optimal = optimum.is_as_good(value, utility[row])
    best = np.minimum.reduceat(np.where(optimal, action, stepper.num_actions), first)
    rank = weight + ((weight > 0) & ~optimal)  # actions that are not optimal come first
    probable = rank == np.maximum.reduceat(rank, first)[row]
    plays = np.minimum.reduceat(np.where(probable, action, stepper.num_actions), first)
    worst = optimum.objective.illegal_utility(stepper.scores)
    loss = np.where(is_legal, np.add.reduceat(weight * (utility[row] - value), first), utility - worst)
    optimal_mass = np.where(is_legal, np.add.reduceat(weight * optimal, first), 0)
    return utility, np.where(is_legal, plays, -1), best, loss, optimal_mass
