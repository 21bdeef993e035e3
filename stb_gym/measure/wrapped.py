"""Show positions to an agent as its environment does, through all wrappers."""

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import AddRenderObservation
from numpy.typing import NDArray

from stb_gym.envs import MaskInObservation, VectorMaskInObservation
from stb_gym.games import Game
from stb_gym.measure.sb3_models import is_normalising
from stb_gym.measure.tensors import Masks, joined, map_entries
from stb_gym.messages import quoted

# Modules of Gymnasium whose wrappers remember earlier steps.
STATEFUL_MODULES = ("stateful_observation", "stateful_action")


class AgentView:
    """Turns observations of the rules into what an agent sees through the wrappers of its environment.

    Args:
        env: an environment as `stb_gym.solve` takes it, or the game itself for its plain environment.
        game: the rules.

    Attributes:
        game: the rules.
        space: the observation space of a single environment, outside all wrappers.
        width: the length of an observation inside all wrappers.
        reward_scale: the factor of rewards inside all wrappers.
        memory: why what the agent sees may depend on more than the position; "" if it does not.

    Raises:
        ValueError: if a wrapper truncates turns, or the wrappers are in other processes.
    """

    def __init__(self, env: Any, game: Game):
        layers = [] if env is game else layers_of(env)
        plain = gym.spaces.Box(0, np.array(game.observation_high), dtype=np.float32)
        if layers and not hasattr(layers[0], "stepper"):
            raise ValueError(
                f"{type(layers[0]).__name__} hides the wrappers of its environments: make the meter with one of these, "
                "or with a DummyVecEnv of them"
            )
        spaces = [_spaces(layer)[0] for layer in layers] or [plain]
        self.game = game
        self.space = spaces[-1]
        self.width: int = spaces[0].shape[0]
        self.reward_scale = float(getattr(layers[0], "reward_scale", 1)) if layers else 1.0
        self.memory = next(filter(None, (_memory(outer, inside) for inside, outer in pairwise(layers))), "")
        self._dtype = spaces[0].dtype
        self._wrappers = layers[1:]
        specs = [layer.spec for layer in layers if getattr(layer, "spec", None)]
        limits = [spec.max_episode_steps or spec.kwargs.get("max_episode_steps") for spec in specs]
        limit = min(filter(None, limits), default=None)
        if limit is not None and limit < layers[0].stepper.longest:
            raise ValueError(
                f"a turn may take {layers[0].stepper.longest} steps, but the environment truncates it after {limit}: "
                "make the meter with an environment without that limit"
            )

    def __call__(self, observations: NDArray[Any], masks: Masks) -> Any:
        """Return what the agent sees: new arrays with B rows, or a dictionary of them.

        Args:
            observations: [B, O] observations of the rules.
            masks: [B, A] their legal actions.

        Raises:
            ValueError: if it may depend on more than the position.
        """
        if self.memory:
            raise ValueError(
                f"{self.memory}: use RegretMeter.sample or RecordRegret, or a gym.ObservationWrapper, or make the "
                "meter with the environment inside it"
            )
        seen: Any = observations.astype(self._dtype)
        for wrapper in self._wrappers:
            if show := _shown_by(wrapper):
                seen = show(seen, masks)
        return seen

    def check_spaces(self, model: Any) -> None:
        """Raise ValueError if a model, or the policy of one, was made for other observations or actions."""
        actions = getattr(model, "action_space", None)
        observations = getattr(model, "observation_space", None)
        allowed = len(self.game.actions)
        if actions is not None and not (isinstance(actions, gym.spaces.Discrete) and actions.n == allowed):
            raise ValueError(f"{self.game} has {allowed} actions, but the agent chooses from {quoted(actions)}")
        shown = map_entries(attrgetter("shape"), self.space)
        if observations is not None and (expected := map_entries(attrgetter("shape"), observations)) != shown:
            raise ValueError(
                f"the agent observes {expected}, but the meter shows {shown}: make the meter with the agent's "
                "environment"
            )
        normalising = getattr(model, "get_vec_normalize_env", lambda: None)()
        is_normalised = normalising is not None and getattr(normalising, "norm_obs", True)
        if is_normalised and not any(map(is_normalising, self._wrappers)):
            raise ValueError(
                "the agent's observations are normalised: make the meter with its VecNormalize environment"
            )


def layers_of(env: Any) -> list[Any]:
    """Return the innermost environment and then each wrapper around it; of a vector environment, its first member."""
    layers = [env]
    while (inner := _inside(layers[0])) is not None:
        layers.insert(0, inner)
    return layers


def _inside(layer: Any) -> Any:
    """Unwrap one layer; return None if there is nothing inside."""
    attributes = getattr(layer, "__dict__", {})
    for name in ("env", "venv", "envs"):
        if (inner := attributes.get(name)) is not None:
            return inner[0] if isinstance(inner, list | tuple) else inner
    return layer.env_fns[0]() if "env_fns" in attributes else None  # of Gymnasium's AsyncVectorEnv


def _spaces(layer: Any) -> tuple[Any, Any]:
    """Return the spaces of the observations and of the actions of a single environment."""
    if hasattr(layer, "single_action_space"):
        return layer.single_observation_space, layer.single_action_space
    return layer.observation_space, layer.action_space


def _memory(wrapper: Any, inside: Any) -> str:
    """Return an error message if what a wrapper shows may depend on more than the position; else ""."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation) or is_normalising(wrapper):
        return ""
    kind = type(wrapper)
    plain = gym.ObservationWrapper
    observations, actions = _spaces(wrapper)
    observations_inside, actions_inside = _spaces(inside)
    if (
        actions != actions_inside
        or (_shown_by(wrapper) is None and observations != observations_inside)
        or isinstance(wrapper, gym.ActionWrapper | gym.vector.VectorActionWrapper | AddRenderObservation)
        or (isinstance(wrapper, plain) and (kind.step, kind.reset) != (plain.step, plain.reset))
        or any(base.__module__.endswith(STATEFUL_MODULES) for base in kind.__mro__)
    ):
        return f"what {kind.__name__} shows may depend on more than the position"
    return ""


def _shown_by(wrapper: Any) -> Callable[[Any, Masks], Any] | None:
    """Return a function that applies a wrapper to B observations, given their masks; None if it changes none."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation):
        return lambda seen, masks: wrapper.together(seen, masks.astype(np.int8))
    if is_normalising(wrapper):
        return lambda seen, masks: wrapper.normalize_obs(seen)
    if isinstance(wrapper, gym.ObservationWrapper):
        return partial(_one_by_one, wrapper)
    if isinstance(wrapper, gym.vector.VectorObservationWrapper):
        return partial(_many_at_once, wrapper)
    return None


def _one_by_one(wrapper: Any, seen: Any, masks: Masks) -> Any:
    """Apply a wrapper of single environments to each observation."""
    rows = [map_entries(itemgetter(row), seen) for row in range(len(masks))]
    return joined([deepcopy(wrapper.observation(row)) for row in rows], np.stack)


def _many_at_once(wrapper: Any, seen: Any, masks: Masks) -> Any:
    """Apply a vector wrapper to observations.

    It receives as many observations at a time as it has environments. The last observation fills up the rest.
    """
    count = wrapper.num_envs
    rows = np.arange(-(-len(masks) // count) * count).clip(max=len(masks) - 1)
    batches = [map_entries(itemgetter(batch), seen) for batch in rows.reshape(-1, count)]
    shown = joined([deepcopy(wrapper.observations(batch)) for batch in batches], np.concatenate)
    return map_entries(itemgetter(slice(len(masks))), shown)
