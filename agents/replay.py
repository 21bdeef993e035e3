"""A replay buffer of nodes: each transition is a row of 16 bytes, so that drawing one reads one place of memory."""

from typing import Any, NamedTuple

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import BaseBuffer

TRANSITION = np.dtype([("node", np.int32), ("action", np.int32), ("reward", np.float32), ("next", np.int32)])


class Samples(NamedTuple):
    """Transitions [B] drawn from the buffer: at `node`, `action` gave `reward` and led to the node `next`.

    Where the turn ended, `next` is the number of nodes, which no node has.
    """

    node: torch.Tensor
    action: torch.Tensor
    reward: torch.Tensor
    next: torch.Tensor


class NodeReplayBuffer(BaseBuffer):
    """The last `buffer_size` transitions, of all environments together.

    Args:
        buffer_size: the most transitions it holds.
        observation_space: that of `NodeVecEnv`, whose highest number, which no node has, stands for the end of a turn.
        action_space: that of `NodeVecEnv`.
        options: what else stable-baselines3 passes to replay buffers.

    Attributes:
        rows: [at most buffer_size] the transitions, of type TRANSITION.
    """

    observation_space: spaces.Box

    def __init__(self, buffer_size: int, observation_space: spaces.Space[Any], action_space: Any, **options: Any):
        options.pop("optimize_memory_usage")
        super().__init__(buffer_size, observation_space, action_space, **options)
        self._memory = np.zeros(buffer_size, TRANSITION)
        self._over = int(self.observation_space.high[0])

    @property
    def rows(self) -> NDArray[Any]:
        """The transitions it holds, as a view."""
        return self._memory[: self.buffer_size if self.full else self.pos]

    def add(self, obs: Any, next_obs: Any, action: Any, reward: Any, done: Any, infos: Any) -> None:
        """Add a transition of every environment."""
        places = (self.pos + np.arange(len(done))) % self.buffer_size
        for name, column in (
            ("node", obs[:, 0]),
            ("action", action),
            ("reward", reward),
            ("next", np.where(done, self._over, next_obs[:, 0])),
        ):
            self._memory[name][places] = column
        self.full = self.full or self.pos + len(done) >= self.buffer_size
        self.pos = (self.pos + len(done)) % self.buffer_size

    def sample(self, batch_size: int, env: Any = None) -> Samples:
        """Draw transitions uniformly, with replacement."""
        batch = self.rows[np.random.randint(len(self.rows), size=batch_size)]  # noqa: NPY002 (seeded with the others)
        columns = [torch.as_tensor(np.ascontiguousarray(batch[name])) for name in TRANSITION.names or ()]
        node, action, reward, following = columns
        return Samples(node.long(), action.long(), reward, following.long())

    def restore(self, rows: NDArray[Any], pos: int) -> None:
        """Replace its transitions by the `rows` of another buffer of this size, whose next place was `pos`."""
        self._memory[: len(rows)] = rows
        self.full, self.pos = len(rows) == self.buffer_size, pos

    def _get_samples(self, batch_inds: Any, env: Any = None) -> Any:
        raise NotImplementedError
