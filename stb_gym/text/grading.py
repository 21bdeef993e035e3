"""Measure exactly the policy that answers to the questions of a game amount to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from stb_gym.arrays import BoolArray, FloatArray
from stb_gym.solver import Evaluation, Level, Solution, TurnTables, pair_weights, sweep


@dataclass(frozen=True)
class Grade:
    """The exact measurement of answers.

    The masses are probabilities that a turn ends so, each with the worst score.

    Attributes:
        evaluation: the policy, measured against perfect play.
        fallback_regret: its regret if a random legal move replaces every answer that is illegal, unparsable or missing.
        least_regret: the lowest regret that answers to the missing questions could still lead to. The regret of
            `evaluation` is the highest, as no answer is worse than the worst score.
        illegal_mass: by an action that is not legal.
        unparsable_mass: by an answer that names no action, or several.
        missing_mass: by a question without an answer.
        questions: the number of questions.
        missing: how many of them have no answer.
    """

    evaluation: Evaluation
    fallback_regret: float
    least_regret: float
    illegal_mass: float
    unparsable_mass: float
    missing_mass: float
    questions: int
    missing: int

    def summary(self) -> dict[str, Any]:
        """Return the numbers by name, ready for JSON."""
        of_answers = {name: number for name, number in vars(self).items() if name != "evaluation"}
        return self.evaluation.summary() | of_answers


def asked_states(tables: TurnTables) -> BoolArray:
    """Return [S] True for the states that leave a choice and that some moves reach from the start of a turn."""
    reached = np.zeros(tables.num_afterstates, np.bool_)
    reached[tables.start] = True
    origin = tables.at_pairs(tables.state_origin)
    for level in reversed(tables.levels):
        reached[tables.pair_afterstate[level.pairs][reached[origin[level.pairs]]]] = True
    return (tables.choices > 1) & reached[tables.state_origin]


def grade_actions(solution: Solution, actions: Iterable[tuple[int, int | None]], masked: bool) -> Grade:
    """Measure the policy that actions amount to; several at a state are equally probable.

    Args:
        solution: perfect play.
        actions: pairs of a state of `asked_states`, and the action named there; None for none.
        masked: whether the player knows the legal actions.

    Returns:
        The measurement. At the other states perfect play is assumed: moves are forced there, or no turn comes there.
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
    is_asked = asked_states(tables)
    missing = (total == 0) & is_asked
    total = np.maximum(total, 1)
    best, _ = pair_weights(tables, solution.policy)
    weights = np.where(tables.at_pairs(is_asked), counts / tables.at_pairs(total), best)
    no_move = (illegal + unparsable) / total + missing
    evaluation = Evaluation(solution, weights, no_move, masked)
    fallback = Evaluation(solution, weights + tables.at_pairs(no_move) * tables.uniform, np.zeros(tables.num_states))
    return Grade(
        evaluation,
        fallback_regret=fallback.regret,
        least_regret=_least_regret(evaluation, missing) if missing.any() else evaluation.regret,
        illegal_mass=float(evaluation.visits @ (illegal / total)),
        unparsable_mass=float(evaluation.visits @ (unparsable / total)),
        missing_mass=float(evaluation.visits @ missing),
        questions=int(is_asked.sum()),
        missing=int(missing.sum()),
    )


def _least_regret(evaluation: Evaluation, is_free: BoolArray) -> float:
    """Return the regret of a policy whose choices at the states `is_free` [S] become the best ones."""
    solution, tables = evaluation.optimum, evaluation.tables
    final = solution.objective.utilities(tables.final_score).astype(float)
    of_illegal = evaluation.illegal * solution.objective.illegal_utility(tables.final_score)

    def choose(after: FloatArray, level: Level) -> FloatArray:
        given = level.reduce(np.add, evaluation.weights[level.pairs] * after) + of_illegal[level.states][level.live]
        return np.where(is_free[level.states][level.live], level.reduce(np.maximum, after), given)

    utilities, _ = sweep(tables, final, choose)
    return max(float(solution.afterstate_utilities[tables.start] - utilities[tables.start]), 0.0)
