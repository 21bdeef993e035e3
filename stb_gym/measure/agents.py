"""One function for every kind of agent: observations and masks of many positions in, checked answers out.

Nothing is imported from the libraries that agents come from. torch is looked up where an agent has imported it.
"""

import sys
from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.games import Game
from stb_gym.measure.wrapped import AgentView, Masks

# From observations [B, ...] and masks [B, A] to actions [B] or probabilities [B, A].
BatchPolicy = Callable[[Any, Masks], NDArray[Any]]

MEMORY = "the agent has a memory: the position alone does not determine what it does"


def batch_policy(agent: Any, deterministic: bool, view: AgentView) -> BatchPolicy:
    """Return a function that asks an agent about many positions at once and checks its answers.

    Args:
        agent: any of those that `stb_gym.RegretMeter` describes.
        deterministic: whether a torch module or a model with `predict` plays its best action, or samples.
        view: what the agent sees.

    Raises:
        TypeError: if it is not an agent. The returned function raises it for answers of a wrong type.
        ValueError: if the agent was made for other observations or actions, or does not reveal its probabilities. The
            returned function raises it for answers of a wrong shape or range.
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
        ask = partial(_predicted, agent) if deterministic else _sampler(agent)
    elif _is_module(agent):
        ask = partial(_choice_of_module, agent, deterministic)
    elif _takes_masks(agent):
        ask = agent
    else:
        ask = lambda observations, masks: agent(observations)  # noqa: E731
    return lambda observations, masks: _checked(ask(observations, masks), len(masks), view.game)


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


# Models with stable-baselines3's `predict`


def _check_spaces(agent: Any, view: AgentView) -> None:
    """Raise ValueError if a model was made for other observations or actions than those of the meter."""
    actions = getattr(agent, "action_space", None)
    observations = getattr(agent, "observation_space", None)
    allowed = len(view.game.actions)
    if actions is not None and not (isinstance(actions, gym.spaces.Discrete) and actions.n == allowed):
        raise ValueError(f"{view.game} has {allowed} actions, but the agent chooses from {actions}")
    if observations is not None and _shape(observations) != _shape(view.space):
        raise ValueError(
            f"the agent observes {_shape(observations)}, but the meter shows {_shape(view.space)}: make the meter with "
            "the agent's environment"
        )
    normalising = getattr(agent, "get_vec_normalize_env", lambda: None)()
    if normalising is not None and getattr(normalising, "norm_obs", True) and not view.normalises:
        raise ValueError("the agent's observations are normalised: make the meter with its VecNormalize environment")


def _shape(space: gym.Space[Any]) -> Any:
    """Return the shape of a space, or of each entry of a dictionary space."""
    if isinstance(space, gym.spaces.Dict):
        return {name: _shape(entry) for name, entry in space.spaces.items()}
    return space.shape


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


def _sampler(agent: Any) -> Callable[[Any, Masks], Any]:
    """Return a function that returns the probabilities with which a model samples."""
    if hasattr(agent, "exploration_rate"):
        return partial(_explored, agent)
    policy = getattr(agent, "policy", agent)
    if not hasattr(policy, "get_distribution"):
        raise ValueError(
            f"{type(agent).__name__} does not reveal its probabilities: measure it with deterministic=True, or a "
            "function that returns them"
        )
    if "lstm_states" in signature(policy.get_distribution).parameters:
        raise ValueError(MEMORY)

    def probabilities(observations: Any, masks: Masks) -> Any:
        policy.set_training_mode(False)
        with sys.modules["torch"].no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            return policy.get_distribution(tensors, **_mask_argument(policy.get_distribution, masks)).distribution

    return probabilities


def _explored(agent: Any, observations: Any, masks: Masks) -> Any:
    """Return the probabilities of a model that takes any action at its `exploration_rate`, else the predicted one."""
    allowed = _mask_argument(agent.predict, masks).get("action_masks", np.ones_like(masks))
    probabilities = agent.exploration_rate * allowed / allowed.sum(axis=1, keepdims=True)
    actions = _predicted(agent, observations, masks)
    probabilities[np.arange(len(masks)), actions] += 1 - agent.exploration_rate
    return probabilities


def _choice_of_module(module: Any, deterministic: bool, observations: Any, masks: Masks) -> Any:
    """Return the legal actions [B] of a torch module's greatest scores, or the softmax [B, A] over the legal scores."""
    torch: Any = sys.modules["torch"]
    like = next((weight for weight in module.parameters() if weight.is_floating_point()), torch.zeros(()))

    def tensors(entry: Any) -> Any:
        if isinstance(entry, dict):
            return {name: tensors(inner) for name, inner in entry.items()}
        return torch.as_tensor(entry).to(like)

    mask_argument = (torch.tensor(masks, device=like.device),) if _takes_masks(module.forward) else ()
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            output = module(tensors(observations), *mask_argument)
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


# Answers


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
        return answer if answer.dtype.kind == "f" else answer.astype(float)
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
