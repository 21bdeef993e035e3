"""Proximal policy optimization (PPO) with masks for illegal actions, in one file.

The file follows algorithm 1 of the paper. PPO repeats:

1. Rollout: the actor plays some steps in every environment.
2. Advantages: the critic estimates how much better each action was than the policy's average.
3. Update: a few passes over the samples raise the probabilities of actions with a positive advantage and lower the
   others. The clipped objective gains nothing from moving a probability far in one update.

Illegal actions have probability 0, in the rollout and in the update. Turns have few distinct observations, so the
networks evaluate equal rows of a batch once, which only saves time. docs/agents.md lists the settings that are not the
paper's.

References:
    Schulman et al., "Proximal policy optimization algorithms", 2017.
    Schulman et al., "High-dimensional continuous control using generalized advantage estimation", 2016.
    Huang and Ontañón, "A closer look at invalid action masking in policy gradient algorithms", 2020.
"""

from typing import Annotated, NamedTuple

import numpy as np
import torch
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass

from agents.common import (
    Array,
    BoolArray,
    Callback,
    Critic,
    Float32Array,
    Learner,
    Share,
    VectorEnv,
    plain_perceptron,
    unique_rows,
)
from stb_gym.arrays import IntArray


@dataclass(frozen=True)
class PPOSettings:
    """Settings of PPO; the defaults suit 10 million steps on nine tiles."""

    num_envs: PositiveInt = 4096
    """Environments that are stepped together."""
    num_steps: PositiveInt = 16
    """Steps in every environment between two updates."""
    epochs: PositiveInt = 4
    """Passes over the samples in an update."""
    minibatches: PositiveInt = 8
    """Parts that the samples of a pass are divided into, with one gradient step for each."""
    learning_rate: PositiveFloat = 4e-3
    """Learning rate of Adam at the start; it decays linearly to 0."""
    gamma: Share = 1.0
    """Discount of rewards per step; 1 for none."""
    gae_lambda: Share = 0.3
    """Bias and variance of advantages: at 0 they trust the critic after one step, at 1 only the rewards."""
    clip_range: Annotated[float, Field(gt=0, lt=1)] = 0.2
    """Change of a probability ratio beyond which the objective is flat."""
    entropy_weight: NonNegativeFloat = 0.1
    """Weight of the entropy bonus at the start; it decays linearly to 0."""
    value_weight: PositiveFloat = 0.5
    """Weight of the squared error of the critic."""
    max_gradient_norm: PositiveFloat = 0.5
    """Largest norm of the gradients of the actor, and of the critic; larger gradients are scaled down."""
    width: PositiveInt = 128
    """Units in each of the two hidden layers of the actor, and of the critic."""


class DistinctRows(NamedTuple):
    """The U distinct observations and masks of a rollout.

    Attributes:
        observation: [U, ...] their observations.
        mask: [U, A] True where an action is legal.
    """

    observation: torch.Tensor
    mask: torch.Tensor


class Samples(NamedTuple):
    """N samples of a rollout: actions, and what the networks learn from them.

    Attributes:
        row: [N] the index of the observation among the distinct ones.
        action: [N] the action.
        log_probability: [N] the logarithm of its probability when it was played.
        advantage: [N] the advantage, with mean 0 and standard deviation 1 over all samples.
        value_target: [N] what the critic learns to predict.
    """

    row: torch.Tensor
    action: torch.Tensor
    log_probability: torch.Tensor
    advantage: torch.Tensor
    value_target: torch.Tensor


def generalized_advantages(
    reward: Float32Array,
    value: Float32Array,
    next_value: Float32Array,
    over: BoolArray,
    gamma: float,
    gae_lambda: float,
) -> Float32Array:
    """Return [T, B] advantages: sums of the critic's errors, weighted by (gamma * gae_lambda) ** delay.

    Args:
        reward: [T, B] the reward of each step.
        value: [T, B] the critic's estimate before the step.
        next_value: [T, B] its estimate after the step; 0 where the episode terminated.
        over: [T, B] True where the episode terminated or was truncated.
        gamma: discount of rewards.
        gae_lambda: the lambda of the paper, from 0 to 1.
    """
    error = reward + gamma * next_value - value
    advantage = error.copy()
    for step in reversed(range(len(error) - 1)):
        advantage[step] += gamma * gae_lambda * ~over[step] * advantage[step + 1]
    return advantage


def clipped_objective(ratio: torch.Tensor, advantage: torch.Tensor, clip_range: float) -> torch.Tensor:
    """Return the mean of min(ratio * advantage, clipped ratio * advantage): equation 7 of the paper.

    Args:
        ratio: [N] the new probability of each action divided by the one it was played with.
        advantage: [N] its advantage.
        clip_range: the epsilon of the paper; clipped ratios lie from 1 - epsilon to 1 + epsilon.
    """
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    return torch.minimum(ratio * advantage, clipped * advantage).mean()


class PPO(Learner):
    """Masked PPO; a `Learner` of observations and masks.

    Example:
        >>> import gymnasium as gym, stb_gym
        >>> envs = gym.make_vec("stb_gym/ShutTheBox-v0", 64, autoreset_mode="SameStep")
        >>> learner = PPO(envs, PPOSettings(num_envs=64))
        >>> learner.learn(2048)
    """

    settings_class = PPOSettings
    title = "masked PPO, `agents/ppo.py`"
    method = "proximal policy optimization with masks"
    source = "Schulman et al. (2017), Huang and Ontañón (2020)"
    plays_rounds = True
    on_policy = True
    make_network = staticmethod(plain_perceptron)  # makes actor and critic; a subclass may make others
    WEIGHTS = ("_networks",)
    SAVED = ("num_steps", "_networks", "_optimizer", "_random", "_episodes")

    def __init__(self, envs: VectorEnv, settings: PPOSettings, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self._random = torch.Generator().manual_seed(seed)
        space, width, actions = envs.single_observation_space, settings.width, self._episodes.actions
        self._actor = self.make_network(space, width, actions, 0.01, self._random).to(self._device)
        self._critic = self.make_network(space, width, 1, 1.0, self._random).to(self._device)
        self._networks = torch.nn.ModuleDict({"actor": self._actor, "critic": self._critic})
        self._optimizer = torch.optim.Adam(self._networks.parameters(), fused=True)

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`."""
        while self.num_steps < total_steps:
            callback()
            remaining = 1 - self.num_steps / total_steps
            rows, samples = self._play()
            self.num_steps += len(samples.row)
            self._update(rows, samples, remaining)

    def _play(self) -> tuple[DistinctRows, Samples]:
        """Play `num_steps` steps in every environment; compute advantages and the critic's targets."""
        episodes, settings = self._episodes, self.settings
        seen, steps = [(episodes.observation, episodes.mask)], []
        for _ in range(settings.num_steps):
            action, log_probability = self._sample(*seen[-1])
            step = episodes.step(action)
            last_value = np.zeros(len(action), np.float32)  # 0 if terminated; the critic's estimate if truncated
            cut = step.truncated & ~step.terminated
            if cut.any():
                last_value[cut] = self._values(step.next_observation[cut])
            steps.append((action, log_probability, step.reward, step.terminated | step.truncated, last_value))
            seen.append((episodes.observation, episodes.mask))
        observation, mask = (np.concatenate(column) for column in zip(*seen, strict=True))
        action, log_probability, reward, over, last_value = (np.stack(column) for column in zip(*steps, strict=True))
        distinct, inverse = unique_rows(observation, mask)
        row = inverse.reshape(len(seen), -1)
        value = self._values(observation[distinct])[row]
        next_value = np.where(over, last_value, value[1:])
        advantage = generalized_advantages(reward, value[:-1], next_value, over, settings.gamma, settings.gae_lambda)
        normalized = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        columns = row[:-1], action, log_probability, normalized, advantage + value[:-1]
        samples = Samples(*(self._tensor(column).flatten() for column in columns))
        return DistinctRows(self._tensor(observation[distinct]), self._tensor(mask[distinct])), samples

    @torch.no_grad()
    def _sample(self, observation: Array, mask: BoolArray) -> tuple[IntArray, Float32Array]:
        """Return [B] actions drawn from the policy and [B] the logarithms of their probabilities."""
        distinct, inverse = unique_rows(observation, mask)
        row = torch.as_tensor(inverse)
        logits = self._logits(self._tensor(observation[distinct]), self._tensor(mask[distinct])).cpu()
        cumulative = logits.softmax(dim=1).cumsum(dim=1).index_select(0, row)
        number = torch.rand(len(row), 1, generator=self._random) * cumulative[:, -1:]
        action = torch.searchsorted(cumulative, number, right=True)[:, 0]  # the first whose sum exceeds the number
        return action.numpy(), logits.log_softmax(dim=1)[row, action].numpy()

    def _logits(self, observation: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return [U, A] the actor's outputs, and the lowest number for illegal actions: their probability is 0."""
        return self._actor(observation).masked_fill(~mask, torch.finfo(torch.float32).min)

    def _update(self, rows: DistinctRows, samples: Samples, remaining: float) -> None:
        """Take the gradient steps of a rollout; `remaining` is the share of the budget that is left."""
        settings = self.settings
        self._optimizer.param_groups[0]["lr"] = settings.learning_rate * remaining
        for _ in range(settings.epochs):
            order = torch.randperm(len(samples.row), generator=self._random).to(self._device)
            for indices in order.chunk(settings.minibatches):
                minibatch = Samples(*(column.index_select(0, indices) for column in samples))
                loss, figures = self._loss(rows, minibatch, settings.entropy_weight * remaining)
                self._optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                for network in (self._actor, self._critic):
                    torch.nn.utils.clip_grad_norm_(network.parameters(), settings.max_gradient_norm)
                self._optimizer.step()
        self.figures = {name: figure.item() for name, figure in figures.items()}

    def _loss(
        self, rows: DistinctRows, samples: Samples, entropy_weight: float
    ) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """Return the loss of a minibatch, equation 9 of the paper, and its parts by name."""
        settings = self.settings
        distinct, row = samples.row.unique(return_inverse=True)  # type: ignore[no-untyped-call]
        observation, mask = rows.observation[distinct], rows.mask[distinct]
        logits = self._logits(observation, mask)
        log_probabilities = logits.log_softmax(dim=1)
        ratio = (log_probabilities[row, samples.action] - samples.log_probability).exp()
        objective = clipped_objective(ratio, samples.advantage, settings.clip_range)
        value = self._critic(observation)[:, 0].index_select(0, row)
        value_error = (value - samples.value_target).square().mean()
        entropies = -(logits.softmax(dim=1) * log_probabilities).sum(dim=1)
        entropy = entropies.index_select(0, row).mean()
        loss = settings.value_weight * value_error - objective - entropy_weight * entropy
        clipped = ((ratio - 1).abs() > settings.clip_range).float().mean()
        figures = {"objective": objective, "value_error": value_error, "entropy": entropy, "clipped": clipped}
        return loss, figures

    @torch.no_grad()
    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`."""
        return self._logits(self._tensor(observations), self._tensor(masks)).argmax(dim=1).numpy(force=True)

    @torch.no_grad()
    def probabilities(self, observations: Array, masks: BoolArray) -> Float32Array:
        """Return [B, A] the probabilities with which it plays while it learns."""
        return self._logits(self._tensor(observations), self._tensor(masks)).softmax(dim=1).numpy(force=True)

    @property
    def critic(self) -> Critic:
        """See `Learner`."""
        return self._values

    @torch.no_grad()
    def _values(self, observations: Array) -> Float32Array:
        """Return [B] the critic's estimates."""
        return self._critic(self._tensor(observations))[:, 0].numpy(force=True)
