"""Neural fitted Q iteration on a learned model of the environment.

The learner keeps every distinct transition that it has seen with the number of times that it was seen. This is an
empirical model of the environment. Again and again it fits a network to the action values of that model:

    target of a move = mean over all transitions of the move of: reward + value of the next position
    value of a position = max over its legal actions of q(position, action)

A position is what the learner sees: an observation and its mask. A move is an action at a position. The dynamics of the
environment do not depend on the policy, so old transitions are as good as new ones, and the empirical model converges
to the environment. The method treats it as if it were the environment (certainty equivalence).

What to know when you come from DQN:

- There is no replay of samples. A target is the exact mean over all transitions of a move, without sampling noise.
- There is no target network. Each position stores the value that the network gave it when the position was last in an
  update, or in the first fit after it was met.
- An update is a batch of distinct moves, drawn without replacement, not a batch of sampled transitions. All moves have
  the same weight, however often they were made.
- Moves that ever led to the same next position with the same reward share their transitions. This is right if a move
  leads to an afterstate, and chance acts from there on. It is wrong where different probabilities can lead to the same
  position, as on slippery ice.
- Rewards are divided by the largest absolute reward so far, and they are not discounted.

Memory grows with the number of distinct positions, so the method suits environments whose positions recur. If opponents
learn too, old transitions describe opponents that no longer play.

References:
    Ernst, Geurts and Wehenkel, "Tree-based batch mode reinforcement learning", 2005.
    Riedmiller, "Neural fitted Q iteration: first experiences with a data efficient neural reinforcement learning
    method", 2005.
"""

import numpy as np
import torch
from pydantic import NonNegativeInt, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from agents.common import (
    Array,
    BoolArray,
    Callback,
    Critic,
    Exploration,
    Float32Array,
    FloatArray,
    Learner,
    State,
    Stored,
    VectorEnv,
    hash_rows,
    perceptron,
    unique_rows,
)
from stb_gym.arrays import IntArray

OVER = 0  # the index that stands for the end of an episode; positions are numbered from 1
TRANSITION = np.dtype([("position", np.int32), ("action", np.int32), ("next", np.int32), ("reward", np.float32)])
GROWTH = 0.02  # new transitions are counted once they are more than this share of the counted ones


@dataclass(frozen=True)
class FittedQSettings:
    """Settings of fitted Q iteration; the defaults suit 10 million steps on nine tiles."""

    num_envs: PositiveInt = 8192
    """Environments that are stepped at once."""
    batch_size: PositiveInt = 512
    """Moves in an update, all of them if there are no more."""
    gradient_steps: PositiveInt = 20
    """Updates after every step of all environments."""
    learning_rate: PositiveFloat = 3e-3
    """Learning rate at the start; it falls linearly to 0."""
    exploration: Exploration = 0.3
    """Probability of a random legal action after the warm-up."""
    warm_up: NonNegativeInt = 20_000
    """Steps of random play before the first update."""
    width: PositiveInt = 128
    """Units in each of the two hidden layers."""


class PositionIndex(Stored):
    """An index of the distinct positions, numbered from 1 in the order in which they are met.

    A position is identified by a 64-bit hash of its observation and mask.

    Args:
        observation: an array of the shape and type of one observation.
        actions: the number of actions A.

    Attributes:
        observations: [P, ...] the observations of all positions; row 0, zeros, stands for the end of an episode.
    """

    SAVED = ("observations", "_masks")

    def __init__(self, observation: Array, actions: int):
        self._actions = actions
        self.observations = np.zeros((1, *observation.shape), observation.dtype)
        self._masks = np.zeros((1, -(-actions // 8)), np.uint8)  # packed bits
        self._number: dict[int, int] = {}  # from hash to index

    def __len__(self) -> int:
        """Return the number of positions, and 1 more for the end."""
        return len(self.observations)

    def masks(self, numbers: IntArray) -> BoolArray:
        """Return bool [B, A] the legal actions at positions of indices [B]; none at the end."""
        return np.unpackbits(self._masks[numbers], axis=1, count=self._actions).view(np.bool_)

    def numbers(self, observations: Array, masks: BoolArray) -> IntArray:
        """Return [B] the indices of positions; new positions are added.

        Args:
            observations: [B, ...].
            masks: [B, A] True where an action is legal.
        """
        bits = np.packbits(masks, axis=1)
        hashes, first, inverse = np.unique(hash_rows(observations, bits), return_index=True, return_inverse=True)
        numbers = np.array([self._number.setdefault(key, len(self._number) + 1) for key in hashes.tolist()], np.int64)
        new = first[numbers >= len(self)]
        if len(new):
            self.observations = np.concatenate([self.observations, observations[new]])
            self._masks = np.concatenate([self._masks, bits[new]])
        return numbers[inverse]

    def load_state_dict(self, state: State) -> None:
        """Replace all positions by those of a saved state."""
        super().load_state_dict(state)
        hashes = hash_rows(self.observations, self._masks).tolist()
        self._number = {key: number for number, key in enumerate(hashes) if number != OVER}


class EmpiricalModel:
    """Every distinct transition, with the number of times that it was seen.

    Args:
        actions: the number of actions A.
        pools_moves: whether moves that had the same outcome share their transitions, see `linked_moves`.

    Attributes:
        moves: [M] the moves that were made, as position * A + action, in ascending order.
    """

    def __init__(self, actions: int, pools_moves: bool = True):
        self._actions = actions
        self._pools_moves = pools_moves
        self._transitions: Array = np.zeros(0, TRANSITION)
        self._times: Array = np.zeros(0)
        self._waiting: list[Array] = []
        self._index()

    def add(self, position: IntArray, action: IntArray, following: IntArray, reward: Array) -> None:
        """Add transitions.

        Args:
            position: [B] indices of positions.
            action: [B] the actions taken there.
            following: [B] the indices of the next positions, OVER where the episode ended.
            reward: [B] the rewards.
        """
        new = np.empty(len(position), TRANSITION)
        new["position"], new["action"], new["next"], new["reward"] = position, action, following, reward
        self._waiting.append(new)

    def count(self) -> None:
        """Merge new transitions into the counts once there are more than GROWTH times the old ones."""
        new = sum(len(part) for part in self._waiting)
        if new <= GROWTH * self._times.sum():
            return
        transitions = np.concatenate([self._transitions, *self._waiting])
        times = np.concatenate([self._times, np.ones(new)])
        first, inverse = unique_rows(transitions.view(np.uint8).reshape(-1, TRANSITION.itemsize))
        self._transitions, self._times = transitions[first], np.bincount(inverse, times)
        self._waiting = []
        self._index()

    def means(self, values: Array) -> FloatArray:
        """Return [M] the mean of reward + value of the next position over all transitions of each move.

        Args:
            values: [P] the values of positions, 0 for OVER.
        """
        returns = self._times * (self._transitions["reward"] + values[self._transitions["next"]])
        means = np.bincount(self._pool, returns) / np.bincount(self._pool, self._times)
        return means[self._pool_of_move]

    def _index(self) -> None:
        """Find the moves, the pool [T] of each transition, and the pool [M] of each move."""
        move = self._transitions["position"].astype(np.int64) * self._actions + self._transitions["action"]
        self.moves, move = np.unique(move, return_inverse=True)
        self._pool_of_move: IntArray = np.arange(len(self.moves))
        continues = self._transitions["next"] != OVER
        if self._pools_moves and continues.any():
            seen = self._transitions[continues]
            _, outcome = unique_rows(seen["next"], seen["reward"])
            self._pool_of_move = linked_moves(move[continues], outcome, len(self.moves))
        self._pool = self._pool_of_move[move]

    def state_dict(self) -> State:
        """Return the counted transitions as bytes, their counts, and the transitions that are not counted yet."""
        waiting = np.concatenate([self._transitions[:0], *self._waiting])
        return {
            "transitions": torch.as_tensor(self._transitions.view(np.uint8)),
            "times": torch.as_tensor(self._times),
            "waiting": torch.as_tensor(waiting.view(np.uint8)),
        }

    def load_state_dict(self, state: State) -> None:
        """Replace all transitions by those of a saved state."""
        self._transitions = state["transitions"].numpy().view(TRANSITION)
        self._times = state["times"].numpy()
        self._waiting = [state["waiting"].numpy().view(TRANSITION)]
        self._index()


def linked_moves(move: IntArray, outcome: IntArray, moves: int) -> IntArray:
    """Return [M] the pool of each move: moves with a common outcome share a pool, directly or by a chain of moves.

    Args:
        move: [T] the moves of transitions.
        outcome: [T] the indices of their outcomes.
        moves: the number of moves M.

    Example:
        >>> import numpy as np
        >>> linked_moves(np.array([0, 1, 1, 2, 3]), np.array([0, 0, 1, 1, 2]), 5).tolist()
        [0, 0, 0, 1, 2]
    """
    vertices = moves + outcome.max() + 1
    links = coo_array((np.ones(len(move)), (move, moves + outcome)), (vertices, vertices))
    _, pool = connected_components(links, directed=False)
    return pool[:moves]


class FittedQ(Learner):
    """A learner of action values by neural fitted Q iteration; see the module and `Learner`.

    Its figures are the loss, the learning rate and the number of distinct moves.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/Threes-v0", 64, autoreset_mode="SameStep")
        >>> learner = FittedQ(envs, FittedQSettings(num_envs=64, warm_up=500), seed=1)
        >>> learner.learn(1000)
        >>> learner.num_steps
        1024
    """

    settings_class = FittedQSettings
    title = "fitted Q, `agents/fitted_q.py`"
    method = "neural fitted Q iteration on the empirical model"
    source = "Riedmiller (2005), Ernst et al. (2005)"
    plays_rounds = True
    make_network = staticmethod(perceptron)  # a subclass may make another one
    WEIGHTS = ("_network", "_scale")
    SAVED = ("num_steps", "_network", "_scale", "_optimizer", "_episodes", "_positions", "_model", "_values", "_random")

    def __init__(self, envs: VectorEnv, settings: FittedQSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._random = np.random.default_rng([seed, 1])
        generator = torch.Generator().manual_seed(seed)
        space, actions = envs.single_observation_space, self._episodes.actions
        self._network = self.make_network(space, settings.width, actions, 0.1, generator).to(self._device)
        self._optimizer = torch.optim.Adam(self._network.parameters(), eps=1e-5, fused=True)
        self._positions = PositionIndex(self._episodes.observation[0], actions)
        self._current = self._positions.numbers(self._episodes.observation, self._episodes.mask)
        self._model = EmpiricalModel(actions)
        self._values = np.zeros(1, np.float32)  # by index of the position; 0 for OVER
        self._scale = float(np.finfo(np.float32).tiny)

    def scale_of(self, reward: Float32Array) -> float:
        """Return what rewards are divided by from now on, given the last ones [B]."""
        return max(self._scale, float(np.abs(reward).max()))

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`; a rollout is one step of all environments."""
        while self.num_steps < total_steps:
            callback()
            self._play()
            if self.num_steps >= self.settings.warm_up:
                self._fit(self.settings.learning_rate * max(1 - self.num_steps / total_steps, 0.0))

    def _play(self) -> None:
        """Take an action in every environment and add the transitions to the model."""
        position, action = self._current, self._choose()
        step = self._episodes.step(action)
        self._current = self._positions.numbers(self._episodes.observation, self._episodes.mask)
        following = np.where(step.terminated, OVER, self._current)
        cut = step.truncated & ~step.terminated
        following[cut] = self._positions.numbers(step.next_observation[cut], step.next_mask[cut])
        self._model.add(position, action, following, step.reward)
        self._scale = self.scale_of(step.reward)
        self.num_steps += len(action)

    def _choose(self) -> IntArray:
        """Return [B] the best actions, or random ones with probability `exploration`, and always in the warm-up."""
        mask = self._episodes.mask
        action = np.where(mask, self._random.random(mask.shape, np.float32), -1).argmax(axis=1)
        if self.num_steps >= self.settings.warm_up:
            greedy = self._random.random(len(mask)) >= self.settings.exploration
            distinct, inverse = np.unique(self._current[greedy], return_inverse=True)
            best = self.act(self._positions.observations[distinct], self._positions.masks(distinct))
            action[greedy] = best[inverse]
        return action

    def _fit(self, learning_rate: float) -> None:
        """Fit the network to the targets of the model, in `gradient_steps` updates."""
        self._model.count()
        new = np.arange(len(self._values), len(self._positions))
        self._values = np.append(self._values, np.zeros(len(new), np.float32))
        self._value(new, self._q(self._positions.observations[new]))
        targets = (self._model.means(self._values) / self._scale).astype(np.float32)
        batch_size = min(self.settings.batch_size, len(self._model.moves))
        for _ in range(self.settings.gradient_steps):
            drawn = self._random.choice(len(self._model.moves), batch_size, replace=False, shuffle=False)
            position, action = np.divmod(self._model.moves[drawn], self._episodes.actions)
            distinct, row = np.unique(position, return_inverse=True)
            q = self._network(self._tensor(self._positions.observations[distinct]))
            self._value(distinct, q.numpy(force=True))
            loss = (q[row, action] - self._tensor(targets[drawn])).square().mean()
            self._optimizer.param_groups[0]["lr"] = learning_rate
            self._optimizer.zero_grad()
            loss.backward()
            self._optimizer.step()
        self.figures = {"loss": loss.item(), "learning_rate": learning_rate, "moves": len(self._model.moves)}

    def _value(self, numbers: IntArray, q: Float32Array) -> None:
        """Store the values of positions [B], given the outputs [B, A] of the network."""
        self._values[numbers] = _legal_q(q, self._positions.masks(numbers)).max(axis=1) * self._scale

    @torch.no_grad()
    def _q(self, observations: Array) -> Float32Array:
        """Return [B, A] the values of actions, divided by the scale."""
        return self._network(self._tensor(observations)).numpy(force=True)

    @property
    def critic(self) -> Critic:
        """See `Learner`."""
        return lambda observations: self._q(observations) * self._scale

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        return _legal_q(self._q(observations), masks).argmax(axis=1)

    def load_state_dict(self, state: State) -> None:
        """See `Stored`."""
        super().load_state_dict(state)
        self._current = self._positions.numbers(self._episodes.observation, self._episodes.mask)


def _legal_q(q: Float32Array, masks: BoolArray) -> Float32Array:
    """Return [B, A] action values, -inf where an action is illegal."""
    return np.where(masks, q, np.float32(-np.inf))
