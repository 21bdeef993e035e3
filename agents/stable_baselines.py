"""Agents of stable-baselines3 and sb3-contrib as learners: trained up to a step, measured, and brought back to it.

This module changes nothing of theirs. What a snapshot has to hold of an agent has no public name there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from agents.learner import Snapshot, Weights, explored
from agents.networks import load, weights_of
from agents.optimizers import remember, remembered
from agents.snapshots import check_like, named, part
from stb_gym.envs import TurnEnv, TurnVectorEnv, restore_generator

BUFFER = ("observations", "next_observations", "actions", "rewards", "dones", "timeouts")
EXPLORATION = "exploration_rate"


class StableBaselines:
    """An agent of the library, see `Learner`.

    Args:
        model: the agent, with a policy whose `optimizer` is its only one.
        env: the environment, or the vector environment, that it learns from.
        reward_scale: what rewards are multiplied by there.

    Attributes:
        model: the agent.
    """

    def __init__(self, model: BaseAlgorithm, env: TurnEnv | TurnVectorEnv, reward_scale: float):
        self.model: Any = model
        self._env, self._reward_scale = env, reward_scale

    @property
    def num_timesteps(self) -> int:
        """See `Learner`."""
        return int(self.model.num_timesteps)

    @property
    def figures(self) -> dict[str, float]:
        """See `Learner`; what the library logs of its training."""
        logged = self.model.logger.name_to_value if hasattr(self.model, "_logger") else {}
        return {
            name.removeprefix("train/"): float(value) for name, value in logged.items() if name.startswith("train/")
        }

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """See `Learner`."""
        callback = _BeforeRollout(before_rollout)
        self.model.learn(steps - self.num_timesteps, callback, log_interval=None, reset_num_timesteps=False)

    def _seen(self, observations: NDArray[Any]) -> torch.Tensor:
        seen: torch.Tensor = self.model.policy.obs_to_tensor(observations)[0]
        return seen

    def _sees(self, observations: NDArray[Any]) -> bool:
        """Whether observations [B, ...] are some that it may see."""
        return all(map(self.model.observation_space.contains, observations))

    def _unscaled(self, values: torch.Tensor) -> NDArray[np.float64]:
        return np.asarray(values, np.float64) / self._reward_scale

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return weights_of(self.model.policy)

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        load(self.model.policy, weights)

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        numpy_random = np.random.get_state(legacy=False)  # noqa: NPY002 (stable-baselines3 draws from it)
        assert isinstance(numpy_random, dict)
        key = numpy_random["state"].pop("key")
        return {
            "num_timesteps": self.num_timesteps,
            "n_updates": self.model._n_updates,
            "last_obs": self.model._last_obs,
            "last_episode_starts": self.model._last_episode_starts,
            "torch_random": torch.get_rng_state().numpy(),
            "numpy_random": numpy_random,
            "numpy_random_key": key,
            **named("weights", self.weights()),
            **named("optimizer", remembered(self.model.policy.optimizer)),
            **named("env", self._env.snapshot()),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        self.model._last_obs = self.model.env.reset()  # so that the wrappers of the environment let it step, too
        self.model._last_episode_starts = np.ones(self.model.n_envs, np.bool_)
        check_like(snapshot, self.snapshot(), growing=["buffer"], but=["optimizer", "env"])
        remember(self.model.policy.optimizer, part(snapshot, "optimizer"))
        numpy_random = {**snapshot["numpy_random"], "state": {**snapshot["numpy_random"]["state"]}}
        numpy_random["state"]["key"] = snapshot["numpy_random_key"]
        if numpy_random["state"]["pos"] > len(snapshot["numpy_random_key"]) or not self._sees(snapshot["last_obs"]):
            raise ValueError("random numbers or observations are none")
        np.random.set_state(numpy_random)  # noqa: NPY002
        torch.set_rng_state(torch.as_tensor(snapshot["torch_random"]))
        self._env.restore(part(snapshot, "env"))
        self.model.num_timesteps, self.model._n_updates = snapshot["num_timesteps"], snapshot["n_updates"]
        self.model._last_obs = snapshot["last_obs"]
        self.model._last_episode_starts = snapshot["last_episode_starts"]
        self.load_weights(part(snapshot, "weights"))


class ActorCritic(StableBaselines):
    """A PPO, A2C or MaskablePPO of the library."""

    @torch.no_grad()
    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`; only a MaskablePPO heeds masks."""
        asked = {"action_masks": masks} if isinstance(self.model, MaskablePPO) else {}
        return self.model.policy.get_distribution(self._seen(observations), **asked).distribution.probs.numpy()

    @torch.no_grad()
    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return self._unscaled(self.model.policy.predict_values(self._seen(observations))[:, 0])


class QLearner(StableBaselines):
    """A DQN or QR-DQN of the library, whose exploration falls from step to step."""

    def __init__(self, *arguments: Any):
        super().__init__(*arguments)
        self.model.exploration_rate = self.model.exploration_schedule(1.0)  # which the library sets after a step

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
            "action_random": self.model.action_space.np_random.bit_generator.state,
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        super().restore(snapshot)
        buffer, rows = self.model.replay_buffer, part(snapshot, "buffer")
        size, *others = {len(array) for array in rows.values()}
        if others or max(size, snapshot["buffer_pos"] + 1) > buffer.buffer_size:
            raise ValueError("the buffer has other rows than this learner's")
        restore_generator(self.model.action_space.np_random, snapshot["action_random"])
        for name, array in rows.items():
            getattr(buffer, name)[: len(array)] = array
        buffer.pos, buffer.full = snapshot["buffer_pos"], size == buffer.buffer_size
        self.model._n_calls = snapshot["n_calls"]


class _BeforeRollout(BaseCallback):
    def __init__(self, before_rollout: Callable[[], None]):
        super().__init__()
        self._before_rollout = before_rollout

    def _on_rollout_start(self) -> None:
        self._before_rollout()

    def _on_step(self) -> bool:
        return True
