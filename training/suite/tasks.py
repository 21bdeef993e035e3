"""The eight tasks of the protocol and its budgets.

Tasks are ordered by the share of random play's regret that one greedy step on its action values leaves; see
docs/hardness.md.
"""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from stb_gym import RegretMeter
from stb_gym.solver import Measured
from training.results import TrainingTask

BUDGETS = {"200k": 200_000, "1m": 1_000_000}  # steps
SEEDS = 5
SAMPLED_TURNS = 10_000  # of a game too large for tables


@dataclass(frozen=True)
class SuiteTask(TrainingTask):
    """A task of the protocol: single turns.

    Attributes:
        masked: whether the agent gets masks of legal actions. Otherwise every action is reported as legal, and an
            illegal one ends the turn with the worst score.
    """

    masked: bool = True

    def make(self) -> "TaskEnv":
        """Return the environment of the task."""
        return TaskEnv(self) if self.masked else UnmaskedTaskEnv(self)

    def measure(self, agent: Any) -> Measured:
        """Measure an agent: exactly, or by sampled turns with exact losses if the game is too large for tables."""
        meter = RegretMeter(self.make().unwrapped, illegal="end")
        masked = None if self.masked else False
        return meter(agent, masked=masked) if meter.is_exact else meter.sample(agent, SAMPLED_TURNS, masked=masked)


BOX, DICE = "stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"
TASKS = {
    "twelve-tiles": SuiteTask(BOX, {"tiles": 12}),  # 0.013 %
    "nine-tiles": SuiteTask(BOX, {}),  # 0.075 %
    "nine-tiles-unmasked": SuiteTask(BOX, {}, masked=False),
    "sixteen-tiles": SuiteTask(BOX, {"tiles": 16, "dice": 3}),  # 0.46 %, too large for tables
    "twelve-tiles-shut": SuiteTask(BOX, {"tiles": 12, "objective": "shut"}),  # 6.0 %
    "unlucky-seven-shut": SuiteTask(BOX, {"ending_roll": 7, "objective": "shut"}),  # 11 %
    "threes": SuiteTask(DICE, {}),  # 20 %
    "seven-dice": SuiteTask(DICE, {"dice": 7}),  # 28 %
}


def all_legal(info: dict[str, Any]) -> dict[str, Any]:
    """Replace the masks of an info, and those of its `final_info`, by masks in which every action is legal."""
    for each in (info, info.get("final_info", {})):
        if "action_mask" in each:
            each["action_mask"] = np.ones_like(each["action_mask"])
    return info


class Unmasked:
    """A mixin of wrappers that reports every action as legal."""

    env: Any

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin turns."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, all_legal(info)

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take actions."""
        *transition, info = self.env.step(action)
        return (*transition, all_legal(info))

    def action_masks(self) -> Any:
        """Return [A] or [B, A] masks in which every action is legal."""
        return np.ones_like(self.env.unwrapped.action_masks())


class TaskEnv(gym.Wrapper[Any, Any, Any, Any]):
    """The environment of a task."""

    def __init__(self, task: SuiteTask):
        super().__init__(gym.make(task.env, **task.arguments))
        self.task = task

    def action_masks(self) -> Any:
        """Return [A] which actions are legal, as sb3-contrib asks for them."""
        return self.unwrapped.action_masks()  # type: ignore[attr-defined]

    def vector(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return a vector environment of the same task, which is much faster, in the autoreset mode SAME_STEP."""
        envs = gym.make_vec(self.task.env, num_envs, autoreset_mode="SameStep", **self.task.arguments)
        return envs if self.task.masked else AllLegal(envs)


class UnmaskedTaskEnv(Unmasked, TaskEnv):
    """The environment of a task without masks: it reports every action as legal."""


class AllLegal(Unmasked, gym.vector.VectorWrapper):
    """A vector environment that reports every action as legal; other attributes are those of the wrapped one."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.env, name)
