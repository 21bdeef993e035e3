"""Arrays, tensors and dictionaries of them, as environments show them and agents return them.

torch is never imported here: it is looked up where an agent has imported it.
"""

import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from stb_gym.messages import quoted


def joined(parts: list[Any], join: Callable[[list[Any]], Any]) -> Any:
    """Join observations into one array, by entry of a dictionary."""
    if isinstance(parts[0], dict):
        return {name: joined([part[name] for part in parts], join) for name in parts[0]}
    return join(parts)


def map_entries(function: Callable[[Any], Any], entry: Any) -> Any:
    """Apply a function to an array or a space, or to each entry of a dictionary of them."""
    if isinstance(entry, dict | gym.spaces.Dict):
        return {name: map_entries(function, inner) for name, inner in entry.items()}
    return function(entry)


def is_module(agent: Any) -> bool:
    """Return whether an agent is a torch module."""
    return "torch" in sys.modules and isinstance(agent, sys.modules["torch"].nn.Module)


def tensors_like(module: Any, observations: Any) -> Any:
    """Return observations as tensors of the type and device of a torch module's parameters."""
    torch: Any = sys.modules["torch"]
    like = next((weight for weight in module.parameters() if weight.is_floating_point()), torch.zeros(()))
    return map_entries(lambda entry: torch.as_tensor(entry).to(like), observations)


def as_array(answer: Any, giver: str = "the agent") -> NDArray[Any]:
    """Return a list, a tensor, or the probabilities of a distribution as an array.

    Tensors of two bytes a number become float16, other tensors of floats float64. Errors name the giver.

    Raises:
        TypeError: if it is none of these.
    """
    if isinstance(answer, tuple):
        raise TypeError(
            f"{giver} returned a tuple of {len(answer)}, not one array; predict returns (actions, states): did you "
            "forget [0]?"
        )
    answer = getattr(answer, "probs", answer)
    if answer is None or isinstance(answer, dict | str):
        kind = f"a dictionary of {quoted(list(answer))}" if isinstance(answer, dict) else quoted(answer)
        raise TypeError(f"{giver} returned {kind}, not one array: return its numbers alone")
    if hasattr(answer, "cpu"):
        answer = answer.detach().cpu()
        if answer.is_floating_point():
            answer = answer.half() if answer.element_size() == 2 else answer.double()
    return np.asarray(answer)
