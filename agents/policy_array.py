"""The policy of a learner as the library evaluates it exactly: arrays over nodes, or a preference for what follows."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.afterstate_network import AfterstateNetwork
from agents.learner import Learner
from stb_gym import Game
from stb_gym.envs import stepper_of
from stb_gym.games import IntArray
from stb_gym.measure import SampledEvaluation
from stb_gym.solver import Evaluation, Policy, StateScorePolicy, TurnTables, compile_game

AT_ONCE = 2**16  # nodes
AT_ONCE_ON_LARGE_BOXES = 2**12  # of which each has a mask of hundreds of actions
Show = Callable[[IntArray], tuple[NDArray[Any], NDArray[np.bool_]]]  # of nodes [B]


def policies(game: Game, learner: Learner) -> tuple[Policy, Policy]:
    """The greedy policy [N] of a learner, and the policy [N, A] that it explores with."""
    tables = compile_game(game)
    exploring = tables.policy(_in_parts(learner.probabilities, _shown(tables), tables.decisions))
    return exploring.argmax(axis=1), exploring


def preference(game: Game, network: AfterstateNetwork) -> StateScorePolicy:
    """Return the greedy policy of a network of afterstates, which needs no tables."""
    stepper = stepper_of(game, kind="boards")

    def score(held: IntArray, dice: IntArray) -> NDArray[np.float64]:
        return network.afterstate_values(stepper.unthrown(stepper.find_state(held, dice)))

    return StateScorePolicy(score)


def value_error(learner: Learner, evaluation: Evaluation | SampledEvaluation) -> float:
    """How far off the learner's values are, in the objective's unit.

    It is the root of the mean square of the difference between what the learner expects at a node and what perfect play
    gets there. The mean is over the nodes that the evaluated policy visits, each weighted by its visits.

    Args:
        learner: the learner.
        evaluation: that of its greedy policy.
    """
    if isinstance(evaluation, SampledEvaluation):
        stepper = evaluation.stepper
        show: Show = lambda nodes: (stepper.observe(nodes), stepper.masks(nodes).view(np.bool_))  # noqa: E731
        expected = _in_parts(learner.values, show, evaluation.node, AT_ONCE_ON_LARGE_BOXES)
        return float(np.sqrt(np.mean((expected - evaluation.utility) ** 2)))
    tables = evaluation.tables
    expected = _in_parts(learner.values, _shown(tables), tables.decisions)
    error = expected - evaluation.optimum.node_utility[tables.decisions]
    return float(np.sqrt(np.average(error**2, weights=evaluation.visits[tables.decisions])))


def _shown(tables: TurnTables) -> Show:
    return lambda nodes: (tables.observation[nodes], tables.legal[nodes])


def _in_parts(
    function: Callable[..., NDArray[Any]], show: Show, nodes: IntArray, at_once: int = AT_ONCE
) -> NDArray[Any]:
    """What a function tells of the observations and masks of nodes, not of too many at once."""
    parts = (nodes[first : first + at_once] for first in range(0, len(nodes), at_once))
    return np.concatenate([function(*show(part)) for part in parts])
