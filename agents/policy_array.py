"""The policy of a learner as arrays over nodes, which the library evaluates exactly."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.learner import Learner
from stb_gym import Evaluation, Game, Policy, TurnTables, compile_game
from stb_gym.games import IntArray

AT_ONCE = 2**16  # nodes


def policies(game: Game, learner: Learner) -> tuple[Policy, Policy]:
    """The greedy policy [N] of a learner, and the policy [N, A] that it explores with."""
    tables = compile_game(game)
    exploring = tables.policy(_in_parts(learner.probabilities, tables, tables.decisions))
    return exploring.argmax(axis=1), exploring


def value_error(learner: Learner, evaluation: Evaluation) -> float:
    """How far off the learner's values are, in the objective's unit.

    It is the root of the mean square of the difference between what the learner expects at a node and what perfect play
    gets there. The mean is over the nodes that the evaluated policy visits, each weighted by its visits.

    Args:
        learner: the learner.
        evaluation: that of its greedy policy.
    """
    nodes = evaluation.tables.decisions
    error = _in_parts(learner.values, evaluation.tables, nodes) - evaluation.optimum.node_utility[nodes]
    return float(np.sqrt(np.average(error**2, weights=evaluation.visits[nodes])))


def _in_parts(function: Callable[..., NDArray[Any]], tables: TurnTables, nodes: IntArray) -> NDArray[Any]:
    """What a function tells of the observations and masks of nodes, not of too many at once."""
    parts = (nodes[first : first + AT_ONCE] for first in range(0, len(nodes), AT_ONCE))
    return np.concatenate([function(tables.observation[part], tables.legal(part)) for part in parts])
