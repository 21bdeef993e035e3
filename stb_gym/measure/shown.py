"""What an environment shows of nodes of its game, through all its wrappers: what an agent is handed."""

import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import AddRenderObservation
from numpy.typing import NDArray

from stb_gym.envs import MaskInObservation, VectorMaskInObservation
from stb_gym.games import Game

# In these modules of Gymnasium are the wrappers that remember what came before.
STATEFUL = ("stateful_observation", "stateful_action")
Masks = NDArray[np.bool_]
View = Callable[[Any, Masks], Any]  # from observations of many nodes, and their masks, to what a wrapper makes of them


class Shown:
    """What an environment shows of nodes that have a legal action.

    Args:
        what: a game, or an environment as `stb_gym.solve` takes it.
        game: the game that it is or has.

    Attributes:
        game: the game.
        space: the observation space of a single environment.
        numbers: how many numbers the environment inside all wrappers shows.
        normalised: whether wrappers of stable-baselines3 normalise the observations, which may change each time.

    Raises:
        ValueError: if a wrapper shows something that is no function of the node, or changes actions.
    """

    def __init__(self, what: Any, game: Game):
        self.game, layers = game, [] if what is game else layers_of(what)
        self.space = _space(layers[-1]) if layers else gym.spaces.Box(0, game.observation_high, dtype=np.uint8)
        _check_limit(layers)
        inner = _space(layers[0]) if layers else self.space
        self.numbers, self._dtype = inner.shape[0], inner.dtype
        views = [_view(layer, inner) for inner, layer in pairwise(layers)]
        fixed = next((i for i, layer in enumerate(layers[1:]) if _normalises(layer)), len(views))
        self._fixed, self._changing = views[:fixed], views[fixed:]
        self.normalised = bool(self._changing)

    def __call__(self, observations: NDArray[Any], masks: Masks) -> Any:
        """What is shown of nodes: of the rules' observations [B, O] and of masks [B, A]; it may be written to."""
        return self.now(self.once(observations, masks), masks)

    def once(self, observations: NDArray[Any], masks: Masks) -> Any:
        """The first part of it, which stays the same and may be kept."""
        return _seen_through(self._fixed, observations.astype(self._dtype), masks)

    def now(self, shown: Any, masks: Masks) -> Any:
        """The other part of it, given the first one."""
        return _seen_through(self._changing, deepcopy(shown), masks)


def _check_limit(layers: list[Any]) -> None:
    """Refuse environments that truncate turns, as it depends on the steps so far what is worth most there."""
    limits = [layer.spec.max_episode_steps for layer in layers if getattr(layer, "spec", None)]
    limit, longest = min(filter(None, limits), default=math.inf), layers[0].stepper.longest if layers else 0
    if limit < longest:
        raise ValueError(
            f"a turn may take {longest} steps, and what is truncated after {limit} cannot be measured: make the meter "
            "with an environment without that limit"
        )


def _seen_through(views: list[View], shown: Any, masks: Masks) -> Any:
    return reduce(lambda seen, view: view(seen, masks), views, shown)


def layers_of(env: Any) -> list[Any]:
    """The environment inside all wrappers, and each wrapper around it; of several environments, those of the first."""
    layers = [env]
    while (inner := _inside(layers[0])) is not None:
        layers.insert(0, inner)
    return layers


def _inside(layer: Any) -> Any:
    """What Gymnasium's or stable-baselines3's wrappers, or those that run several environments, have inside."""
    for name in ("env", "venv", "envs"):
        if (inner := vars(layer).get(name)) is not None:
            return inner[0] if isinstance(inner, list | tuple) else inner
    return None if hasattr(layer, "game") else _made_again(layer)


def _made_again(envs: Any) -> gym.Env[Any, Any]:
    """One of the environments that run in other processes, whose wrappers cannot be seen there.

    Raises:
        ValueError: if it was not made by Gymnasium, or has a wrapper that cannot be made again.
    """
    tell = getattr(envs, "env_method", None) or envs.call  # of stable-baselines3, of Gymnasium
    # Wrappers by functions of one's own cannot be sent from there: the process would end in trying.
    spec = None if "<Transform" in tell("__str__")[0] else envs.get_attr("spec")[0]
    wrappers = [wrapper for wrapper in getattr(spec, "additional_wrappers", ()) if wrapper.name != "Monitor"]
    if spec is None or any(wrapper.kwargs is None for wrapper in wrappers):
        raise ValueError(
            f"what the environments of {type(envs).__name__} show cannot be seen from this process: make the meter "
            "with one that is made alike"
        )
    return gym.make(replace(spec, additional_wrappers=tuple(wrappers)))


def _space(layer: Any) -> Any:
    return getattr(layer, "single_observation_space", None) or layer.observation_space


def _actions(layer: Any) -> Any:
    return getattr(layer, "single_action_space", None) or layer.action_space


def _view(layer: Any, inner: Any) -> View:
    """What a wrapper makes of the observations of many nodes."""
    if isinstance(layer, MaskInObservation | VectorMaskInObservation):
        return partial(_masked, layer)
    if _normalises(layer):
        return partial(_normalised, layer)
    if _stateful(layer) or _actions(layer) != _actions(inner):
        raise _refusal(layer)
    if isinstance(layer, gym.ObservationWrapper):
        return partial(_observed, layer)
    if isinstance(layer, gym.vector.VectorObservationWrapper):
        return partial(_joined, layer)
    if _space(layer) != _space(inner):
        raise _refusal(layer)
    return _as_it_is


def _as_it_is(shown: Any, masks: Masks) -> Any:
    return shown


def _masked(layer: Any, shown: Any, masks: Masks) -> Any:
    return layer.together(shown, masks.view(np.int8))


def _normalised(layer: Any, shown: Any, masks: Masks) -> Any:
    return layer.normalize_obs(shown)


def _observed(layer: Any, shown: Any, masks: Masks) -> Any:
    return _stacked([layer.observation(rows(shown, node)) for node in range(len(masks))])


def _normalises(layer: Any) -> bool:
    return hasattr(type(layer), "normalize_obs")  # not the layer's own: it hands on what it has inside


def _stateful(layer: Any) -> bool:
    """Whether a wrapper is known to show or do something that depends on more than the node."""
    if isinstance(layer, gym.ActionWrapper | gym.vector.VectorActionWrapper | AddRenderObservation):
        return True
    if isinstance(layer, gym.ObservationWrapper):
        plain = gym.ObservationWrapper
        if type(layer).step is not plain.step or type(layer).reset is not plain.reset:
            return True
    return any(base.__module__.endswith(STATEFUL) for base in type(layer).__mro__)


def _refusal(layer: Any) -> ValueError:
    return ValueError(
        f"{type(layer).__name__} shows or does something that does not depend on the position alone, or cannot be seen "
        "from outside: let it be a gym.ObservationWrapper (of masks, stb_gym.MaskInObservation), or make the meter "
        "with the environment inside it, and measure a function of (observations, masks) that does the same"
    )


def _joined(layer: Any, shown: Any, masks: Masks) -> Any:
    """The observations of nodes after a vector wrapper, which sees as many at once as there are environments."""
    count, nodes = layer.num_envs, len(masks)
    padded = np.arange(-(-nodes // count) * count).clip(max=nodes - 1).reshape(-1, count)
    parts = [deepcopy(layer.observations(rows(shown, chosen))) for chosen in padded]
    return rows(_stacked([rows(part, place) for part in parts for place in range(count)]), slice(nodes))


def rows(shown: Any, chosen: Any) -> Any:
    """Some rows of observations, in each of their entries."""
    if isinstance(shown, dict):
        return {name: rows(entry, chosen) for name, entry in shown.items()}
    return shown[chosen]


def _stacked(rows: list[Any]) -> Any:
    """Single observations as those of many nodes."""
    if isinstance(rows[0], dict):
        return {name: _stacked([row[name] for row in rows]) for name in rows[0]}
    return np.stack(rows)
