"""What people call an agent, as one function: observations and masks of many nodes in, an answer for each out.

Nothing is imported from the libraries that agents come from; torch is looked up where an agent has brought it.
"""

import sys
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.measure.shown import Masks, Shown
from stb_gym.solver import as_array

Answers = Callable[[Any, Masks], Any]  # from observations [B, ...] and masks [B, A] to actions [B] or chances [B, A]

MEMORY = "the agent has a memory: what it does is not determined by the position"


def answers_of(agent: Any, deterministic: bool, shown: Shown) -> Answers:
    """How an agent is asked; see `stb_gym.RegretMeter`.

    Raises:
        TypeError: if it is no agent.
        ValueError: if it is one of other observations or actions, or does not say its probabilities.
    """
    if isinstance(agent, type) or not (callable(agent) or hasattr(agent, "predict")):
        raise TypeError(
            f"{agent!r:.80} is no agent: allowed are a function of (observations, masks), a torch module, and anything "
            "with stable-baselines3's predict; stb_gym.evaluate measures policies that are arrays"
        )
    if _is_module(network := getattr(agent, "policy", agent)):
        _check_weights(network)
    if hasattr(agent, "predict"):
        _check_spaces(agent, shown)
        return _predicting(agent) if deterministic else _sampling(agent)
    if _is_module(agent):
        return _scoring(agent, deterministic)
    if _takes_masks(agent):
        return agent
    return lambda observations, masks: agent(observations)


def _is_module(agent: Any) -> bool:
    return "torch" in sys.modules and isinstance(agent, sys.modules["torch"].nn.Module)


def _check_weights(network: Any) -> None:
    """Refuse a network that has diverged; its answers might be numbers all the same."""
    if not all(bool(weights.isfinite().all()) for weights in network.parameters()):
        raise ValueError("the agent has weights that are infinite or not a number")


def _takes_masks(function: Callable[..., Any]) -> bool:
    """Whether the second argument is for masks: one that must be given, or is called a mask."""
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    try:
        arguments = signature(function).parameters.values()
    except ValueError:  # as of what torch has traced
        return False
    second = [argument for argument in arguments if argument.kind in kinds][1:2]
    return any(argument.default is Parameter.empty or "mask" in argument.name for argument in second)


# Anything with stable-baselines3's `predict`


def _check_spaces(agent: Any, shown: Shown) -> None:
    """Refuse an agent that was made for other observations or actions than those of the meter."""
    chooses, sees = getattr(agent, "action_space", None), getattr(agent, "observation_space", None)
    if chooses is not None and not (isinstance(chooses, gym.spaces.Discrete) and chooses.n == len(shown.game.moves)):
        raise ValueError(f"{shown.game} has {len(shown.game.moves)} actions, but the agent chooses from {chooses}")
    if sees is not None and _shape(sees) != _shape(shown.space):
        raise ValueError(
            f"the agent sees {_shape(sees)}, but the meter shows {_shape(shown.space)}: make the meter with the "
            "agent's environment"
        )
    normalising = getattr(agent, "get_vec_normalize_env", lambda: None)()
    if normalising is not None and getattr(normalising, "norm_obs", True) and not shown.normalised:
        raise ValueError("the agent's observations are normalised: make the meter with its VecNormalize environment")


def _shape(space: gym.Space[Any]) -> Any:
    """The shape of what a space holds, by entry."""
    if isinstance(space, gym.spaces.Dict):
        return {name: _shape(entry) for name, entry in space.spaces.items()}
    return space.shape


def _with_masks(method: Callable[..., Any], masks: Masks) -> dict[str, Masks]:
    return {"action_masks": masks} if "action_masks" in signature(method).parameters else {}


def _predicting(agent: Any) -> Answers:
    """The actions that an agent predicts, by masks if it takes them."""
    arguments = signature(agent.predict).parameters.values()
    if not any(argument.name == "deterministic" or argument.kind == Parameter.VAR_KEYWORD for argument in arguments):
        raise TypeError("the agent's predict is not stable-baselines3's: measure a function that calls it instead")

    def answers(observations: Any, masks: Masks) -> Any:
        predicted = agent.predict(observations, deterministic=True, **_with_masks(agent.predict, masks))
        if not (isinstance(predicted, tuple) and len(predicted) == 2):
            raise TypeError(f"predict returns (actions, states), not something of type {type(predicted).__name__}")
        actions, states = predicted
        if states is not None:
            raise ValueError(MEMORY)
        return actions

    return answers


def _sampling(agent: Any) -> Answers:
    """The probabilities with which an agent chooses that does not play deterministically."""
    if hasattr(agent, "exploration_rate"):
        return _exploring(agent)
    policy = getattr(agent, "policy", agent)
    if not hasattr(policy, "get_distribution"):
        raise ValueError(
            f"{type(agent).__name__} does not say its probabilities: measure it with deterministic=True, or a function "
            "that returns them"
        )
    if "lstm_states" in signature(policy.get_distribution).parameters:
        raise ValueError(MEMORY)

    def answers(observations: Any, masks: Masks) -> Any:
        policy.set_training_mode(False)
        with sys.modules["torch"].no_grad():
            tensors, _ = policy.obs_to_tensor(observations)
            chances = policy.get_distribution(tensors, **_with_masks(policy.get_distribution, masks))
        return chances.distribution

    return answers


def _exploring(agent: Any) -> Answers:
    """Any action with the probability `exploration_rate`, else the one that is predicted."""
    predicting, rate = _predicting(agent), agent.exploration_rate

    def answers(observations: Any, masks: Masks) -> Any:
        allowed = _with_masks(agent.predict, masks).get("action_masks", np.ones_like(masks))
        chances = rate * allowed / allowed.sum(axis=1, keepdims=True)
        chances[np.arange(len(masks)), predicting(observations, masks)] += 1 - rate
        return chances

    return answers


# Torch modules


def _scoring(module: Any, deterministic: bool) -> Answers:
    """The legal action of the greatest score, or softmax over the scores of the legal ones."""
    torch: Any = sys.modules["torch"]
    like = next((weight for weight in module.parameters() if weight.is_floating_point()), torch.zeros(()))
    takes_masks = _takes_masks(module.forward)

    def tensors(observations: Any) -> Any:
        if isinstance(observations, dict):
            return {name: tensors(entry) for name, entry in observations.items()}
        return torch.as_tensor(observations).to(like)

    def answers(observations: Any, masks: Masks) -> Any:
        training = [part for part in module.modules() if part.training]
        module.eval()
        try:
            with torch.no_grad():
                given = (torch.as_tensor(masks, device=like.device),) if takes_masks else ()
                scored = module(tensors(observations), *given)
        finally:
            for part in training:
                part.training = True
        if isinstance(scored, tuple):
            raise TypeError(
                f"a torch module must return scores of shape {masks.shape}, not a tuple of {len(scored)}: measure a "
                "function that returns one of them"
            )
        scores = as_array(getattr(scored, "logits", scored))
        if scores.shape != masks.shape:
            raise ValueError(f"a torch module must return scores of shape {masks.shape}, not {scores.shape}")
        if np.isnan(scores).any() or not np.isfinite(scores.max(axis=1, where=masks, initial=-np.inf)).all():
            raise ValueError("a torch module returned scores that are not a number, or infinite for all legal actions")
        return _best(scores, masks) if deterministic else _softmax(scores, masks)

    return answers


def _best(scores: NDArray[Any], masks: Masks) -> NDArray[np.intp]:
    """[B] the legal action of the greatest score, of equals the one of lowest index."""
    return np.where(masks, scores, -np.inf).argmax(axis=1)


def _softmax(scores: NDArray[Any], masks: Masks) -> NDArray[np.float64]:
    """[B, A] the probabilities that scores give to legal actions."""
    legal = np.where(masks, scores, -np.inf).astype(float)
    weights = np.exp(legal - legal.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)
