"""Masked DQN: stable-baselines3's DQN, in which replay, targets and exploration all respect the action mask.

The mask is part of the observation, so the replay buffer keeps it for both ends of a transition. The network gives
illegal actions a value so low that neither the greedy action nor the maximum in the target is ever one of them:

    target = reward + (1 - terminated) x q_target(next, argmax over legal a of q(next, a))

Mnih et al., "Human-level control through deep reinforcement learning", 2015; van Hasselt et al., "Deep reinforcement
learning with double Q-learning", 2016. Other than in stable-baselines3 the loss is the squared error, since outcomes
are random and the Huber loss would estimate something between their mean and their median; exploration is decided for
each game by itself, not for all games at once; the network is updated after every step of the games, not every fourth;
and rewards are not discounted. Other settings that differ are named where they stand.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from stable_baselines3 import DQN
from stable_baselines3.dqn.policies import DQNPolicy, QNetwork

from agents.networks import UnaryObservation
from agents.vec_env import TurnVecEnv
from stb_gym.game import check_integer
from stb_gym.vector_env import TurnVectorEnv

# Finite: a terminal target multiplies the value of its masked maximum by 0, and infinity times 0 is not a number.
ILLEGAL_VALUE = -1e8


@dataclass(frozen=True)
class DQNSettings:
    """Settings of masked DQN; the defaults reach what the README reports."""

    games: int = 256
    """Games played at once (stable-baselines3: 1)."""
    batch_size: int = 1024
    """Samples in a minibatch (stable-baselines3: 32)."""
    gradient_steps: int = 1
    """Updates after every step of the games."""
    learning_rate: float = 1e-3
    """Learning rate at the start; it falls linearly to 0 (stable-baselines3: 0.0001, constant)."""
    exploration: float = 0.15
    """Share of random legal moves, after the warm-up (stable-baselines3: 1 falling to 0.05)."""
    buffer_size: int = 500_000
    """Transitions in the replay buffer (stable-baselines3: 1000000)."""
    learning_starts: int = 10_000
    """Steps of the warm-up, in which all moves are random (stable-baselines3: 100)."""
    target_update_interval: int = 10_000
    """Steps between two copies of the network to the target network."""
    width: int = 256
    """Units in each of the two hidden layers (stable-baselines3: 64)."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        check_integer("width", self.width, 1, 4096)
        if self.exploration >= 1:
            raise ValueError(f"exploration must be below 1, or nothing greedy is left, not {self.exploration}")


class MaskedQNetwork(QNetwork):
    """A Q-network that values illegal actions at ILLEGAL_VALUE."""

    def forward(self, obs: Any) -> torch.Tensor:
        """[B, A] action values."""
        return super().forward(obs).masked_fill(obs["action_mask"] == 0, ILLEGAL_VALUE)


class MaskedDQNPolicy(DQNPolicy):
    """The policy of DQN with masked networks."""

    def make_q_net(self) -> MaskedQNetwork:
        """A masked network, for the policy and for its target."""
        arguments = self._update_features_extractor(self.net_args, features_extractor=None)
        return MaskedQNetwork(**arguments).to(self.device)


class MaskedDQN(DQN):
    """Double DQN over observations with "observation" and "action_mask"."""

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[NDArray[np.int64], Any]:
        """Greedy actions; unless `deterministic`, each is replaced by a random legal one with the exploration rate."""
        actions, _ = self.policy.predict(observation, state, episode_start, deterministic=True)
        if not deterministic:
            explores = torch.rand(actions.shape).numpy() < self.exploration_rate
            actions = np.where(explores, random_legal(observation["action_mask"]), actions)
        return actions, state

    def _sample_action(self, learning_starts: int, action_noise: Any = None, n_envs: int = 1) -> tuple[Any, Any]:
        if self.num_timesteps < learning_starts:
            actions = random_legal(self._last_obs["action_mask"])  # type: ignore[index, call-overload]
        else:
            actions, _ = self.predict(self._last_obs)
        return actions, actions

    def train(self, gradient_steps: int, batch_size: int = 100) -> None:
        """Update the network on samples from the replay buffer."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        for _ in range(gradient_steps):
            batch = self.replay_buffer.sample(batch_size)  # type: ignore[union-attr]
            with torch.no_grad():
                best = self.q_net(batch.next_observations).argmax(dim=1, keepdim=True)
                future = self.q_net_target(batch.next_observations).gather(1, best)
                target = batch.rewards + (1 - batch.dones) * self.gamma * future
            value = self.q_net(batch.observations).gather(1, batch.actions.long())
            loss = torch.nn.functional.mse_loss(value, target)
            self.policy.optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
            self.policy.optimizer.step()
        self._n_updates += gradient_steps
        self.logger.record("train/loss", loss.item())

    def probabilities(self, observations: NDArray[np.uint8], masks: NDArray[np.bool_]) -> NDArray[np.float32]:
        """[B, A] how probable each action is while exploring; the greedy action is the most probable."""
        greedy, _ = self.predict({"observation": observations, "action_mask": masks}, deterministic=True)
        explored = self.exploration_rate * masks / masks.sum(axis=1, keepdims=True)
        explored[np.arange(len(greedy)), greedy] += 1 - self.exploration_rate
        return explored.astype(np.float32)


def random_legal(mask: NDArray[Any]) -> NDArray[np.int64]:
    """[B] a random legal action for each row of the mask [B, A]; where none is legal, any."""
    return np.asarray((torch.rand(mask.shape).numpy() * mask).argmax(axis=-1))


def make_dqn(games: TurnVectorEnv, settings: DQNSettings, seed: int, tensorboard: str | None = None) -> MaskedDQN:
    """A masked DQN that has learned nothing yet."""
    learner = MaskedDQN(
        MaskedDQNPolicy,
        TurnVecEnv(games, mask_in_observation=True),
        learning_rate=lambda remaining: settings.learning_rate * max(remaining, 0.0),
        buffer_size=settings.buffer_size,
        learning_starts=settings.learning_starts,
        batch_size=settings.batch_size,
        gamma=1.0,
        train_freq=1,
        gradient_steps=settings.gradient_steps,
        target_update_interval=settings.target_update_interval,
        exploration_initial_eps=settings.exploration,
        exploration_final_eps=settings.exploration,
        policy_kwargs={
            "features_extractor_class": UnaryObservation,
            "net_arch": [settings.width, settings.width],
            "optimizer_kwargs": {"fused": True},  # the same steps, faster
        },
        seed=seed,
        device="cpu",
        tensorboard_log=tensorboard,
    )
    learner.exploration_rate = settings.exploration  # stable-baselines3 sets it at the first step only
    return learner
