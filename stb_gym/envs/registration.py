"""The ids of the environments: those of the package, and those of games that people register.

Every id, such as "stb_gym/Threes-v0", has a twin with the action mask in the observation, "stb_gym/ThreesMasked-v0".
Every game has an environment of rounds, too, "stb_gym/ThreesRound-v0", which `ENVIRONMENTS`, those of turns, leave out.
`gym.register` keeps, for every id, the name of its game and the fields of its rules; nothing is compiled before an
environment is made.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, get_env_id, parse_env_id

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
)
from stb_gym.solver import COMMON, Objective, objective_of

NAMESPACE, MASKED = "stb_gym", "Masked"


class Environment(NamedTuple):
    """What an id stands for, masked or not: the rules class of its game, and the arguments for the environment."""

    rules: type[Game]
    arguments: Mapping[str, Any]


ENVIRONMENTS: dict[str, Environment] = {}


def register_game(
    rules: type[Game],
    *,
    words: type[Words[Any]] = Words,
    rules_of_thumb: Mapping[str, RuleOfThumb] | None = None,
    variants: Mapping[str, Variant] | None = None,
    environments: Mapping[str, Mapping[str, Any]] | None = None,
    reward_thresholds: Mapping[str, float] | None = None,
) -> None:
    """Make a game of your own known to the environments, the solver, the rounds and every command.

    Args:
        rules: the rules, a frozen dataclass that is a `Game`.
        words: how the game is described to people, if not plainly.
        rules_of_thumb: how people choose a move, by name; they become strategies.
        variants: rules that have a name.
        environments: the fields of the rules (and perhaps the objective) for every environment, by the name of its id
            without the namespace; by default {"RULES_CLASS-v0": {}}.
        reward_thresholds: the mean reward of perfect play, which `solve` tells, by the name of the id.

    Raises:
        ValueError: if the rules are no such class, or the name is not allowed or another game's.

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
    """The ids of a game's environments, and the arguments of each."""
    named = {f"{entry.rules.__name__}-v0": {}} if entry.environments is None else entry.environments
    return {f"{NAMESPACE}/{name}": arguments for name, arguments in named.items()}


def register_environments(entry: Entry) -> None:
    """Register the environments of a game with Gymnasium."""
    for identity, arguments in ids_of(entry).items():
        threshold = entry.reward_thresholds.get(identity.removeprefix(f"{NAMESPACE}/"))
        ENVIRONMENTS[identity] = Environment(entry.rules, arguments)
        for each, single, vector in (
            (identity, "env:TurnEnv", "vector_env:TurnVectorEnv"),
            (masked_id(identity), "wrappers:make_masked", "wrappers:make_masked_vec"),
        ):
            arguments_of_id = {"game": entry.rules.name, **arguments}
            _register(each, f"stb_gym.envs.{single}", f"stb_gym.envs.{vector}", threshold, arguments_of_id)
    rounds, of_rounds = round_id(entry.rules), "stb_gym.rounds"
    for each, maker, makers in (
        (rounds, "RoundEnv", "RoundVectorEnv"),
        (masked_id(rounds), "make_masked", "make_masked_vec"),
    ):
        entry_points = f"{of_rounds}.env:{maker}", f"{of_rounds}.vector_env:{makers}"
        _register(each, *entry_points, None, {"game": entry.rules.name})


def _register(identity: str, single: str, vector: str, threshold: float | None, arguments: dict[str, Any]) -> None:
    gym.registry.pop(identity, None)  # a game that is registered again, as in a notebook
    gym.register(
        id=identity,
        entry_point=single,
        vector_entry_point=vector,
        reward_threshold=threshold,
        kwargs=arguments,
        disable_env_checker=True,  # these environments pass it, and refuse a step before a reset themselves;
        order_enforce=False,  # each of the two wrappers would make a step a tenth slower
    )


def round_id(rules: type[Game]) -> str:
    """The id of the environment of a round of a game; see `stb_gym.RoundEnv`.

    Example:
        >>> import stb_gym
        >>> round_id(stb_gym.Threes)
        'stb_gym/ThreesRound-v0'
    """
    return f"{NAMESPACE}/{rules.__name__}Round-v0"


def masked_id(identity: str) -> str:
    """The id of the same environment with the action mask in the observation; see `MaskInObservation`.

    Example:
        >>> from stb_gym.envs import masked_id
        >>> masked_id("stb_gym/ShutTheBox-v0")
        'stb_gym/ShutTheBoxMasked-v0'
    """
    namespace, name, version = parse_env_id(identity)
    return get_env_id(namespace, name + MASKED, version)


def register_known() -> None:
    """Register the environments of the games of the package."""
    for rules in GAMES.values():
        register_environments(entry_of(rules))


def environment_of(identity: str) -> Environment:
    """What an id stands for, read from the registry: no environment is made.

    Args:
        identity: an id such as "stb_gym/ShutTheBox-v0"; "MODULE:ID" imports the module first, as in `gym.make`.

    Raises:
        ValueError: if no game of this package or registered with it has the id.

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


def reward_threshold(spec: EnvSpec, game: Game, objective: Objective, scale: float) -> float | None:
    """The mean reward of perfect play, as far as the id of a spec tells it: None of other rules or another objective.

    An id that stands for none of these environments keeps what its spec says.
    """
    try:
        of_id = environment_of(spec.id)
    except ValueError:
        return spec.reward_threshold
    goal = objective_of(game, of_id.arguments.get("objective", "score"))
    threshold = gym.spec(spec.id).reward_threshold
    if threshold is None or game_of_environment(spec.id) != game or goal != objective:
        return None
    return threshold * scale


def game_of_environment(identity: str, rules: Mapping[str, Any] | None = None) -> Game:
    """The rules of an environment by its id, with other fields changed.

    Args:
        identity: an id, see `environment_of`.
        rules: fields of the rules that are to differ from those of the id.

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
