"""Agents of stable-baselines3 and sb3-contrib as learners: with their default settings, and a tuned one.

Stock agents are what a user starts from: `PPO("MlpPolicy", gym.make(ID), seed=0)`. They discount rewards by 0.99, so
their values are a little nearer to 0 than the sum of rewards.

A tuned MaskablePPO shows how far the same class comes. Settings are not all that differs: its features extractor sees
observations in unary and has layer normalisation, and rewards are divided by the largest one. It learns from many
environments at once, and its learning rate falls linearly to 0.
"""

import zipfile
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, Annotated, Any, Literal

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

from agents.common import Array, BoolArray, Callback, Share, Unary
from stb_gym.arrays import IntArray
from stb_gym.files import reading
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
        features: torch.Tensor = self.layers(observations)
        return features


class SB3Learner:
    """A model of stable-baselines3 or sb3-contrib as a learner.

    It has the methods of `Learner`, except that it is stored by `save` and `load`. Training cannot be resumed.

    Args:
        model: a PPO, A2C, DQN or MaskablePPO.

    Attributes:
        model: the model.
        masks: whether the model uses action masks. If not, evaluate it with `illegal="end"`.
        num_steps: see `Learner`.
        figures: what the library logs of its last update.
    """

    def __init__(self, model: Any):
        self.model = model
        self.masks = isinstance(model, MaskablePPO)
        self.num_steps = 0
        self.figures: dict[str, float] = {}

    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """Play and learn; see `Learner`."""

        def before_rollout() -> None:
            self._count_steps()
            callback()

        steps = total_steps - self.num_steps
        self.model.learn(steps, _BeforeRollout(before_rollout), log_interval=None, reset_num_timesteps=False)
        self._count_steps()

    def _count_steps(self) -> None:
        self.num_steps = self.model.num_timesteps
        logged = self.model.logger.name_to_value
        self.figures = {name[6:]: float(value) for name, value in logged.items() if name.startswith("train/")}

    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """Return [B] the best actions; only a MaskablePPO uses the masks."""
        options = {"action_masks": masks} if self.masks else {}
        actions, _ = self.model.predict(observations, deterministic=True, **options)
        return actions

    def save(self, file: IO[bytes]) -> None:
        """Write the model to a zip file, which the library's `load` reads, too."""
        self.model.save(file)

    def load(self, file: IO[bytes]) -> None:
        """Read the weights of the model from a file that `save` wrote.

        Nothing is unpickled, so the file need not be trusted.

        Raises:
            ValueError: if it is no such file, or of a model with other networks.
        """
        with reading("the weights"), zipfile.ZipFile(file) as archive, archive.open("policy.pth") as weights:
            self.model.policy.load_state_dict(torch.load(weights, self.model.device, weights_only=True))


class _BeforeRollout(BaseCallback):
    """Calls a function before every rollout."""

    def __init__(self, function: Callable[[], None]):
        super().__init__()
        self._function = function

    def _on_rollout_start(self) -> None:
        self._function()

    def _on_step(self) -> bool:
        return True


STOCK: dict[str, Callable[..., Any]] = {
    "sb3-ppo": PPO,
    "sb3-a2c": A2C,
    "sb3-dqn": DQN,
    "sb3-maskable-ppo": MaskablePPO,
}


def make_stock(model_class: Callable[..., Any], env: Any, _: StockSettings, seed: int, device: str) -> SB3Learner:
    """Return a stock agent that has learned nothing yet.

    Args:
        model_class: the class of the model.
        env: an environment as `gym.make` returns it.
        seed: seeds the dice, the network and the exploration.
        device: where the network is. The numbers of a seed may differ between devices.
    """
    return SB3Learner(model_class("MlpPolicy", env, seed=seed, device=device))


def make_tuned(envs: Any, settings: TunedPPOSettings, seed: int, device: str) -> SB3Learner:
    """Return a tuned MaskablePPO that has learned nothing yet.

    Args:
        envs: a `TurnVectorEnv` in SAME_STEP mode.
        settings: the settings.
        seed: see `make_stock`.
        device: see `make_stock`.
    """
    scale = 1 / abs(envs.rewards).max()
    scaled = TransformReward(envs, lambda reward: reward * scale)
    arguments = asdict(settings)
    del arguments["num_envs"]
    arguments["learning_rate"] = LinearSchedule(settings.learning_rate, 0.0, 1.0)
    policy = {
        "net_arch": [],
        "features_extractor_class": NormalisedLayers,
        "features_extractor_kwargs": {"width": arguments.pop("width")},
        "share_features_extractor": False,
    }
    model = MaskablePPO("MlpPolicy", TurnVecEnv(scaled), seed=seed, device=device, policy_kwargs=policy, **arguments)
    return SB3Learner(model)
