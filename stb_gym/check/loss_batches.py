"""What a check gives to a loss under test, and how the gradient of the loss is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray
from stb_gym.messages import quoted, reason


@dataclass(frozen=True)
class LossBatch:
    """Steps of turns, as a loss sees them.

    Arrays are [T], or [N, L] in the padded layout: N turns of at most L steps. Those of actions have another axis.
    Numbers that no right code reads are wild: those of padding, next values after the end of a turn, and values of
    illegal actions. What a loss does not need is None.

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

    def map(self, convert: Callable[[Any], Any]) -> "LossBatch":
        """Return a batch with each array converted, such as `batch.map(numpy.asarray)`."""
        return replace(self, **{name: convert(array) for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name."""
        present = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in present.items() if hasattr(value, "shape")}


def gradients(
    function: Callable[..., Any], inputs: Mapping[str, FloatArray], batch: LossBatch, framework: str
) -> list[FloatArray]:
    """Return the derivatives of a loss by its inputs, as float64; zeros if the loss does not depend on one.

    Args:
        function: the code under test. It takes the inputs and the batch as tensors in single precision.
        inputs: by name; those whose names are fields of the batch come in the batch.
        batch: NumPy arrays.
        framework: "torch" or "jax".

    Raises:
        TypeError: if the code fails, or does not return one number.
        ValueError: if the code changed the batch.
    """
    name = getattr(function, "__name__", type(function).__name__)
    library: Any = import_module(framework)
    convert = library.as_tensor if framework == "torch" else library.numpy.asarray

    def as_tensor(array: NDArray[Any]) -> Any:
        return convert(np.array(array, np.float32 if array.dtype.kind == "f" else None))

    given = batch.map(as_tensor)
    in_batch = [each for each in inputs if hasattr(batch, each)]

    def loss(tensors: Mapping[str, Any]) -> Any:
        arguments = [tensors[each] for each in inputs if each not in in_batch]  # JAX sorts names
        try:
            answer = function(*arguments, replace(given, **{each: tensors[each] for each in in_batch}))
        except Exception as error:
            shape = batch.step_mask.shape
            raise TypeError(
                f"{name} raised {type(error).__name__} for a batch of shape {shape}: {quoted(reason(error), 90)}"
            ) from error
        if not isinstance(answer, library.Tensor if framework == "torch" else library.Array):
            kind = type(answer).__name__
            raise TypeError(f"{name} must return one number as a {framework} tensor, not {kind}: wrap it in a lambda")
        if answer.shape not in ((), (1,)):
            raise TypeError(f"{name} must return one number, not shape {tuple(answer.shape)}: take its mean or sum")
        return answer.reshape(())

    leaves = {each: as_tensor(array) for each, array in inputs.items()}
    if framework == "jax":
        by_name = library.grad(loss)(leaves)
        derivatives = [by_name[each] for each in inputs]
    else:
        for leaf in leaves.values():
            leaf.requires_grad_()
        answer = loss({each: leaf.clone() for each, leaf in leaves.items()})  # a copy may be masked in place
        found = (
            library.autograd.grad(answer, list(leaves.values()), allow_unused=True)
            if answer.requires_grad
            else [None] * len(leaves)
        )
        derivatives = [
            library.zeros_like(leaf) if each is None else each
            for leaf, each in zip(leaves.values(), found, strict=True)
        ]
        for field, array in batch.arrays().items():
            if not np.array_equal(as_tensor(array).numpy(), getattr(given, field).numpy()):
                raise ValueError(f"{name} changed batch.{field} in place: let it work on a copy")
    return [np.asarray(each, np.float64) for each in derivatives]
