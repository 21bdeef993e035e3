"""Masked DQN that sees observations and masks; double DQN and QR-DQN are settings of it.

    target = reward + max over legal a of q(next observation, a), or the reward alone where the turn is over

Mnih et al., "Human-level control through deep reinforcement learning", 2015; van Hasselt et al., "Deep reinforcement
learning with double Q-learning", 2016; Dabney et al., "Distributional reinforcement learning with quantile regression",
2018. What differs from the paper, and from stable-baselines3:

|                      | here                              | paper of 2015            | stable-baselines3         |
|----------------------|-----------------------------------|--------------------------|---------------------------|
| illegal actions      | masked, in targets and in play    | there are none           | not known                 |
| loss                 | square, as outcomes are random    | square, errors clipped   | Huber                     |
| discount             | none, turns end                   | 0.99                     | 0.99                      |
| reward               | divided by the largest of warm-up | cut to -1 .. 1           | as it is                  |
| targets              | of the weights after every step   | of weights copied every  | of weights copied every   |
|                      | of all games                      | 10,000 updates           | 10,000 steps              |
| double DQN values by | averaged weights                  | 2016: copied weights     | not offered               |
| is measured with     | averaged weights                  | learned weights          | learned weights           |
| optimizer            | Muon for the hidden layers, Adam  | RMSProp                  | Adam                      |
| learning rate        | falls linearly to 0               | 0.00025                  | 0.0001                    |
| layers               | normalised                        | not                      | not                       |
| exploration          | constant after the warm-up        | 1 falling to 0.1         | 1 falling to 0.05         |
| replay               | all transitions of a training     | the last million         | the last million          |
| updates              | `gradient_steps` after each step  | one after every 4 steps  | one after every 4 steps   |
|                      | of `num_envs` games               | of one game              | of one game               |

Old transitions are as good as new ones, since what a move leads to does not depend on the policy that chose it. The
quantiles are learned without a Huber loss, as by the paper's QR-DQN-0: it would make expectiles of them.
"""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from agents.learner import explored, named, part
from agents.networks import Perceptron, adam_state, load_adam_state
from agents.replay import OVER, Positions, Replay

ILLEGAL_VALUE = -1e8  # of illegal actions, below every value there is
MAX_GRADIENT_NORM = 10.0


@dataclass(frozen=True)
class DQNSettings:
    """Settings of DQN."""

    masks: bool
    """Whether illegal actions are masked."""
    num_envs: int
    """Games that are played at once."""
    batch_size: int
    """Transitions in an update."""
    gradient_steps: int
    """Updates after every step of all games."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0."""
    averaging: float
    """How far the averaged weights move towards the learned ones in an update; 1 for no average."""
    exploration: float
    """Probability of a random legal action after the warm-up, in which all actions are random."""
    warm_up: int
    """Steps before the first update."""
    replay_size: int
    """The most transitions that are kept."""
    width: int
    """Units in each of the two hidden layers."""
    double: bool
    """Whether in targets the averaged weights value what the learned ones choose."""
    quantiles: int
    """Estimates of the return of every action: 1 for its mean, more for as many quantiles of it."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn."""
        return self.warm_up


class DQN:
    """Learns the return of every action from observations and masks alone.

    Args:
        envs: any Gymnasium vector environment whose infos tell the `action_mask`. A row without a legal action is no
            decision: whatever is done there is not learned from, and its future is worth nothing.
        settings: its settings.
        seed: of the dice, the network, the exploration and the replay.
        device: where the networks are.
    """

    def __init__(self, envs: Any, settings: DQNSettings, seed: int, device: str = "cpu"):
        self._envs, self._settings, self._device = envs, settings, torch.device(device)
        self._same_step = envs.metadata.get("autoreset_mode") == gym.vector.AutoresetMode.SAME_STEP
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        space, self._actions = envs.single_observation_space, int(envs.single_action_space.n)
        weights, outputs = torch.Generator().manual_seed(seed), self._actions * settings.quantiles
        self._network = Perceptron(space, settings.width, outputs, 0.1, weights).to(self._device)
        self._average = deepcopy(self._network).requires_grad_(False)
        hidden, others = hidden_and_other(self._network)
        muon = torch.optim.Muon(hidden, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
        self._optimizers: tuple[torch.optim.Optimizer, ...] = (muon, torch.optim.Adam(others))
        self._positions = Positions(np.zeros(space.shape, space.dtype), self._actions)
        self._replay = Replay(settings.replay_size)
        self._reward_scale = 0.0
        self.num_timesteps, self.figures = 0, dict[str, float]()
        observations, infos = envs.reset(seed=seed)
        self._here = self._positions.numbers(observations, infos["action_mask"])

    def learn_until(self, steps: int, before_rollout: Callable[[], None]) -> None:
        """Play and learn until `num_timesteps` is `steps`, or a little more."""
        while self.num_timesteps < steps:
            before_rollout()
            self._play()
            if self.num_timesteps >= self._settings.warm_up:
                remaining = max(1 - self.num_timesteps / steps, 0.0)
                for group in (group for optimizer in self._optimizers for group in optimizer.param_groups):
                    group["lr"] = self._settings.learning_rate * remaining
                self._learn()

    def _play(self) -> None:
        """Make a move in every game and keep what it led to."""
        here, masks = self._here, self._positions.masks[self._here]
        decides, warm_up = masks.any(axis=1), self.num_timesteps < self._settings.warm_up
        actions = (self._random.random(masks.shape, np.float32) * masks).argmax(axis=1)
        if not warm_up:
            greedy = self._random.random(len(here)) >= self._settings.exploration
            distinct, place = np.unique(here[greedy], return_inverse=True)
            actions[greedy] = self._greedy(self._network, distinct)[0].numpy(force=True)[place]
        observations, rewards, over, cut, infos = self._envs.step(actions)
        self._here = following = self._positions.numbers(observations, infos["action_mask"])
        if self._same_step and cut.any():  # what they show now is the next turn
            following = following.copy()
            following[cut] = self._positions.numbers(
                np.stack(infos["final_obs"][cut].tolist()), np.stack(infos["final_info"]["action_mask"][cut].tolist())
            )
        kept = here[decides], actions[decides], rewards[decides], np.where(over, OVER, following)[decides]
        self._replay.add(*kept)
        self.num_timesteps += len(here)
        if warm_up:
            self._reward_scale = max(self._reward_scale, float(np.abs(rewards).max()))

    def _learn(self) -> None:
        """Update the networks on transitions drawn from the replay; the targets are computed once for all updates."""
        size = self._settings.batch_size
        batch = self._replay.sample(self._settings.gradient_steps * size, self._random)
        rewards = torch.as_tensor(batch.reward / (self._reward_scale or 1)).to(self._device)
        targets = rewards[:, None] + self._future(batch.next)
        for first in range(0, len(targets), size):
            drawn = slice(first, first + size)
            distinct, place = np.unique(batch.position[drawn], return_inverse=True)
            seen = torch.as_tensor(self._positions.observations[distinct]).to(self._device)
            estimates = self._network(seen).view(-1, self._settings.quantiles)
            chosen = torch.as_tensor(place * self._actions + batch.action[drawn]).to(self._device)
            loss = quantile_loss if self._settings.quantiles > 1 else nn.functional.mse_loss
            for optimizer in self._optimizers:
                optimizer.zero_grad()
            loss(estimates.index_select(0, chosen), targets[drawn]).backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self._network.parameters(), MAX_GRADIENT_NORM)
            for optimizer in self._optimizers:
                optimizer.step()
            for average, learned in zip(self._average.parameters(), self._network.parameters(), strict=True):
                average.lerp_(learned.detach(), self._settings.averaging)

    def _future(self, positions: NDArray[Any]) -> torch.Tensor:
        """[B, K] the return from positions [B] on, 0 where none is to be expected."""
        met = np.bincount(positions, minlength=len(self._positions)) > 0
        distinct = np.flatnonzero(met & self._positions.masks.any(axis=1))
        best, estimates = self._greedy(self._network, distinct)
        if self._settings.double:
            _, estimates = self._greedy(self._average, distinct)
        future = torch.zeros(len(met), self._settings.quantiles, device=self._device)
        future[torch.as_tensor(distinct)] = estimates[torch.arange(len(best)), best]
        return future[torch.as_tensor(positions).to(self._device).long()]

    def _greedy(self, network: nn.Module, positions: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
        return self._best(network, self._positions.observations[positions], self._positions.masks[positions])

    @torch.no_grad()
    def _best(self, network: nn.Module, observations: Any, masks: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """[B] the legal actions whose estimates have the greatest mean, and all estimates [B, A, K]."""
        illegal = ~torch.as_tensor(masks).to(self._device).bool()
        estimates = network(torch.as_tensor(observations).to(self._device)).view(*illegal.shape, -1)
        return estimates.mean(dim=2).masked_fill(illegal, ILLEGAL_VALUE).argmax(dim=1), estimates

    def probabilities(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.float32]:
        """[B, A] the probability of each action if the averaged weights explored; the greedy one has the highest."""
        greedy = self._best(self._average, observations, masks)[0].numpy(force=True)
        return explored(masks.astype(np.bool_), greedy, self._settings.exploration)

    def values(self, observations: NDArray[Any], masks: NDArray[Any]) -> NDArray[np.float64]:
        """[B] the sum of rewards it expects to the end of the turn."""
        best, estimates = self._best(self._average, observations, masks)
        value = estimates[torch.arange(len(best)), best].mean(dim=1).numpy(force=True)
        return value.astype(np.float64) * (self._reward_scale or 1)

    def weights(self) -> dict[str, NDArray[Any]]:
        """What it is measured with: the averaged weights, by name."""
        scale = {"reward_scale": np.asarray(self._reward_scale)}
        return scale | {name: weight.numpy(force=True).copy() for name, weight in self._average.state_dict().items()}

    def load_weights(self, weights: Mapping[str, NDArray[Any]]) -> None:
        """Replace what it has learned by weights of the same names and shapes."""
        self._reward_scale = float(weights["reward_scale"])
        tensors = {name: torch.as_tensor(weight) for name, weight in weights.items() if name != "reward_scale"}
        self._average.load_state_dict(tensors)
        self._network.load_state_dict(tensors)

    def snapshot(self) -> dict[str, Any]:
        """Everything needed to go on from here, if the environment has a snapshot: arrays and what JSON can hold."""
        learned = {name: weight.numpy(force=True).copy() for name, weight in self._network.state_dict().items()}
        seen = {"observations": self._positions.observations[1:], "masks": self._positions.masks[1:]}
        return {
            "num_timesteps": self.num_timesteps,
            "random": self._random.bit_generator.state,
            "here": self._here,
            **named("weights", self.weights()),
            **named("learned", learned),
            **named("muon", adam_state(self._optimizers[0])),
            **named("adam", adam_state(self._optimizers[1])),
            **named("positions", seen),
            **named("replay", self._replay.snapshot()),
            **named("envs", self._envs.snapshot()),
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot of a learner made alike exactly as that one would have, bit by bit."""
        self.num_timesteps, self._here = snapshot["num_timesteps"], snapshot["here"].copy()
        self._random.bit_generator.state = snapshot["random"]
        self.load_weights(part(snapshot, "weights"))
        learned = part(snapshot, "learned")
        self._network.load_state_dict({name: torch.as_tensor(weight) for name, weight in learned.items()})
        for name, optimizer in zip(("muon", "adam"), self._optimizers, strict=True):
            load_adam_state(optimizer, part(snapshot, name))
        self._positions = Positions(self._positions.observations[0], self._actions)
        self._positions.numbers(**part(snapshot, "positions"))
        self._replay.restore(part(snapshot, "replay"))
        self._envs.restore(part(snapshot, "envs"))


def hidden_and_other(network: Perceptron) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The matrices of the hidden layers, which Muon is made for, and all other weights."""
    *layers, _ = (layer for layer in network.layers if isinstance(layer, nn.Linear))
    hidden = [layer.weight for layer in layers]
    return hidden, [weight for weight in network.parameters() if all(weight is not other for other in hidden)]


def quantile_loss(estimates: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """The loss of K quantiles [B, K] against equally likely samples of the return [B, K]."""
    quantiles = estimates.shape[1]
    level = (torch.arange(quantiles, device=estimates.device) + 0.5)[:, None] / quantiles
    error = targets[:, None, :] - estimates[:, :, None]
    return torch.where(error < 0, (level - 1) * error, level * error).mean()
