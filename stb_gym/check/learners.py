"""What `stb_gym.check.update` gives to a learner, and what a learner must have."""

from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray
from stb_gym.check.batches import Arrays


@dataclass(frozen=True)
class UpdateTask:
    """The settings with which a learner must be made. Its optimiser must be plain SGD.

    Attributes:
        num_actions: A, the number of actions.
        num_steps: N, the number of transitions of one update.
        batch_size: the number of transitions in a minibatch; it divides `num_steps`.
        num_epochs: how often an update uses each transition.
        learning_rate: of all parameters.
        max_grad_norm: the norm to which the gradient of all parameters together is clipped.
        entropy_coefficient: the factor of the entropy bonus.
        value_coefficient: the factor of the value loss, which is the mean square of the error.
        discount: the discount of a step.
        lam: lambda of generalised advantage estimation; 1 for a learner without a critic, which learns from returns.
            The critic learns from the advantage plus the value.
        tau: how far a target network follows in one update of it; 1 would copy the network.
        num_features: O, the numbers of an observation.
    """

    num_actions: int
    num_steps: int
    batch_size: int
    num_epochs: int = 1
    learning_rate: float = 0.3
    max_grad_norm: float = 1e9
    entropy_coefficient: float = 0.05
    value_coefficient: float = 0.5
    discount: float = 0.9
    lam: float = 0.95
    tau: float = 0.25
    num_features: int = 8

    @property
    def env(self) -> gym.Env[Any, Any]:
        """An environment that has the spaces of the task alone: it cannot be stepped."""
        env: gym.Env[Any, Any] = gym.Env()
        env.observation_space = gym.spaces.Box(-np.inf, np.inf, (self.num_features,), np.float32)
        env.action_space = gym.spaces.Discrete(self.num_actions)
        return env


@dataclass(frozen=True)
class Transitions(Arrays):
    """N transitions of whole turns, back to back; nothing is truncated.

    Attributes:
        observation: [N, O] float32.
        action: [N] int64.
        reward: [N] float32.
        terminated: [N] True where the turn ends.
        mask: [N, A] True where an action is legal.
        next_observation: [N, O] float32, before any reset.
        next_mask: [N, A] True where an action is legal next; all True where the turn is over.
        log_prob: [N] float32, the log-probability of the action; zeros for a learner of action values.
        value: [N] float32, the learner's critic of the observation; zeros without one.
    """

    observation: NDArray[np.float32]
    action: NDArray[np.int64]
    reward: NDArray[np.float32]
    terminated: BoolArray
    mask: BoolArray
    next_observation: NDArray[np.float32]
    next_mask: BoolArray
    log_prob: NDArray[np.float32]
    value: NDArray[np.float32]

    @property
    def begins(self) -> BoolArray:
        """[N] True where a turn begins."""
        return np.append(True, self.terminated[:-1])


class Learner(Protocol):
    """What `update` needs from a learner: an adapter that puts these methods around a library.

    A learner of a policy also has `logits(observation)`, the scores [B, A] before any mask, and, if it has a critic,
    `values(observation)` [B]. A learner of action values has `q_values(observation)` [B, A] instead. If it has a target
    network, it has the module `target_network`, `target_q_values(observation)`, and perhaps `update_target()`, which
    makes one update of it with `tau`. All take a float32 tensor [B, O] and return tensors, with gradients.

    `distributions`, if present, are the names of installed packages whose versions the result should have.

    Attributes:
        network: a torch module with all parameters that an update may move.
    """

    network: Any

    def update(self, transitions: Transitions) -> None:
        """Put the transitions into the buffer of the library, and let it make one update."""
