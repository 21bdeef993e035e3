"""Deep Q-learning (DQN) with double Q-learning and masks for illegal actions, in one file.

A network estimates Q(s, a), the sum of rewards after action a in state s. The file follows algorithm 1 of the
first paper, which repeats three steps:

1. Play: take the legal action with the highest Q-value, or with probability epsilon a random legal action.
2. Replay: store the transition in a ring buffer and draw a random minibatch of stored transitions.
3. Update: move Q(s, a) towards reward + gamma * Q'(s', best legal a'). A target network, which is a copy of the network
   made every `target_period` updates, computes Q'. The network itself chooses a': this is double Q-learning.

Turns have few distinct observations, so the networks evaluate equal rows of a batch once, which only saves time.
docs/agents.md lists the settings that are not the papers'.

References:
    Mnih et al., "Human-level control through deep reinforcement learning", 2015.
    van Hasselt et al., "Deep reinforcement learning with double Q-learning", 2016.
"""

from copy import deepcopy
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from pydantic import Field, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from agents.common import (
    Array,
    BoolArray,
    Callback,
    Critic,
    Float32Array,
    Learner,
    Share,
    State,
    Transition,
    VectorEnv,
    perceptron,
    unique_rows,
)
from stb_gym.arrays import IntArray


@dataclass(frozen=True)
class DQNSettings:
    """Settings of DQN; the defaults suit 5 million steps on nine tiles."""

    num_envs: PositiveInt = 512
    """Environments that are stepped together."""
    gradient_steps: PositiveInt = 1
    """Updates after each step of all environments."""
    batch_size: PositiveInt = 8192
    """Transitions in an update."""
    replay_size: PositiveInt = 1_000_000
    """Transitions that the replay holds; new ones replace the oldest."""
    warm_up: PositiveInt = 20_000
    """Steps before the first update."""
    target_period: PositiveInt = 100
    """Updates between two copies of the network to the target network."""
    learning_rate: PositiveFloat = 4e-3
    """Learning rate of Adam at the start; it decays linearly to 0."""
    gamma: Share = 1.0
    """Discount of rewards per step; 1 for none."""
    final_exploration: Share = 0.1
    """Probability of a random action after epsilon has decayed linearly from 1."""
    exploration_decay: Annotated[float, Field(gt=0, le=1)] = 0.1
    """Share of the training during which epsilon decays."""
    huber_delta: PositiveFloat = 10.0
    """Error beyond which the loss is linear. If it is small, Q-values tend to medians instead of means."""
    max_gradient_norm: PositiveFloat = 10.0
    """Largest norm of a gradient; larger gradients are scaled down."""
    width: PositiveInt = 128
    """Units in each of the two hidden layers."""


class Minibatch(NamedTuple):
    """N transitions.

    Attributes:
        observation: [N, ...].
        action: [N].
        reward: [N].
        terminated: [N] True where the episode ended.
        next_observation: [N, ...].
        next_mask: [N, A] True where an action is legal at the next observation; as bits while it is stored.
    """

    observation: Array
    action: IntArray
    reward: Float32Array
    terminated: BoolArray
    next_observation: Array
    next_mask: Array


class Replay:
    """A ring buffer of transitions; masks are stored as bits.

    Args:
        size: the number of transitions that it holds.
        space: the observation space.
        actions: the number of actions A.

    Attributes:
        added: how many transitions were added so far.
    """

    def __init__(self, size: int, space: Any, actions: int):
        self.added = 0
        self._actions = actions
        self._columns = Minibatch(
            observation=np.zeros((size, *space.shape), space.dtype),
            action=np.zeros(size, np.int64),
            reward=np.zeros(size, np.float32),
            terminated=np.zeros(size, np.bool_),
            next_observation=np.zeros((size, *space.shape), space.dtype),
            next_mask=np.zeros((size, (actions + 7) // 8), np.uint8),
        )

    def add(self, observation: Array, action: IntArray, step: Transition) -> None:
        """Store one transition of each environment in place of the oldest ones."""
        bits = np.packbits(step.next_mask, axis=1)
        new = Minibatch(observation, action, step.reward, step.terminated, step.next_observation, bits)
        index = (self.added + np.arange(len(action))) % len(self._columns.action)
        for column, rows in zip(self._columns, new, strict=True):
            column[index] = rows
        self.added += len(action)

    def sample(self, size: int, generator: torch.Generator) -> Minibatch:
        """Return `size` stored transitions, drawn uniformly with replacement."""
        stored = min(self.added, len(self._columns.action))
        index = torch.randint(stored, (size,), generator=generator).numpy()
        drawn = Minibatch(*(column[index] for column in self._columns))
        mask = np.unpackbits(drawn.next_mask, axis=1, count=self._actions).astype(np.bool_)
        return drawn._replace(next_mask=mask)

    def state_dict(self) -> State:
        """Return all transitions."""
        return {"added": self.added, "columns": [torch.as_tensor(column) for column in self._columns]}

    def load_state_dict(self, state: State) -> None:
        """Restore the transitions."""
        self.added = state["added"]
        for column, stored in zip(self._columns, state["columns"], strict=True):
            column[:] = stored.numpy()


def double_q_values(q_values: torch.Tensor, target_q_values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return [N] the target network's values of the legal actions that the network prefers.

    Args:
        q_values: [N, A] by the network.
        target_q_values: [N, A] by the target network.
        mask: [N, A] True where an action is legal.
    """
    action = q_values.masked_fill(~mask, -torch.inf).argmax(dim=1, keepdim=True)
    return target_q_values.gather(1, action)[:, 0]


class DQN(Learner):
    """Masked double DQN; a `Learner` of observations and masks.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/ShutTheBox-v0", 64, autoreset_mode="SameStep")
        >>> learner = DQN(envs, DQNSettings(num_envs=64, warm_up=1000))
        >>> learner.learn(2048)
    """

    settings_class = DQNSettings
    title = "masked DQN, `agents/dqn.py`"
    method = "double DQN with masks in play and in the target"
    source = "Mnih et al. (2015), van Hasselt et al. (2016)"
    plays_rounds = True
    make_network = staticmethod(perceptron)  # a subclass may make another one
    WEIGHTS = ("_network",)
    SAVED = (
        "num_steps", "_network", "_target_network", "_optimizer", "_replay", "_random", "_episodes", "_updates",
    )  # fmt: skip

    def __init__(self, envs: VectorEnv, settings: DQNSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._random = torch.Generator().manual_seed(seed)
        space, actions = envs.single_observation_space, self._episodes.actions
        self._network = self.make_network(space, settings.width, actions, 0.1, self._random).to(self._device)
        self._target_network = deepcopy(self._network)
        self._optimizer = torch.optim.Adam(self._network.parameters(), fused=True)
        self._replay = Replay(settings.replay_size, space, actions)
        self._updates = 0

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`; a rollout is one step of all environments."""
        settings = self.settings
        while self.num_steps < total_steps:
            callback()
            progress = self.num_steps / total_steps
            decayed = min(progress / settings.exploration_decay, 1)
            epsilon = 1 + decayed * (settings.final_exploration - 1)
            self._optimizer.param_groups[0]["lr"] = settings.learning_rate * (1 - progress)
            self._play(epsilon)
            if self.num_steps >= settings.warm_up:
                for _ in range(settings.gradient_steps):
                    self._update(self._replay.sample(settings.batch_size, self._random))

    def _play(self, epsilon: float) -> None:
        """Take an epsilon-greedy action in every environment and store the transitions."""
        observation, mask = self._episodes.observation, self._episodes.mask
        distinct, row = unique_rows(observation, mask)
        greedy = self.act(observation[distinct], mask[distinct])[row]
        preference = torch.rand(mask.shape, generator=self._random).numpy()
        random_action = np.where(mask, preference, -1).argmax(axis=1)
        explores = torch.rand(len(mask), generator=self._random).numpy() < epsilon
        action = np.where(explores, random_action, greedy)
        self._replay.add(observation, action, self._episodes.step(action))
        self.num_steps += len(action)

    def _update(self, batch: Minibatch) -> None:
        """Take one gradient step on a minibatch; copy the network to the target network when it is time."""
        settings = self.settings
        with torch.no_grad():
            distinct, row = unique_rows(batch.next_observation, batch.next_mask)
            next_observation, next_mask = batch.next_observation[distinct], self._tensor(batch.next_mask[distinct])
            target_q_values = self._target_network(self._tensor(next_observation))
            next_value = double_q_values(self._q_values(next_observation), target_q_values, next_mask)
            next_value = next_value[self._tensor(row)].masked_fill(self._tensor(batch.terminated), 0)
            target = self._tensor(batch.reward) + settings.gamma * next_value
        distinct, row = unique_rows(batch.observation)
        q_value = self._q_values(batch.observation[distinct])[self._tensor(row), self._tensor(batch.action)]
        loss = torch.nn.functional.huber_loss(q_value, target, delta=settings.huber_delta)
        self._optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._network.parameters(), settings.max_gradient_norm)
        self._optimizer.step()
        self._updates += 1
        if self._updates % settings.target_period == 0:
            self._target_network.load_state_dict(self._network.state_dict())
        self.figures = {"loss": loss.item()}

    @property
    def critic(self) -> Critic:
        """See `Learner`."""
        return self._q_values

    def _q_values(self, observations: Array) -> torch.Tensor:
        return self._network(self._tensor(observations))

    @torch.no_grad()
    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        return np.where(masks, self._q_values(observations).numpy(force=True), -np.inf).argmax(axis=1)
