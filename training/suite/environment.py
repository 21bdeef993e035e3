"""The environment that an agent of exact-8 learns in: it hands out what a track allows, and counts the steps."""

import os
from typing import Any

import numpy as np

from agents.custom import AgentEnv, CountedVectorEnv
from training.results import TrainingTask

TRACKS = {
    "rules": "everything: the rules, chances of throws, exact solutions",
    "afterstates": "observations, rewards, masks, and where each move leads before the dice are thrown",
    "masks": "observations, rewards, and masks of legal actions",
    "observations": "observations and rewards; every action seems legal, and an illegal one ends the turn",
}
MORE = 1.05  # times the budget is the limit, so that the last rollout can be whole


class Steps:
    """A count of steps that copies of an environment share, in the process that made it."""

    def __init__(self) -> None:
        self.made = 0
        self.process = os.getpid()

    def __deepcopy__(self, memo: Any) -> "Steps":
        return self


class Tracked:
    """A mixin of wrappers of environments: it hands out what a track allows, and refuses steps beyond the budget.

    Attributes:
        task_env: the environment of the task, which counts the steps of all.
    """

    env: Any
    task_env: Any

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin turns.

        Raises:
            ValueError: if the options choose a position or a throw, and the track does not allow everything.
        """
        if self.task_env.track != "rules" and (chosen := sorted({*(options or {})} - {"reset_mask"})):
            raise ValueError(f"the track {self.task_env.track} begins turns at random, without the options {chosen}")
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._shown(info)

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take actions.

        Raises:
            RuntimeError: if the steps of the budget are used up, or this is another process.
        """
        *transition, info = super().step(action)  # type: ignore[misc]
        budget = self.task_env.budget
        if self.task_env.num_steps > MORE * budget:
            raise RuntimeError(f"the budget of {budget:,} steps is used up: learn(steps) must stop before")
        return (*transition, self._shown(info))

    def _shown(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return an info; without masks, every action is legal in it and in its `final_info`."""
        if self.task_env.track == "observations":
            for each in (info, info.get("final_info", {})):
                if "action_mask" in each:
                    each["action_mask"] = np.ones_like(each["action_mask"])
        return info

    def action_masks(self) -> Any:
        """Return [A] or [B, A] True where an action is legal, as sb3-contrib asks; all True without masks."""
        masks = self.env.unwrapped.action_masks()
        return np.ones_like(masks) if self.task_env.track == "observations" else masks

    @property
    def unwrapped(self) -> Any:
        """The environment that knows the rules; this one if the track does not allow it."""
        return self.env.unwrapped if self.task_env.track in ("rules", "afterstates") else self


class TaskVectorEnv(Tracked, CountedVectorEnv):
    """A vector environment of a task; other attributes are those of `unwrapped`."""

    def __getattr__(self, name: str) -> Any:
        if name in ("env", "task_env"):  # of an object that is being copied
            raise AttributeError(name)
        if name.startswith("_") or self.unwrapped is self:
            raise AttributeError(f"the track {self.task_env.track} has no attribute {name}")
        return getattr(self.env, name)


class TaskEnv(Tracked, AgentEnv):
    """The environment of a task. Copies of it count their steps together.

    Args:
        task: the task.
        track: a key of `TRACKS`.
        budget: the steps that may be played.
    """

    vector_class = TaskVectorEnv

    def __init__(self, task: TrainingTask, track: str, budget: int):
        self._steps = Steps()
        super().__init__(task.env, task.arguments)
        self.track = track
        self.budget = budget
        self.task_env = self

    @property
    def num_steps(self) -> int:
        """Steps made so far here, in copies, and in the environments of `vector`."""
        return self._steps.made

    @num_steps.setter
    def num_steps(self, made: int) -> None:
        if os.getpid() != self._steps.process:
            raise RuntimeError("steps in another process are not counted: use env.vector(num_envs)")
        self._steps.made = made
