"""Masked PPO in plain torch, for any Gymnasium vector environment of arrays whose infos hold `action_mask`.

Schulman et al., "Proximal policy optimization algorithms", 2017; Huang and Ontanon, "A closer look at invalid action
masking in policy gradient algorithms", 2020. `PPOSettings` says what stable-baselines3's PPO (sb3) has by default. What
else differs from the paper and from sb3:

- Rows that are equal, observation and mask, are computed once. The clipped objective of all samples of one row and
  action is known from two sums, that of their positive and that of their negative advantages; the squared error of
  their values from the mean of their targets. So it is the same objective, and cheaper.
- A minibatch is a random part of the distinct rows, with all samples of them (paper, sb3: of the samples).
- Advantages are normalised over the whole rollout (paper: not at all, sb3: in each minibatch).
- Layer normalisation after each hidden layer, and ReLU (paper, sb3: none, and tanh).
- Muon for matrices of hidden layers, Adam for the rest (paper, sb3: Adam).
- Learning rate and entropy bonus fall linearly to 0 (sb3: constant); rewards are not discounted (sb3: 0.99).
- Rewards are divided by the greatest sum of rewards that an episode has had so far (sb3: as they are).
- Actor and critic share no weights (paper: either way; sb3: none either).
- Advantages are differences from what averaged weights of the critic tell (paper, sb3: the learned ones).
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray

from agents.batches import Batch, Rollout, advantages, batch_of
from agents.learner import Snapshot, VectorEnv, Weights, check_positive, check_shares
from agents.masked_categorical import MaskedCategorical, masked_categorical
from agents.networks import Perceptron, average, load, weights_of
from agents.optimizers import Optimizer
from agents.playing import SCALE, Playing
from agents.rows import distinct
from agents.snapshots import named, part, take_up
from stb_gym.games import IntArray, check_integer


@dataclass(frozen=True)
class PPOSettings:
    """Settings of PPO."""

    masks: bool
    """Whether illegal actions are masked; without masks the environment has to say what they do."""
    num_envs: int
    """Environments that are stepped at once (sb3: 1)."""
    n_steps: int
    """Steps in every environment between two updates (sb3: 2048 in one environment)."""
    n_epochs: int
    """Passes over the samples of an update (sb3: 10)."""
    minibatches: int
    """Parts of about equally many distinct rows that a pass is made in (sb3: minibatches of 64 samples)."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0 (sb3: 0.0003, constant)."""
    entropy: float
    """Weight of the entropy bonus at the start; it falls linearly to 0 (sb3: 0)."""
    gae_lambda: float
    """Trade-off of bias and variance in the advantages (sb3: 0.95)."""
    averaging: float
    """How far the averaged weights of the critic move towards the learned ones in an update; 1 for no average (sb3).
    The first updates move them farther, as the learned ones then change most: update k at least 10 / (10 + k)."""
    clip_range: float
    """How far an update may change the probability of an action (sb3: 0.2)."""
    value_weight: float
    """Weight of the squared error of values (sb3: 0.5)."""
    max_gradient: float
    """The greatest norm of a gradient; longer ones are shortened to it (sb3: 0.5)."""
    width: int
    """Units in each of the two hidden layers of actor and critic (sb3: 64)."""
    first_update: ClassVar[int] = 0

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        for name in ("num_envs", "n_steps", "n_epochs", "minibatches", "width"):
            check_integer(name, getattr(self, name), 1, 2**20)
        if not 0 < self.clip_range < 1:
            raise ValueError(f"clip_range must lie between 0 and 1, not be {self.clip_range}")
        check_shares(self, "gae_lambda", "averaging")
        check_positive(self, "averaging", "learning_rate", "max_gradient")
        for name in ("entropy", "value_weight"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a number, 0 or more, not {getattr(self, name)}")


class PPO:
    """Masked PPO; a `Learner` of observations and masks.

    Args:
        envs: the vector environment, in SAME_STEP or NEXT_STEP mode.
        settings: its settings.
        seed: of the environments, the networks and the exploration.
        device: where the networks are.

    Attributes:
        num_timesteps: how many steps it has made, in all environments together.
        figures: parts of the last loss, the share of samples that were clipped, and the learning rate, by name.

    Raises:
        ValueError: if a setting has no meaning, or the environment is of another kind; see `Playing`, `Perceptron`.
    """

    def __init__(self, envs: VectorEnv, settings: PPOSettings, seed: int = 0, device: str = "cpu"):
        settings.check()
        self.settings, self.device = settings, torch.device(device)
        self._playing = Playing(envs, settings.masks, seed)
        generator, space = torch.Generator().manual_seed(seed), envs.single_observation_space
        self._actor = Perceptron(space, settings.width, self._playing.actions, 0.01, generator)
        self._critic = Perceptron(space, settings.width, 1, 1.0, generator).to(self.device)
        self._average = deepcopy(self._critic).requires_grad_(False)
        self._networks = torch.nn.ModuleDict({"actor": self._actor, "critic": self._average}).to(self.device)
        self._optimizer = Optimizer(self._actor, self._critic, max_gradient=settings.max_gradient)
        self._random = np.random.default_rng([seed, 1])  # other numbers than those of the dice
        self.num_timesteps, self.figures = 0, dict[str, float]()

    def learn_until(self, steps: int, before_rollout: Callable[[], None] = lambda: None) -> None:
        """See `Learner`."""
        while self.num_timesteps < steps:
            before_rollout()
            left, rollout = 1 - self.num_timesteps / steps, self._play()
            self.num_timesteps += self.settings.n_steps * len(self._playing.decision)
            if rollout.decision.any():  # not where steps only begin episodes
                self._update(self._batch(rollout), left)

    def _play(self) -> Rollout:
        """Make `n_steps` steps in every environment."""
        playing, steps = self._playing, []
        seen = [(playing.observation, playing.mask)]
        for _ in range(self.settings.n_steps):
            decision, (action, log_probability) = playing.decision, self._choose(playing.observation, playing.mask)
            step = playing.step(action)
            if step.truncated.any():
                step.reward[step.truncated] += self.values(step.last, step.last_mask)
            steps.append((decision, action, log_probability, step.reward, step.terminated | step.truncated))
            seen.append((playing.observation, playing.mask))
        return Rollout(*map(np.stack, zip(*seen, strict=True)), *map(np.stack, zip(*steps, strict=True)))

    @torch.no_grad()
    def _choose(self, observation: NDArray[Any], mask: NDArray[np.bool_]) -> tuple[IntArray, NDArray[np.float32]]:
        """[B] an action for each row, drawn with the probabilities of the actor, and [B] their logarithms."""
        first, place = distinct(observation, mask)
        policy = self._policy_at(observation[first], mask[first])
        chosen = policy.drawn(place, self._random.random(len(place), dtype=np.float32))
        action, log_probability = policy.place[chosen] % mask.shape[1], policy.log_probability[chosen]
        return action.numpy(force=True), log_probability.numpy(force=True)

    def _batch(self, rollout: Rollout) -> Batch:
        """What a rollout teaches."""
        observations, masks = (each.reshape(-1, *each.shape[2:]) for each in (rollout.observation, rollout.mask))
        first, place = distinct(observations, masks)
        row, made = place.reshape(rollout.mask.shape[:2]), rollout.decision
        value = self._expected(observations[first])[row]
        reward = (rollout.reward / self._playing.scale).astype(np.float32)
        advantage = advantages(reward, rollout.over, value, self.settings.gae_lambda)[made]
        target = advantage + value[:-1][made]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        samples = row[:-1][made], rollout.action[made], rollout.log_probability[made], advantage, target
        return batch_of(observations[first], masks[first], *samples, self.device)

    def _update(self, batch: Batch, left: float) -> None:
        """Pass over the rows some times; `left` is the share of the training that is left."""
        settings, rate = self.settings, self.settings.learning_rate * left
        visited = batch.weight.nonzero()[:, 0]
        for _ in range(settings.n_epochs):
            parts = visited[self._tensor(self._random.permutation(len(visited)))].chunk(settings.minibatches)
            for rows in parts:
                loss, figures = self._loss(batch.of_rows(rows), settings.entropy * left)
                self._optimizer.step(loss * len(parts), rate)
        updates = self.num_timesteps / (settings.n_steps * self._playing.envs.num_envs)
        average(self._average, self._critic, max(settings.averaging, 10 / (10 + updates)))
        self.figures = {name: figure.item() * len(parts) for name, figure in figures.items()} | {"learning_rate": rate}

    def _loss(self, batch: Batch, entropy_weight: float) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        """What is to be made small, and its parts by name: clipped objective, entropy and squared error of values."""
        clip, policy = self.settings.clip_range, masked_categorical(self._actor, batch.observation, batch.mask)
        ratio = (
            policy.log_probability_at(batch.row * batch.mask.shape[1] + batch.action) - batch.old_log_probability
        ).exp()
        positive, negative = batch.positive_advantage, batch.negative_advantage
        objective = (positive * ratio.clamp(max=1 + clip) + negative * ratio.clamp(min=1 - clip)).sum()
        entropy = -(batch.weight[policy.row] * policy.log_probability.exp() * policy.log_probability).sum()
        error = (batch.weight * (self._critic(batch.observation)[:, 0] - batch.target) ** 2).sum()
        clipped = (batch.share * ((ratio - 1).abs() > clip)).sum()
        loss = self.settings.value_weight * error - objective - entropy_weight * entropy
        return loss, {"objective": objective, "entropy": entropy, "value_error": error, "clipped": clipped}

    def _policy_at(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> MaskedCategorical:
        """What the actor does, the policy; where no action is legal, it takes the first."""
        masks = masks.copy() if self.settings.masks else np.ones_like(masks)
        masks[~masks.any(axis=1), 0] = True
        return masked_categorical(self._actor, self._tensor(observations), self._tensor(masks))

    @torch.no_grad()
    def _expected(self, observations: NDArray[Any]) -> NDArray[np.float32]:
        return self._average(self._tensor(observations))[:, 0].numpy(force=True)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.as_tensor(array, device=self.device)

    @torch.no_grad()
    def probabilities(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """See `Learner`."""
        policy, probabilities = self._policy_at(observations, masks), np.zeros(masks.shape, np.float32)
        probabilities.put(policy.place.numpy(force=True), policy.log_probability.exp().numpy(force=True))
        return probabilities

    def values(self, observations: NDArray[Any], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """See `Learner`."""
        return self._expected(observations).astype(np.float64) * self._playing.scale

    def weights(self) -> dict[str, NDArray[Any]]:
        """See `Learner`; with averaged weights of the critic, and the scale of rewards, as values are divided by it."""
        return {**weights_of(self._networks), SCALE: np.asarray(self._playing.scale)}

    def load_weights(self, weights: Weights) -> None:
        """See `Learner`."""
        self._playing.scale = weights[SCALE].item()
        load(self._networks, weights)
        load(self._critic, weights_of(self._average))

    def snapshot(self) -> dict[str, Any]:
        """See `Learner`."""
        return {
            "num_timesteps": self.num_timesteps,
            "random": self._random.bit_generator.state,
            **named("weights", self.weights()),
            **named("critic", weights_of(self._critic)),
            **named("optimizer", self._optimizer.snapshot()),
            **named("playing", self._playing.snapshot()),
        }

    def restore(self, snapshot: Snapshot) -> None:
        """See `Learner`; where the environment has no snapshot, it goes on with new episodes."""
        parts = {"optimizer": self._optimizer.restore, "playing": self._playing.restore, "weights": self.load_weights}
        take_up(self, snapshot, self._random, parts)
        load(self._critic, part(snapshot, "critic"))
        self.num_timesteps = snapshot["num_timesteps"]
