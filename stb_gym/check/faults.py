"""Wrong versions of textbook formulas, by what is wrong with them.

They only give a failed check its words: if the code under test returns what one of these returns, the report says so.
A fault changes one part of a formula: the batch that it reads, the values of next states, where its sum goes on, or its
answer. So the same faults belong to all formulas that look ahead: a function of a `Batch` of [T, B] steps, the values
of next states and where the sum goes on, which returns [T, B] numbers.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Batch

Part = Callable[[Batch], Any]
Formula = Callable[[Batch, Any, Any], FloatArray]


def next_row(array: NDArray[Any], last: Any = 0) -> NDArray[Any]:
    """Return the entries of the next step; `last` after the last one."""
    return np.concatenate([array[1:], np.broadcast_to(np.asarray(last, array.dtype), array.shape[1:])[None]])


def previous_row(array: NDArray[Any]) -> NDArray[Any]:
    """Return the entries of the step before; zeros before the first one."""
    return np.concatenate([np.zeros_like(array[:1]), array[:-1]])


def is_cut(batch: Batch) -> NDArray[np.bool_]:
    """Return True at the last step of a stream, if its turn goes on."""
    last = np.zeros(batch.done.shape, np.bool_)
    last[-1] = True
    return last & ~batch.done


def bootstrapped(batch: Batch) -> FloatArray:
    """Return the values of the next states, 0 where the turn ends."""
    return np.where(batch.terminated, 0, batch.next_value)


def first_of_next(batch: Batch) -> FloatArray:
    """Return the values that the next rows begin with; these are of new turns where a turn ended or was cut."""
    return next_row(batch.value, batch.last_value)


def goes_on(batch: Batch) -> NDArray[np.bool_]:
    """Return True where the turn goes on with the next step."""
    return ~np.asarray(batch.done, np.bool_)


# Formulas


def looked_ahead(errors: FloatArray, decay: Any) -> FloatArray:
    """Return the sums `s[t] = errors[t] + decay[t] * s[t + 1]`."""
    sums = errors.astype(np.float64)
    decay = np.broadcast_to(decay, sums.shape)
    for step in reversed(range(len(sums) - 1)):
        sums[step] += decay[step] * sums[step + 1]
    return sums


def errors(batch: Batch, bootstrap: Any) -> FloatArray:
    """Return the temporal differences for given values of the next states."""
    return np.asarray(batch.reward + batch.discount * bootstrap - batch.value)


def gae(batch: Batch, bootstrap: Any, following: Any) -> FloatArray:
    """Return generalised advantages."""
    return looked_ahead(errors(batch, bootstrap), batch.discount * batch.lam * following)


def corrections(batch: Batch, bootstrap: Any, following: Any, rho: Any, c: Any) -> FloatArray:
    """Return the corrections of V-trace to the values, for given weights rho and c."""
    return looked_ahead(rho * errors(batch, bootstrap), batch.discount * batch.lam * c * following)


def v_trace(batch: Batch, bootstrap: Any, following: Any) -> FloatArray:
    """Return the targets of V-trace, whose ratios are clipped at 1."""
    ratio = np.minimum(batch.ratio, 1)
    return batch.value + corrections(batch, bootstrap, following, ratio, ratio)


def v_trace_advantage(batch: Batch, bootstrap: Any, following: Any) -> FloatArray:
    """Return the advantages of the policy gradient of V-trace."""
    after = following * next_row(v_trace(batch, bootstrap, following) - batch.value)
    return np.minimum(batch.ratio, 1) * (errors(batch, bootstrap) + batch.discount * after)


def lambda_return(batch: Batch, bootstrap: Any, following: Any) -> FloatArray:
    """Return generalised advantages plus values."""
    return gae(batch, bootstrap, following) + batch.value


def n_step(batch: Batch, bootstrap: Any, following: Any) -> FloatArray:
    """Return the rewards of n steps and the value after them, less the value of the state."""
    return sum_of_window(batch, bootstrap, following, None)


def sum_of_window(batch: Batch, bootstrap: Any, following: Any, power: int | None) -> FloatArray:
    """Return what `n_step` does, with a given power of the discount before the last value, or the right one."""
    has_next = np.broadcast_to(following, batch.reward.shape).copy()
    has_next[-1] = False
    at_end = np.broadcast_to(bootstrap, batch.reward.shape)
    rewards, factor, end = batch.reward, np.full(batch.reward.shape, batch.discount), at_end
    for _ in range(batch.num_steps - 1):
        rewards = batch.reward + np.where(has_next, batch.discount * next_row(rewards), 0)
        factor = np.where(has_next, batch.discount * next_row(factor), batch.discount)
        end = np.where(has_next, next_row(end), at_end)
    return np.asarray(rewards + (factor if power is None else batch.discount**power) * end - batch.value)


# Their faults


BATCHES: dict[str, Part] = {
    "rewards are stored one step late": lambda batch: replace(batch, reward=previous_row(batch.reward)),
    "rewards are read one step early": lambda batch: replace(batch, reward=next_row(batch.reward)),
    "end flags are those of the next step": lambda batch: replace(
        batch, terminated=next_row(batch.terminated, True), truncated=next_row(batch.truncated)
    ),
    "end flags are those of the step before": lambda batch: replace(
        batch, terminated=previous_row(batch.terminated), truncated=previous_row(batch.truncated)
    ),
    **{f"the discount is taken as {number:g}": partial(replace, discount=number) for number in (1.0, 0.99, 0.95, 0.5)},
    "lambda is taken as 0: only the step itself is counted": lambda batch: replace(batch, lam=0.0),
    "lambda is taken as 1": lambda batch: replace(batch, lam=1.0),
    "the discount is missing in the recursion": lambda batch: replace(batch, lam=batch.lam / batch.discount),
    "the discount is missing before the next value": lambda batch: replace(
        batch, next_value=batch.next_value / batch.discount
    ),
    "the end flag removes the value of the state itself, too": lambda batch: replace(
        batch, value=batch.value * ~batch.terminated
    ),
    "the value is subtracted from the reward of the step, not from the return": lambda batch: replace(
        batch, next_value=0 * batch.value, lam=0.0
    ),
    "ratios are ignored": lambda batch: replace(batch, ratio=1.0),
    "ratios are upside down": lambda batch: replace(batch, ratio=1 / batch.ratio),
    "windows are one step too short": lambda batch: replace(batch, num_steps=max(batch.num_steps - 1, 1)),
    "windows are one step too long": lambda batch: replace(batch, num_steps=batch.num_steps + 1),
}
BOOTSTRAPS: dict[str, Part] = {
    "truncation is treated as termination": lambda batch: np.where(batch.done, 0, batch.next_value),
    "a truncated turn bootstraps from the state before the cut": lambda batch: np.where(
        batch.truncated, batch.value, bootstrapped(batch)
    ),
    "a truncated turn bootstraps from the first state of the next turn": lambda batch: np.where(
        batch.terminated, 0, first_of_next(batch)
    ),
    "a turn that ended bootstraps from the value of its last state": lambda batch: batch.next_value,
    "a turn that ended bootstraps from the first state of the next turn": lambda batch: np.where(
        batch.truncated, batch.next_value, first_of_next(batch)
    ),
    "the value of the state before a last step is taken as 0": lambda batch: np.where(
        next_row(batch.terminated), 0, bootstrapped(batch)
    ),
    "the end of the data is treated as the end of a turn": lambda batch: np.where(
        is_cut(batch), 0, bootstrapped(batch)
    ),
    "the last step bootstraps from its own state": lambda batch: np.where(
        is_cut(batch), batch.value, bootstrapped(batch)
    ),
}
SUMS: dict[str, Part] = {
    "sums go on over the ends of turns": lambda batch: True,
    "sums go on over a truncation into the next turn": lambda batch: ~batch.terminated,
}


def faults_of(formula: Formula) -> dict[str, Part]:
    """Return wrong versions of a formula that looks ahead."""

    def right(batch: Batch) -> FloatArray:
        return formula(batch, bootstrapped(batch), goes_on(batch))

    def with_batch(change: Part) -> Part:
        return lambda batch: right(change(batch))

    def with_bootstrap(change: Part) -> Part:
        return lambda batch: formula(batch, change(batch), goes_on(batch))

    def with_sum(change: Part) -> Part:
        return lambda batch: formula(batch, bootstrapped(batch), change(batch))

    def standardised(batch: Batch) -> FloatArray:
        answer = right(batch)
        return np.asarray((answer - answer.mean()) / (answer.std() + 1e-8))

    return {
        "the sign is wrong": lambda batch: -right(batch),
        "the value is not subtracted": lambda batch: right(batch) + batch.value,
        "the value is subtracted twice, or from what is to be a return": lambda batch: right(batch) - batch.value,
        "the answers are normalised: check them before that": standardised,
        "sums run forwards instead of backwards": lambda batch: forwards(batch, formula, goes_on(batch)),
        "sums run forwards and over the ends of turns": lambda batch: forwards(batch, formula, np.True_),
        "time and environments are exchanged by a reshape": lambda batch: exchanged(batch, formula),
        **{name: with_batch(change) for name, change in BATCHES.items()},
        **{name: with_bootstrap(change) for name, change in BOOTSTRAPS.items()},
        **{name: with_sum(change) for name, change in SUMS.items()},
        "a truncation is ignored: the next turn's value and sum follow": lambda batch: formula(
            batch, np.where(batch.terminated, 0, first_of_next(batch)), ~batch.terminated
        ),
    }


def forwards(batch: Batch, formula: Formula, following: Any) -> FloatArray:
    """Return the answers of a formula whose sum runs over the steps before, not over those after."""
    backwards = batch.map(lambda array: array[::-1] if array.ndim == 2 else array)
    before = np.broadcast_to(following, batch.reward.shape)
    return formula(backwards, bootstrapped(backwards), previous_row(before)[::-1])[::-1]


def exchanged(batch: Batch, formula: Formula) -> FloatArray:
    """Return the answers for arrays whose axes were exchanged by a reshape instead of a transposition."""
    length, width = batch.reward.shape
    misread = batch.map(lambda array: array.reshape(width, length).T if array.ndim == 2 else array)
    misread = replace(misread, last_value=np.zeros(length))
    return formula(misread, bootstrapped(misread), goes_on(misread)).T.reshape(length, width)


def whole_returns(batch: Batch, bootstrap: Any, following: Any) -> FloatArray:
    """Return at each step the return of its whole turn."""
    whole = gae(batch, bootstrap, following)
    for step in range(1, len(whole)):
        whole[step] = np.where(following[step - 1], whole[step - 1], whole[step])
    return whole


def faults_of_returns() -> dict[str, Part]:
    """Return wrong versions of the sum of rewards."""

    def without_critic(fault: Part) -> Part:
        def answer(batch: Batch) -> Any:
            zero = np.zeros(batch.reward.shape)
            return fault(replace(batch, value=zero, next_value=zero, last_value=zero[0], ratio=1.0))

        return answer

    wrong = faults_of(gae) | {
        "each step has the return of its whole turn": lambda batch: whole_returns(
            batch, bootstrapped(batch), goes_on(batch)
        )
    }
    return {
        name: without_critic(fault)
        for name, fault in wrong.items()
        if not re.search("value|bootstrap|is treated", name)
    }


OF_WINDOWS: dict[str, Part] = {
    "the answer is that of another step, n - 1 steps later": lambda batch: np.roll(
        n_step(batch, bootstrapped(batch), goes_on(batch)), 1 - batch.num_steps, axis=0
    ),
    "the value after the window is discounted once, not n times": lambda batch: sum_of_window(
        batch, bootstrapped(batch), goes_on(batch), 1
    ),
    "the value after the window is discounted n times where the window is shorter": lambda batch: sum_of_window(
        batch, bootstrapped(batch), goes_on(batch), batch.num_steps
    ),
}
OF_RATIOS: dict[str, Part] = {
    "ratios are not clipped": lambda batch: (
        batch.value + corrections(batch, bootstrapped(batch), goes_on(batch), batch.ratio, batch.ratio)
    ),
    "the ratio is missing in the recursion": lambda batch: (
        batch.value + corrections(batch, bootstrapped(batch), goes_on(batch), np.minimum(batch.ratio, 1), 1)
    ),
    "the ratio is missing before the temporal difference": lambda batch: (
        batch.value + corrections(batch, bootstrapped(batch), goes_on(batch), 1, np.minimum(batch.ratio, 1))
    ),
}
FORMULAS: dict[str, Formula] = {
    "gae": gae,
    "lambda-return": lambda_return,
    "n-step": n_step,
    "v-trace": v_trace,
    "v-trace-advantage": v_trace_advantage,
}
OF_KINDS = {"n-step": OF_WINDOWS, "v-trace": OF_RATIOS}


def faults_of_advantages(kind: str) -> dict[str, Part]:
    """Return wrong versions of a kind of advantages or returns."""
    return faults_of(FORMULAS[kind]) | OF_KINDS.get(kind, {})


# Targets of Q-learning


def value_of_best(batch: Batch, select: str = "next_q", evaluate: str = "next_q", masked: bool = True) -> FloatArray:
    """Return the value of each next state: that of the action which one table of values selects, by another."""
    scores = np.where(batch.next_mask | (not masked), getattr(batch, select), -np.inf)
    return np.asarray(np.take_along_axis(getattr(batch, evaluate), scores.argmax(axis=-1)[..., None], axis=-1)[..., 0])


NEXT_VALUES: dict[str, Part] = {
    "the next value is the greatest one": value_of_best,
    "the next value is that of the action which the other network selects": lambda batch: value_of_best(
        batch, "next_q_online"
    ),
    "the next value is the mean over the policy": lambda batch: (batch.next_policy * batch.next_q).sum(axis=-1),
    "the next value is the greatest one over illegal actions, too": lambda batch: value_of_best(batch, masked=False),
    "the next value is the greatest one of the network that selects": lambda batch: value_of_best(
        batch, "next_q_online", "next_q_online"
    ),
    "the networks that select and evaluate are exchanged": lambda batch: value_of_best(batch, evaluate="next_q_online"),
    "the network that selects sees illegal actions, too": lambda batch: value_of_best(
        batch, "next_q_online", masked=False
    ),
    "the next value is the mean over legal actions": lambda batch: (
        (batch.next_mask * batch.next_q).sum(axis=-1) / batch.next_mask.sum(axis=-1)
    ),
    "the next value is the mean over all actions": lambda batch: batch.next_q.mean(axis=-1),
    "the next value is the least one": lambda batch: -value_of_best(replace(batch, next_q=-batch.next_q)),
    "the next value is missing": lambda batch: np.zeros(batch.reward.shape),
}
RIGHT_VALUES = {
    "double": "the next value is that of the action which the other network selects",
    "expected": "the next value is the mean over the policy",
}


def faults_of_targets(kind: str) -> dict[str, Part]:
    """Return wrong targets of a kind of Q-learning."""
    right = NEXT_VALUES[RIGHT_VALUES.get(kind, "the next value is the greatest one")]

    def with_value(of_next: Part, fault: Part) -> Part:
        def answer(batch: Batch) -> Any:
            zero = np.zeros(batch.reward.shape)
            return fault(replace(batch, next_value=of_next(batch), value=zero, last_value=zero[0], ratio=1.0))

        return answer

    def windows(batch: Batch) -> FloatArray:
        return n_step(batch, bootstrapped(batch), goes_on(batch))

    wrong = faults_of(n_step) | OF_WINDOWS
    by_formula = {name: with_value(right, fault) for name, fault in wrong.items() if "the value is" not in name}
    by_value = {name: with_value(rule, windows) for name, rule in NEXT_VALUES.items() if rule is not right}
    return by_value | by_formula
