"""The learners of `agents` as agents of the suite, with the same settings on all tasks: those of nine tiles."""

from typing import Any

import numpy as np

from agents.common import Array
from agents.presets import make_settings, read_preset
from agents.registry import LEARNERS
from agents.sb3 import StockLearner
from stb_gym.arrays import IntArray
from training.suite.environment import TaskEnv
from training.suite.tasks import BUDGETS

TRACKS_OF_LEARNERS = {
    "afterstates": "afterstates",
    "tabular-afterstates": "afterstates",
    "certainty-equivalence": "afterstates",
    "monte-carlo": "afterstates",  # these two learn from masks alone, but find states by the tables of the game
    "q-learning": "afterstates",
    "ppo": "masks",
    "dqn": "masks",
    "fitted-q": "masks",
    "sb3-maskable-ppo": "masks",
    "sb3-ppo": "observations",
    "sb3-a2c": "observations",
    "sb3-dqn": "observations",
}


class RepositoryAgent:
    """A learner of `agents`.

    Args:
        algorithm: a key of `TRACKS_OF_LEARNERS`.
        env: the environment of a task.
        seed: the seed of the training.
    """

    def __init__(self, algorithm: str, env: TaskEnv, seed: int):
        self._algorithm = algorithm
        self._env = env
        self._seed = seed
        self._learner: Any = None

    def learn(self, steps: int) -> None:
        """Learn for the steps of a budget, with its preset."""
        learner_class = LEARNERS[self._algorithm]
        variant = next(name for name, number in BUDGETS.items() if number == steps)
        preset = read_preset(self._algorithm, None, variant)
        del preset["steps"]
        settings = make_settings(self._algorithm, preset)
        is_single = issubclass(learner_class, StockLearner)
        envs = self._env if is_single else self._env.vector(settings.num_envs)
        self._learner = learner_class(envs, settings, self._seed)
        self._learner.learn(steps)

    def predict(
        self, observations: Array, deterministic: bool = True, action_masks: Any = None
    ) -> tuple[IntArray, None]:
        """Return the best actions [B]."""
        if action_masks is None:
            action_masks = np.ones((len(observations), self._env.action_space.n))  # type: ignore[attr-defined]
        return self._learner.act(observations, np.asarray(action_masks, np.bool_)), None
