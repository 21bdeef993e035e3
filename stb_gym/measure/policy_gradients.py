"""Compute the exact policy gradient of a network, and compare other gradients with it."""

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.measure.agents import module_scores
from stb_gym.measure.meter import RegretMeter
from stb_gym.measure.sb3_models import ModelNetwork
from stb_gym.measure.tensors import is_module


@checked
def policy_gradient(meter: RegretMeter, agent: Any, masked: bool | None = None) -> FloatArray:
    """Return the exact gradient of the expected utility of a stochastic policy.

    It is the policy gradient theorem (Sutton et al., "Policy gradient methods for reinforcement learning with function
    approximation", 2000) with exact visits and advantages: the sum over states and actions of
    visits x advantage x the gradient of the action's probability.

    Args:
        meter: the meter of the agent's environment, for a game with tables.
        agent: a torch module that returns scores, or a model of stable-baselines3 with an actor-critic policy.
        masked: see `RegretMeter`.

    Returns:
        The derivatives by all parameters of the network in one vector, in the order of `parameters()`. Utility is in
        the objective's unit, so that more is better; rewards are utility times the environment's `reward_scale`.

    Raises:
        TypeError: as `meter` does.
        ValueError: as `meter` does, or if the agent is neither of them.

    Example:
        >>> import stb_gym, torch
        >>> from stb_gym.measure import policy_gradient
        >>> meter = stb_gym.RegretMeter(stb_gym.Threes(dice=2))
        >>> network = torch.nn.Linear(7, 2, bias=False)
        >>> _ = torch.nn.init.zeros_(network.weight)  # uniformly random play
        >>> gradient = policy_gradient(meter, network, masked=True).reshape(2, 7)
        >>> gradient[:, 6].round(3)  # after a 6, a step along the gradient keeps one die more often
        array([ 0.25, -0.25])
    """
    network_of(meter, agent)
    found = meter(agent, False, masked)
    tables = found.tables
    _, at_states = found.utilities
    of_illegal = found.optimum.objective.illegal_utility(tables.final_score)
    advantage = np.tile((of_illegal - at_states)[:, None], tables.num_actions)
    advantage[tables.pair_state, tables.pair_action] = found.pair_advantage
    return probability_gradient(meter, agent, found.visits[:, None] * advantage, bool(found.masked))


def probability_gradient(meter: RegretMeter, agent: Any, weights: FloatArray, masked: bool) -> FloatArray:
    """Return the derivatives of a weighted sum of the probabilities of actions.

    Args:
        meter: as `policy_gradient` takes it.
        agent: as `policy_gradient` takes it.
        weights: [S, A] the weight of each action at each state.
        masked: whether the softmax is over legal actions only.

    Returns:
        [P] the derivatives by all parameters of the network, in the order of `parameters()`.

    Raises:
        ValueError: if the agent has no network that scores actions.
    """
    torch: Any = sys.modules.get("torch")
    network, scores_of = network_of(meter, agent)
    tables = meter.solution.tables
    at = tables.decisions
    scores = scores_of().double()
    if masked:
        scores = scores.masked_fill(~torch.as_tensor(tables.legal[at], device=scores.device), -np.inf)
    objective = (scores.softmax(dim=1) * torch.as_tensor(weights[at], device=scores.device)).sum()
    parameters = list(network.parameters())
    derivatives = torch.autograd.grad(objective, parameters, allow_unused=True)
    return flat_gradient(derivatives, parameters)


def network_of(meter: RegretMeter, agent: Any, copied: bool = False) -> tuple[Any, Callable[[], Any]]:
    """Return the network of an agent, and a function that returns its scores [D, A] at all decisions, with gradients.

    Raises:
        ValueError: if the agent has no network that scores actions.
    """
    is_model = hasattr(agent, "predict")
    module = getattr(agent, "policy", agent) if is_model else agent
    module = deepcopy(module) if copied else module
    tables = meter.solution.tables
    masks = tables.legal[tables.decisions]
    observations = meter.view(tables.observation[tables.decisions], masks)
    if is_model and (network := ModelNetwork(module)).scores_actions:
        return module, lambda: network.scores(observations)
    if is_module(module) and not is_model:
        return module, lambda: module_scores(module, observations, masks)
    raise ValueError(f"a gradient or fit_steps needs a network that scores actions, not a {type(agent).__name__}")


def cosine_with_exact(meter: RegretMeter, agent: Any, masked: bool | None, gradient: Any) -> float:
    """Return the cosine between a given gradient and the exact one.

    Raises:
        ValueError: as `flat_gradient` does, or if one of them is zero.
    """
    exact = policy_gradient(meter, agent, masked)
    network, _ = network_of(meter, agent)
    given = flat_gradient(gradient, list(network.parameters()))
    for name, each in (("gradient", given), ("exact gradient", exact)):
        if not each.any():
            raise ValueError(f"the {name} is zero, and has no direction")
    return float(exact @ given / (np.linalg.norm(exact) * np.linalg.norm(given)))


def flat_gradient(gradient: Any, parameters: list[Any]) -> FloatArray:
    """Return a gradient as one vector.

    Args:
        gradient: a tensor or array for each parameter, with its shape or flat, where None stands for zeros; or one
            vector for all.
        parameters: the parameters of the agent's network.

    Raises:
        ValueError: if it has other shapes than the parameters, or numbers that are not finite.
    """
    if isinstance(gradient, Iterator):
        gradient = list(gradient)
    if isinstance(gradient, list | tuple):
        if len(gradient) != len(parameters):
            raise ValueError(f"the gradient has {len(gradient)} tensors, but the agent's network has {len(parameters)}")
        slopes = [
            np.zeros(weight.shape) if slope is None else _numbers(slope)
            for slope, weight in zip(gradient, parameters, strict=True)
        ]
        for slope, weight in zip(slopes, parameters, strict=True):
            if slope.shape not in (tuple(weight.shape), (weight.numel(),)):
                raise ValueError(
                    f"the gradient has a tensor of shape {slope.shape}, but the agent's network a parameter of shape "
                    f"{tuple(weight.shape)} there"
                )
        flat = np.concatenate([slope.ravel() for slope in slopes])
    else:
        flat, size = _numbers(gradient), sum(weight.numel() for weight in parameters)
        if flat.shape != (size,):
            raise ValueError(
                f"the gradient has shape {flat.shape}, but the agent's network {size} parameters: give a "
                "list with a tensor for each, or one vector"
            )
    if flat.dtype.kind not in "fiu" or not np.isfinite(flat).all():
        raise ValueError("the gradient has entries that are infinite or no numbers")
    return flat.astype(float)


def _numbers(slope: Any) -> NDArray[Any]:
    """Return a tensor or an array of any library as an array."""
    return np.asarray(slope.detach().cpu().double() if hasattr(slope, "detach") else slope)
