"""What an agent sees of a position through the wrappers of its environment."""

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import AddRenderObservation, TransformAction, TransformObservation, TransformReward
from numpy.typing import NDArray

from stb_gym.envs import MaskInObservation, VectorMaskInObservation
from stb_gym.games import Game

Masks = NDArray[np.bool_]
STATEFUL_MODULES = ("stateful_observation", "stateful_action")  # of Gymnasium: their wrappers remember earlier steps


class AgentView:
    """Turns observations of the rules into what an agent sees through the wrappers of its environment.

    Args:
        env: an environment as `stb_gym.solve` takes it, or the game itself for its plain environment.
        game: the rules.

    Attributes:
        game: the rules.
        space: the observation space of a single environment, outside all wrappers.
        width: the length of an observation inside all wrappers.
        normalises: whether a wrapper of stable-baselines3 normalises observations.

    Raises:
        ValueError: if a wrapper truncates turns or changes actions, or shows more than the position.
    """

    def __init__(self, env: Any, game: Game):
        layers = [] if env is game else layers_of(env)
        plain = gym.spaces.Box(0, np.array(game.observation_high, np.uint8), dtype=np.uint8)
        inner = _space(layers[0], "observation_space") if layers else plain
        self.game = game
        self.space = _space(layers[-1], "observation_space") if layers else plain
        self.width = inner.shape[0]
        self._dtype = inner.dtype
        self._wrappers = [outer for inside, outer in pairwise(layers) if _changes_observations(outer, inside)]
        self.normalises = any(map(_normalises, self._wrappers))
        specs = [layer.spec for layer in layers if getattr(layer, "spec", None)]
        limits = [spec.max_episode_steps or spec.kwargs.get("max_episode_steps") for spec in specs]
        limit = min(filter(None, limits), default=None)
        if limit is not None and limit < layers[0].stepper.longest:
            raise ValueError(
                f"a turn may take {layers[0].stepper.longest} steps, but the environment truncates it after {limit}: "
                "make the meter with an environment without that limit"
            )

    def __call__(self, observations: NDArray[Any], masks: Masks) -> Any:
        """Return what the agent sees.

        Args:
            observations: [B, O] observations of the rules.
            masks: [B, A] their legal actions.

        Returns:
            New arrays with B rows, or a dictionary of them.
        """
        seen: Any = observations.astype(self._dtype)
        for wrapper in self._wrappers:
            seen = _seen_through(wrapper, seen, masks)
        return seen


def layers_of(env: Any) -> list[Any]:
    """Return the innermost environment and then each wrapper around it; of a vector environment, its first member.

    Raises:
        TypeError: if it is not an environment.
        ValueError: if the environments run in other processes and cannot be made again in this one.
    """
    if not hasattr(env, "reset"):
        raise TypeError(f"{env!r:.80} is not an environment: make one, such as gym.make('stb_gym/ShutTheBox-v0')")
    layers = [env]
    while (inner := _inside(layers[0])) is not None:
        layers.insert(0, inner)
    return layers


def _inside(layer: Any) -> Any:
    """Unwrap one layer; return None for an environment of this package."""
    attributes = vars(layer)
    for name in ("env", "venv", "envs"):
        if (inner := attributes.get(name)) is not None:
            return inner[0] if isinstance(inner, list | tuple) else inner
    if hasattr(layer, "game"):
        return None
    if "env_fns" in attributes:  # Gymnasium's AsyncVectorEnv
        return layer.env_fns[0]()
    return _made_again(layer)


def _made_again(envs: Any) -> gym.Env[Any, Any]:
    """Make one of the environments of stable-baselines3's SubprocVecEnv again, from its spec."""
    # These wrappers may hold functions. A process that cannot send them ends, so it must not be asked for the spec.
    transforms = (TransformAction, TransformObservation, TransformReward)
    if not any(any(envs.env_is_wrapped(kind)) for kind in transforms):
        spec = envs.get_attr("spec")[0]
        wrappers = [wrapper for wrapper in spec.additional_wrappers if wrapper.name != "Monitor"] if spec else []
        if spec and all(wrapper.kwargs is not None for wrapper in wrappers):
            return gym.make(replace(spec, additional_wrappers=tuple(wrappers)))
    raise ValueError(f"{type(envs).__name__} hides the wrappers of its environments: make the meter with one of these")


def _space(layer: Any, kind: str) -> Any:
    """Return the "observation_space" or "action_space" of a single environment."""
    return getattr(layer, f"single_{kind}", None) or getattr(layer, kind)


def _normalises(wrapper: Any) -> bool:
    return hasattr(type(wrapper), "normalize_obs")  # not of the wrapper itself, which has attributes of its inside


def _changes_observations(wrapper: Any, inside: Any) -> bool:
    """Return whether a wrapper changes observations; raise ValueError if they may depend on more than the position."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation) or _normalises(wrapper):
        return True
    kind = type(wrapper)
    plain = gym.ObservationWrapper
    changes = isinstance(wrapper, gym.ObservationWrapper | gym.vector.VectorObservationWrapper)
    if (
        _space(wrapper, "action_space") != _space(inside, "action_space")
        or (not changes and _space(wrapper, "observation_space") != _space(inside, "observation_space"))
        or isinstance(wrapper, gym.ActionWrapper | gym.vector.VectorActionWrapper | AddRenderObservation)
        or (isinstance(wrapper, plain) and (kind.step, kind.reset) != (plain.step, plain.reset))
        or any(base.__module__.endswith(STATEFUL_MODULES) for base in kind.__mro__)
    ):
        raise ValueError(
            f"what {kind.__name__} shows may depend on more than the position: use a gym.ObservationWrapper, or make "
            "the meter with the environment inside it"
        )
    return changes


def _seen_through(wrapper: Any, seen: Any, masks: Masks) -> Any:
    """Return what a wrapper makes of the observations of B nodes."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation):
        return wrapper.together(seen, masks.astype(np.int8))
    if _normalises(wrapper):
        return wrapper.normalize_obs(seen)
    if isinstance(wrapper, gym.ObservationWrapper):
        return _joined([deepcopy(wrapper.observation(_rows(seen, node))) for node in range(len(masks))], np.stack)
    # A vector wrapper is shown as many observations at a time as it has environments; the last one fills up the rest.
    count = wrapper.num_envs
    nodes = np.arange(-(-len(masks) // count) * count).clip(max=len(masks) - 1)
    batches = [deepcopy(wrapper.observations(_rows(seen, batch))) for batch in nodes.reshape(-1, count)]
    return _rows(_joined(batches, np.concatenate), slice(len(masks)))


def _rows(seen: Any, chosen: Any) -> Any:
    """Return some rows of observations, of each entry of a dictionary."""
    if isinstance(seen, dict):
        return {name: _rows(entry, chosen) for name, entry in seen.items()}
    return seen[chosen]


def _joined(parts: list[Any], join: Any) -> Any:
    """Join observations into one array, by entry of a dictionary."""
    if isinstance(parts[0], dict):
        return {name: _joined([part[name] for part in parts], join) for name in parts[0]}
    return join(parts)
