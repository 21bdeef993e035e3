"""What all learners on stable-baselines3 share: learning up to a given step, snapshots and going on from one."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback

from agents.learner import Snapshot, Weights, named, part


def learn_until(algorithm: BaseAlgorithm, steps: int, before_rollout: Callable[[], None]) -> None:
    """See `Learner`."""
    callback = _BeforeRollout(before_rollout)
    algorithm.learn(steps - algorithm.num_timesteps, callback, log_interval=None, reset_num_timesteps=False)  # type: ignore[arg-type]


def weights(algorithm: BaseAlgorithm) -> dict[str, NDArray[Any]]:
    """See `Learner`."""
    return {name: tensor.numpy() for name, tensor in algorithm.policy.state_dict().items()}


def load_weights(algorithm: BaseAlgorithm, weights: Weights) -> None:
    """See `Learner`."""
    algorithm.policy.load_state_dict({name: torch.as_tensor(array) for name, array in weights.items()})


def snapshot(algorithm: BaseAlgorithm) -> dict[str, Any]:
    """Everything but its environments and its buffer, where `policy.optimizer` is its only optimizer."""
    optimizer = algorithm.policy.optimizer.state_dict()["state"]
    numpy_random = np.random.get_state(legacy=False)  # noqa: NPY002 (stable-baselines3 draws from it)
    assert isinstance(numpy_random, dict)
    key = numpy_random["state"].pop("key")
    return {
        "num_timesteps": algorithm.num_timesteps,
        "last_obs": algorithm._last_obs,
        "last_episode_starts": algorithm._last_episode_starts,
        "torch_random": torch.get_rng_state().numpy(),
        "numpy_random": numpy_random,
        "numpy_random_key": key,
        **named("weights", weights(algorithm)),
        **{
            f"optimizer.{n}.{key}": torch.as_tensor(entry).numpy()
            for n, state in optimizer.items()
            for key, entry in state.items()
        },
    }


def restore(algorithm: BaseAlgorithm, snapshot: Snapshot) -> None:
    """Replace what `snapshot` holds of an algorithm."""
    algorithm.num_timesteps = snapshot["num_timesteps"]
    algorithm._last_obs = snapshot["last_obs"]
    algorithm._last_episode_starts = snapshot["last_episode_starts"]
    load_weights(algorithm, part(snapshot, "weights"))
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, array in part(snapshot, "optimizer").items():
        number, key = name.split(".")
        state.setdefault(int(number), {})[key] = torch.as_tensor(array)
    groups = algorithm.policy.optimizer.state_dict()["param_groups"]
    algorithm.policy.optimizer.load_state_dict({"state": state, "param_groups": groups})
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
