"""The ids of the environments: those of the package, and those of registered games.

Every id, such as "stb_gym/Threes-v0", has a twin with the action mask in the observation, "stb_gym/ThreesMasked-v0".
Gymnasium's registry keeps the name of the game and the fields of its rules; nothing is compiled before an environment
is made. The functions `make_...`, which Gymnasium calls, supply the stepper and the renderer of an environment.
"""

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec, get_env_id, parse_env_id

from stb_gym.checks import check_choice
from stb_gym.envs.base import GameEnv
from stb_gym.envs.env import TurnEnv
from stb_gym.envs.large_stepper import large_stepper
from stb_gym.envs.rendering import TurnRenderer
from stb_gym.envs.table_stepper import Stepper, fits_tables, table_stepper
from stb_gym.envs.vector_env import TurnVectorEnv
from stb_gym.envs.wrappers import MaskInObservation, VectorMaskInObservation
from stb_gym.games import Entry, Game, check_rules, make_game
from stb_gym.large import is_box
from stb_gym.messages import quoted
from stb_gym.solver import objective_of

NAMESPACE = "stb_gym"
MASKED = "Masked"


class Environment(NamedTuple):
    """What an id stands for, masked or not: the rules class of its game, and the arguments for the environment."""

    rules: type[Game]
    arguments: Mapping[str, Any]


ENVIRONMENTS: dict[str, Environment] = {}  # by id; without rounds and without masked twins


def register_environments(entry: Entry) -> None:
    """Register the environments of turns of a game with Gymnasium.

    Raises:
        ValueError: if an id belongs to another game, or ends in "Masked".
    """
    environments = {f"{NAMESPACE}/{name}": arguments for name, arguments in entry.environments.items()}
    for identity in environments:
        check_free(identity, entry.rules.name)
        if parse_env_id(identity)[1].endswith(MASKED):
            raise ValueError(f"{identity} is an id with the mask in the observation: leave out {MASKED}")
    for identity, arguments in environments.items():
        arguments = dict(arguments)
        threshold = arguments.pop("reward_threshold", None)
        given = {"game": entry.rules.name, **arguments}
        ENVIRONMENTS[identity] = Environment(entry.rules, arguments)
        register(identity, f"{__name__}:make_turn", f"{__name__}:make_turns", given, threshold)
        register(masked_id(identity), f"{__name__}:make_masked", f"{__name__}:make_masked_turns", given, threshold)


def make_turn(game: Game | str, *, stepper: str | None = None, **arguments: Any) -> TurnEnv:
    """Make the environment of one turn, as `gym.make` does.

    Args:
        game: the name of a game, or a rules object.
        stepper: "tables" to look moves up, or "boards" to work them out, for Shut the Box only. The default is tables
            unless they are too large. Both step alike.
        **arguments: see `TurnEnv`.

    Raises:
        ValueError: if an argument is not allowed, or the game is too large for tables.
        TypeError: if a keyword is neither an argument nor a field of the rules.
    """
    return TurnEnv(game, **_supplies(stepper), **arguments)


def make_turns(game: Game | str, *, stepper: str | None = None, **arguments: Any) -> TurnVectorEnv:
    """Make the environment of many turns, as `gym.make_vec` does; see `make_turn` and `TurnVectorEnv`."""
    return TurnVectorEnv(game, **_supplies(stepper), **arguments)


def make_masked(mask_names: str = "gymnasium", **arguments: Any) -> MaskInObservation:
    """Make the environment of one turn with the mask in its observation; see `make_turn`."""
    return MaskInObservation(make_turn(**arguments), mask_names)


def make_masked_turns(mask_names: str = "gymnasium", **arguments: Any) -> VectorMaskInObservation:
    """Make the environment of many turns with the masks in its observations; see `make_turns`."""
    return VectorMaskInObservation(make_turns(**arguments), mask_names)


# `gym.make` reads the render modes here.
make_turn.metadata = make_masked.metadata = TurnEnv.metadata  # type: ignore[attr-defined]


def _supplies(stepper: str | None) -> dict[str, Any]:
    """Return the arguments of an environment that this module supplies."""
    return {"stepper": partial(stepper_of, kind=stepper), "renderer": TurnRenderer, "threshold": threshold_of}


def stepper_of(game: Game, observation_dtype: str = "uint8", kind: str | None = None) -> Stepper:
    """Return the stepper of a game, from a cache.

    Args:
        game: the rules.
        observation_dtype: the type of observations, by its NumPy name.
        kind: "tables" or "boards"; by default boards only for Shut the Box too large for tables. Both step alike.

    Raises:
        ValueError: if these rules have no such stepper.

    Example:
        >>> import stb_gym
        >>> from stb_gym.envs import stepper_of
        >>> stepper_of(stb_gym.ShutTheBox.preset("the-300")).num_actions
        757
    """
    check_rules(game)
    check_choice("stepper", kind, [None, "tables", "boards"])
    if kind is None:
        kind = "boards" if not fits_tables(game) and is_box(game) else "tables"
    return (table_stepper if kind == "tables" else large_stepper)(game, observation_dtype)


def threshold_of(env: GameEnv, spec: EnvSpec) -> float | None:
    """Return the mean reward of perfect play; None if the rules or the objective are not those of the id.

    Args:
        env: the environment.
        spec: the specification from which Gymnasium made it.
    """
    try:
        of_id = environment_of(spec.id)
    except ValueError:
        return spec.reward_threshold
    objective = objective_of(env.game, of_id.arguments.get("objective", "score"))
    threshold = gym.spec(spec.id).reward_threshold
    if threshold is None or game_of_environment(spec.id) != env.game or objective != env.objective:
        return None
    return threshold * env.reward_scale


def check_free(identity: str, game: str) -> None:
    """Raise a ValueError if an id, or that of its masked twin, belongs to another game."""
    for each in (identity, masked_id(identity)):
        owner = gym.registry[each].kwargs.get("game") if each in gym.registry else game
        if owner != game:
            raise ValueError(f"{each} is the id of an environment of {owner}")


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
        entry_point: "MODULE:NAME" of what `gym.make` calls.
        vector_entry_point: "MODULE:NAME" of what `gym.make_vec` calls.
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
        # The environments pass the checker, and refuse a step before a reset themselves. Each of these wrappers would
        # make a step a tenth slower.
        disable_env_checker=True,
        order_enforce=False,
    )


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
    """Return the rules class and the arguments of an id, without making an environment.

    Args:
        identity: an id such as "stb_gym/ShutTheBox-v0"; "MODULE:ID" imports the module first, as in `gym.make`.

    Raises:
        ValueError: if no registered game has the id.

    Example:
        >>> import stb_gym
        >>> stb_gym.envs.environment_of("stb_gym/ShutTheBox10-v0").arguments
        {'tiles': 10}
    """
    if not isinstance(identity, str):
        raise ValueError(f"an environment is named by its id, not by {quoted(identity)}")
    module, _, identity = identity.rpartition(":")
    if module:
        try:
            import_module(module)
        except Exception as error:  # whatever the module raises
            raise ValueError(f"the module {quoted(module)} cannot be imported: {quoted(str(error), 100)}") from error
    identity = {masked_id(plain): plain for plain in ENVIRONMENTS}.get(identity, identity)
    check_choice("environment", identity, list(ENVIRONMENTS))
    return Environment(ENVIRONMENTS[identity].rules, {**ENVIRONMENTS[identity].arguments})


def game_of_environment(identity: str, rules: Mapping[str, Any] | None = None) -> Game:
    """Return the rules of an environment by its id.

    Args:
        identity: an id; see `environment_of`.
        rules: fields of the rules that differ from those of the id.

    Raises:
        ValueError: if there is no such id, a field is unknown, or its value is not allowed.

    Example:
        >>> import stb_gym
        >>> stb_gym.envs.game_of_environment("stb_gym/ShutTheBox10-v0", {"score": "count"})
        ShutTheBox(tiles=10, score='count')
    """
    of_id = environment_of(identity)
    fields = {name: value for name, value in of_id.arguments.items() if name != "objective"}
    return make_game(of_id.rules, {**fields, **(rules or {})})
