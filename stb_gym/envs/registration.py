"""The ids of the environments: those of the package, and those of registered games.

Every id, such as "stb_gym/Threes-v0", has a twin with the action mask in the observation, "stb_gym/ThreesMasked-v0".
Gymnasium's registry keeps the name of the game and the fields of its rules; nothing is compiled before an environment
is made.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.registration import get_env_id, parse_env_id

from stb_gym.games import (
    GAMES,
    Entry,
    Game,
    RuleOfThumb,
    Variant,
    Words,
    check_choice,
    check_entry,
    enter,
    entry_of,
    make_game,
)  # fmt: skip
from stb_gym.solver import COMMON

NAMESPACE, MASKED = "stb_gym", "Masked"


class Environment(NamedTuple):
    """What an id stands for, masked or not: the rules class of its game, and the arguments for the environment."""

    rules: type[Game]
    arguments: Mapping[str, Any]


ENVIRONMENTS: dict[str, Environment] = {}  # of turns, without the masked twins


def register_game(
    rules: type[Game],
    *,
    words: type[Words[Any]] = Words,
    rules_of_thumb: Mapping[str, RuleOfThumb] | None = None,
    variants: Mapping[str, Variant] | None = None,
    environments: Mapping[str, Mapping[str, Any]] | None = None,
    reward_thresholds: Mapping[str, float] | None = None,
) -> None:
    """Register a game of your own for the environments, the solver, the rounds and every command.

    Args:
        rules: the rules, a frozen dataclass that is a `Game`.
        words: how the game is described to people; the default is plain.
        rules_of_thumb: how people choose a move, by name; they become strategies.
        variants: rules that have a name.
        environments: the fields of the rules (and perhaps the objective) of every environment, by the name of its id
            without the namespace; by default {"RULES_CLASS-v0": {}}.
        reward_thresholds: the mean reward of perfect play, as `solve` returns it, by the name of the id.

    Raises:
        ValueError: if the rules are no such class, or a name is not allowed or taken.

    Example:
        See `docs/your_own_game.md`, which registers Pig in one file.
    """
    entry = Entry(rules, words, rules_of_thumb or {}, variants or {}, environments, reward_thresholds or {})
    check_entry(entry)
    for name in entry.rules_of_thumb:
        if name in COMMON:
            raise ValueError(f"the strategy {name} is every game's: call the rule of thumb something else")
    for identity, arguments in ids_of(entry).items():
        make_game(rules, {name: value for name, value in arguments.items() if name != "objective"})
        if ENVIRONMENTS.get(identity, Environment(rules, {})).rules.name != rules.name:
            raise ValueError(f"{identity} is the id of an environment of {ENVIRONMENTS[identity].rules.name}")
        if parse_env_id(identity)[1].endswith(MASKED):
            raise ValueError(f"{identity} is an id with the mask in the observation: leave out {MASKED}")
    enter(entry)
    register_environments(entry)


def ids_of(entry: Entry) -> dict[str, Mapping[str, Any]]:
    """Return the ids of a game's turns, and the arguments of each."""
    named = {f"{entry.rules.__name__}-v0": {}} if entry.environments is None else entry.environments
    return {f"{NAMESPACE}/{name}": arguments for name, arguments in named.items()}


def register_environments(entry: Entry) -> None:
    """Register the environments of a game with Gymnasium."""
    for identity, arguments in ids_of(entry).items():
        threshold = entry.reward_thresholds.get(identity.removeprefix(f"{NAMESPACE}/"))
        given = {"game": entry.rules.name, **arguments}
        ENVIRONMENTS[identity] = Environment(entry.rules, arguments)
        register(identity, "stb_gym.envs.env:TurnEnv", "stb_gym.envs.vector_env:TurnVectorEnv", given, threshold)
        masked, masked_vec = "stb_gym.envs.wrappers:make_masked", "stb_gym.envs.wrappers:make_masked_vec"
        register(masked_id(identity), masked, masked_vec, given, threshold)
    _register_rounds(entry)


def _register_rounds(entry: Entry) -> None:
    identity, given = round_id(entry.rules), {"game": entry.rules.name}
    register(identity, "stb_gym.rounds.env:RoundEnv", "stb_gym.rounds.vector_env:RoundVectorEnv", given)
    masked, masked_vec = "stb_gym.rounds.env:make_masked", "stb_gym.rounds.vector_env:make_masked_vec"
    register(masked_id(identity), masked, masked_vec, given)


def register(
    identity: str,
    entry_point: str,
    vector_entry_point: str,
    arguments: Mapping[str, Any],
    reward_threshold: float | None = None,
) -> None:
    """Register an id with Gymnasium; one that is registered already is replaced.

    Args:
        identity: the id, with the namespace.
        entry_point, vector_entry_point: "MODULE:NAME" of what `gym.make` and `gym.make_vec` call.
        arguments: keyword arguments of both.
        reward_threshold: the mean reward of perfect play.
    """
    gym.registry.pop(identity, None)
    gym.register(
        id=identity,
        entry_point=entry_point,
        vector_entry_point=vector_entry_point,
        reward_threshold=reward_threshold,
        kwargs={**arguments},
        disable_env_checker=True,  # the environments pass it, and refuse a step before a reset themselves;
        order_enforce=False,  # each of the two wrappers would make a step a tenth slower
    )


def register_known() -> None:
    """Register the environments of the games of the package."""
    for rules in GAMES.values():
        register_environments(entry_of(rules))


def round_id(rules: type[Game]) -> str:
    """Return the id of the environment of a round of a game; see `stb_gym.RoundEnv`.

    Example:
        >>> import stb_gym
        >>> round_id(stb_gym.Threes)
        'stb_gym/ThreesRound-v0'
    """
    return f"{NAMESPACE}/{rules.__name__}Round-v0"


def masked_id(identity: str) -> str:
    """Return the id of the same environment with the action mask in the observation; see `MaskInObservation`.

    Example:
        >>> from stb_gym.envs import masked_id
        >>> masked_id("stb_gym/ShutTheBox-v0")
        'stb_gym/ShutTheBoxMasked-v0'
    """
    namespace, name, version = parse_env_id(identity)
    return get_env_id(namespace, name + MASKED, version)


def environment_of(identity: str) -> Environment:
    """Return what an id stands for; no environment is made.

    Args:
        identity: an id such as "stb_gym/ShutTheBox-v0"; "MODULE:ID" imports the module first, as in `gym.make`.

    Raises:
        ValueError: if no registered game has the id.

    Example:
        >>> import stb_gym
        >>> stb_gym.environment_of("stb_gym/ShutTheBox10-v0").arguments
        {'tiles': 10}
    """
    if not isinstance(identity, str):
        raise ValueError(f"an environment is named by its id, not by {identity!r}")
    module, _, identity = identity.rpartition(":")
    if module:
        try:
            import_module(module)
        except Exception as error:  # whatever the module raises
            raise ValueError(f"the module {module} of {identity} cannot be imported: {error}") from error
    identity = {masked_id(plain): plain for plain in ENVIRONMENTS}.get(identity, identity)
    check_choice("environment", identity, list(ENVIRONMENTS))
    return ENVIRONMENTS[identity]


def game_of_environment(identity: str, rules: Mapping[str, Any] | None = None) -> Game:
    """Return the rules of an environment by its id.

    Args:
        identity: an id; see `environment_of`.
        rules: fields of the rules that differ from those of the id.

    Raises:
        ValueError: if there is no such id, a field is unknown, or its value is not allowed.

    Example:
        >>> import stb_gym
        >>> stb_gym.game_of_environment("stb_gym/ShutTheBox10-v0", {"score": "count"})
        ShutTheBox(tiles=10, score='count')
    """
    of_id = environment_of(identity)
    fields = {name: value for name, value in of_id.arguments.items() if name != "objective"}
    return make_game(of_id.rules, {**fields, **(rules or {})})
