"""Measure exactly the policy that answers to the questions of a game amount to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stb_gym.solver import Evaluation, Solution


@dataclass(frozen=True)
class Grade:
    """The exact measurement of answers.

    The masses are probabilities that a turn ends so, each with the worst score.

    Attributes:
        evaluation: the policy, measured against perfect play.
        illegal_mass: by an action that is not legal.
        unparsable_mass: by an answer that names no action, or several.
        missing_mass: by a question without an answer.
        questions: the number of questions.
        missing: how many of them have no answer.
    """

    evaluation: Evaluation
    illegal_mass: float
    unparsable_mass: float
    missing_mass: float
    questions: int
    missing: int

    def summary(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON."""
        of_answers = {name: number for name, number in vars(self).items() if name != "evaluation"}
        return self.evaluation.summary() | of_answers


def grade_actions(solution: Solution, actions: Iterable[tuple[int, int | None]], masked: bool) -> Grade:
    """Measure the policy that actions amount to; several at a state are equally probable.

    Args:
        solution: perfect play.
        actions: pairs of a state that leaves a choice, and the action named there; None for none.
        masked: whether the player knows the legal actions.

    Returns:
        The measurement, in which forced moves are played.
    """
    tables = solution.tables
    counts = np.zeros(len(tables.pair_afterstate))
    unparsable = np.zeros(tables.num_states)
    illegal = np.zeros(tables.num_states)
    for state, action in actions:
        pairs = tables.pairs_of(state)
        legal = tables.pair_action[pairs].tolist()
        if action is None:
            unparsable[state] += 1
        elif action in legal:
            counts[pairs[legal.index(action)]] += 1
        else:
            illegal[state] += 1
    total = tables.sum_at_states(counts) + unparsable + illegal
    is_asked = tables.choices > 1
    missing = (total == 0) & is_asked
    total = np.maximum(total, 1)
    weights = np.where(tables.at_pairs(is_asked), counts / tables.at_pairs(total), 1.0)
    evaluation = Evaluation(solution, weights, (illegal + unparsable) / total + missing, masked)
    return Grade(
        evaluation,
        illegal_mass=float(evaluation.visits @ (illegal / total)),
        unparsable_mass=float(evaluation.visits @ (unparsable / total)),
        missing_mass=float(evaluation.visits @ missing),
        questions=int(is_asked.sum()),
        missing=int(missing.sum()),
    )
