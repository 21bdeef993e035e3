"""What an agent sees of the positions of a game, and what it answers.

`AgentView` shows positions as the agent's environment does, with all its wrappers. `batch_policy` turns each kind of
agent into one function of many positions at once, whose answers are checked.

Nothing is imported from the libraries that agents come from. torch is looked up where an agent has imported it.
"""

import sys
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from inspect import Parameter, signature
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import AddRenderObservation
from numpy.typing import NDArray

from stb_gym.envs import MaskInObservation, VectorMaskInObservation
from stb_gym.games import Game

Masks = NDArray[np.bool_]
# From observations of the rules [B, O] and masks [B, A] to actions [B] or probabilities [B, A].
BatchPolicy = Callable[[NDArray[Any], Masks], NDArray[Any]]

# Modules of Gymnasium whose wrappers remember earlier steps.
STATEFUL_MODULES = ("stateful_observation", "stateful_action")
MEMORY = "the agent has a memory: the position alone does not determine what it does"


# What an agent sees


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
        ValueError: if a wrapper truncates turns or changes actions, or shows more than the position; or if the wrappers
            are in other processes.
    """

    def __init__(self, env: Any, game: Game):
        layers = [] if env is game else layers_of(env)
        plain = gym.spaces.Box(0, np.array(game.observation_high, np.uint8), dtype=np.uint8)
        if layers and not hasattr(layers[0], "stepper"):
            raise ValueError(
                f"{type(layers[0]).__name__} hides the wrappers of its environments: make the meter with one of these, "
                "or with a DummyVecEnv of them"
            )
        spaces = [_spaces(layer)[0] for layer in layers] or [plain]
        self.game = game
        self.space = spaces[-1]
        self.width = spaces[0].shape[0]
        self._dtype = spaces[0].dtype
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
        """Return what the agent sees: new arrays with B rows, or a dictionary of them.

        Args:
            observations: [B, O] observations of the rules.
            masks: [B, A] their legal actions.
        """
        seen: Any = observations.astype(self._dtype)
        for wrapper in self._wrappers:
            seen = _seen_through(wrapper, seen, masks)
        return seen


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


def _normalises(wrapper: Any) -> bool:
    return hasattr(type(wrapper), "normalize_obs")  # not of the wrapper itself, which has attributes of its inside


def _changes_observations(wrapper: Any, inside: Any) -> bool:
    """Return whether a wrapper changes observations; raise ValueError if they may depend on more than the position."""
    if isinstance(wrapper, MaskInObservation | VectorMaskInObservation) or _normalises(wrapper):
        return True
    kind = type(wrapper)
    plain = gym.ObservationWrapper
    changes = isinstance(wrapper, plain | gym.vector.VectorObservationWrapper)
    observations, actions = _spaces(wrapper)
    observations_inside, actions_inside = _spaces(inside)
    if (
        actions != actions_inside
        or (not changes and observations != observations_inside)
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
        rows = [_each(itemgetter(node), seen) for node in range(len(masks))]
        return _joined([deepcopy(wrapper.observation(row)) for row in rows], np.stack)
    # A vector wrapper is shown as many observations at a time as it has environments; the last one fills up the rest.
    count = wrapper.num_envs
    nodes = np.arange(-(-len(masks) // count) * count).clip(max=len(masks) - 1)
    batches = [_each(itemgetter(batch), seen) for batch in nodes.reshape(-1, count)]
    joined = _joined([deepcopy(wrapper.observations(batch)) for batch in batches], np.concatenate)
    return _each(itemgetter(slice(len(masks))), joined)


def _joined(parts: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Join observations into one array, by entry of a dictionary."""
    if isinstance(parts[0], dict):
        return {name: _joined([part[name] for part in parts], join) for name in parts[0]}
    return join(parts)


def _each(function: Callable[[Any], Any], entry: Any) -> Any:
    """Apply a function to an array or a space, or to each entry of a dictionary of them."""
    if isinstance(entry, dict | gym.spaces.Dict):
        return {name: _each(function, inner) for name, inner in entry.items()}
    return function(entry)


# What it answers


def batch_policy(agent: Any, deterministic: bool, view: AgentView) -> BatchPolicy:
    """Return a function that asks an agent about many positions at once and checks its answers.

    Args:
        agent: any of those that `stb_gym.RegretMeter` describes.
        deterministic: whether a torch module or a model with `predict` plays its best action, or samples.
        view: what the agent sees.

    Raises:
        TypeError: if it is not an agent. The returned function raises it for answers of a wrong type.
        ValueError: if the agent was made for other observations or actions. The returned function raises it for answers
            of a wrong shape or range, or if the agent does not reveal its probabilities.
    """
    if isinstance(agent, type) or not (callable(agent) or hasattr(agent, "predict")):
        raise TypeError(
            "an agent must be a function of (observations, masks), a torch module, or a model with stable-baselines3's "
            f"predict, not a {type(agent).__name__}"
        )
    network = getattr(agent, "policy", agent)
    if _is_module(network) and not all(bool(weights.isfinite().all()) for weights in network.parameters()):
        raise ValueError("the agent has weights that are infinite or not a number")
    ask: Callable[[Any, Masks], Any]
    if hasattr(agent, "predict"):
        _check_spaces(agent, view)
        ask = partial(_predicted if deterministic else _sampled, agent)
    elif _is_module(agent):
        ask = partial(_choice_of_module, agent, deterministic)
    elif _takes_masks(agent):
        ask = agent
    else:
        ask = lambda observations, masks: agent(observations)  # noqa: E731
    return lambda observations, masks: _checked(ask(view(observations, masks), masks), len(masks), view.game)


def _is_module(agent: Any) -> bool:
    return "torch" in sys.modules and isinstance(agent, sys.modules["torch"].nn.Module)


def _takes_masks(function: Callable[..., Any]) -> bool:
    """Return whether the second positional argument has no default or has "mask" in its name."""
    try:
        arguments = signature(function).parameters.values()
    except ValueError:  # functions that torch has traced have none
        return False
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    second = [argument for argument in arguments if argument.kind in kinds][1:2]
    return any(argument.default is Parameter.empty or "mask" in argument.name for argument in second)


def _check_spaces(agent: Any, view: AgentView) -> None:
    """Raise ValueError if a model was made for other observations or actions than those of the meter."""
    actions = getattr(agent, "action_space", None)
    observations = getattr(agent, "observation_space", None)
    allowed = len(view.game.actions)
    if actions is not None and not (isinstance(actions, gym.spaces.Discrete) and actions.n == allowed):
        raise ValueError(f"{view.game} has {allowed} actions, but the agent chooses from {actions}")
    shown = _each(attrgetter("shape"), view.space)
    if observations is not None and (expected := _each(attrgetter("shape"), observations)) != shown:
        raise ValueError(
            f"the agent observes {expected}, but the meter shows {shown}: make the meter with the agent's environment"
        )
    normalising = getattr(agent, "get_vec_normalize_env", lambda: None)()
    if normalising is not None and getattr(normalising, "norm_obs", True) and not view.normalises:
        raise ValueError("the agent's observations are normalised: make the meter with its VecNormalize environment")


def _mask_argument(method: Callable[..., Any], masks: Masks) -> dict[str, Masks]:
    return {"action_masks": masks} if "action_masks" in signature(method).parameters else {}


def _predicted(agent: Any, observations: Any, masks: Masks) -> Any:
    """Return the actions that a model predicts, with masks if it takes them."""
    prediction = agent.predict(observations, deterministic=True, **_mask_argument(agent.predict, masks))
    if not (isinstance(prediction, tuple) and len(prediction) == 2):
        raise TypeError(f"predict must return (actions, states), not {type(prediction).__name__}")
    actions, states = prediction
    if states is not None:
        raise ValueError(MEMORY)
    return actions


def _sampled(agent: Any, observations: Any, masks: Masks) -> Any:
    """Return the probabilities with which a model samples."""
    policy = getattr(agent, "policy", agent)
    if not hasattr(policy, "get_distribution"):
        raise ValueError(
            f"{type(agent).__name__} does not reveal its probabilities: measure it with deterministic=True, or a "
            "function that returns them"
        )
    if "lstm_states" in signature(policy.get_distribution).parameters:
        raise ValueError(MEMORY)
    policy.set_training_mode(False)
    with sys.modules["torch"].no_grad():
        tensors, _ = policy.obs_to_tensor(observations)
        return policy.get_distribution(tensors, **_mask_argument(policy.get_distribution, masks)).distribution


def _choice_of_module(module: Any, deterministic: bool, observations: Any, masks: Masks) -> Any:
    """Return the legal actions [B] of a torch module's greatest scores, or the softmax [B, A] over the legal scores."""
    torch: Any = sys.modules["torch"]
    like = next((weight for weight in module.parameters() if weight.is_floating_point()), torch.zeros(()))
    tensors = _each(lambda entry: torch.as_tensor(entry).to(like), observations)
    mask_argument = (torch.tensor(masks, device=like.device),) if _takes_masks(module.forward) else ()
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            output = module(tensors, *mask_argument)
    finally:
        for part in training:
            part.training = True
    scores = _as_array(getattr(output, "logits", output))
    if scores.shape != masks.shape:
        raise ValueError(f"a torch module must return scores of shape {masks.shape}, not {scores.shape}")
    legal = np.where(masks, scores, -np.inf).astype(float)
    greatest = legal.max(axis=1, keepdims=True)
    if np.isnan(scores).any() or not np.isfinite(greatest).all():
        raise ValueError("a torch module returned scores that are not a number, or infinite for all legal actions")
    if deterministic:
        return legal.argmax(axis=1)
    weights = np.exp(legal - greatest)
    return weights / weights.sum(axis=1, keepdims=True)


def _checked(answer: Any, nodes: int, game: Game) -> NDArray[Any]:
    """Return an answer about B nodes as integers [B] or floats [B, A]; raise an error if it is neither."""
    answer = _as_array(answer)
    actions = len(game.actions)
    if answer.ndim not in (1, 2) or len(answer) != nodes:
        raise ValueError(f"an agent must answer for each of {nodes} positions, not with shape {answer.shape}")
    if answer.dtype.kind not in ("iu" if answer.ndim == 1 else "fiub"):
        raise TypeError(f"an agent must answer with integers [B] or probabilities [B, A], not with type {answer.dtype}")
    if answer.ndim == 2:
        if answer.shape[1] != actions:
            raise ValueError(f"{game} has {actions} actions, but the agent answered with shape {answer.shape}")
        if (answer < 0).any() or not (abs(answer.sum(axis=1, dtype=float) - 1) <= 1e-5).all():
            raise ValueError("an agent must answer with actions [B], or with probabilities [B, A] that sum to 1")
        return answer.astype(float)
    if (outside := (answer < 0) | (answer >= actions)).any():
        raise ValueError(f"{game} has actions from 0 to {actions - 1}, but the agent answered {answer[outside][0]}")
    return answer.astype(np.int64)


def _as_array(answer: Any) -> NDArray[Any]:
    """Return lists, tensors, or the probabilities of a distribution as an array."""
    if isinstance(answer, tuple):
        raise TypeError(
            f"the agent returned a tuple of {len(answer)}, not one array; predict returns (actions, states): did you "
            "forget [0]?"
        )
    answer = getattr(answer, "probs", answer)
    if getattr(answer, "requires_grad", False):
        raise TypeError("the agent's answer requires gradients: return it under torch.no_grad() or detached")
    if hasattr(answer, "cpu"):
        answer = answer.cpu().double() if answer.is_floating_point() else answer.cpu()
    return np.asarray(answer)
