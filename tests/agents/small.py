"""Learners that learn in half a second or so, by the presets of the tests."""

import numpy as np

from agents.config import ALGORITHMS, Task
from agents.presets import read_presets
from agents.stock import STOCK
from stb_gym.solver import compile_game
from tests import SMALL_PRESETS

BOX, THREES = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
SMALL = read_presets(SMALL_PRESETS)
SIX = Task(BOX, {"tiles": 6})
OWN = [algorithm for algorithm in ALGORITHMS if algorithm not in STOCK]  # the others have tests of their own


def config(algorithm, task=SIX, **options):
    """The configuration of a small training."""
    return SMALL.config(algorithm, task, **options)


def seen(game, nodes):
    """What learners see at nodes: observations and masks."""
    tables = compile_game(game)
    return tables.observation[nodes], tables.legal[np.asarray(nodes)]


def learner(algorithm, task=SIX, **options):
    """A learner that has learned nothing yet."""
    return config(algorithm, task, **options).learner()
