"""Stock agents: the classes of stable-baselines3 and sb3-contrib as they are, on one environment from `gym.make`.

They are what a reader starts from: `PPO("MlpPolicy", gym.make(ID), seed=0)` with the library's default settings. This
module changes nothing of theirs; it makes them, measures them exactly, and takes and restores their snapshots. By
default rewards are discounted by 0.99, so what these agents expect is a little nearer to 0 than the sum of rewards.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, cast

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO

from agents import stable_baselines
from agents.learner import Learner, Snapshot, Weights, explored, named, part
from stb_gym.envs import TurnEnv

BUFFER = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
EXPLORATION = "exploration_rate"


@dataclass(frozen=True)
class StockSettings:
    """Settings of a stock agent: none of its own, and one of its environment."""

    reward_scale: float
    """What rewards are multiplied by."""
    masks: ClassVar[bool] = False
    """Whether the agent asks the environment for its mask."""
    first_update: ClassVar[int] = 0
    """0: no learning rate falls with the steps."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        if self.reward_scale == 0:
            raise ValueError("reward_scale must be above 0, or nothing is rewarded")


@dataclass(frozen=True)
class MaskedStockSettings(StockSettings):
    """Settings of a stock agent with masks."""

    masks: ClassVar[bool] = True


class StockLearner:
    """A stock agent, see `Learner`.

    Args:
        algorithm: its class.
        env: the environment.
        settings: its settings, with which the environment was made.
        seed: of the dice, the network and the exploration.

    Attributes:
        model: the agent.
    """

    def __init__(self, algorithm: Callable[..., Any], env: gym.Env[Any, Any], settings: StockSettings, seed: int):
        self.model = algorithm("MlpPolicy", env, seed=seed, device="cpu")  # the same numbers with a GPU or without
        self._settings = settings
        self._env = cast(TurnEnv, env.unwrapped)

    @property
    def num_timesteps(self) -> int:
        """See `Learner`."""
        return self.model.num_timesteps

    @property
    def figures(self) -> dict[str, float]:
        """See `Learner`; what the library logs of its training."""
        logged = self.model.logger.name_to_value if self.num_timesteps else {}
        return {
            name.removeprefix("train/"): float(value) for name, value in logged.items() if name.startswith("train/")
        }

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """See `Learner`."""
        stable_baselines.learn_until(self.model, steps, before_rollout)

    def _seen(self, observations: NDArray[Any]) -> torch.Tensor:
        return self.model.policy.obs_to_tensor(observations)[0]

    def _unscaled(self, values: torch.Tensor) -> NDArray[np.float64]:
        return np.asarray(values, np.float64) / self._settings.reward_scale

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return stable_baselines.weights(self.model)

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        stable_baselines.load_weights(self.model, weights)

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {**stable_baselines.snapshot(self.model), **named("env", self._env.snapshot())}

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        self.model.env.reset()  # so that the wrappers of the environment let it step
        stable_baselines.restore(self.model, snapshot)
        self._env.restore(part(snapshot, "env"))


class StockActorCritic(StockLearner):
    """A stock PPO, A2C or MaskablePPO."""

    @torch.no_grad()
    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`."""
        asked = {"action_masks": masks} if self._settings.masks else {}
        return self.model.policy.get_distribution(self._seen(observations), **asked).distribution.probs.numpy()

    @torch.no_grad()
    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return self._unscaled(self.model.policy.predict_values(self._seen(observations))[:, 0])


class StockQLearner(StockLearner):
    """A stock DQN or QR-DQN, whose exploration falls from step to step."""

    @torch.no_grad()
    def _estimates(self, observations: NDArray[Any]) -> torch.Tensor:
        """[B, A] the return that it expects of each action."""
        policy, seen = self.model.policy, self._seen(observations)
        return policy.quantile_net(seen).mean(dim=1) if hasattr(policy, "quantile_net") else policy.q_net(seen)

    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`; it knows no masks."""
        greedy = self._estimates(observations).argmax(dim=1).numpy()
        return explored(np.ones_like(masks), greedy, self.model.exploration_rate)

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return self._unscaled(self._estimates(observations).max(dim=1).values)

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return {**super().weights(), EXPLORATION: np.array([self.model.exploration_rate])}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        super().load_weights({name: array for name, array in weights.items() if name != EXPLORATION})
        self.model.exploration_rate = float(weights[EXPLORATION][0])

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        buffer = self.model.replay_buffer
        return {
            **super().snapshot(),
            **named("buffer", {name: getattr(buffer, name)[: buffer.size()] for name in BUFFER}),
            "buffer_pos": buffer.pos,
            "n_calls": self.model._n_calls,
            EXPLORATION: self.model.exploration_rate,
            "action_random": self.model.action_space.np_random.bit_generator.state,
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        super().restore(snapshot)
        buffer = self.model.replay_buffer
        for name, rows in part(snapshot, "buffer").items():
            getattr(buffer, name)[: len(rows)] = rows
        buffer.pos, buffer.full = snapshot["buffer_pos"], len(rows) == buffer.buffer_size
        self.model._n_calls = snapshot["n_calls"]
        self.model.exploration_rate = snapshot[EXPLORATION]
        self.model.action_space.np_random.bit_generator.state = snapshot["action_random"]


STOCK: dict[str, tuple[type[StockSettings], Callable[..., Learner]]] = {
    "sb3-ppo": (StockSettings, partial(StockActorCritic, PPO)),
    "sb3-a2c": (StockSettings, partial(StockActorCritic, A2C)),
    "sb3-dqn": (StockSettings, partial(StockQLearner, DQN)),
    "sb3-qr-dqn": (StockSettings, partial(StockQLearner, QRDQN)),
    "sb3-maskable-ppo": (MaskedStockSettings, partial(StockActorCritic, MaskablePPO)),
}
