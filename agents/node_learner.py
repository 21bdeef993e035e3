"""What the learners over nodes share: they are algorithms of stable-baselines3 on the package's vector environment."""

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray
from stable_baselines3.common.base_class import BaseAlgorithm

from agents import stable_baselines
from agents.learner import Snapshot, Weights, named, part
from agents.vec_env import NodeVecEnv


class NodeLearner(BaseAlgorithm):
    """An algorithm of stable-baselines3 over the nodes of a game."""

    def _update_info_buffer(self, infos: Any, dones: Any = None) -> None:
        """Do nothing: the environments report no statistics of episodes."""

    @property
    def vec_env(self) -> NodeVecEnv:
        """The vector environment it learns from."""
        assert isinstance(self.env, NodeVecEnv)
        return self.env

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """See `Learner`."""
        stable_baselines.learn_until(self, steps, before_rollout)

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`."""
        return stable_baselines.weights(self)

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        stable_baselines.load_weights(self, weights)

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {**stable_baselines.snapshot(self), **named("envs", self.vec_env.envs.snapshot())}

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`."""
        stable_baselines.restore(self, snapshot)
        self.vec_env.envs.restore(part(snapshot, "envs"))
