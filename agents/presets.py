"""What is trained: the algorithms, the named tasks, the presets of `presets.toml`, and the configuration of a run."""

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from functools import lru_cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, NamedTuple, TypeVar

import gymnasium as gym
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from agents.common import Learner, VectorEnv
from stb_gym import Game
from stb_gym.envs import ENVIRONMENTS, environment_of, game_of_environment
from stb_gym.games import check_choice, check_names
from stb_gym.output import read_text
from stb_gym.rounds import RoundVectorEnv
from stb_gym.solver import objective_of

FILE = Path(__file__).with_name("presets.toml")
STANDARD = "standard"  # the variant that needs no table
T = TypeVar("T")


class Algorithm(NamedTuple):
    """An algorithm, named as "MODULE:NAME" so that its libraries are imported only if it is used.

    Attributes:
        learner: the class of the learner.
        settings: the class of its settings.
    """

    learner: str
    settings: str

    @property
    def settings_class(self) -> type[Any]:
        """The class of the settings, a dataclass with a default for every field."""
        return resolve_name(self.settings)

    @property
    def make(self) -> Callable[..., Learner]:
        """A function that makes the learner: `make(envs, settings, seed, device)`."""
        return resolve_name(self.learner)


ALGORITHMS: dict[str, Algorithm] = {
    "ppo": Algorithm("agents.ppo:PPO", "agents.ppo:PPOSettings"),
    "dqn": Algorithm("agents.dqn:DQN", "agents.dqn:DQNSettings"),
    "fitted-q": Algorithm("agents.fitted_q:FittedQ", "agents.fitted_q:FittedQSettings"),
    "afterstates": Algorithm("agents.afterstates:Afterstates", "agents.afterstates:AfterstatesSettings"),
    "q-learning": Algorithm("agents.tabular:QLearning", "agents.tabular:QLearningSettings"),
    "tabular-afterstates": Algorithm("agents.tabular:TabularAfterstates", "agents.tabular:QLearningSettings"),
    "monte-carlo": Algorithm("agents.tabular:MonteCarlo", "agents.tabular:MonteCarloSettings"),
    "certainty-equivalence": Algorithm(
        "agents.certainty_equivalence:CertaintyEquivalence", "agents.certainty_equivalence:CertaintyEquivalenceSettings"
    ),
    "sb3-ppo": Algorithm("agents.sb3:make_ppo", "agents.sb3:StockSettings"),
    "sb3-a2c": Algorithm("agents.sb3:make_a2c", "agents.sb3:StockSettings"),
    "sb3-dqn": Algorithm("agents.sb3:make_dqn", "agents.sb3:StockSettings"),
    "sb3-maskable-ppo": Algorithm("agents.sb3:make_maskable_ppo", "agents.sb3:StockSettings"),
    "sb3-maskable-ppo-tuned": Algorithm("agents.sb3:make_maskable_ppo", "agents.sb3:TunedPPOSettings"),
    "sb3-dqn-tuned": Algorithm("agents.sb3:make_dqn", "agents.sb3:TunedDQNSettings"),
}
IN_ROUNDS = ("ppo", "dqn", "fitted-q", "afterstates")  # algorithms that also learn rounds of several players

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "nine-tiles": ("stb_gym/ShutTheBox-v0", {}),
    "nine-tiles-shut": ("stb_gym/ShutTheBox-v0", {"objective": "shut"}),
    "twelve-tiles": ("stb_gym/ShutTheBox-v0", {"tiles": 12}),
    "sixteen-tiles": ("stb_gym/ShutTheBox-v0", {"tiles": 16, "dice": 3}),
    "twenty-tiles": ("stb_gym/ShutTheBox-v0", {"tiles": 20, "dice": 4}),
    "the-300": ("stb_gym/ShutTheBox-v0", {"tiles": 24, "dice": 4}),
    "threes": ("stb_gym/Threes-v0", {}),
}


@dataclass(frozen=True, config=ConfigDict(strict=True))
class Config:
    """The configuration of a run; `configure` makes one from the presets.

    Raises:
        ValueError: naming the first entry that is not allowed.
    """

    algorithm: str
    """One of ALGORITHMS."""
    env: str
    """The id of the environment."""
    arguments: dict[str, Any]
    """Keyword arguments of the environment: rules and the objective."""
    settings: Any
    """The settings of the algorithm, an object of its settings class."""
    steps: Annotated[int, Field(ge=1, le=10**12)]
    """Steps of all environments together."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Seed of the dice, the weights and the exploration."""
    opponents: str | None = None
    """In a round: a kind of self-play, or the strategy that all opponents play; None to learn one turn."""
    players: Annotated[int, Field(ge=2, le=101)] | None = None
    """In a round: the number of players."""

    def __post_init__(self) -> None:
        check_choice("algorithm", self.algorithm, list(ALGORITHMS))
        check_choice("environment", self.env, list(ENVIRONMENTS))  # others would import the module that they name
        objective_of(self.game(), self.objective)
        if (self.opponents is None) != (self.players is None):
            raise ValueError("a round needs both opponents and players")
        if self.opponents is not None:
            check_choice("algorithm for rounds", self.algorithm, IN_ROUNDS)
            check_choice("objective in rounds", self.objective, ["score"])

    @property
    def objective(self) -> str:
        """What is rewarded, such as "score" or "shut"."""
        return {"objective": "score", **environment_of(self.env).arguments, **self.arguments}["objective"]

    def game(self) -> Game:
        """Return the rules."""
        return game_of_environment(self.env, _without_objective(self.arguments))

    def make_envs(self) -> VectorEnv:
        """Return the vector environment that the algorithm learns from."""
        if self.opponents is not None:
            from agents.self_play import KINDS

            opponents = "random" if self.opponents in KINDS else self.opponents  # until there is a policy to play
            players = self.players or 2
            return RoundVectorEnv(
                self.game(), self.settings.num_envs, players, opponents=opponents, autoreset_mode="SameStep"
            )
        scale = {"reward_scale": self.settings.reward_scale} if hasattr(self.settings, "reward_scale") else {}
        return gym.make_vec(self.env, self.settings.num_envs, autoreset_mode="SameStep", **self.arguments, **scale)

    def make_learner(self, envs: VectorEnv, device: str = "cpu") -> Learner:
        """Return a learner that has not learned yet.

        Args:
            envs: as `make_envs` returns them.
            device: where its networks are, such as "cuda".
        """
        return ALGORITHMS[self.algorithm].make(envs, self.settings, self.seed, device)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as plain JSON."""
        return asdict(self)

    @staticmethod
    def from_json(entries: Any) -> "Config":
        """Return the configuration that `to_json` wrote.

        Raises:
            ValueError: naming the first entry that is missing, unknown or not allowed.
        """
        names = [field.name for field in fields(Config)]
        _check_entries("entry", entries, names)
        for name in names[:5]:
            if name not in entries:
                raise ValueError(f"the entry {name!r} is missing")
        settings = make_settings(entries["algorithm"], entries["settings"])
        return _one_line(lambda: Config(**{**entries, "settings": settings}))


def configure(
    algorithm: str,
    env: str,
    arguments: Mapping[str, Any],
    variant: str = STANDARD,
    *,
    seed: int = 0,
    steps: int | None = None,
    settings: Mapping[str, Any] | None = None,
    opponents: str | None = None,
    players: int | None = None,
) -> Config:
    """Return the configuration of a run by the presets.

    Args:
        algorithm: one of ALGORITHMS.
        env: the id of an environment.
        arguments: its keyword arguments: rules and the objective.
        variant: a variant of the preset.
        seed: seed of the dice, the weights and the exploration.
        steps: steps of all environments together; by default those of the preset.
        settings: settings that differ from those of the preset.
        opponents: in a round, a kind of self-play or a strategy.
        players: in a round, the number of players.

    Raises:
        ValueError: naming what is not allowed, and what is.

    Example:
        >>> configure("ppo", *TASKS["twelve-tiles"], seed=3).game()
        ShutTheBox(tiles=12)
    """
    preset_steps, preset = read_preset(algorithm, task_name(env, arguments), variant)
    entries = {
        "settings": make_settings(algorithm, {**preset, **(settings or {})}),
        "steps": preset_steps if steps is None else steps,
        "opponents": opponents,
        "players": players,
    }
    return _one_line(lambda: Config(algorithm, env, dict(arguments), seed=seed, **entries))


def task_name(env: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the name of the task with the same game and objective, or None.

    Raises:
        ValueError: if there is no such environment, or an argument is not allowed.
    """
    check_choice("environment", env, list(ENVIRONMENTS))
    objective = arguments.get("objective", environment_of(env).arguments.get("objective"))
    game = game_of_environment(env, _without_objective(arguments))
    for name, (task_env, task_arguments) in TASKS.items():
        rules = game_of_environment(task_env, _without_objective(task_arguments))
        if (rules, task_arguments.get("objective", "score")) == (game, objective or "score"):
            return name
    return None


def read_preset(algorithm: str, task: str | None, variant: str = STANDARD) -> tuple[int, dict[str, Any]]:
    """Return the steps and the settings of a preset.

    Args:
        algorithm: one of ALGORITHMS.
        task: one of TASKS, or None for a task without a name.
        variant: a variant that the algorithm has on that task.

    Raises:
        ValueError: if the algorithm, the task or the variant is unknown, or a table of the file is wrong.
    """
    check_choice("algorithm", algorithm, list(ALGORITHMS))
    if task is not None:
        check_choice("task", task, list(TASKS))
    table = _read_tables(FILE).get(algorithm, {})
    of_task = table.get(task, {})
    check_choice(f"variant of {algorithm} on {task or 'other tasks'}", variant, variants(algorithm, task))
    entries: dict[str, Any] = {}
    for part in (table, table.get(variant, {}), of_task, of_task.get(variant, {})):
        entries |= {name: value for name, value in part.items() if not isinstance(value, dict)}
    steps = entries.pop("steps", None)
    try:
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ValueError(f"steps must be a positive integer, not {steps}")
        make_settings(algorithm, entries)
    except ValueError as error:
        raise ValueError(f"{FILE.name}: {algorithm}, {task}, {variant}: {error}") from None
    return steps, entries


def variants(algorithm: str, task: str | None) -> list[str]:
    """Return the variants that an algorithm has on a task."""
    table = _read_tables(FILE).get(algorithm, {})
    tables = [name for part in (table, table.get(task, {})) for name, value in part.items() if isinstance(value, dict)]
    return [STANDARD, *dict.fromkeys(name for name in tables if name not in TASKS)]


@lru_cache(maxsize=8)
def _read_tables(path: Path) -> dict[str, Any]:
    try:
        tables = tomllib.loads(read_text(path))
        check_names("table", tables, list(ALGORITHMS))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return tables


def make_settings(algorithm: str, entries: Any) -> Any:
    """Return the settings of an algorithm; those that are missing have their defaults.

    Args:
        algorithm: one of ALGORITHMS.
        entries: settings by name.

    Raises:
        ValueError: naming the first setting that is unknown or not allowed.
    """
    check_choice("algorithm", algorithm, list(ALGORITHMS))
    settings_class = ALGORITHMS[algorithm].settings_class
    _check_entries("setting", entries, [field.name for field in fields(settings_class)])
    text = json.dumps(entries)
    return _one_line(lambda: TypeAdapter(settings_class).validate_json(text, strict=True))


def _check_entries(kind: str, entries: Any, names: list[str]) -> None:
    if not isinstance(entries, dict):
        raise ValueError(f"entries by name are expected, not {entries!r:.60}")
    check_names(kind, entries, names)


def _one_line(make: Callable[[], T]) -> T:
    """Call `make`; raise a ValueError of one line for the first error that pydantic finds."""
    try:
        return make()
    except ValidationError as error:
        first = error.errors()[0]
        if "error" in first.get("ctx", {}):  # a ValueError of __post_init__
            raise ValueError(str(first["ctx"]["error"])) from None
        name = ".".join(str(part) for part in first["loc"] if isinstance(part, int) or part.isidentifier())
        message = first["msg"].removeprefix("Input ")
        raise ValueError(f"{name} {message}, not {first['input']!r:.60}") from None


def _without_objective(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name != "objective"}
