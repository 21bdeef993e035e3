"""What is trained, and how: all that is needed to make a learner, as a dataclass and as JSON."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import gymnasium as gym

import stb_gym  # noqa: F401  (registers the environments)
from agents.dqn import DQNSettings, MaskedDQN, make_dqn
from agents.ppo import MaskedPPO, PPOSettings, make_ppo
from stb_gym.game import check_choice, check_integer, check_names
from stb_gym.vector_env import TurnVectorEnv

Learner = MaskedPPO | MaskedDQN
Settings = PPOSettings | DQNSettings

ALGORITHMS: dict[str, tuple[type[Any], Callable[..., Learner]]] = {
    "ppo": (PPOSettings, make_ppo),
    "dqn": (DQNSettings, make_dqn),
}


@dataclass(frozen=True)
class Config:
    """A training.

    Attributes:
        algorithm: "ppo" or "dqn".
        env: id of an environment of the package.
        settings: settings of the algorithm.
        rules: arguments of the environment that are rules.
        objective: what is rewarded.
        steps: steps of all games together.
        seed: of the dice, the network and the exploration.

    Raises:
        ValueError: naming the first entry that is not allowed.
    """

    algorithm: str
    env: str
    settings: Settings
    rules: Mapping[str, Any] = field(default_factory=dict)
    objective: str = "score"
    steps: int = 6_000_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("algorithm", self.algorithm, list(ALGORITHMS))
        check_choice(
            "environment", self.env, [spec.id for spec in gym.registry.values() if spec.namespace == "stb_gym"]
        )
        check_integer("steps", self.steps, 1, 10**12)
        check_integer("seed", self.seed, 0, 2**32 - 1)
        for each in fields(self.settings):
            _check_setting(each.name, getattr(self.settings, each.name), each.type)
        self.settings.check()
        standard: Any = gym.make_vec(self.env, 1)
        check_names("rule", self.rules, [each.name for each in fields(standard.game)])
        self.games()  # refuses rules and objectives that are not allowed

    def games(self) -> TurnVectorEnv:
        """The games to learn from."""
        rules = dict(self.rules)
        games = gym.make_vec(
            self.env, self.settings.games, objective=self.objective, autoreset_mode="SameStep", **rules
        )
        assert isinstance(games, TurnVectorEnv)
        return games

    def learner(self, tensorboard: str | None = None) -> Learner:
        """A learner that has learned nothing yet."""
        _, make = ALGORITHMS[self.algorithm]
        return make(self.games(), self.settings, self.seed, tensorboard)

    def to_json(self) -> dict[str, Any]:
        """The configuration as plain JSON."""
        return asdict(self)

    @staticmethod
    def from_json(entries: Any) -> "Config":
        """The configuration that `to_json` gave.

        Raises:
            ValueError: naming the first entry that is missing, unknown or not allowed.
        """
        if not isinstance(entries, dict):
            raise ValueError(f"a configuration is an object of entries, not {entries!r}")
        names = [each.name for each in fields(Config)]
        check_names("entry", entries, names)
        for name in names:
            if name not in entries:
                raise ValueError(f"the entry {name!r} is missing")
        check_choice("algorithm", entries["algorithm"], list(ALGORITHMS))
        settings_class, _ = ALGORITHMS[entries["algorithm"]]
        for name in ("settings", "rules"):
            if not isinstance(entries[name], dict):
                raise ValueError(f"{name} must be an object of entries, not {entries[name]!r}")
        check_names("setting", entries["settings"], [each.name for each in fields(settings_class)])
        for each in fields(settings_class):
            if each.name not in entries["settings"]:
                raise ValueError(f"the setting {each.name!r} is missing")
        return Config(**{**entries, "settings": settings_class(**entries["settings"])})


def _check_setting(name: str, value: Any, kind: Any) -> None:
    if kind is int:
        check_integer(name, value, 1, 10**9)
    elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise ValueError(f"{name} must be a number, 0 or more, not {value!r}")
