"""Agents of stable-baselines3 and sb3-contrib, with the library's default settings, and tuned by settings alone.

The stock ones are what a reader starts from: `PPO("MlpPolicy", gym.make(ID), seed=0)`. Those discount rewards by 0.99,
so what they expect is a little nearer to 0 than the sum of rewards. The tuned ones show how far the same classes come:
they learn from many environments at once, see observations by a features extractor with layer normalisation, and their
learning rates fall linearly to 0. Not a line of their algorithms is ours.

With several environments the library's DQN explores in all of them or in none, by one random number for each step; and
without masks nearly all random actions are illegal, which ends the turn. So a small share of them goes a long way.
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, ClassVar, cast

import gymnasium as gym
import torch
from sb3_contrib import QRDQN, MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import LinearSchedule

from agents.learner import Learner, check_positive, check_shares
from agents.networks import Perceptron
from agents.stable_baselines import ActorCritic, QLearner
from stb_gym.envs import TurnEnv, TurnVectorEnv
from stb_gym.games import check_integer
from stb_gym.sb3 import TurnVecEnv


class NormalisedLayers(BaseFeaturesExtractor):
    """The hidden layers of `Perceptron`: observations in unary, and layer normalisation after each layer.

    Args:
        observation_space: what observations are.
        width: units in each layer.
    """

    def __init__(self, observation_space: gym.Space[Any], width: int):
        super().__init__(observation_space, width)
        self._network = Perceptron(observation_space, width, 1, 1.0, torch.default_generator)
        del self._network.layers[-1]  # the last layer is the agent's

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """[B, width] for observations [B, ...]."""
        features: torch.Tensor = self._network(observations)
        return features


@dataclass(frozen=True)
class StockSettings:
    """Settings of a stock agent: none of its own, and one of its environment."""

    reward_scale: float
    """What rewards are multiplied by."""
    masks: ClassVar[bool] = False
    """Whether the agent asks the environment for its mask."""

    @property
    def first_update(self) -> int:
        """0: no learning rate falls with the steps."""
        return 0

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        if self.reward_scale == 0:
            raise ValueError("reward_scale must be above 0, or nothing is rewarded")

    def arguments(self) -> dict[str, Any]:
        """What the library's class is made with, besides environment, seed and device."""
        return {}


@dataclass(frozen=True)
class MaskedStockSettings(StockSettings):
    """Settings of a stock agent with masks."""

    masks: ClassVar[bool] = True


@dataclass(frozen=True)
class TunedSettings(StockSettings):
    """What tuned agents have in common. `width` and `minibatches` are ours, the others the library's arguments."""

    num_envs: int
    """Environments that are stepped at once (default: 1)."""
    width: int
    """Units in each of the two layers of the features extractor (default: 64, in layers of its own)."""
    learning_rate: float
    """Learning rate at the start; it falls linearly to 0 (default of PPO: 0.0003, of DQN: 0.0001, constant)."""
    gamma: float
    """Discount of rewards (default: 0.99)."""
    max_grad_norm: float
    """The greatest norm of a gradient (default of PPO: 0.5, of DQN: 10)."""

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        super().check()
        check_integer("width", self.width, 1, 2**20)
        check_shares(self, "gamma")
        check_positive(self, "learning_rate", "max_grad_norm")

    def arguments(self) -> dict[str, Any]:
        """What the library's class is made with, besides environment, seed and device."""
        own = ("reward_scale", "num_envs", "width")
        layers = {"features_extractor_class": NormalisedLayers, "features_extractor_kwargs": {"width": self.width}}
        learning_rate, policy = LinearSchedule(self.learning_rate, 0.0, 1.0), {**layers, "net_arch": []}
        arguments = {name: value for name, value in asdict(self).items() if name not in own}
        return {**arguments, "learning_rate": learning_rate, "policy_kwargs": policy}


@dataclass(frozen=True)
class TunedPPOSettings(TunedSettings):
    """Settings of a tuned MaskablePPO, whose actor and critic share no weights."""

    n_steps: int
    """Steps in every environment between two updates (default: 2048)."""
    n_epochs: int
    """Passes over the samples of an update (default: 10)."""
    minibatches: int
    """Parts that a pass is made in, of equally many samples, but the last may have fewer (default: of 64 samples)."""
    gae_lambda: float
    """Trade-off of bias and variance in the advantages (default: 0.95)."""
    clip_range: float
    """How far an update may change the probability of an action (default: 0.2)."""
    ent_coef: float
    """Weight of the entropy bonus (default: 0)."""
    vf_coef: float
    """Weight of the squared error of values (default: 0.5)."""
    masks: ClassVar[bool] = True

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn."""
        return self.num_envs * self.n_steps

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        super().check()
        check_integer("num_envs x n_steps", self.first_update, 2, 2**30)
        check_integer("minibatches", self.minibatches, 1, self.first_update // 2)
        if self.first_update % self._batch_size == 1:  # whose advantages have no standard deviation to be divided by
            raise ValueError(f"minibatches must leave no sample alone: {self.minibatches} of {self.first_update} do")
        check_shares(self, "gae_lambda")
        check_positive(self, "clip_range")

    @property
    def _batch_size(self) -> int:
        return math.ceil(self.first_update / self.minibatches)

    def arguments(self) -> dict[str, Any]:
        """What the library's class is made with, besides environment, seed and device."""
        arguments = super().arguments() | {"batch_size": self._batch_size}
        del arguments["minibatches"]
        arguments["policy_kwargs"]["share_features_extractor"] = False
        return arguments


@dataclass(frozen=True)
class TunedDQNSettings(TunedSettings):
    """Settings of a tuned DQN."""

    batch_size: int
    """Transitions in an update (default: 32)."""
    buffer_size: int
    """Transitions that are kept (default: 1,000,000)."""
    learning_starts: int
    """Steps before the first update (default: 100)."""
    train_freq: int
    """Steps in every environment between two rounds of updates (default: 4)."""
    gradient_steps: int
    """Updates in such a round (default: 1)."""
    target_update_interval: int
    """Steps after which targets are made by newer weights (default: 10,000)."""
    exploration_initial_eps: float
    """Share of random actions at the start (default: 1)."""
    exploration_final_eps: float
    """Share of random actions at the end (default: 0.05)."""
    exploration_fraction: float
    """Share of the training during which that falls linearly from the first to the last (default: 0.1)."""

    @property
    def first_update(self) -> int:
        """After how many steps it begins to learn: at the first round of updates after `learning_starts` steps."""
        between = self.train_freq * self.num_envs
        return between * (self.learning_starts // between + 1)

    def check(self) -> None:
        """Raise a ValueError where a setting has no meaning."""
        super().check()
        check_shares(self, "exploration_initial_eps", "exploration_final_eps", "exploration_fraction")


def make(
    learner: Callable[..., Learner],
    algorithm: Callable[..., Any],
    env: gym.Env[Any, Any] | TurnVectorEnv,
    settings: StockSettings,
    seed: int,
) -> Learner:
    """An agent of the library as a learner.

    Args:
        learner: makes it one.
        algorithm: its class.
        env: the environment as anybody makes it, or a vector environment in SAME_STEP mode.
        settings: its settings, with whose `reward_scale` the environment was made.
        seed: of the dice, the network and the exploration.
    """
    played = TurnVecEnv(env) if isinstance(env, TurnVectorEnv) else env
    # On the CPU, so that the numbers are the same with a GPU or without.
    model = algorithm("MlpPolicy", played, seed=seed, device="cpu", **settings.arguments())
    return learner(model, cast(TurnEnv | TurnVectorEnv, env.unwrapped), settings.reward_scale)


STOCK: dict[str, tuple[type[StockSettings], Callable[..., Learner]]] = {
    "sb3-ppo": (StockSettings, partial(make, ActorCritic, PPO)),
    "sb3-a2c": (StockSettings, partial(make, ActorCritic, A2C)),
    "sb3-dqn": (StockSettings, partial(make, QLearner, DQN)),
    "sb3-qr-dqn": (StockSettings, partial(make, QLearner, QRDQN)),
    "sb3-maskable-ppo": (MaskedStockSettings, partial(make, ActorCritic, MaskablePPO)),
    "sb3-maskable-ppo-tuned": (TunedPPOSettings, partial(make, ActorCritic, MaskablePPO)),
    "sb3-dqn-tuned": (TunedDQNSettings, partial(make, QLearner, DQN)),
}
