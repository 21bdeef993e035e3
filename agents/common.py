"""What all learners share: their interface, running episodes, distinct rows of a batch, and observations in unary."""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from typing import Annotated, Any, ClassVar, NamedTuple

import gymnasium as gym
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from pydantic import Field

from stb_gym.arrays import IntArray

VectorEnv = gym.vector.VectorEnv[Any, Any, Any]
Array = NDArray[Any]
BoolArray = NDArray[np.bool_]
Float32Array = NDArray[np.float32]
FloatArray = NDArray[np.float64]
Share = Annotated[float, Field(ge=0, le=1)]
Exploration = Annotated[float, Field(ge=0, lt=1)]  # probability of a random action
State = dict[str, Any]
Callback = Callable[[], None]
Critic = Callable[[Array], Any]  # from observations [B, ...] to values of states [B] or of actions [B, A]


class Stored:
    """An object that can be saved and restored.

    Attributes:
        SAVED: the names of the attributes that it needs to continue with the same results: numbers, arrays, random
            generators and objects with `state_dict`.
    """

    SAVED: ClassVar[tuple[str, ...]]

    def state_dict(self) -> State:
        """Return the attributes in SAVED as tensors and plain Python values, valid until the object changes."""
        return {name: _stored(getattr(self, name)) for name in self.SAVED}

    def load_state_dict(self, state: State) -> None:
        """Restore the attributes from what `state_dict` returned."""
        for name in self.SAVED:
            value, stored = getattr(self, name), state[name]
            if hasattr(value, "load_state_dict"):
                value.load_state_dict(stored)
            elif isinstance(value, np.random.Generator):
                value.bit_generator.state = stored
            elif isinstance(value, torch.Generator):
                value.set_state(stored)
            else:
                setattr(self, name, stored.numpy().copy() if isinstance(value, np.ndarray) else stored)


def _stored(value: Any) -> Any:
    if hasattr(value, "state_dict"):
        return value.state_dict()
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, torch.Generator):
        return value.get_state()
    return torch.as_tensor(value) if isinstance(value, np.ndarray) else value


class Learner(Stored, ABC):
    """An agent that learns by playing a vector environment in SAME_STEP mode.

    The attributes of the class say what the learner is and what it needs; `agents.registry.LEARNERS` lists all classes.

    Args:
        envs: the environment, as `make_envs` returns it.
        settings: an object of `settings_class`.
        seed: seeds the environment, the networks and the exploration.
        device: the torch device of the networks, if there are any. The numbers of a seed may differ between devices.

    Attributes:
        settings_class: the class of the settings, a dataclass with a default for every field; or `dict`.
        defaults: settings that need not be given, if they are a dictionary.
        title: the name in the table of the README; learners without one are left out there.
        method: a line that says how it learns, for the table of learners in docs/agents.md.
        source: where the method was published, for the same table.
        needs_tables: True if the game must fit into tables.
        plays_rounds: True if it can also learn a seat of a round of several players.
        uses_masks: True if it chooses legal actions only. The others may end a turn by an illegal action.
        on_policy: True if it draws its actions from the policy that it learns.
        resumes: True if `load_state_dict` continues a training with the same results.
        of_library: True for an agent of another library.
        reports_updates: True if `figures` are empty as long as no update was made.
        parts: into how many parts an agent that cannot call back divides its steps.
        WEIGHTS: the names in SAVED of the attributes that learning changes and that `act` needs.
        settings: the settings.
        num_steps: steps made so far, summed over all environments.
        figures: losses and similar numbers of the last update by name, for a log; empty before the first.
    """

    settings_class: ClassVar[type[Any]]
    defaults: ClassVar[Mapping[str, Any]] = {}
    title = ""
    method: ClassVar[str]
    source: ClassVar[str]
    needs_tables = False
    plays_rounds = False
    uses_masks = True
    on_policy = False
    resumes = True
    of_library = False
    reports_updates = True
    parts = 1
    WEIGHTS: ClassVar[tuple[str, ...]]

    def __init__(self, envs: Any, settings: Any, seed: int = 0, device: str = "cpu"):
        self.settings = settings
        self.num_steps = 0
        self.figures: dict[str, float] = {}
        self._episodes = Episodes(envs, seed)
        self._device = torch.device(device)

    def _tensor(self, array: Any) -> torch.Tensor:
        return torch.as_tensor(array, device=self._device)

    @classmethod
    def make_envs(cls, env: str, arguments: Mapping[str, Any], settings: Any) -> Any:
        """Return the environment that the learner plays: by default a vector environment in SAME_STEP mode.

        Args:
            env: the id of the environment.
            arguments: its keyword arguments.
            settings: the settings; `num_envs` is the number of environments that are stepped together.
        """
        options = {"autoreset_mode": "SameStep", "observation_dtype": "uint8", **arguments}
        return gym.make_vec(env, settings.num_envs, **options)

    @classmethod
    def setting_names(cls, given: Iterable[str] = ()) -> list[str]:
        """Return the names of the settings; `given` are those that were given."""
        return [field.name for field in fields(cls.settings_class)]

    @classmethod
    def rollout_steps(cls, settings: Any) -> int:
        """Return the steps of a rollout, summed over all environments; `learn` makes whole rollouts."""
        return settings.num_envs * getattr(settings, "num_steps", 1)

    @abstractmethod
    def learn(self, total_steps: int, callback: Callback = lambda: None) -> None:
        """Play and learn until `num_steps` is at least `total_steps`.

        Args:
            total_steps: the budget; learning rates that decay reach 0 here.
            callback: called before every rollout, and never between play and the update that follows it.
        """

    @property
    def reached(self) -> int:
        """The progress of a training in steps: those made, or those requested if an agent made fewer."""
        return self.num_steps

    @property
    def player(self) -> Any:
        """What a `RegretMeter` measures: a function of observations and masks, or a model with `predict`."""
        return self.act

    @property
    def critic(self) -> Critic | None:
        """The values that it has learned, of the policy it plays or of the best one; None if it learns none."""
        return None

    @abstractmethod
    def act(self, observations: Array, masks: BoolArray) -> IntArray:
        """Return [B] the best actions.

        Args:
            observations: [B, ...].
            masks: [B, A] True where an action is legal, at least one in every row.
        """


class Transition(NamedTuple):
    """The result of one step in B environments.

    Attributes:
        reward: [B] float32.
        terminated: [B] True where the episode ended.
        truncated: [B] True where it was cut off.
        next_observation: [B, ...] the next observation; where an episode is over, its last one.
        next_mask: [B, A] the legal actions at the next observation.
    """

    reward: Float32Array
    terminated: BoolArray
    truncated: BoolArray
    next_observation: Array
    next_mask: BoolArray


class Episodes:
    """The running episodes of a vector environment in SAME_STEP mode.

    Args:
        envs: the vector environment. Without an `action_mask` in its infos every action is legal.
        seed: seeds the environment.

    Attributes:
        actions: the number of actions A.
        observation: [B, ...] the current observations.
        mask: [B, A] True where an action is legal now.

    Raises:
        ValueError: if the autoreset mode is not SAME_STEP, observations are not arrays, or actions are not numbered
            from 0.
    """

    def __init__(self, envs: VectorEnv, seed: int):
        if not isinstance(envs.single_action_space, gym.spaces.Discrete) or envs.single_action_space.start != 0:
            raise ValueError(f"the action space must be Discrete and start at 0, not {envs.single_action_space}")
        if not isinstance(envs.single_observation_space, gym.spaces.Box):
            kind = type(envs.single_observation_space).__name__
            raise ValueError(f"observations must be arrays of numbers, a Box, not a {kind}")
        if envs.metadata.get("autoreset_mode") != AutoresetMode.SAME_STEP:
            raise ValueError('learners need the autoreset mode SAME_STEP: gym.make_vec(id, autoreset_mode="SameStep")')
        self.envs = envs
        self.actions = int(envs.single_action_space.n)
        observation, infos = envs.reset(seed=seed)
        self.observation, self.mask = np.array(observation), self._legal(infos)

    def step(self, action: IntArray) -> Transition:
        """Take an action [B] in every environment; episodes that are over begin again."""
        observation, reward, terminated, truncated, infos = self.envs.step(action)
        self.observation, self.mask = np.array(observation), self._legal(infos)
        next_observation, next_mask = self.observation, self.mask
        over = terminated | truncated
        if over.any():
            next_observation, next_mask = next_observation.copy(), next_mask.copy()
            last = infos["final_obs"][over]
            next_observation[over] = np.stack(list(last)) if last.dtype == object else last
            next_mask[over] = self._legal(infos["final_info"])[over]
        return Transition(np.array(reward, np.float32), terminated, truncated, next_observation, next_mask)

    def _legal(self, infos: Mapping[str, Any]) -> BoolArray:
        if "action_mask" not in infos:
            return np.ones((self.envs.num_envs, self.actions), np.bool_)
        return np.asarray(infos["action_mask"]) != 0

    def state_dict(self) -> State:
        """Return the current observations and masks, and a snapshot of the environment if it can give one."""
        seen = {"observation": torch.as_tensor(self.observation), "mask": torch.as_tensor(self.mask)}
        if not hasattr(self.envs, "snapshot"):
            return seen
        return seen | {"envs": json.dumps(self.envs.snapshot(), default=np.ndarray.tolist)}

    def load_state_dict(self, state: State) -> None:
        """Continue the episodes; an environment without `snapshot` goes on as it is."""
        if "envs" in state:
            self.envs.restore(json.loads(state["envs"]))  # type: ignore[attr-defined]
            self.observation, self.mask = state["observation"].numpy(), state["mask"].numpy()


class Unary(torch.nn.Module):
    """Encodes integers from 0 to h in unary: v becomes h inputs, of which the first v are 1 and the others 0.

    Observations that are not small integers are passed on as they are.

    Args:
        space: the observation space, a Box; observations are flattened.

    Attributes:
        size: the number of inputs for one observation.
    """

    column: torch.Tensor
    least: torch.Tensor

    def __init__(self, space: Any):
        super().__init__()
        low, high = space.low.ravel(), space.high.ravel()
        self.counts = bool((low == 0).all() and (high <= 255).all() and (high == high.round()).all())
        inputs = high.astype(np.int64) if self.counts else np.ones(len(high), np.int64)
        self.register_buffer("column", torch.as_tensor(np.repeat(np.arange(len(inputs)), inputs)), persistent=False)
        least = np.concatenate([np.arange(1, most + 1) for most in inputs])
        self.register_buffer("least", torch.as_tensor(least), persistent=False)
        self.size = len(least)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return [B, size] inputs for observations [B, ...]."""
        flat = observations.flatten(1)
        return (flat[:, self.column] >= self.least if self.counts else flat).float()


def perceptron(
    space: gym.Space[Any], width: int, outputs: int, gain: float, generator: torch.Generator
) -> torch.nn.Module:
    """Return a network for observations in unary, with two hidden layers and orthogonal weights.

    Args:
        space: the observation space.
        width: the units of each hidden layer.
        outputs: the number of outputs.
        gain: scales the weights of the last layer.
        generator: draws the weights.
    """
    unary = Unary(space)
    layers = [torch.nn.Linear(unary.size, width), torch.nn.Linear(width, width), torch.nn.Linear(width, outputs)]
    for layer, scale in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        torch.nn.init.orthogonal_(layer.weight, scale, generator)
        torch.nn.init.zeros_(layer.bias)
    first, second, last = layers
    return torch.nn.Sequential(unary, first, torch.nn.ReLU(), second, torch.nn.ReLU(), last)


def plain_perceptron(
    space: gym.Space[Any], width: int, outputs: int, gain: float, generator: torch.Generator
) -> torch.nn.Module:
    """Return a network as `perceptron` does, but for observations as they are, not in unary."""
    unbounded = gym.spaces.Box(-np.inf, np.inf, space.shape)
    return perceptron(unbounded, width, outputs, gain, generator)


def hash_rows(*columns: Array) -> NDArray[np.uint64]:
    """Return [B] 64-bit hashes of rows; of ten million different rows, two share a hash once in 300,000 times.

    Args:
        columns: [B, ...] arrays whose rows, side by side, are hashed byte by byte, in every process alike.
    """
    flat = [column.reshape(len(column), math.prod(column.shape[1:])) for column in columns]  # also of no rows
    parts = [
        np.packbits(part, axis=1) if part.dtype == np.bool_ else np.ascontiguousarray(part).view(np.uint8)
        for part in flat
    ]
    padding = np.zeros((len(flat[0]), -sum(part.shape[1] for part in parts) % 8), np.uint8)
    words = np.concatenate([*parts, padding], axis=1).view(np.uint64)
    factors = np.random.default_rng(0).integers(2**64, size=words.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    # Random sums of the words, modulo 2**64, after their high bits are mixed into the low ones.
    mixed = words * factors[-1]
    mixed ^= mixed >> np.uint64(32)
    mixed *= factors[-1]
    mixed ^= mixed >> np.uint64(29)
    return mixed @ factors[:-1]


def unique_rows(*columns: Array) -> tuple[IntArray, IntArray]:
    """Find the distinct rows of a batch by their hashes, so that a network evaluates each of them once.

    Of 131,072 positions in a batch of turns only some thousand are distinct.

    Args:
        columns: [B, ...] arrays whose rows, side by side, are compared byte by byte.

    Returns:
        Indices [U] of the first of all rows that are equal, and [B] which of these U each row equals:
        `rows[first][inverse]` equals `rows`.

    Example:
        >>> import numpy as np
        >>> first, inverse = unique_rows(np.array([[3, 0], [1, 1], [3, 0]]))
        >>> len(first), inverse[0] == inverse[2]
        (2, np.True_)
    """
    _, first, inverse = np.unique(hash_rows(*columns), return_index=True, return_inverse=True)
    return first, inverse
