"""What the learners on stable-baselines3 share: learning up to a given step, snapshots and going on from one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from agents.learner import Snapshot, Weights, named, part
from agents.vec_env import NodeVecEnv


class NodeLearner(BaseAlgorithm):
    """An algorithm of stable-baselines3 over the nodes of a game; `policy.optimizer` is its only optimizer."""

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """See `Learner`."""
        callback = _BeforeRollout(before_rollout)
        self.learn(steps - self.num_timesteps, callback, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]

    def _update_info_buffer(self, infos: Any, dones: Any = None) -> None:
        """Do nothing: the environments report no statistics of episodes."""

    @property
    def vec_env(self) -> NodeVecEnv:
        """The vector environment it learns from."""
        assert isinstance(self.env, NodeVecEnv)
        return self.env

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return {name: tensor.numpy() for name, tensor in self.policy.state_dict().items()}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        self.policy.load_state_dict({name: torch.as_tensor(array) for name, array in weights.items()})

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        optimizer = self.policy.optimizer.state_dict()["state"]
        numpy_random = np.random.get_state(legacy=False)  # noqa: NPY002 (stable-baselines3 draws from it)
        assert isinstance(numpy_random, dict)
        key = numpy_random["state"].pop("key")
        return {
            "num_timesteps": self.num_timesteps,
            "last_obs": self._last_obs,
            "last_episode_starts": self._last_episode_starts,
            "torch_random": torch.get_rng_state().numpy(),
            "numpy_random": numpy_random,
            "numpy_random_key": key,
            **named("weights", self.weights()),
            **named("envs", self.vec_env.envs.snapshot()),
            **{
                f"optimizer.{n}.{key}": tensor.numpy()
                for n, state in optimizer.items()
                for key, tensor in state.items()
            },
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        self.num_timesteps = snapshot["num_timesteps"]
        self._last_obs = snapshot["last_obs"]
        self._last_episode_starts = snapshot["last_episode_starts"]
        self.load_weights(part(snapshot, "weights"))
        self.vec_env.envs.restore(part(snapshot, "envs"))
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, array in part(snapshot, "optimizer").items():
            number, key = name.split(".")
            state.setdefault(int(number), {})[key] = torch.as_tensor(array)
        groups = self.policy.optimizer.state_dict()["param_groups"]
        self.policy.optimizer.load_state_dict({"state": state, "param_groups": groups})
        torch.set_rng_state(torch.as_tensor(snapshot["torch_random"]))
        numpy_random = dict(snapshot["numpy_random"])
        numpy_random["state"] = {**numpy_random["state"], "key": snapshot["numpy_random_key"]}
        np.random.set_state(numpy_random)  # noqa: NPY002


class _BeforeRollout(BaseCallback):
    def __init__(self, before_rollout: Callable[[], None]):
        super().__init__()
        self._before_rollout = before_rollout

    def _on_rollout_start(self) -> None:
        self._before_rollout()

    def _on_step(self) -> bool:
        return True
