"""The eight tasks of the protocol, from easy to hard, and its budgets.

A task's hardness is the share of random play's regret that one greedy step on its action values leaves; see
docs/hardness.md.
"""

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from stb_gym import Game, RegretMeter, ShutTheBox, Threes
from stb_gym.envs import TurnEnv, TurnVectorEnv
from stb_gym.solver import Measured

BUDGETS = {"200k": 200_000, "1m": 1_000_000}  # steps
SEEDS = 5
SAMPLED_TURNS = 10_000  # of a game too large for tables


@dataclass(frozen=True)
class Task:
    """A task of the protocol.

    Attributes:
        game: the rules.
        objective: what is rewarded.
        masked: whether the agent learns which actions are legal. Without masks all seem to be, and one that is not ends
            the turn with the worst score.
    """

    game: Game
    objective: str = "score"
    masked: bool = True

    def make(self) -> "TaskEnv":
        """Return the environment of the task."""
        return TaskEnv(self)

    def measure(self, agent: Any) -> Measured:
        """Measure an agent: exactly, or by sampled turns with exact losses if the game is too large for tables."""
        meter = RegretMeter(self.make(), illegal="end")
        masked = None if self.masked else False
        return meter(agent, masked=masked) if meter.is_exact else meter.sample(agent, SAMPLED_TURNS, masked=masked)


TASKS = {
    "twelve-tiles": Task(ShutTheBox(tiles=12)),  # 0.013 %
    "nine-tiles": Task(ShutTheBox()),  # 0.075 %
    "nine-tiles-unmasked": Task(ShutTheBox(), masked=False),
    "sixteen-tiles": Task(ShutTheBox(tiles=16, dice=3)),  # 0.46 %, too large for tables
    "twelve-tiles-shut": Task(ShutTheBox(tiles=12), "shut"),  # 6.0 %
    "unlucky-seven-shut": Task(ShutTheBox(ending_roll=7), "shut"),  # 11 %
    "threes": Task(Threes()),  # 20 %
    "seven-dice": Task(Threes(dice=7)),  # 28 %
}


class TaskEnv(gym.Wrapper[Any, Any, Any, Any]):
    """The environment of a task, a wrapper that says of a task without masks that all actions are legal."""

    def __init__(self, task: Task):
        super().__init__(TurnEnv(task.game, objective=task.objective))
        self.task = task

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a turn."""
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._shown(info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        *results, info = self.env.step(action)
        return (*results, self._shown(info))

    def _shown(self, info: dict[str, Any]) -> dict[str, Any]:
        return info if self.task.masked else info | {"action_mask": np.ones_like(info["action_mask"])}

    def action_masks(self) -> Any:
        """Return [A] which actions are legal, as sb3-contrib asks for them."""
        masks = self.unwrapped.action_masks()  # type: ignore[attr-defined]
        return masks if self.task.masked else np.ones_like(masks)

    def vector(self, num_envs: int) -> gym.vector.VectorEnv[Any, Any, Any]:
        """Return a vector environment of the same task, which is much faster, in the autoreset mode SAME_STEP."""
        mode = AutoresetMode.SAME_STEP
        envs = TurnVectorEnv(self.task.game, num_envs, objective=self.task.objective, autoreset_mode=mode)
        return envs if self.task.masked else _AllLegal(envs)


class _AllLegal(gym.vector.VectorWrapper):
    """Says that all actions are legal."""

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin turns."""
        observations, infos = self.env.reset(seed=seed, options=options)
        return observations, self._shown(infos)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take an action in every environment."""
        *results, infos = self.env.step(actions)
        return (*results, self._shown(infos))

    def _shown(self, infos: dict[str, Any]) -> dict[str, Any]:
        infos["action_mask"] = np.ones_like(infos["action_mask"])
        if "final_info" in infos:
            infos["final_info"]["action_mask"] = np.ones_like(infos["final_info"]["action_mask"])
        return infos
