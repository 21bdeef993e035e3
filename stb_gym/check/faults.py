"""Wrong versions of textbook formulas, by what is wrong with them.

They only give a failed check its words: if the code under test returns what one of these returns, the report says so.
Each takes a `Batch` of [T, B] steps and returns [T, B] numbers.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Batch

Faults = dict[str, Callable[[Batch], Any]]


def next_row(array: NDArray[Any], last: Any = 0) -> NDArray[Any]:
    """Return the entries of the next step; `last` after the last one."""
    return np.concatenate([array[1:], np.broadcast_to(np.asarray(last, array.dtype), array.shape[1:])[None]])


def previous_row(array: NDArray[Any]) -> NDArray[Any]:
    """Return the entries of the step before; zeros before the first one."""
    return np.concatenate([np.zeros_like(array[:1]), array[:-1]])


def standardised(values: FloatArray) -> FloatArray:
    """Return values less their mean, divided by their standard deviation."""
    return (values - values.mean()) / (values.std() + 1e-8)


def is_cut(batch: Batch) -> NDArray[np.bool_]:
    """Return True at the last step of a stream, if its turn goes on."""
    last = np.zeros(batch.done.shape, np.bool_)
    last[-1] = True
    return last & ~batch.done


def bootstrapped(batch: Batch) -> FloatArray:
    """Return the values of the next states, 0 where the turn ends."""
    return np.where(batch.terminated, 0, batch.next_value)


def td_errors(batch: Batch, bootstrap: FloatArray) -> FloatArray:
    """Return the temporal differences for given values of the next states."""
    return batch.reward + batch.discount * bootstrap - batch.value


def looked_ahead(errors: FloatArray, decay: Any) -> FloatArray:
    """Return the sums `s[t] = errors[t] + decay[t] * s[t + 1]`."""
    sums = errors.astype(np.float64)
    decay = np.broadcast_to(decay, sums.shape)
    for step in reversed(range(len(sums) - 1)):
        sums[step] += decay[step] * sums[step + 1]
    return sums


def gae(batch: Batch, bootstrap: FloatArray | None = None, goes_on: Any = None) -> FloatArray:
    """Return generalised advantages.

    Args:
        batch: the steps.
        bootstrap: the values of the next states, by default those of the batch, 0 where the turn ends.
        goes_on: where the sum goes on to the next step; by default where the turn does.
    """
    errors = td_errors(batch, bootstrapped(batch) if bootstrap is None else bootstrap)
    return looked_ahead(errors, batch.discount * batch.lam * (~batch.done if goes_on is None else goes_on))


def forwards(batch: Batch) -> FloatArray:
    """Return sums that run from the first step of a turn to its last one."""
    sums = td_errors(batch, bootstrapped(batch))
    for step in range(1, len(sums)):
        sums[step] += batch.discount * batch.lam * ~batch.done[step - 1] * sums[step - 1]
    return sums


def exchanged(batch: Batch) -> FloatArray:
    """Return advantages of arrays whose two axes were exchanged by a reshape instead of a transposition."""
    length, width = batch.reward.shape
    misread = batch.map(lambda array: array.reshape(width, length).T if array.ndim == 2 else array)
    return gae(replace(misread, last_value=np.zeros(length))).T.reshape(length, width)


# Faults of all sums over steps

SUMS: Faults = {
    "the sign is wrong": lambda batch: -gae(batch),
    "rewards are stored one step late": lambda batch: gae(replace(batch, reward=previous_row(batch.reward))),
    "rewards are read one step early": lambda batch: gae(replace(batch, reward=next_row(batch.reward))),
    "end flags are those of the next step": lambda batch: gae(
        replace(batch, terminated=next_row(batch.terminated, True), truncated=next_row(batch.truncated))
    ),
    "end flags are those of the step before": lambda batch: gae(
        replace(batch, terminated=previous_row(batch.terminated), truncated=previous_row(batch.truncated))
    ),
    "sums go on over the ends of turns": lambda batch: gae(batch, goes_on=True),
    "sums run forwards, over the steps before": forwards,
    "sums run forwards, over the ends of turns": lambda batch: looked_ahead(
        td_errors(batch, bootstrapped(batch))[::-1], batch.discount * batch.lam
    )[::-1],
    "the discount is taken as 1": lambda batch: gae(replace(batch, discount=1.0)),
    "only the step itself is counted": lambda batch: td_errors(batch, bootstrapped(batch)),
    "time and environments are exchanged by a reshape": exchanged,
    "the answers are normalised: check them before that": lambda batch: standardised(gae(batch)),
}

# Faults of sums that bootstrap from a critic

CRITIC: Faults = {
    "truncation is treated as termination": lambda batch: gae(batch, np.where(batch.done, 0, batch.next_value)),
    "sums go on over a truncation into the next turn": lambda batch: gae(batch, goes_on=~batch.terminated),
    "a truncation is ignored: the next turn's value and sum follow": lambda batch: gae(
        batch, np.where(batch.terminated, 0, next_row(batch.value, batch.last_value)), ~batch.terminated
    ),
    "a truncated turn bootstraps from the state before the cut": lambda batch: gae(
        batch, np.where(batch.truncated, batch.value, bootstrapped(batch))
    ),
    "a truncated turn bootstraps from the first state of the next turn": lambda batch: gae(
        batch, np.where(batch.terminated, 0, next_row(batch.value, batch.last_value))
    ),
    "a turn that ended bootstraps from the value of its last state": lambda batch: gae(batch, batch.next_value),
    "a turn that ended bootstraps from the first state of the next turn": lambda batch: gae(
        batch, np.where(batch.truncated, batch.next_value, next_row(batch.value, batch.last_value))
    ),
    "the value of the state before a last step is taken as 0": lambda batch: gae(
        batch, np.where(next_row(batch.terminated), 0, bootstrapped(batch))
    ),
    "the end flag removes the value of the state itself, too": lambda batch: looked_ahead(
        batch.reward + ~batch.terminated * (batch.discount * batch.next_value - batch.value),
        batch.discount * batch.lam * ~batch.done,
    ),
    "the value is subtracted from the reward of the step, not from the return": lambda batch: (
        batch.reward - batch.value
    ),
    "lambda is taken as 0": lambda batch: gae(replace(batch, lam=0.0)),
    "lambda is taken as 1": lambda batch: gae(replace(batch, lam=1.0)),
    "the discount is missing in the recursion": lambda batch: looked_ahead(
        td_errors(batch, bootstrapped(batch)), batch.lam * ~batch.done
    ),
    "the discount is missing before the next value": lambda batch: looked_ahead(
        td_errors(replace(batch, discount=1.0), bootstrapped(batch)), batch.discount * batch.lam * ~batch.done
    ),
    "the value is not subtracted": lambda batch: gae(batch) + batch.value,
    "the value is subtracted twice": lambda batch: gae(batch) - batch.value,
    "the end of the data is treated as the end of a turn": lambda batch: gae(
        batch, np.where(is_cut(batch), 0, bootstrapped(batch))
    ),
    "the last step bootstraps from its own state": lambda batch: gae(
        batch, np.where(is_cut(batch), batch.value, bootstrapped(batch))
    ),
}
GAE = SUMS | CRITIC


# Returns without a critic


def _without_critic(batch: Batch) -> Batch:
    """Return the batch with all values zero and lambda 1, so that its advantages are returns."""
    zero = np.zeros(batch.reward.shape)
    return replace(batch, value=zero, next_value=zero, last_value=zero[0], lam=1.0)


def _whole_returns(batch: Batch) -> FloatArray:
    """Return at each step the return of its whole turn."""
    whole = gae(batch)
    for step in range(1, len(whole)):
        whole[step] = np.where(batch.done[step - 1], whole[step], whole[step - 1])
    return whole


def _of_returns(fault: Callable[[Batch], Any]) -> Callable[[Batch], Any]:
    return lambda batch: fault(_without_critic(batch))


RETURNS: Faults = {
    name: _of_returns(fault)
    for name, fault in (SUMS | {"each step has the return of its whole turn": _whole_returns}).items()
}


# Windows of n steps


def n_step(
    batch: Batch, bootstrap: FloatArray | None = None, goes_on: Any = None, num_steps: int = 0, power: int = 0
) -> FloatArray:
    """Return the rewards of n steps and the bootstrap after them, less the value.

    Args:
        batch: the steps.
        bootstrap: as for `gae`.
        goes_on: as for `gae`.
        num_steps: n; by default that of the batch.
        power: the power of the discount before the bootstrap; by default the length of the window.
    """
    goes_on = np.broadcast_to(~batch.done if goes_on is None else goes_on, batch.reward.shape)
    at_end = bootstrapped(batch) if bootstrap is None else bootstrap
    rewards, factor, end = batch.reward, np.full(batch.reward.shape, batch.discount), at_end
    has_next = goes_on & (np.arange(len(rewards)) < len(rewards) - 1)[:, None]
    for _ in range((num_steps or batch.num_steps) - 1):
        rewards = batch.reward + np.where(has_next, batch.discount * next_row(rewards), 0)
        factor = np.where(has_next, batch.discount * next_row(factor), batch.discount)
        end = np.where(has_next, next_row(end), at_end)
    return rewards + (batch.discount**power if power else factor) * end - batch.value


N_STEP: Faults = {
    "the sign is wrong": lambda batch: -n_step(batch),
    "rewards are stored one step late": lambda batch: n_step(replace(batch, reward=previous_row(batch.reward))),
    "windows are one step too short": lambda batch: n_step(batch, num_steps=max(batch.num_steps - 1, 1)),
    "windows are one step too long": lambda batch: n_step(batch, num_steps=batch.num_steps + 1),
    "windows read on over the ends of turns": lambda batch: n_step(batch, goes_on=True),
    "windows read on over a truncation into the next turn": lambda batch: n_step(batch, goes_on=~batch.terminated),
    "the bootstrap is discounted once, not n times": lambda batch: n_step(batch, power=1),
    "the bootstrap is discounted n times where a turn ends or is cut earlier": lambda batch: n_step(
        batch, power=batch.num_steps
    ),
    "the discount is taken as 1": lambda batch: n_step(replace(batch, discount=1.0)),
    "truncation is treated as termination": lambda batch: n_step(batch, np.where(batch.done, 0, batch.next_value)),
    "a turn that ended bootstraps from the value of its last state": lambda batch: n_step(batch, batch.next_value),
    "the end of the data is treated as the end of a turn": lambda batch: n_step(
        batch, np.where(is_cut(batch), 0, bootstrapped(batch))
    ),
    "the value is not subtracted": lambda batch: n_step(batch) + batch.value,
}


# V-trace


def v_trace(batch: Batch, rho: Any, c: Any, bootstrap: FloatArray | None = None, goes_on: Any = None) -> FloatArray:
    """Return the corrections of V-trace to the values, for given weights rho and c."""
    errors = rho * td_errors(batch, bootstrapped(batch) if bootstrap is None else bootstrap)
    return looked_ahead(errors, batch.discount * batch.lam * c * (~batch.done if goes_on is None else goes_on))


def clipped(batch: Batch) -> FloatArray:
    """Return the ratios, at most 1."""
    return np.minimum(batch.ratio, 1.0)


V_TRACE: Faults = {
    "ratios are not clipped": lambda batch: v_trace(batch, batch.ratio, batch.ratio),
    "ratios are ignored": gae,
    "the ratio is missing in the recursion": lambda batch: v_trace(batch, clipped(batch), 1.0),
    "the ratio is missing before the temporal difference": lambda batch: v_trace(batch, 1.0, clipped(batch)),
    "ratios are upside down": lambda batch: v_trace(
        batch, np.minimum(1 / batch.ratio, 1), np.minimum(1 / batch.ratio, 1)
    ),
    "ratios are clipped from below, not from above": lambda batch: v_trace(
        batch, np.maximum(batch.ratio, 1), np.maximum(batch.ratio, 1)
    ),
    "lambda is taken as 1": lambda batch: v_trace(replace(batch, lam=1.0), clipped(batch), clipped(batch)),
    "sums go on over the ends of turns": lambda batch: v_trace(batch, clipped(batch), clipped(batch), goes_on=True),
    "truncation is treated as termination": lambda batch: v_trace(
        batch, clipped(batch), clipped(batch), np.where(batch.done, 0, batch.next_value)
    ),
    "a turn that ended bootstraps from the value of its last state": lambda batch: v_trace(
        batch, clipped(batch), clipped(batch), batch.next_value
    ),
    "the end of the data is treated as the end of a turn": lambda batch: v_trace(
        batch, clipped(batch), clipped(batch), np.where(is_cut(batch), 0, bootstrapped(batch))
    ),
}


# Targets of Q-learning


def _best(batch: Batch, scores: FloatArray, legal: Any) -> Any:
    """Return the index of the greatest score among some actions, with a last axis of length 1."""
    return np.where(legal, scores, -np.inf).argmax(axis=-1)[..., None]


def _value_of(batch: Batch, select: str = "next_q", evaluate: str = "next_q", masked: bool = True) -> Any:
    """Return the value of each next state: that of the action which one table of values selects, by another."""
    chosen = _best(batch, getattr(batch, select), batch.next_mask if masked else True)
    return np.take_along_axis(getattr(batch, evaluate), chosen, axis=-1)[..., 0]


def _expected(batch: Batch, shares: FloatArray) -> Any:
    return (shares * batch.next_q).sum(axis=-1)


RULES: Faults = {
    "the next value is the greatest one of the network that evaluates": _value_of,
    "the next value is that of the network that evaluates, for the action that the other selects": lambda batch: (
        _value_of(batch, "next_q_online", "next_q")
    ),
    "the next value is the mean over the policy": lambda batch: _expected(batch, batch.next_policy),
    "the next value is the greatest one over illegal actions, too": lambda batch: _value_of(batch, masked=False),
    "the next value is the greatest one of the network that selects": lambda batch: _value_of(
        batch, "next_q_online", "next_q_online"
    ),
    "the networks that select and evaluate are exchanged": lambda batch: _value_of(batch, "next_q", "next_q_online"),
    "the network that selects sees illegal actions, too": lambda batch: _value_of(
        batch, "next_q_online", "next_q", False
    ),
    "the next value is the mean over legal actions": lambda batch: _expected(
        batch, batch.next_mask / batch.next_mask.sum(axis=-1, keepdims=True)
    ),
    "the next value is the mean over all actions": lambda batch: batch.next_q.mean(axis=-1),
    "the next value is the least one": lambda batch: -_value_of(replace(batch, next_q=-batch.next_q)),
    "the next value is missing": lambda batch: np.zeros(batch.reward.shape),
}


RIGHT_RULES = {
    "greedy": "the next value is the greatest one of the network that evaluates",
    "double": "the next value is that of the network that evaluates, for the action that the other selects",
    "expected": "the next value is the mean over the policy",
}


def targets(kind: str) -> Faults:
    """Return wrong targets of a kind of Q-learning."""
    right = RIGHT_RULES.get(kind, RIGHT_RULES["greedy"])

    def with_rule(rule: Callable[[Batch], Any], formula: Callable[[Batch], Any]) -> Callable[[Batch], Any]:
        return lambda batch: formula(replace(batch, next_value=rule(batch), value=np.zeros(batch.reward.shape)))

    by_rule = {name: with_rule(rule, n_step) for name, rule in RULES.items() if name != right}
    by_formula = {name: with_rule(RULES[right], formula) for name, formula in N_STEP.items() if "value is" not in name}
    return by_rule | by_formula


def plus_value(wrong: Faults) -> Faults:
    """Return faults of returns: those of advantages plus the value."""

    def with_value(fault: Callable[[Batch], Any]) -> Callable[[Batch], Any]:
        return lambda batch: fault(batch) + batch.value

    return {name: with_value(fault) for name, fault in wrong.items()}
