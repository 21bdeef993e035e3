"""How learners are trained: the named tasks, the presets of `presets.toml`, and the configuration of a run."""

import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from agents.common import Learner
from agents.registry import LEARNERS, is_custom, learner_named
from agents.self_play import NEWEST, round_envs
from stb_gym import Game, strategies
from stb_gym.checks import check_choice, check_integer, check_names, meant
from stb_gym.envs import ENVIRONMENTS
from stb_gym.files import read_text, reading
from stb_gym.games import make_game
from stb_gym.measure import is_policy
from stb_gym.messages import quoted
from stb_gym.solver import objective_of

FILE = Path(__file__).with_name("presets.toml")
STANDARD = "standard"  # the variant that needs no table
STEPS_OF_VARIANTS = "variants"  # the table of steps
STEPS_OF_CUSTOM = 200_000  # the budget of an agent of other code
QUICK = "quick"  # the variant that trades regret for time
# How settings shrink with a budget below that of the preset: by the ratio of both to this power. The number of rollouts
# stays. Batches and learning rates follow the square root.
SHRINKING = {"num_envs": 1.0, "warm_up": 1.0, "batch_size": 0.5, "minibatches": 0.5, "learning_rate": 0.5}
LEAST_RATIO = 1e-4  # a batch keeps more than one sample
CLOSE = 0.03  # numbers of steps that differ by at most this share count as one budget
T = TypeVar("T")


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
    """One of `agents.registry.LEARNERS`, or MODULE:NAME."""
    env: str
    """The id of the environment."""
    arguments: dict[str, Any]
    """Keyword arguments of the environment: rules and the objective."""
    settings: Any
    """The settings of the algorithm, an object of its settings class; a dictionary for an agent of other code."""
    steps: Annotated[int, Field(ge=1, le=10**12)]
    """Steps of all environments together; the last rollout is finished."""
    seed: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """Seed of the dice, the weights and the exploration."""
    opponents: str | None = None
    """In a round: a kind of self-play, or the strategy that all opponents play; None to learn one turn."""
    players: Annotated[int, Field(ge=2, le=101)] | None = None
    """In a round: the number of players."""
    variant: str = STANDARD
    """The variant of the preset that was asked for."""
    budget: int | None = None
    """The steps that were asked for; None for those of a preset."""

    def __post_init__(self) -> None:
        objective_of(*game_and_objective(self.env, self.arguments))
        if (self.opponents is None) != (self.players is None):
            raise ValueError("a round needs both opponents and players")
        if self.opponents is not None:
            in_rounds = [name for name, learner in LEARNERS.items() if learner.plays_rounds]
            check_choice("algorithm for rounds", self.algorithm, in_rounds)
            check_choice("objective in rounds", self.objective, ["score"])
            if not is_policy(self.opponents):
                check_choice("opponents", self.opponents, [*NEWEST, *strategies(self.game())])

    @property
    def objective(self) -> str:
        """What is rewarded, such as "score" or "shut"."""
        return game_and_objective(self.env, self.arguments)[1]

    @property
    def rollouts(self) -> tuple[int, int]:
        """The number of rollouts, and the steps of each."""
        steps = learner_named(self.algorithm).rollout_steps(self.settings)
        return -(-self.steps // steps), steps

    def game(self) -> Game:
        """Return the rules."""
        return game_and_objective(self.env, self.arguments)[0]

    def make_envs(self) -> Any:
        """Return the environment that the algorithm learns from, usually a vector environment."""
        if self.opponents is not None and self.players is not None:
            return round_envs(self.game(), self.settings.num_envs, self.players, self.opponents)
        return learner_named(self.algorithm).make_envs(self.env, self.arguments, self.settings)

    def make_learner(self, envs: Any, device: str = "cpu") -> Learner:
        """Return a `Learner` that has not learned yet.

        Args:
            envs: as `make_envs` returns them.
            device: where its networks are, such as "cuda".
        """
        return learner_named(self.algorithm)(envs, self.settings, self.seed, device)

    def to_json(self) -> dict[str, Any]:
        """Return the configuration as plain JSON."""
        return asdict(self)

    @staticmethod
    def from_json(entries: Mapping[str, Any]) -> "Config":
        """Return the configuration that `to_json` wrote; an agent MODULE:NAME is not imported.

        Raises:
            ValueError: naming the first entry that is missing, unknown or not allowed.
        """
        check_names("entry", entries, [field.name for field in fields(Config)])
        algorithm, settings = entries.get("algorithm", ""), entries.get("settings")
        if isinstance(algorithm, str) and is_custom(algorithm):
            settings = _arguments(settings, {})
        else:
            settings = make_settings(algorithm, settings)
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

    The settings are those of the variant or, without one, of the largest preset within the budget. For a budget below
    that of the preset they shrink, see SHRINKING. The run makes as many whole rollouts as the budget allows, and at
    least one. With the budget of the preset it also finishes the last rollout, as published runs did.

    Args:
        algorithm: one of `agents.registry.LEARNERS`, or MODULE:NAME.
        env: the id of an environment.
        arguments: its keyword arguments: rules and the objective.
        variant: a variant of the preset.
        seed: seed of the dice, the weights and the exploration.
        steps: the budget, in steps of all environments together; by default that of the preset.
        settings: settings that differ from those of the preset.
        opponents: in a round, a kind of self-play or a strategy.
        players: in a round, the number of players.

    Raises:
        ValueError: naming what is not allowed, and what is.

    Example:
        >>> configure("ppo", *TASKS["twelve-tiles"], seed=3).game()
        ShutTheBox(tiles=12)
    """
    task, changes = task_name(env, arguments), settings or {}
    if steps is not None:
        check_integer("steps", steps, 1, 10**12)
    if steps is None or variant != STANDARD:
        preset = read_preset(algorithm, task, variant)
    else:
        preset = _largest_preset(algorithm, task, steps)
    preset_steps = preset.pop("steps", None)
    checked_settings = make_settings(algorithm, {**preset, **changes})
    config = _one_line(
        lambda: Config(
            algorithm,
            env,
            {**arguments},
            checked_settings,
            steps=preset_steps if steps is None else steps,
            seed=seed,
            opponents=opponents,
            players=players,
            variant=variant,
        )
    )
    if config.steps == preset_steps and is_close(math.prod(config.rollouts), preset_steps):
        return config
    return _within_budget(config, config.steps / (preset_steps or config.steps), changes)


def is_close(steps: Any, budget: Any) -> Any:
    """Return whether numbers of steps are so close to a budget that runs are compared as runs of this budget."""
    return abs(steps - budget) <= CLOSE * budget


def game_and_objective(env: str, arguments: Mapping[str, Any]) -> tuple[Game, str]:
    """Return the rules and the objective of an environment.

    Args:
        env: the id of the environment. Ids "MODULE:ID" are not allowed, so that a file cannot import a module.
        arguments: its keyword arguments: rules and the objective.

    Raises:
        ValueError: if there is no such environment, or a rule is not allowed.
    """
    check_choice("environment (one of your own needs --import)", env, list(ENVIRONMENTS))
    rules = {"objective": "score", **ENVIRONMENTS[env].arguments, **arguments}
    objective = rules.pop("objective")
    return make_game(ENVIRONMENTS[env].rules, rules), objective


def task_name(env: str, arguments: Mapping[str, Any]) -> str | None:
    """Return the name of the task with the same game and objective, or None."""
    wanted = game_and_objective(env, arguments)
    return next((name for name, task in TASKS.items() if game_and_objective(*task) == wanted), None)


def read_preset(algorithm: str, task: str | None, variant: str = STANDARD) -> dict[str, Any]:
    """Return the settings of a preset, and the `steps` if it has them.

    Args:
        algorithm: one of `agents.registry.LEARNERS`.
        task: one of TASKS, or None for a task without a name.
        variant: a variant that the algorithm has on that task.

    Raises:
        ValueError: if the algorithm or the variant is unknown, or the file of the presets is damaged.
    """
    learner_named(algorithm)
    tables = _read_tables(FILE)
    table, steps = tables.get(algorithm, {}), tables.get(STEPS_OF_VARIANTS, {})
    if is_custom(algorithm):
        table = {"steps": STEPS_OF_CUSTOM}
    of_task = table.get(task, {})
    named = {name for part in (table, of_task) for name, entry in part.items() if isinstance(entry, dict)}
    variants = [STANDARD, *sorted((named | steps.keys()) - TASKS.keys() - {STANDARD})]
    check_choice(f"variant of {algorithm} on {task or 'other tasks'}", variant, variants)
    of_variant = {"steps": steps[variant]} if variant in steps else {}
    parts = (table, of_task, of_variant, table.get(variant, {}), of_task.get(variant, {}))
    return {name: entry for part in parts for name, entry in part.items() if not isinstance(entry, dict)}


def _largest_preset(algorithm: str, task: str | None, budget: int) -> dict[str, Any]:
    """Return the preset with the most steps within a budget, or that with the fewest; QUICK is left out."""
    variants = [STANDARD, *_read_tables(FILE).get(STEPS_OF_VARIANTS, {})]
    presets = [read_preset(algorithm, task, variant) for variant in variants if variant != QUICK]
    steps = [preset.get("steps", math.inf) for preset in presets]
    return presets[steps.index(max((each for each in steps if each <= budget), default=min(steps)))]


def _within_budget(config: Config, ratio: float, fixed: Iterable[str]) -> Config:
    """Fit settings and rollouts of a configuration to its steps.

    Args:
        config: the configuration.
        ratio: its steps, divided by those that its settings suit.
        fixed: settings that stay as they are.
    """
    settings, shrunk = config.settings, {}
    for name, value in config.to_json()["settings"].items():
        if ratio < 1 and name in SHRINKING.keys() - fixed:
            scaled = value * max(ratio, LEAST_RATIO) ** SHRINKING[name]
            # Powers of two divide each other: minibatches of a rollout have the same size.
            shrunk[name] = scaled if isinstance(value, float) else 1 << max(int(scaled), 1).bit_length() - 1
    if shrunk:
        settings = settings | shrunk if isinstance(settings, dict) else replace(settings, **shrunk)
    if hasattr(settings, "num_steps") and "num_steps" not in fixed:
        settings = replace(settings, num_steps=min(settings.num_steps, max(config.steps // settings.num_envs, 1)))
    rollout = learner_named(config.algorithm).rollout_steps(settings)
    steps = max(config.steps // rollout, 1) * rollout
    return replace(config, settings=settings, steps=steps, budget=config.steps)


@lru_cache(maxsize=8)
def _read_tables(path: Path) -> dict[str, Any]:
    with reading(path):
        tables = tomllib.loads(read_text(path))
        check_names("table", tables, [STEPS_OF_VARIANTS, *LEARNERS])
        for name, table in tables.items():
            if name == STEPS_OF_VARIANTS:
                _check_table(name, table, table)
            else:
                _check_table(name, table, ["steps", *LEARNERS[name].setting_names()], 2)
        return tables


def _check_table(where: str, table: Any, settings: Any, levels: int = 0) -> None:
    """Raise a ValueError unless a table holds settings, and tables of them below: of tasks, and of their variants."""
    if not isinstance(table, dict):
        raise ValueError(f"{where} must be a table, not {quoted(table)}")
    for name, entry in table.items():
        if not isinstance(entry, dict):
            if name not in settings:
                raise ValueError(f"{where} has no setting {quoted(name)}{meant(name, settings)}")
        elif name in settings or levels == 0:
            raise ValueError(f"{where} must not have the table {quoted(name)}")
        else:
            _check_table(f"{where}.{name}", entry, settings, levels - 1 if name in TASKS else 0)


def make_settings(algorithm: str, entries: Any) -> Any:
    """Return the settings of an algorithm; those that are missing have their defaults.

    Args:
        algorithm: one of `agents.registry.LEARNERS`, or MODULE:NAME.
        entries: settings by name.

    Raises:
        ValueError: naming the first setting that is unknown or not allowed.
    """
    learner = learner_named(algorithm)
    if isinstance(entries, dict):
        check_settings(algorithm, entries)
    if learner.settings_class is dict:
        return _arguments(entries, learner.defaults)
    return _one_line(lambda: TypeAdapter(learner.settings_class).validate_json(json.dumps(entries), strict=True))


def check_settings(algorithm: str, names: Iterable[str]) -> None:
    """Raise ValueError unless an algorithm has the settings of these names."""
    allowed = learner_named(algorithm).setting_names(names)
    for name in names:
        if not allowed:
            raise ValueError(f"{algorithm} has no settings: leave out {quoted(name)}")
        check_choice("setting", name, allowed)


def _arguments(entries: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(entries, dict):
        raise ValueError(f"settings must be a table, not {quoted(entries)}")
    return {**defaults, **entries}


def _one_line(make: Callable[[], T]) -> T:
    """Call `make`; raise a ValueError of one line for the first error that pydantic finds."""
    try:
        return make()
    except ValidationError as error:
        first = error.errors()[0]
        if "error" in first.get("ctx", {}):  # a ValueError of __post_init__
            raise ValueError(str(first["ctx"]["error"])) from None
        name = first["loc"][0] if first["loc"] else "settings"
        raise ValueError(f"{name} {first['msg'].removeprefix('Input ')}, not {first['input']!r:.60}") from None
