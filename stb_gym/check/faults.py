"""Wrong versions of textbook formulas, by what is wrong with them.

They only give a failed check its words: if the code under test returns what one of these returns, the report says so.
Each fault is an edit of one formula: of the batch that it reads, of the values of next states, of where its sum goes
on, or of its answer. So the same faults belong to all estimators that look ahead.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import BoolArray, FloatArray
from stb_gym.check.batches import Batch

Part = Callable[[Batch], Any]


def next_row(array: NDArray[Any], last: Any = 0) -> NDArray[Any]:
    """Return the entries of the next step; `last` after the last one."""
    return np.concatenate([array[1:], np.broadcast_to(np.asarray(last, array.dtype), array.shape[1:])[None]])


def previous_row(array: NDArray[Any]) -> NDArray[Any]:
    """Return the entries of the step before; zeros before the first one."""
    return np.concatenate([np.zeros_like(array[:1]), array[:-1]])


def bootstrapped(batch: Batch) -> FloatArray:
    """Return the values of the next states, 0 where the turn ends."""
    return np.where(batch.terminated, 0, batch.next_value)


def goes_on(batch: Batch) -> BoolArray:
    """Return True where the turn goes on with the next step."""
    return ~np.asarray(batch.done, np.bool_)


def looked_ahead(errors: FloatArray, decay: Any) -> FloatArray:
    """Return the sums `s[t] = errors[t] + decay[t] * s[t + 1]`."""
    sums = errors.astype(np.float64)
    factor = decay * np.ones(sums.shape)
    reach = 1  # steps that the sums contain; it doubles
    while reach < len(sums):
        sums[:-reach] += factor[:-reach] * sums[reach:]
        factor[:-reach] *= factor[reach:]
        reach *= 2
    return sums


def estimate(
    batch: Batch, kind: str = "gae", bootstrap: Any = None, following: Any = None, ratios: Any = None, **changes: Any
) -> FloatArray:
    """Return what an estimator that looks ahead gives for a batch [T, B].

    Args:
        batch: the steps.
        kind: as `check.advantages` takes it.
        bootstrap: [T, B] the values of the next states; by default the right ones.
        following: [T, B] True where the turn goes on with the next step; by default where it does.
        ratios: the two ratios of V-trace, before the temporal difference and in the recursion; by default clipped at 1.
        changes: entries of the batch to use in place of its own.
    """
    batch = replace(batch, **changes)
    if bootstrap is None:
        bootstrap = bootstrapped(batch)
    if following is None:
        following = goes_on(batch)
    target = batch.reward + batch.discount * bootstrap
    if kind == "n-step":
        for _ in range(batch.num_steps - 1):
            after = np.where(following, next_row(target, bootstrap[-1]), bootstrap)
            target = batch.reward + batch.discount * after
        return np.asarray(target - batch.value)
    clipped = np.minimum(batch.ratio, 1) if "v-trace" in kind else 1.0
    rho, c = ratios or (clipped, clipped)
    sums = looked_ahead(rho * (target - batch.value), batch.discount * batch.lam * c * following)
    if kind == "v-trace-advantage":
        return np.asarray(rho * (target - batch.value + batch.discount * following * next_row(sums)))
    return sums if kind == "gae" else sums + batch.value


def wrong_advantages(batch: Batch, kind: str) -> dict[str, FloatArray]:
    """Return the answers of wrong versions of an estimator [T, B], by what is wrong."""
    of = partial(estimate, batch, kind)
    right = of()
    reward = batch.reward
    value = batch.value
    next_value = batch.next_value
    terminated = batch.terminated
    truncated = batch.truncated
    bootstrap = bootstrapped(batch)
    following = goes_on(batch)
    first_of_next = next_row(value, batch.last_value)  # where a turn ended or was cut: the value of a new turn
    length, width = reward.shape
    is_last = np.arange(length)[:, None] == length - 1
    is_cut = is_last & following
    reverse = batch.map(lambda array: array[::-1] if array.ndim == 2 else array)
    misread = batch.map(lambda array: array.reshape(width, length).T if array.ndim == 2 else array)
    whole = right.copy()
    for step in range(1, length):
        whole[step] = np.where(following[step - 1], whole[step - 1], whole[step])
    found = {
        "the sign is wrong": -right,
        "the value is not subtracted": right + value,
        "the value is subtracted twice, or from what is to be a return": right - value,
        "the answers are normalised: check them before that": (right - right.mean()) / (right.std() + 1e-8),
        "each step has the return of its whole turn": whole,
        "sums run forwards instead of backwards": estimate(reverse, kind, following=previous_row(following)[::-1])[
            ::-1
        ],
        "time and environments are exchanged by a reshape": estimate(misread, kind).T.reshape(length, width),
        "rewards are stored one step late": of(reward=previous_row(reward)),
        "rewards are read one step early": of(reward=next_row(reward)),
        "end flags are those of the next step": of(
            terminated=next_row(terminated, True), truncated=next_row(truncated)
        ),
        "end flags are those of the step before": of(
            terminated=previous_row(terminated), truncated=previous_row(truncated)
        ),
        "the discount is taken as 1": of(discount=1.0),
        "the discount is taken as 0.99": of(discount=0.99),
        "the discount is taken as 0.5": of(discount=0.5),
        "the discount is missing in the recursion": of(lam=batch.lam / batch.discount),
        "the discount is missing before the next value": of(bootstrap / batch.discount),
        "lambda is taken as 0: only the step itself is counted": of(lam=0.0),
        "lambda is taken as 1": of(lam=1.0),
        "the end flag removes the value of the state itself, too": of(value=value * ~terminated),
        "the value is subtracted from the reward of the step, not from the return": of(0 * value, lam=0.0),
        "truncation is treated as termination": of(np.where(batch.done, 0, next_value)),
        "a truncated turn bootstraps from the state before the cut": of(np.where(truncated, value, bootstrap)),
        "a turn that ends at the time limit bootstraps: truncated comes before terminated": of(
            np.where(truncated, next_value, bootstrap)
        ),
        "a truncated turn bootstraps from the first state of the next turn": of(np.where(terminated, 0, first_of_next)),
        "a turn that ended bootstraps from the value of its last state": of(next_value),
        "a turn that ended bootstraps from the first state of the next turn": of(
            np.where(truncated, next_value, first_of_next)
        ),
        "the value of the state before a last step is taken as 0": of(np.where(next_row(terminated), 0, bootstrap)),
        "the end of the data is treated as the end of a turn": of(np.where(is_cut, 0, bootstrap)),
        "the value after the last step is taken as 0": of(np.where(is_last, 0, bootstrap)),
        "the last step bootstraps from its own state": of(np.where(is_cut, value, bootstrap)),
        "sums go on over the ends of turns": of(following=True),
        "sums go on over a truncation into the next turn": of(following=~terminated),
        "a truncation is ignored: the next turn's value and sum follow": of(
            np.where(terminated, 0, first_of_next), ~terminated
        ),
        "rewards and values are exchanged": of(reward=value, value=reward),
        "rewards are clipped to -1 and 1": of(reward=np.clip(reward, -1, 1)),
        "rewards are replaced by their signs": of(reward=np.sign(reward)),
        "the reward of the step that ends a turn is left out": of(reward=reward * ~terminated),
        "terminated and truncated are exchanged": of(terminated=truncated, truncated=terminated),
        "done and terminated are exchanged: one stops the sum, and the other one the bootstrap": of(
            np.where(batch.done, 0, next_value), ~terminated
        ),
    }
    if batch.lam < 1:
        found["the discount and lambda are exchanged"] = of(discount=batch.lam, lam=batch.discount)
    if kind == "n-step":
        rewards = of(0 * reward)
        size = of(0 * reward, reward=np.ones_like(reward), value=0.0, discount=1.0)  # steps in each window
        found |= {
            "windows are one step too short": of(num_steps=batch.num_steps - 1),
            "windows are one step too long": of(num_steps=batch.num_steps + 1),
            "the answer is that of another step, n - 1 steps later": np.roll(right, 1 - batch.num_steps, axis=0),
            "the value after the window is discounted once, not n times": (
                rewards + (right - rewards) * batch.discount ** (1 - size)
            ),
            "the value after the window is discounted n times where the window is shorter": (
                rewards + (right - rewards) * batch.discount ** (batch.num_steps - size)
            ),
        }
    if "v-trace" in kind:
        ratio = batch.ratio
        clipped = np.minimum(ratio, 1)
        found |= {
            "ratios are ignored": of(ratio=1.0),
            "ratios are upside down": of(ratio=1 / ratio),
            "ratios are not clipped": of(ratios=(ratio, ratio)),
            "the ratio is missing in the recursion": of(ratios=(clipped, 1.0)),
            "the ratio is missing before the temporal difference": of(ratios=(1.0, clipped)),
        }
    return found


def wrong_returns(batch: Batch) -> dict[str, FloatArray]:
    """Return wrong versions of the sum of rewards [T, B], by what is wrong."""
    zero = 0 * batch.reward
    wrong = wrong_advantages(replace(batch, value=zero, next_value=zero, last_value=zero[0]), "gae")
    return {name: answers for name, answers in wrong.items() if "value" not in name}


# Targets of Q-learning


def value_of_best(batch: Batch, select: str = "next_q", evaluate: str = "next_q", masked: bool = True) -> FloatArray:
    """Return the value of each next state: one table of values selects the action, another one evaluates it."""
    scores = np.where(batch.next_mask | (not masked), getattr(batch, select), -np.inf)
    return np.asarray(np.take_along_axis(getattr(batch, evaluate), scores.argmax(axis=-1)[..., None], axis=-1)[..., 0])


def second_best(batch: Batch) -> FloatArray:
    """Return the second greatest value of each next state, or the greatest one where one action is legal."""
    scores = np.sort(np.where(batch.next_mask, batch.next_q, -np.inf), axis=-1)
    return np.where(np.isfinite(scores[..., -2]), scores[..., -2], scores[..., -1])


NEXT_VALUES: dict[str, Part] = {
    "the next value is the greatest one": value_of_best,
    "the next value is that of the action which the other network selects": partial(
        value_of_best, select="next_q_online"
    ),
    "the next value is the mean over the policy": lambda batch: (batch.next_policy * batch.next_q).sum(axis=-1),
    "the next value is the greatest one over illegal actions, too": partial(value_of_best, masked=False),
    "the next value is the greatest one of the network that selects": partial(
        value_of_best, select="next_q_online", evaluate="next_q_online"
    ),
    "values of illegal actions are multiplied by 0, which may be the greatest": lambda batch: (
        batch.next_q * batch.next_mask
    ).max(axis=-1),
    "the networks that select and evaluate are exchanged": partial(value_of_best, evaluate="next_q_online"),
    "the network that selects sees illegal actions, too": partial(value_of_best, select="next_q_online", masked=False),
    "the next value is the mean over legal actions": lambda batch: batch.next_q.mean(axis=-1, where=batch.next_mask),
    "the next value is the mean over all actions": lambda batch: batch.next_q.mean(axis=-1),
    "the next value is the second greatest one": second_best,
    "the next value is the least one": lambda batch: -value_of_best(replace(batch, next_q=-batch.next_q)),
    "the next value is missing": lambda batch: 0 * batch.reward,
}
RIGHT_VALUES = {
    "double": "the next value is that of the action which the other network selects",
    "expected": "the next value is the mean over the policy",
}


def right_value(batch: Batch, kind: str) -> FloatArray:
    """Return the values of next states [T, B] that the targets of a kind of Q-learning use."""
    return np.asarray(NEXT_VALUES[RIGHT_VALUES.get(kind, "the next value is the greatest one")](batch))


def targets(batch: Batch, next_value: FloatArray) -> FloatArray:
    """Return the targets [T, B] that follow from values of next states [T, B]."""
    return estimate(batch, "n-step", value=0.0, next_value=next_value)


def target_distributions(batch: Batch) -> FloatArray:
    """Return [T, B, N] targets that are distributions: quantiles, or probabilities of a support of integers."""
    best = np.where(batch.next_mask, batch.next_q, -np.inf).argmax(axis=-1)[..., None, None]
    chosen = np.moveaxis(np.take_along_axis(batch.next_distribution, best, axis=-2)[..., 0, :], -1, 0)
    if batch.support is None:
        return np.stack([targets(batch, quantile) for quantile in chosen], axis=-1)

    def projected(target: FloatArray, probability: Any) -> FloatArray:
        """Share the probability of targets [T, B] between their neighbours on the support."""
        distance = abs(target.clip(batch.support[0], batch.support[-1])[..., None] - batch.support)
        return np.asarray(probability[..., None] * (1 - distance).clip(0))

    at_next = replace(batch, reward=0 * batch.reward, discount=1.0)  # what is looked up in the next state
    reached = [targets(at_next, probability) for probability in chosen]
    moved = [targets(batch, np.full(batch.reward.shape, value)) for value in batch.support]
    ended = projected(targets(batch, 0 * batch.reward), 1 - sum(reached))
    return ended + sum(projected(*pair) for pair in zip(moved, reached, strict=True) if pair[1].any())


def wrong_targets(batch: Batch, kind: str) -> dict[str, FloatArray]:
    """Return wrong targets of a kind of Q-learning [T, B], by what is wrong."""
    right = right_value(batch, kind)
    values = {name: rule(batch) for name, rule in NEXT_VALUES.items()}
    by_value = {name: targets(batch, value) for name, value in values.items() if not np.array_equal(value, right)}
    zero = 0 * batch.reward
    wrong = wrong_advantages(replace(batch, value=zero, next_value=right, last_value=zero[0]), "n-step")
    return by_value | {name: answers for name, answers in wrong.items() if "the value is" not in name}
