"""Look into environments of Gymnasium and stable-baselines3, however wrapped, and copy them."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from stb_gym.arrays import INTEGER

# Modules whose wrappers leave positions, actions and ends of turns as they are. TimeLimit is among them: see
# `stb_gym.trial.check_wrappers`.
KNOWN_MODULES = (
    "gymnasium.vector.",
    "gymnasium.wrappers.common",
    "gymnasium.wrappers.rendering",
    "gymnasium.wrappers.stateful_reward",
    "gymnasium.wrappers.vector.common",
    "gymnasium.wrappers.vector.rendering",
    "gymnasium.wrappers.vector.stateful_reward",
    "stable_baselines3.common.monitor",
    "stable_baselines3.common.vec_env.",
    "stb_gym.",
)


def layers_of(env: Any) -> list[Any]:
    """Return the innermost environment and then each wrapper around it; of a vector environment, its first member."""
    layers = [env]
    while (inside := next(_inside(layers[0]), None)) is not None:
        layers.insert(0, inside)
    return layers


def _inside(layer: Any) -> Iterator[Any]:
    """Yield the environment in a wrapper, or the members of a vector environment; those of an AsyncVectorEnv anew."""
    attributes = getattr(layer, "__dict__", {})
    for name in ("env", "venv", "envs"):
        if (inner := attributes.get(name)) is not None:
            yield from inner if isinstance(inner, list | tuple) else [inner]
            return
    for make in attributes.get("env_fns", ()):
        yield make()


def spaces_of(layer: Any) -> tuple[Any, Any]:
    """Return the spaces of the observations and of the actions of a single environment."""
    if hasattr(layer, "single_action_space"):
        return layer.single_observation_space, layer.single_action_space
    return layer.observation_space, layer.action_space


def has_processes(layer: Any) -> bool:
    """Return whether a layer is a vector environment whose members are in other processes."""
    return "processes" in getattr(layer, "__dict__", {})


def is_known(layer: Any) -> bool:
    """Return whether a layer is of a class that leaves the turns as they are; it may change what is observed."""
    return first_known(type(layer)) is type(layer)


def first_known(kind: type) -> type:
    """Return a class if its module is known, or else its first base class of which that is true."""
    return next((each for each in kind.__mro__ if each.__module__.startswith(KNOWN_MODULES)), object)


def all_layers(env: Any) -> list[Any]:
    """Return the layers of an environment, those of all members of vector environments, from inside to outside."""
    return [*(layer for inner in _inside(env) for layer in all_layers(inner)), env]


def limits_of(env: Any) -> list[int]:
    """Return the numbers of steps after which layers truncate turns."""
    limits: list[Any] = []
    for layer in all_layers(env):
        spec, attributes = getattr(layer, "spec", None), getattr(layer, "__dict__", {})
        limits += [attributes.get("max_episode_steps"), attributes.get("_max_episode_steps")]
        if spec:
            limits += [spec.max_episode_steps, spec.kwargs.get("max_episode_steps")]
    return [int(limit) for limit in limits if isinstance(limit, INTEGER)]


def is_normalising(layer: Any) -> bool:
    """Return whether a layer is stable-baselines3's VecNormalize."""
    return hasattr(type(layer), "normalize_obs")  # not of the wrapper itself, which has attributes of its inside


def normalises_rewards(layer: Any) -> bool:
    """Return whether a layer is a NormalizeReward, or a VecNormalize that normalises rewards."""
    return type(layer).__module__.endswith("stateful_reward") or (is_normalising(layer) and layer.norm_reward)


def is_running(layer: Any) -> bool:
    """Return whether a layer is a NormalizeObservation that updates its statistics."""
    return hasattr(layer, "obs_rms") and getattr(layer, "update_running_mean", False) is True


def copy_of(env: Any) -> Any:
    """Return a copy of an environment, without the known wrappers that only record or check.

    These may hold open files. A VecNormalize of the copy keeps its statistics, and leaves rewards as they are.

    Raises:
        Exception: whatever the copy of a wrapper raises; TypeError for members in other processes.
    """
    copies: dict[int, Any] = {}
    _copy(env, copies)
    return copies[id(env)]


def _copy(layer: Any, copies: dict[int, Any]) -> None:
    """Copy a layer and all that it holds into a dictionary of copies by identity, as `deepcopy` takes it."""
    if has_processes(layer):
        raise TypeError("its members are in other processes")
    inside = [*_inside(layer)]
    for inner in inside:
        _copy(inner, copies)
    only_records = (
        is_known(layer)
        and bool({"env", "venv"} & vars(layer).keys())
        and spaces_of(layer) == spaces_of(inside[0])
        and not (is_normalising(layer) and layer.norm_obs)
    )
    if only_records:
        copies[id(layer)] = copies[id(inside[0])]
        return
    # Not `deepcopy(layer)`: wrappers of stable-baselines3 look its methods up in what they wrap, without end.
    copy = object.__new__(type(layer))
    copies[id(layer)] = copy
    attributes = vars(layer)
    if "class_attributes" in attributes:  # in stable-baselines3's wrappers; it cannot be copied, and may be shared
        copies[id(attributes["class_attributes"])] = attributes["class_attributes"]
    vars(copy).update(deepcopy(attributes, copies))
    if is_normalising(copy):
        copy.training = copy.norm_reward = False
