"""What a check gives to a loss under test, and how the gradient of the loss is read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Arrays, called, check_unchanged, name_of
from stb_gym.checks import check_choice
from stb_gym.measure.tensors import as_array


@dataclass(frozen=True)
class LossBatch(Arrays):
    """Steps of turns, as a loss sees them.

    Arrays are [T], or [N, L] in the padded layout: N turns of at most L steps. Those of actions have another axis.
    Numbers that no right code reads are wild: next values after the end of a turn, and values of illegal actions.
    Padding repeats the last step of a turn. What a loss does not need is None.

    Attributes:
        action: the action taken.
        step_mask: True where a step exists; False for padding.
        turn: the number of the turn.
        mask: [..., A] True where an action is legal.
        old_log_prob: the log-probability of the action under the policy that played.
        advantage: the advantage of the action.
        returns: the return after the step; for a policy loss, `advantage + value`.
        value: the critic's value of the state; carries a gradient that a policy loss must not use.
        old_value: the critic's value before the update.
        reward: the reward of the step.
        terminated: True where the turn ends.
        next_mask: [..., A] True where an action is legal in the next state.
        next_q_online: [..., A] action values of the next state, by the network that selects in double Q-learning.
        discount: the discount of a step.
        clip: the clip range of ratios, or of values.
        dual_clip: the greatest ratio of dual clip for negative advantages.
        entropy_weight: the weight of the entropy bonus.
        temperature: logits are divided by it before the softmax.
    """

    action: Any
    step_mask: Any
    turn: Any
    mask: Any = None
    old_log_prob: Any = None
    advantage: Any = None
    returns: Any = None
    value: Any = None
    old_value: Any = None
    reward: Any = None
    terminated: Any = None
    next_mask: Any = None
    next_q_online: Any = None
    discount: float = 1.0
    clip: float = 0.2
    dual_clip: float = 3.0
    entropy_weight: float = 0.0
    temperature: float = 1.0


def gradients(
    function: Callable[..., Any],
    inputs: Sequence[FloatArray],
    batch: LossBatch,
    shape: tuple[int, ...],
    framework: str,
) -> FloatArray:
    """Return [C, K] the derivatives of a loss by its inputs and, in the last column, by `batch.value` if present.

    Args:
        function: the code under test. It takes the inputs and the batch as tensors in single precision.
        inputs: arrays [C, ...], as those of the batch are.
        batch: the steps.
        shape: of the C cells, as the code sees them.
        framework: "torch" or "jax".

    Raises:
        TypeError: if the code fails, or does not return one number.
        ValueError: if the code changed the batch.
    """
    check_choice("framework", framework, ["torch", "jax"])
    name = name_of(function)
    try:
        library: Any = import_module(framework)
    except ImportError as error:
        raise ImportError(f"{framework} is not installed: install it, or pass another framework") from error
    convert = library.as_tensor if framework == "torch" else library.numpy.asarray

    def as_tensor(array: NDArray[Any]) -> Any:
        shown = array.reshape(shape + array.shape[1:])
        return convert(np.array(shown, np.float32 if array.dtype.kind == "f" else None))

    given = batch.map(as_tensor)

    def loss(tensors: Sequence[Any]) -> Any:
        shown = given if batch.value is None else replace(given, value=tensors[-1])
        answer = called(function, name, f"for a batch of shape {shape}", *tensors[: len(inputs)], shown)
        found = getattr(answer, "shape", type(answer).__name__)
        if found not in ((), (1,)):
            remedy = "take a mean or a sum" if hasattr(answer, "shape") else "return the loss itself"
            raise TypeError(f"{name} must return one number as a {framework} tensor, not {found}: {remedy}")
        return answer.reshape(())

    leaves = [as_tensor(each) for each in (*inputs, batch.value) if each is not None]
    if framework == "jax":
        slopes = library.grad(loss)(leaves)
    else:
        for leaf in leaves:
            leaf.requires_grad_()
        answer = loss([leaf.clone() for leaf in leaves])  # a copy may be masked in place
        check_unchanged(name, given, batch.map(as_tensor))
        answer = answer + sum(0 * leaf.sum() for leaf in leaves)  # the loss may not depend on all of them
        slopes = library.autograd.grad(answer, leaves)
    return np.concatenate([as_array(each).reshape(len(batch.action), -1) for each in slopes], axis=1, dtype=np.float64)
