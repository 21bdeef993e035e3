"""Masked DQN of observations and masks alone; double DQN and QR-DQN are settings of it.

    target of a move = mean over all that ever followed it of: reward + max over legal a of q(next observation, a)

Mnih et al., "Human-level control through deep reinforcement learning", 2015; van Hasselt et al., "Deep reinforcement
learning with double Q-learning", 2016; Dabney et al., "Distributional reinforcement learning with quantile regression",
2018. What differs from the first paper, and from stable-baselines3's DQN (sb3):

- The replay holds every distinct transition of a training, with how often it was seen (paper, sb3: the last million
  samples). So a target is the mean over all that followed a move (paper, sb3: one sample).
- Moves that led to the same position with the same reward may share what followed (`pooled`; paper, sb3: none do).
- An update is of positions, with all moves made there (paper, sb3: of 32 moves, one position each).
- The value of a next position is of the weights when it was last in an update; before the first, of those when it was
  met, or nothing (`value_new`; paper, sb3: of weights copied every 10,000 updates, or steps).
- The loss is the square, weighted by a power of how often the move was made (paper: with clipped errors, sb3: Huber's).
- Illegal actions are masked in targets and in play (paper: there are none, sb3: not known).
- Rewards are divided by the greatest sum of an episode so far (paper: cut to -1 .. 1, sb3: as they are), and not
  discounted (paper, sb3: 0.99).
- Muon for the matrices of hidden layers, Adam for the rest (paper: RMSProp, sb3: Adam); layer normalisation (none); the
  learning rate falls to 0 (constant); what is measured are averaged weights (the learned ones).
- Exploration is constant after a warm-up (paper, sb3: falls linearly from 1 to 0.1, or to 0.05).

What a move leads to does not depend on the policy that made it: old transitions are as good as new ones. What is kept
grows with the positions seen, so this is for environments where they come again. Quantiles are learned from samples
of what followed, and without Huber's loss, as by the third paper's QR-DQN-0.
"""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from agents.learner import Snapshot, VectorEnv, Weights, check_exploration, check_positive, check_shares, explored
from agents.networks import Perceptron, average, load, weights_of
from agents.optimizers import Optimizer
from agents.playing import SCALE, Playing
from agents.replay import OVER, Positions, Replay
from agents.returns import best, losses
from agents.snapshots import named, part, take_up
from stb_gym.games import IntArray

MAX_GRADIENT_NORM = 10.0


@dataclass(frozen=True)
class DQNSettings:
    """Settings of DQN."""

    masks: bool
    """Whether illegal actions are masked; without masks the environment has to say what they do."""
    num_envs: int
    """Environments that are stepped at once."""
    batch_size: int
    """Positions in an update, all of them if there are no more."""
    gradient_steps: int
    """Updates after every step of all environments."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0."""
    averaging: float
    """How far the averaged weights move towards the learned ones in an update; 1 for no average."""
    exploration: float
    """Probability of a random legal action after the warm-up, in which all actions are random."""
    warm_up: int
    """Steps before the first update."""
    weighting: float
    """Power of how often a move was made by which it is weighted: 1 for as often, 0 for all moves alike."""
    width: int
    """Units in each of the two hidden layers."""
    pooled: bool
    """Whether moves that led to the same position with the same reward share all that followed; see `Replay`."""
    value_new: bool
    """Whether a new position is valued by the network at once; else it is worth nothing until its first update. For
    tasks most of whose positions are new."""
    double: bool
    """Whether in targets the averaged weights value what the learned ones choose."""
    quantiles: int
    """Estimates of the return of every action: 1 for its mean, more for as many quantiles of it."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_exploration(self.exploration)
        check_shares(self, "averaging")
        check_positive(self, "averaging", "learning_rate")

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn."""
        return self.num_envs * max(1, math.ceil(self.warm_up / self.num_envs))


class DQN:
    """Learns the return of every action from observations and masks alone.

    Args:
        envs: the vector environment, with arrays as observations and numbered actions. A row without a legal action is
            no decision: whatever is done there is not learned from, and its future is worth nothing.
        settings: its settings.
        seed: of the environment, the network and the exploration.
        device: where the networks are, as torch names it.

    Attributes:
        num_timesteps: steps made so far, in all environments together.
        figures: of the last update, by name, for a log.
    """

    def __init__(self, envs: VectorEnv, settings: DQNSettings, seed: int = 0, device: str = "cpu"):
        settings.check()
        self.settings, self._device = settings, torch.device(device)
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        self._playing, weights = Playing(envs, settings.masks, seed), torch.Generator().manual_seed(seed)
        space, outputs = envs.single_observation_space, self._playing.actions * settings.quantiles
        self._network = Perceptron(space, settings.width, outputs, 0.1, weights).to(self._device)
        self._average = deepcopy(self._network).requires_grad_(False)
        self._optimizer = Optimizer(self._network, max_gradient=MAX_GRADIENT_NORM)
        self._positions = Positions(self._playing.observation[0], self._playing.actions)
        self._here = self._positions.numbers(self._playing.observation, self._playing.mask)
        self._replay = Replay(self._playing.actions, settings.pooled)
        self._worth = np.zeros((0, settings.quantiles), np.float32)
        self.num_timesteps, self.figures = 0, dict[str, float]()

    def learn_until(self, steps: int, before_rollout: Callable[[], None] = lambda: None) -> None:
        """See `Learner`; a rollout is one step of all environments."""
        while self.num_timesteps < steps:
            before_rollout()
            self._play()
            if self.num_timesteps >= self.settings.warm_up:
                self._learn(self.settings.learning_rate * max(1 - self.num_timesteps / steps, 0.0))

    def _play(self) -> None:
        """Take an action in every environment and keep what it led to."""
        playing, here, decision = self._playing, self._here, self._playing.decision
        action = self._choose(here)
        step = playing.step(action)
        self._here = self._positions.numbers(playing.observation, playing.mask)
        following = np.where(step.terminated, OVER, self._here)
        following[step.truncated] = self._positions.numbers(step.last, step.last_mask)
        self._replay.add(here[decision], action[decision], following[decision], step.reward[decision])
        self.num_timesteps += len(here)

    def _choose(self, here: IntArray) -> IntArray:
        """[B] the best action at positions [B], sometimes a random one."""
        masks = self._positions.masks(here)
        action = np.where(masks, self._random.random(masks.shape, np.float32), -1).argmax(axis=1)
        if self.num_timesteps >= self.settings.warm_up:
            greedy = self._random.random(len(here)) >= self.settings.exploration
            distinct, place = np.unique(here[greedy], return_inverse=True)
            estimates = self._estimates(self._network, self._positions.observations[distinct])
            action[greedy] = best(estimates, self._positions.masks(distinct))[place]
        return action

    def _learn(self, learning_rate: float) -> None:
        """Update the networks; what followed is worked out once for all updates."""
        self._replay.count()
        self._value_new()
        returns = self._replay.returns(self._worth, self._playing.scale, self._random)
        for drawn in self._positions.draws(self.settings.gradient_steps, self.settings.batch_size, self._random):
            observations = torch.as_tensor(self._positions.observations[drawn]).to(self._device)
            estimates = self._network(observations).view(len(drawn), -1, self.settings.quantiles)
            self._value(drawn, estimates.numpy(force=True))
            target, weight = (torch.as_tensor(array).to(self._device) for array in self._targets(drawn, returns))
            made = weight > 0
            loss = (weight[made] * losses(estimates[made], target[made])).sum() / weight.sum().clamp(min=1)
            self._optimizer.step(loss, learning_rate)
            average(self._average, self._network, self.settings.averaging)
        self.figures = {"loss": loss.item(), "learning_rate": learning_rate}

    def _targets(self, drawn: IntArray, returns: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """[B, A, K] what followed each move at positions [B], and [B, A] its weight: 0 for those never made."""
        place, move = self._replay.moves_at(drawn)
        action = self._replay.moves[move] % self._playing.actions
        targets = np.zeros((len(drawn), self._playing.actions, self.settings.quantiles), np.float32)
        weights = np.zeros(targets.shape[:2], np.float32)
        targets[place, action] = returns[move]
        weights[place, action] = self._replay.counts[move] ** self.settings.weighting
        return targets, weights

    def _value_new(self) -> None:
        """Value the positions met since the last update where that is a setting; else they are worth nothing yet."""
        known, decisions = len(self._worth), self._positions.decisions
        self._worth = np.pad(self._worth, ((0, len(self._positions) - known), (0, 0)))
        if self.settings.value_new:
            new = decisions[decisions.searchsorted(known) :]
            self._value(new, self._estimates(self._network, self._positions.observations[new]))

    def _value(self, drawn: IntArray, estimates: NDArray[np.float32]) -> None:
        """Keep what positions [B] are worth by their estimates [B, A, K]: targets are made of it."""
        chosen = best(estimates, self._positions.masks(drawn))
        if self.settings.double:
            estimates = self._estimates(self._average, self._positions.observations[drawn])
        self._worth[drawn] = estimates[np.arange(len(drawn)), chosen]

    @torch.no_grad()
    def _estimates(self, network: Perceptron, observations: NDArray[Any]) -> NDArray[np.float32]:
        """[B, A, K] by a network, at observations [B, ...]."""
        estimates = network(torch.as_tensor(observations).to(self._device)).numpy(force=True)
        shaped: NDArray[np.float32] = estimates.reshape(-1, self._playing.actions, self.settings.quantiles)
        return shaped

    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`; the probabilities if the averaged weights explored."""
        legal = masks if self.settings.masks else np.ones_like(masks)
        return explored(legal, best(self._estimates(self._average, observations), legal), self.settings.exploration)

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        estimates = self._estimates(self._average, observations)
        chosen = best(estimates, masks if self.settings.masks else np.ones_like(masks))
        return estimates[np.arange(len(chosen)), chosen].mean(axis=1).astype(np.float64) * self._playing.scale

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`; the averaged weights, and the scale of rewards, as they tell values divided by it."""
        return {**weights_of(self._average), SCALE: np.asarray(self._playing.scale)}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        self._playing.scale = weights[SCALE].item()
        for network in (self._average, self._network):
            load(network, weights)

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "num_timesteps": self.num_timesteps,
            "random": self._random.bit_generator.state,
            "worth": self._worth,
            **named("weights", self.weights()),
            **named("learned", weights_of(self._network)),
            **named("optimizer", self._optimizer.snapshot()),
            **named("positions", self._positions.snapshot()),
            **named("replay", self._replay.snapshot()),
            **named("playing", self._playing.snapshot()),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`; where the environment has no snapshot, it goes on with new episodes."""
        self._positions = Positions(self._positions.observations[0], self._playing.actions)
        parts = {name: getattr(self, f"_{name}").restore for name in ("positions", "replay", "optimizer", "playing")}
        take_up(self, snapshot, self._random, {**parts, "weights": self.load_weights}, growing=["worth"])
        if max(len(snapshot["worth"]) - 1, self._replay.last_position) >= len(self._positions):
            raise ValueError("there are worths or transitions of positions that were not seen")
        self.num_timesteps, self._worth = snapshot["num_timesteps"], snapshot["worth"].copy()
        load(self._network, part(snapshot, "learned"))
        self._here = self._positions.numbers(self._playing.observation, self._playing.mask)
