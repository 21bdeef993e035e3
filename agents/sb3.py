"""Agents of stable-baselines3 and sb3-contrib as learners: with their default settings, and a tuned one.

Stock agents are what a user starts from: `PPO("MlpPolicy", gym.make(ID), seed=0)`. They discount rewards by 0.99, so
their values are a little nearer to 0 than the sum of rewards.

A tuned MaskablePPO shows how far the same class comes. Settings are not all that differs: its features extractor sees
observations in unary and has layer normalisation, and rewards are divided by the largest one. It learns from many
environments at once, and its learning rate falls linearly to 0.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Annotated, Any, ClassVar

import gymnasium as gym
import numpy as np
import torch
from gymnasium.wrappers.vector import TransformReward
from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt
from pydantic.dataclasses import dataclass
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.buffers import ReplayBuffer
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.utils import LinearSchedule

from agents.common import Share, State, Unary
from agents.custom import OF_CODE, AgentLearner, named
from stb_gym.checks import check_integer
from stb_gym.measure.agents import arguments_of
from stb_gym.messages import reason, shortened
from stb_gym.sb3 import TurnVecEnv

SOURCE = "Raffin et al. (2021)"
# Arguments of the library's classes that are not settings: what a run chooses, and where the library would write.
NO_SETTINGS = ("env", "seed", "device", "tensorboard_log", "verbose", "_init_setup_model", "stats_window_size")


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


class TrainingState:
    """All but the policy that a model of the library needs to continue `learn` with the same results.

    Args:
        model: a PPO, A2C, DQN or MaskablePPO.
        envs: the environment that it was made with.

    Attributes:
        is_complete: False if the settings choose another replay buffer, whose state is not known.
    """

    def __init__(self, model: BaseAlgorithm, envs: Any):
        self._model: Any = model
        self._buffer = getattr(model, "replay_buffer", None)
        self._turns = getattr(envs, "envs", envs).unwrapped
        self.is_complete = self._buffer is None or type(self._buffer) is ReplayBuffer

    def state_dict(self) -> State:
        """Return the state before a rollout; it is empty before the first one."""
        model = self._model
        if model._last_obs is None:
            return {}
        counts = {name: value for name, value in vars(model).items() if isinstance(value, int | float)}
        arrays = _arrays_of(model)
        if self._buffer is not None:
            counts |= {"pos": self._buffer.pos, "full": self._buffer.full}
            arrays |= {name: array[: self._filled()] for name, array in _arrays_of(self._buffer).items()}
        random = {"numpy": np.random.get_state(legacy=False), "turns": self._turns.snapshot()}  # noqa: NPY002
        return {
            "counts": counts,
            "arrays": {name: torch.as_tensor(array) for name, array in arrays.items()},
            "optimizer": model.policy.optimizer.state_dict(),
            "random": json.dumps(random, default=np.ndarray.tolist),
            "random_actions": model.action_space.np_random.bit_generator.state,
            "torch": torch.get_rng_state(),
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from a state of a model with the same settings."""
        if not state:
            return
        model = self._model
        model.env.reset()  # wrappers refuse a step before
        random = json.loads(state["random"])
        self._turns.restore(random["turns"])
        np.random.set_state(random["numpy"])  # noqa: NPY002
        torch.set_rng_state(state["torch"])
        model.action_space.np_random.bit_generator.state = state["random_actions"]
        model.policy.optimizer.load_state_dict(state["optimizer"])
        counts, arrays = state["counts"], {name: each.numpy().copy() for name, each in state["arrays"].items()}
        if self._buffer is not None:
            self._buffer.pos, self._buffer.full = counts.pop("pos"), counts.pop("full")
            for name, array in _arrays_of(self._buffer).items():
                array[: self._filled()] = arrays.pop(name)
        vars(model).update(counts | arrays)

    def _filled(self) -> int:
        """Return how many rows of the replay buffer are in use, with the one that may hold a last next observation."""
        buffer: Any = self._buffer
        return buffer.buffer_size if buffer.full else min(buffer.pos + 1, buffer.buffer_size)


def _arrays_of(owner: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(owner).items() if isinstance(value, np.ndarray)}


class ResumingLearner(AgentLearner):
    """A learner whose agent is a model of the library, and which continues with the same results."""

    resumes = True
    SAVED = ("num_steps", "policy", "training")

    def __init__(self, envs: Any, settings: Any, seed: int = 0, device: str = "cpu"):
        super().__init__(envs, settings, seed, device)
        self.training = TrainingState(self.agent, envs)
        self.resumes = self.training.is_complete


class StockLearner(ResumingLearner):
    """A model with the default settings of its library, but for those that are given.

    Settings are `num_envs`, the arguments of the library's class, and those of its policy: they become `policy_kwargs`.

    Attributes:
        maker: the library's class.
        rollout: the setting that says how many steps every environment makes in a rollout, and its default.
    """

    settings_class = dict
    defaults: ClassVar[Mapping[str, Any]] = {"num_envs": 1}
    source = SOURCE
    uses_masks = False
    of_library = True
    maker: ClassVar[Any]
    rollout: ClassVar[tuple[str, int]] = ("n_steps", 2048)

    @classmethod
    def make_envs(cls, env: str, arguments: Mapping[str, Any], settings: Any) -> Any:
        """Return a single environment as `gym.make` returns it or, for several, a vector environment of the library."""
        num_envs = settings["num_envs"]
        return gym.make(env, **arguments) if num_envs == 1 else TurnVecEnv(env, num_envs, **arguments)

    @classmethod
    def rollout_steps(cls, settings: Any) -> int:
        """See `Learner`; it is 1 if a rollout has no fixed number of steps."""
        check_integer("num_envs", settings["num_envs"], 1, 2**20)
        name, default = cls.rollout
        steps = settings.get(name, default)
        return settings["num_envs"] * steps if isinstance(steps, int) and steps > 0 else 1

    @classmethod
    def setting_names(cls, given: Iterable[str] = ()) -> list[str]:
        """Return the names of settings."""
        _, _, _, *of_policy = arguments_of(cls.maker.policy_aliases["MlpPolicy"])  # without the spaces and the schedule
        names = dict.fromkeys(["num_envs", *arguments_of(cls.maker), *of_policy])
        return [name for name in names if name not in NO_SETTINGS]

    def make_agent(self, envs: Any, seed: int, device: str) -> Any:
        """See `AgentLearner`."""
        given = {name: _resolved(value) for name, value in self.settings.items()}
        del given["num_envs"]
        policy, maker = given.pop("policy", "MlpPolicy"), type(self).maker
        of_class = arguments_of(maker)
        of_policy = {name: given.pop(name) for name in [*given] if name not in of_class}
        given = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
        try:
            if of_policy:
                given["policy_kwargs"] = {**(given.get("policy_kwargs") or {}), **of_policy}
            return maker(policy, envs, seed=seed, device=device, **given)
        except Exception as error:  # the library does not allow a setting
            raise ValueError(f"{maker.__name__} refuses its settings: {shortened(reason(error))}") from error


def _resolved(value: Any) -> Any:
    """Return a setting with the object of each MODULE:NAME in place of the name."""
    if isinstance(value, dict):
        return {name: _resolved(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_resolved(each) for each in value]
    return named(value) if isinstance(value, str) and OF_CODE.fullmatch(value) else value


class StockPPO(StockLearner):
    """The library's PPO, without masks."""

    title = "stock PPO, no masks"
    method = "stable-baselines3's PPO without masks, with its default settings"
    on_policy = True
    maker = PPO


class StockA2C(StockLearner):
    """The library's A2C, without masks."""

    method = "stable-baselines3's A2C without masks, with its default settings"
    on_policy = True
    maker = A2C
    rollout = ("n_steps", 5)


class StockDQN(StockLearner):
    """The library's DQN, without masks."""

    title = "stock DQN, no masks"
    method = "stable-baselines3's DQN without masks, with its default settings"
    maker = DQN
    rollout = ("train_freq", 4)


class StockMaskablePPO(StockLearner):
    """The library's PPO with masks."""

    title = "stock MaskablePPO"
    method = "sb3-contrib's MaskablePPO with its default settings"
    uses_masks = True
    on_policy = True
    maker = MaskablePPO


class TunedMaskablePPO(ResumingLearner):
    """The library's PPO with masks, with other settings, unary observations, layer normalisation and scaled rewards."""

    settings_class = TunedPPOSettings
    title = "tuned MaskablePPO"
    method = "sb3-contrib's MaskablePPO with other settings, layer normalisation and scaled rewards"
    source = SOURCE
    of_library = True
    uses_masks = True
    on_policy = True

    @classmethod
    def rollout_steps(cls, settings: Any) -> int:
        """See `Learner`."""
        return settings.num_envs * settings.n_steps

    def make_agent(self, envs: Any, seed: int, device: str) -> Any:
        """See `AgentLearner`; `envs` is a `TurnVectorEnv` in SAME_STEP mode."""
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
