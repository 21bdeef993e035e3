"""What is trained, and how: everything needed to make a learner, as a dataclass and as JSON."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Any

import gymnasium as gym

from agents.afterstate_network import AfterstateNetwork, AfterstateSettings
from agents.dqn import DQN, DQNSettings
from agents.learner import Learner
from agents.limit import Limit, LimitSettings
from agents.networks import check_device
from agents.ppo import PPO, PPOSettings
from agents.stock import STOCK, StockSettings, TunedSettings
from agents.tabular import TabularSettings, make_afterstates, make_q_learning
from stb_gym import ENVIRONMENTS
from stb_gym.envs import TurnVectorEnv, environment_of, game_of_environment
from stb_gym.games import Game, check_choice, check_integer, check_names
from stb_gym.solver import objective_of

Settings = PPOSettings | DQNSettings | AfterstateSettings | TabularSettings | LimitSettings | StockSettings

ALGORITHMS: dict[str, tuple[type[Any], Callable[..., Learner]]] = {
    "ppo": (PPOSettings, PPO),
    "dqn": (DQNSettings, DQN),
    "afterstate-network": (AfterstateSettings, AfterstateNetwork),
    "q-learning": (TabularSettings, make_q_learning),
    "afterstates": (TabularSettings, make_afterstates),
    "limit": (LimitSettings, Limit),
    **STOCK,
}

MAY_BE_ZERO = ("warm_up",)  # other settings that are integers must be 1 or more


@dataclass(frozen=True)
class Task:
    """What is to be learned: a game with its rules, and an objective.

    Attributes:
        env: id of the game's environment with standard rules; `task_of` makes a task from the other ids.
        rules: the rules that differ from the standard ones, as keyword arguments of the environment.
        objective: what is rewarded: "score", "shut" or "at-most:T".

    Raises:
        ValueError: naming the first entry that is not allowed.
    """

    env: str
    rules: Mapping[str, Any] = field(default_factory=dict)
    objective: str = "score"

    def __post_init__(self) -> None:
        check_choice("environment", self.env, [env for env, known in ENVIRONMENTS.items() if not known.arguments])
        if not isinstance(self.rules, Mapping):
            raise ValueError(f"rules must be an object of entries, not {self.rules!r}")
        objective_of(self.game(), self.objective)

    def game(self) -> Game:
        """The rules."""
        return game_of_environment(self.env, self.rules)

    def make_envs(self, num_envs: int, reward_scale: float = 1.0) -> TurnVectorEnv:
        """A vector environment of `num_envs` environments to learn from, in SAME_STEP mode; see `make_env`."""
        rules = {**self.rules, "objective": self.objective, "reward_scale": reward_scale}
        envs = gym.make_vec(self.env, num_envs, autoreset_mode="SameStep", **rules)
        assert isinstance(envs, TurnVectorEnv)
        return envs

    def make_env(self, reward_scale: float) -> gym.Env[Any, Any]:
        """An environment as anybody makes it, whose rewards are multiplied by `reward_scale`."""
        return gym.make(self.env, objective=self.objective, reward_scale=reward_scale, **self.rules)


@dataclass(frozen=True)
class Config:
    """A training.

    Attributes:
        algorithm: one of ALGORITHMS.
        task: what is to be learned.
        settings: settings of the algorithm.
        steps: how many steps to make, counting those of all environments together.
        seed: of the dice, the network and the exploration.

    Raises:
        ValueError: naming the first entry that is not allowed.
    """

    algorithm: str
    task: Task
    settings: Settings
    steps: int
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("algorithm", self.algorithm, list(ALGORITHMS))
        check_integer("steps", self.steps, 1, 10**12)
        first = self.settings.first_update
        if self.steps <= first:  # the learning rate would have fallen to 0 before the first update
            raise ValueError(
                f"steps must be above {first:,}, where {self.algorithm} begins to learn, not {self.steps:,}"
            )
        check_integer("seed", self.seed, 0, 2**32 - 1)

    @property
    def illegal(self) -> str:
        """How `stb_gym.evaluate` is to treat illegal actions of its policies.

        With masks there are none, so that one is an error ("raise"); without masks they "end" the turn.
        """
        return "raise" if self.settings.masks else "end"

    def learner(self, device: str = "cpu") -> Learner:
        """A learner that has learned nothing yet.

        Args:
            device: where its networks are, such as "cuda"; tabular learners and stock agents know the "cpu" alone.

        Raises:
            ValueError: if the learner cannot be there.
        """
        check_device(device)
        _, make = ALGORITHMS[self.algorithm]
        if isinstance(self.settings, PPOSettings | DQNSettings | AfterstateSettings):
            return make(self.task.make_envs(self.settings.num_envs), self.settings, self.seed, device)
        check_choice(f"device of {self.algorithm}", device, ["cpu"])
        if isinstance(self.settings, TunedSettings):
            envs = self.task.make_envs(self.settings.num_envs, self.settings.reward_scale)
            return make(envs, self.settings, self.seed)
        if isinstance(self.settings, StockSettings):
            return make(self.task.make_env(self.settings.reward_scale), self.settings, self.seed)
        return make(self.task.make_envs(self.settings.num_envs), self.settings, self.seed)

    def to_json(self) -> dict[str, Any]:
        """The configuration as plain JSON."""
        return asdict(self)

    def digest(self) -> str:
        """The first sixteen digits of the configuration's SHA-256."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:16]

    @staticmethod
    def from_json(entries: Any) -> "Config":
        """The configuration whose `to_json` gave these entries.

        Raises:
            ValueError: naming the first entry that is missing, unknown or not allowed.
        """
        _check_entries("entry", entries, Config)
        task, settings = task_from(entries["task"]), settings_from(entries["algorithm"], entries["settings"])
        return Config(**{**entries, "task": task, "settings": settings})


def task_of(env: str, rules: Mapping[str, Any], objective: str | None = None) -> Task:
    """The task of an environment of the package.

    Args:
        env: id of the environment, which may be one of a variant of the rules.
        rules: the rules that differ from those of the environment.
        objective: what is rewarded, or None for the objective of the environment.

    Raises:
        ValueError: naming the first entry that is not allowed.
    """
    of_id = environment_of(env)
    own = {"objective": "score", **of_id.arguments}
    of_env = own.pop("objective")
    plain = next(name for name, known in ENVIRONMENTS.items() if known == (of_id.rules, {}))
    return Task(plain, {**own, **rules}, objective or of_env)


def task_from(entries: Any) -> Task:
    """The task whose fields are these entries, by name.

    Raises:
        ValueError: naming the first entry that is missing, unknown or not allowed.
    """
    _check_entries("entry", entries, Task)
    return Task(**entries)


def settings_from(algorithm: Any, entries: Any) -> Settings:
    """The settings of an algorithm.

    Args:
        algorithm: one of ALGORITHMS.
        entries: all of its settings, by name.

    Raises:
        ValueError: naming the first entry that is missing, unknown or not allowed, or the algorithm if that is.
    """
    check_choice("algorithm", algorithm, list(ALGORITHMS))
    settings_class, _ = ALGORITHMS[algorithm]
    _check_entries("setting", entries, settings_class)
    for each in fields(settings_class):
        _check_setting(each.name, entries[each.name], each.type)
    settings: Settings = settings_class(**entries)
    settings.check()
    return settings


def _check_entries(kind: str, entries: Any, of: type[Any]) -> None:
    """Raise a ValueError unless entries are fields of a dataclass and include all of its fields without a default."""
    if not isinstance(entries, dict):
        raise ValueError(f"a {of.__name__} is an object of entries, not {entries!r}")
    check_names(kind, entries, [each.name for each in fields(of)])
    for each in fields(of):
        if each.name not in entries and each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"the {kind} {each.name!r} is missing")


def _check_setting(name: str, value: Any, kind: Any) -> None:
    if kind is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{name} must be true or false, not {value!r}")
    elif kind is int:
        check_integer(name, value, 0 if name in MAY_BE_ZERO else 1, 10**9)
    elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a number, 0 or more, not {value!r}")
