"""An agent's regret from turns that it played: what each of its choices loses is known, so hardly anything is noise."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stb_gym.measure.losses import IntArray, Losses
from stb_gym.solver import BoardValues, Evaluation, Measured, Mistake, Solution

NORMAL_95 = 1.96  # standard errors to either side of a mean


@dataclass(frozen=True, eq=False, repr=False)
class SampledEvaluation(Measured):
    """An agent measured against perfect play by T turns with V choices; values are in the objective's unit.

    By the performance difference lemma (`solver.evaluation`) regret is the expected sum of what a turn's choices
    lose. The turns are sampled, the losses are exact: so the mean of those sums has no bias and, the better the play,
    the less noise, on nine tiles hundreds of times less than the mean of the scores. A legal choice by probabilities
    counts with what it loses on average.

    Attributes:
        losses: what choices lose in the game.
        end: [T] the node at which each turn is over.
        turn: [V] which turn each choice belongs to.
        node: [V] where it was made.
        utility, plays, best, loss, optimal: [V] see `stb_gym.measure.losses.Choices`.
    """

    losses: Losses
    end: IntArray
    turn: IntArray
    node: IntArray
    utility: NDArray[np.float64]
    plays: IntArray
    best: IntArray
    loss: NDArray[np.float64]
    optimal: NDArray[np.float64]

    def __repr__(self) -> str:
        low, high = self.interval
        unit = self.optimum.objective.unit
        return f"<regret {self.regret:.4g} ({low:.4g} to {high:.4g}) {unit} in {self.turns:,} turns>"

    @property
    def optimum(self) -> Solution | BoardValues:  # type: ignore[override]
        """The solution it is measured against."""
        return self.losses.optimum

    @property
    def turns(self) -> int:
        """T."""
        return len(self.end)

    @cached_property
    def lost(self) -> NDArray[np.float64]:
        """[T] what the choices of each turn lose."""
        return np.asarray(np.bincount(self.turn, self.loss, self.turns), np.float64)

    @cached_property
    def regret(self) -> float:
        """What a turn loses against perfect play: the mean of `lost`."""
        return float(self.lost.mean())

    @cached_property
    def standard_error(self) -> float:
        """Of the regret. It is that of the sample: 0 if no mistake was met, though rarer ones may be made."""
        return float(self.lost.std(ddof=1) / math.sqrt(self.turns))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the regret: 1.96 standard errors to either side, and nothing below 0."""
        width = NORMAL_95 * self.standard_error
        return max(self.regret - width, 0.0), self.regret + width

    @property
    def value(self) -> float:  # type: ignore[override]
        """Expected value of a turn, by the regret: it has the same standard error."""
        return float(self.optimum.value - self.optimum.objective.sign * self.regret)

    @property
    def random_value(self) -> float:
        """Expected value of a turn of uniformly random legal play, exactly."""
        return self.losses.random_value

    @property
    def agreement_by_visits(self) -> float:
        """The share of choices in play that are optimal."""
        return float(self.optimal.mean())

    @property
    def illegal_mass(self) -> float:
        """The share of turns that ended with an illegal action."""
        return float((self.end == self.losses.stepper.forfeit).mean())

    @cached_property
    def final_score(self) -> IntArray:
        """[T] points of every turn."""
        return np.asarray(self.losses.stepper.scores.take(self.losses.stepper.ending(self.end)))

    @cached_property
    def score_distribution(self) -> dict[int, float]:
        """The share of turns that ended with every final score that was met, best first."""
        sign = self.optimum.game.sign
        scores, counts = np.unique(-sign * self.final_score, return_counts=True)
        return dict(zip((-sign * scores).tolist(), (counts / self.turns).tolist(), strict=True))

    @property
    def mean_throws(self) -> float:
        """Throws in a turn: one for every choice, and one where a throw left no move."""
        _, dice = self.losses.stepper.position(self.losses.stepper.state_of(self.end))
        return float((len(self.node) + np.count_nonzero(dice)) / self.turns)

    def summary(self) -> dict[str, float]:
        """The numbers above by name, ready for JSON, but for the normalised score, which may take a while."""
        return {
            "value": self.value,
            "optimum": float(self.optimum.value),
            "regret": self.regret,
            "standard_error": self.standard_error,
            "turns": self.turns,
            "agreement_by_visits": self.agreement_by_visits,
            "shut_probability": self.shut_probability,
            "mean_throws": self.mean_throws,
            "illegal_mass": self.illegal_mass,
        }

    def mistakes(self, limit: int | None = None) -> list[Mistake]:
        """The mistakes that were met and what they cost these turns, dearest first; visits are those of a turn."""
        met = self.loss > 0
        which, first, place = np.unique(
            np.stack((self.node, self.plays))[:, met], axis=1, return_index=True, return_inverse=True
        )
        times, lost = np.bincount(place.ravel()), np.bincount(place.ravel(), self.loss[met])
        best = self.best[met][first]
        return [
            Mistake(
                node=int(which[0, i]),
                plays=None if which[1, i] < 0 else int(which[1, i]),
                best=int(best[i]),
                visits=float(times[i] / self.turns),
                loss=float(lost[i] / times[i]),
            )
            for i in np.argsort(-lost, kind="stable")[:limit].tolist()
        ]

    def describe_node(self, node: int) -> str:
        """A node in words."""
        return self.losses.stepper.describe(node)

    def shown(self, nodes: IntArray) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The observations [B, O] and masks [B, A] of nodes [B]."""
        stepper = self.losses.stepper
        return stepper.observe(nodes), stepper.masks(nodes).view(np.bool_)


AnyEvaluation = Evaluation | SampledEvaluation  # what a `RegretMeter` tells of an agent
