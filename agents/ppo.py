"""Masked PPO: sb3-contrib's MaskablePPO with settings for episodes of a few moves and one reward at the end.

Schulman et al., "Proximal policy optimization algorithms", 2017; Huang and Ontanon, "A closer look at invalid action
masking in policy gradient algorithms", 2020. Other than by sb3-contrib's defaults, rewards are not discounted and
the units are ReLU; other settings that differ are named where they stand.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO

from agents.networks import UnaryObservation
from agents.vec_env import TurnVecEnv
from stb_gym.game import check_integer
from stb_gym.vector_env import TurnVectorEnv


@dataclass(frozen=True)
class PPOSettings:
    """Settings of masked PPO; the defaults reach what the README reports."""

    games: int = 256
    """Games played at once."""
    n_steps: int = 32
    """Steps in every game between two updates (sb3: 2048 in one game)."""
    batch_size: int = 1024
    """Samples in a minibatch (sb3: 64)."""
    n_epochs: int = 4
    """Passes over the samples of an update (sb3: 10)."""
    learning_rate: float = 2e-3
    """Learning rate at the start; it falls linearly to 0 (sb3: 0.0003, constant)."""
    entropy: float = 0.05
    """Weight of the entropy bonus at the start; it falls linearly to 0 (sb3: 0)."""
    gae_lambda: float = 0.95
    """Trade-off of bias and variance in the advantages."""
    clip_range: float = 0.2
    """How far an update may change the probability of an action."""
    width: int = 128
    """Units in each of the two hidden layers of policy and value network (sb3: 64)."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_integer("width", self.width, 1, 4096)
        samples = self.games * self.n_steps
        if not 2 <= self.batch_size <= samples:
            raise ValueError(f"batch_size must be from 2 to games x n_steps, {samples}, not {self.batch_size}")
        if not 0 < self.clip_range < 1 or self.gae_lambda > 1:
            raise ValueError("clip_range must lie between 0 and 1, and gae_lambda must not be above 1")


class MaskedPPO(MaskablePPO):
    """MaskablePPO whose entropy bonus falls linearly to 0 over the training."""

    def __init__(self, *args: Any, entropy: float = 0.0, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.entropy = entropy

    def train(self) -> None:
        """One update, with the entropy bonus of the moment."""
        self.ent_coef = self.entropy * max(self._current_progress_remaining, 0.0)
        super().train()

    def probabilities(self, observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """[B, A] how probable each action is while exploring; the greedy action is the most probable."""
        with torch.no_grad():
            seen = torch.as_tensor(observations, device=self.device)
            distribution: Any = self.policy.get_distribution(seen, action_masks=masks).distribution
        return np.asarray(distribution.probs.cpu())


def make_ppo(games: TurnVectorEnv, settings: PPOSettings, seed: int, tensorboard: str | None = None) -> MaskedPPO:
    """A masked PPO that has learned nothing yet."""
    torch.distributions.Distribution.set_default_validate_args(False)  # checks that cost a tenth of the training
    return MaskedPPO(
        "MlpPolicy",
        TurnVecEnv(games),
        entropy=settings.entropy,
        learning_rate=lambda remaining: settings.learning_rate * max(remaining, 0.0),
        n_steps=settings.n_steps,
        batch_size=settings.batch_size,
        n_epochs=settings.n_epochs,
        gamma=1.0,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip_range,
        policy_kwargs={
            "features_extractor_class": UnaryObservation,
            "net_arch": [settings.width, settings.width],
            "activation_fn": torch.nn.ReLU,
            "optimizer_kwargs": {"eps": 1e-5, "fused": True},  # sb3's eps for PPO; fused: the same, faster
        },
        seed=seed,
        device="cpu",
        tensorboard_log=tensorboard,
    )
