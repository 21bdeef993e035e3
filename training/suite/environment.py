"""The environment that an agent of exact-8 learns in: it hands out what a track allows, and counts the steps."""

from typing import Any

import gymnasium as gym
import numpy as np

from training.results import TrainingTask

TRACKS = {
    "rules": "everything: the rules, chances of throws, exact solutions",
    "afterstates": "observations, rewards, masks, and where each move leads before the dice are thrown",
    "masks": "observations, rewards, and masks of legal actions",
    "observations": "observations and rewards; every action seems legal, and an illegal one ends the turn",
}
MORE = 1.05  # of the budget may be played, so that the last rollout can be whole


class Budget:
    """The steps of a training, summed over all its environments."""

    def __init__(self, steps: int):
        self.steps = steps
        self.played = 0

    def play(self, steps: int) -> None:
        """Count steps.

        Raises:
            RuntimeError: if they are beyond the budget.
        """
        self.played += steps
        if self.played > MORE * self.steps:
            raise RuntimeError(f"the budget of {self.steps:,} steps is used up: learn(steps) must stop before")


class Tracked:
    """A mixin of wrappers of environments: it counts steps, and hands out what a track allows.

    Attributes:
        track: a key of `TRACKS`.
        budget: the steps.
    """

    env: Any
    track: str
    budget: Budget

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin turns."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._shown(info)

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take actions."""
        self.budget.play(getattr(self.env, "num_envs", 1))
        *transition, info = self.env.step(action)
        return (*transition, self._shown(info))

    def _shown(self, info: dict[str, Any]) -> dict[str, Any]:
        """Return an info; without masks, every action is legal in it and in its `final_info`."""
        if self.track == "observations":
            for each in (info, info.get("final_info", {})):
                if "action_mask" in each:
                    each["action_mask"] = np.ones_like(each["action_mask"])
        return info

    def action_masks(self) -> Any:
        """Return [A] or [B, A] True where an action is legal, as sb3-contrib asks; all True without masks."""
        masks = self.env.unwrapped.action_masks()
        return np.ones_like(masks) if self.track == "observations" else masks

    @property
    def unwrapped(self) -> Any:
        """The environment that knows the rules; this one if the track does not allow it."""
        return self.env.unwrapped if self.track in ("rules", "afterstates") else self


class TaskEnv(Tracked, gym.Wrapper[Any, Any, Any, Any]):
    """The environment of a task.

    Args:
        task: the task.
        track: a key of `TRACKS`.
        steps: the steps that may be played.
    """

    def __init__(self, task: TrainingTask, track: str, steps: int):
        super().__init__(gym.make(task.env, **task.arguments))
        self.task = task
        self.track = track
        self.budget = Budget(steps)

    def vector(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return a vector environment of the same task and budget, in the mode SAME_STEP; it is much faster."""
        envs = gym.make_vec(
            self.task.env, num_envs, autoreset_mode="SameStep", observation_dtype="uint8", **self.task.arguments
        )
        return TaskVectorEnv(envs, self.track, self.budget)


class TaskVectorEnv(Tracked, gym.vector.VectorWrapper):
    """A vector environment of a task; other attributes are those of `unwrapped`."""

    def __init__(self, envs: gym.vector.VectorEnv[Any, Any, Any], track: str, budget: Budget):
        super().__init__(envs)
        self.track = track
        self.budget = budget

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or self.unwrapped is self:
            raise AttributeError(f"the track {self.track} has no attribute {name}")
        return getattr(self.env, name)
