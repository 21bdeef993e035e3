"""What a check gives to the code under test, and how its answer is read."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Self

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.measure.tensors import as_array
from stb_gym.messages import LONGEST_MESSAGE, quoted, reason, shortened


@dataclass(frozen=True)
class Arrays:
    """Fields of which some are arrays, or tensors."""

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name."""
        return {name: value for name, value in vars(self).items() if hasattr(value, "shape")}

    def map(self, convert: Callable[[Any], Any]) -> Self:
        """Return a batch with each array converted, such as `batch.map(torch.as_tensor)`."""
        return replace(self, **{name: convert(array) for name, array in self.arrays().items()})


@dataclass(frozen=True)
class Batch(Arrays):
    """Steps of streams of turns, back to back: T steps of B environments.

    Arrays are [T, B] or, in a layout of one stream, [T]; those of actions have another axis. Numbers that no right code
    reads are wild: next values after the end of a turn, values of illegal actions, last values where the last step ends
    a turn.

    Attributes:
        reward: the reward of each step.
        terminated: True where the turn ends.
        truncated: True at a time limit: the value of the next state counts, unless the turn is over there. Then both
            flags are True, as in Gymnasium.
        discount: the discount of a step.
        value: the critic's value of the state in which the step begins.
        next_value: its value of the state that the step leads to, before any reset.
        last_value: [B] its value of the state that follows the last step.
        lam: lambda of generalised advantage estimation, of returns, or of V-trace.
        ratio: the probability of the action under the policy, divided by that under the one that played.
        num_steps: n of n-step returns.
        next_q: [..., A] action values at the state that the step leads to, by the network that evaluates.
        next_q_online: [..., A] the same by the network that selects the action of double Q-learning.
        next_mask: [..., A] True where an action is legal there.
        next_policy: [..., A] the probability of each action there.
        support: [N] the values of a categorical distribution.
        next_distribution: [..., A, N] its probabilities, or N quantiles, for every action.
    """

    reward: Any
    terminated: Any
    truncated: Any
    discount: float
    value: Any = None
    next_value: Any = None
    last_value: Any = None
    lam: float = 1.0
    ratio: Any = None
    num_steps: int = 1
    next_q: Any = None
    next_q_online: Any = None
    next_mask: Any = None
    next_policy: Any = None
    support: Any = None
    next_distribution: Any = None

    @property
    def done(self) -> Any:
        """True where the turn is terminated or truncated."""
        return self.terminated | self.truncated

    def column(self, number: int) -> "Batch":
        """Return one stream of the batch: arrays [T], and a scalar `last_value`."""
        of_streams = replace(self, support=None)
        column = of_streams.map(lambda array: array[number] if array.ndim == 1 else array[:, number])
        return replace(column, support=self.support)


def name_of(function: Any) -> str:
    """Return the name of code under test, or of its class."""
    return shortened(getattr(function, "__name__", type(function).__name__), 40)


def called(function: Callable[..., Any], name: str, when: str, *arguments: Any) -> Any:
    """Return what code under test returns; raise TypeError in one line if it fails."""
    try:
        return function(*arguments)
    except Exception as error:
        check_accepts(function, name, *arguments)
        failed = f"{name} raised {type(error).__name__} {when}: "
        raise TypeError(failed + quoted(reason(error), LONGEST_MESSAGE - len(failed))) from error


def check_accepts(function: Callable[..., Any], name: str, *arguments: Any, **named: Any) -> None:
    """Raise TypeError in one line if code under test does not take these arguments."""
    try:
        signature(function, follow_wrapped=False).bind(*arguments, **named)
    except ValueError:  # some functions in C have no signature
        return
    except TypeError as error:
        given = [
            f"one {type(each).__name__}" + (f" ({', '.join(each.arrays())})" if isinstance(each, Arrays) else "")
            for each in arguments
        ]
        raise TypeError(
            f"{name} is called with {' and '.join(given)}: write an adapter, see the page Is your learner right?"
        ) from error


def check_unchanged(name: str, given: Arrays, batch: Arrays) -> None:
    """Raise ValueError if code under test changed an array of the batch that it was given."""
    for field, array in batch.arrays().items():
        if not np.array_equal(as_array(array), as_array(getattr(given, field)), equal_nan=True):
            raise ValueError(f"{name} changed batch.{field} in place: let it work on a copy")


def ask(function: Callable[..., Any], batch: Arrays, shape: tuple[int, ...]) -> FloatArray:
    """Return what the code under test answers for a copy of a batch, as float64.

    Args:
        function: the code under test.
        batch: its argument.
        shape: the shape that the answer must have.

    Raises:
        TypeError: if the code fails on a batch, or returns no array of numbers.
        ValueError: if the answer has another shape, or the code changed the batch.
    """
    name = name_of(function)
    given = batch.map(np.copy)
    answer = called(function, name, f"for {', '.join(batch.arrays())} {shape}", given)
    check_unchanged(name, given, batch)
    if isinstance(answer, tuple | dict | None):
        kind = "None" if answer is None else f"a {type(answer).__name__}"
        raise TypeError(f"{name} must return one array of shape {shape}, not {kind}: wrap it in a lambda")
    try:
        array = as_array(answer)
    except (TypeError, ValueError, RuntimeError):  # such as lists of different lengths, or of tensors with gradients
        raise TypeError(f"{name} must return one array or tensor of shape {shape}, not {quoted(answer)}") from None
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{name} must return numbers, not {quoted(answer)}")
    if array.shape != shape:
        raise ValueError(f"{name} must return shape {shape}, not {array.shape}")
    return array.astype(np.float64)
