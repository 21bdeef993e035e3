"""A learner as a policy array: one pass over all nodes, which the library then evaluates exactly."""

import numpy as np

from agents.config import Learner
from stb_gym import Game, Policy, compile_game
from stb_gym.policy import at_decisions

AT_ONCE = 2**16


def policies(game: Game, learner: Learner) -> tuple[Policy, Policy]:
    """The greedy policy [N] of a learner, and the one [N, A] it explores with."""
    tables = compile_game(game)
    parts = [tables.decisions[first : first + AT_ONCE] for first in range(0, len(tables.decisions), AT_ONCE)]
    exploring = at_decisions(tables, np.concatenate([learner.probabilities(nodes) for nodes in parts]))
    return exploring.argmax(axis=1), exploring
