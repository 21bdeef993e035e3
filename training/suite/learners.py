"""The learners of `agents` as agents of the protocol, with the same settings on all tasks: their presets by budget."""

from typing import Any

import numpy as np

from agents.common import Array
from agents.presets import Config, make_settings, read_preset
from agents.registry import LEARNERS
from stb_gym.arrays import IntArray
from stb_gym.games import fits
from training.suite.tasks import BUDGETS, AllLegal, TaskEnv


class RepositoryAgent:
    """A learner of `agents`.

    Learners of afterstates and tabular ones know the moves, and so choose legal actions where masks are missing, too.
    Learners that need tables play randomly where the game is too large for them.

    Args:
        algorithm: one of `agents.registry.LEARNERS`.
        env: the environment of a task.
        seed: the seed of the training.
    """

    def __init__(self, algorithm: str, env: TaskEnv, seed: int):
        self._algorithm, self._env, self._seed = algorithm, env, seed
        self._learner: Any = None
        self._random = np.random.default_rng(seed)

    def learn(self, steps: int) -> None:
        """Learn for the steps of a budget."""
        task = self._env.task
        if LEARNERS[self._algorithm].needs_tables and not fits(task.game):
            return
        variant = next(name for name, number in BUDGETS.items() if number == steps)
        preset = read_preset(self._algorithm, None, variant)
        del preset["steps"]
        settings = make_settings(self._algorithm, preset)
        config = Config(self._algorithm, task.env, task.arguments, settings, steps, self._seed)
        envs = config.make_envs()
        if not task.masked:
            envs = AllLegal(envs) if hasattr(envs, "num_envs") else self._env
        self._learner = config.make_learner(envs)
        self._learner.learn(steps)

    def predict(
        self, observations: Array, deterministic: bool = True, action_masks: Any = None
    ) -> tuple[IntArray, None]:
        """Return the most probable actions [B]."""
        masks = np.ones((len(observations), self._env.action_space.n), np.bool_)  # type: ignore[attr-defined]
        if action_masks is not None:
            masks = np.asarray(action_masks, np.bool_)
        if self._learner is None:
            return (masks * self._random.random(masks.shape)).argmax(axis=1), None
        return self._learner.act(observations, masks), None
