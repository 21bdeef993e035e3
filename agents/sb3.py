"""Agents of stable-baselines3 and sb3-contrib as learners: with their default settings, and a tuned one.

Stock agents are what a user starts from: `PPO("MlpPolicy", gym.make(ID), seed=0)`. They discount rewards by 0.99, so
their values are a little nearer to 0 than the sum of rewards.

A tuned MaskablePPO shows how far the same class comes. Settings are not all that differs: its features extractor sees
observations in unary and has layer normalisation, and rewards are divided by the largest one. It learns from many
environments at once, and its learning rate falls linearly to 0.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal

import gymnasium as gym
import torch
from gymnasium.wrappers.vector import TransformReward
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import LinearSchedule

from agents.common import Array, BoolArray, Callback, Learner, Share, Unary
from stb_gym.arrays import IntArray
from stb_gym.sb3 import TurnVecEnv


@dataclass(frozen=True)
class StockSettings:
    """Settings of a stock agent: it has none, and learns from one environment."""

    num_envs: Literal[1] = 1
    """Environments that are stepped at once."""


@dataclass(frozen=True)
class TunedPPOSettings:
    """Settings of a tuned MaskablePPO. All but `num_envs` and `width` are arguments of the library's class."""

    num_envs: PositiveInt = 4096
    """Environments that are stepped at once (stock: 1)."""
    width: PositiveInt = 128
    """Units in each of the two layers of the features extractor (stock: none, but two layers of 64 units after it)."""
    learning_rate: PositiveFloat = 2e-3
    """Learning rate at the start; it falls linearly to 0 (stock: 0.0003, constant)."""
    gamma: Share = 1.0
    """Discount of rewards (stock: 0.99)."""
    max_grad_norm: PositiveFloat = 0.5
    """Largest norm of a gradient (stock: 0.5)."""
    n_steps: PositiveInt = 16
    """Steps in every environment between two updates (stock: 2048)."""
    batch_size: Annotated[int, Field(ge=2)] = 8192
    """Samples in a minibatch (stock: 64)."""
    n_epochs: PositiveInt = 6
    """Passes over the samples of an update (stock: 10)."""
    gae_lambda: Share = 0.6
    """Trade-off of bias and variance in the advantages (stock: 0.95)."""
    clip_range: PositiveFloat = 0.2
    """How far an update may change the ratio of probabilities of an action (stock: 0.2)."""
    ent_coef: NonNegativeFloat = 0.02
    """Weight of the entropy bonus (stock: 0)."""
    vf_coef: NonNegativeFloat = 0.5
    """Weight of the squared error of values (stock: 0.5)."""


class NormalisedLayers(BaseFeaturesExtractor):
    """Two hidden layers with layer normalisation over observations in unary.

    Args:
        observation_space: the observation space, a Box.
        width: the units in each layer.
    """

    def __init__(self, observation_space: gym.Space[Any], width: int):
        super().__init__(observation_space, width)
        unary = Unary(observation_space)
        layers: list[torch.nn.Module] = [unary]
        for inputs in (unary.size, width):
            layer = torch.nn.Linear(inputs, width)
            torch.nn.init.orthogonal_(layer.weight, 2**0.5)
            torch.nn.init.zeros_(layer.bias)
            layers += [layer, torch.nn.LayerNorm(width), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return [B, width] features for observations [B, ...]."""
        return self.layers(observations)


class SB3Learner(Learner):
    """An agent of stable-baselines3 or sb3-contrib.

    Its state is the weights of its policy: the library does not continue a training with the same results.

    Attributes:
        model: the library's model, which its method `save` writes to a file.
        policy: the policy of the model, with all its networks.
        figures: what the library logs of its last update.
        n_steps: the default steps of a rollout in every environment; settings may have others.
    """

    source = "Raffin et al. (2021)"
    uses_masks = False
    resumes = False
    of_library = True
    n_steps = 2048
    WEIGHTS = ("policy",)
    SAVED = ("num_steps", "policy")

    def __init__(self, envs: Any, settings: Any, seed: int = 0, device: str = "cpu"):
        self.settings = settings  # without the episodes of `Learner`, as the library steps the environment
        self.num_steps = 0
        self.figures = {}
        self.model = self.make_model(envs, seed, device)
        self.policy = self.model.policy

    @classmethod
    def rollout_steps(cls, settings: Any) -> int:
        """See `Learner`."""
        return settings.num_envs * getattr(settings, "n_steps", cls.n_steps)

    @abstractmethod
    def make_model(self, envs: Any, seed: int, device: str) -> Any:
        """Return a model that has learned nothing yet."""

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """See `Learner`."""
        steps = total_steps - self.num_steps
        self.model.learn(steps, _BeforeRollout(self, callback), log_interval=None, reset_num_timesteps=False)
        self.read_log()

    def read_log(self) -> None:
        """Update the number of steps and the figures."""
        self.num_steps = self.model.num_timesteps
        logged = self.model.logger.name_to_value
        self.figures = {name[6:]: float(value) for name, value in logged.items() if name.startswith("train/")}

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """See `Learner`; a learner that does not use masks may choose illegal actions."""
        options = {"action_masks": masks} if self.uses_masks else {}
        actions, _ = self.model.predict(observations, deterministic=True, **options)
        return actions


class _BeforeRollout(BaseCallback):
    """A callback that updates the figures of a learner and calls a function before every rollout."""

    def __init__(self, learner: SB3Learner, callback: Callback):
        super().__init__()
        self._learner, self._callback = learner, callback

    def _on_rollout_start(self) -> None:
        self._learner.read_log()
        self._callback()

    def _on_step(self) -> bool:
        return True


class StockLearner(SB3Learner):
    """An agent with the default settings of its library, which learns from one environment.

    Attributes:
        model_class: the library's class.
    """

    settings_class = StockSettings
    model_class: ClassVar[Callable[..., Any]]

    @classmethod
    def make_envs(cls, env: str, arguments: Mapping[str, Any], num_envs: int) -> Any:
        """Return a single environment as `gym.make` returns it; `num_envs` is 1."""
        return gym.make(env, **arguments)

    def make_model(self, envs: Any, seed: int, device: str) -> Any:
        """See `SB3Learner`."""
        return type(self).model_class("MlpPolicy", envs, seed=seed, device=device)


class StockPPO(StockLearner):
    """The library's PPO, without masks."""

    title = "stock PPO, no masks"
    method = "stable-baselines3's PPO without masks, with its default settings"
    on_policy = True
    model_class = PPO


class StockA2C(StockLearner):
    """The library's A2C, without masks."""

    method = "stable-baselines3's A2C without masks, with its default settings"
    on_policy = True
    model_class = A2C
    n_steps = 5


class StockDQN(StockLearner):
    """The library's DQN, without masks."""

    title = "stock DQN, no masks"
    method = "stable-baselines3's DQN without masks, with its default settings"
    model_class = DQN
    n_steps = 4


class StockMaskablePPO(StockLearner):
    """The library's PPO with masks."""

    title = "stock MaskablePPO"
    method = "sb3-contrib's MaskablePPO with its default settings"
    uses_masks = True
    on_policy = True
    model_class = MaskablePPO


class TunedMaskablePPO(SB3Learner):
    """The library's PPO with masks, with other settings, unary observations, layer normalisation and scaled rewards."""

    settings_class = TunedPPOSettings
    title = "tuned MaskablePPO"
    method = "sb3-contrib's MaskablePPO with other settings, layer normalisation and scaled rewards"
    uses_masks = True
    on_policy = True

    def make_model(self, envs: Any, seed: int, device: str) -> Any:
        """See `SB3Learner`; `envs` is a `TurnVectorEnv` in SAME_STEP mode."""
        scale = 1 / abs(envs.rewards).max()
        scaled = TransformReward(envs, lambda reward: reward * scale)
        arguments = asdict(self.settings)
        del arguments["num_envs"]
        arguments["learning_rate"] = LinearSchedule(self.settings.learning_rate, 0.0, 1.0)
        policy = {
            "net_arch": [],
            "features_extractor_class": NormalisedLayers,
            "features_extractor_kwargs": {"width": arguments.pop("width")},
            "share_features_extractor": False,
        }
        return MaskablePPO("MlpPolicy", TurnVecEnv(scaled), seed=seed, device=device, policy_kwargs=policy, **arguments)
