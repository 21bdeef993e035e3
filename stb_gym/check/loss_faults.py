"""Textbook losses of steps, right and wrong, by what is wrong with them.

The wrong ones only give a failed check its words: if the code under test has the derivatives of one of these, the
report says so. A loss has parts, such as that of the policy and the entropy bonus. Each part maps the inputs [C, K] of
C steps to C numbers, each of which depends on the inputs of its own step alone. Inputs are logits and, last, the
critic's value [C, A + 1], or action values and those of the next states [C, 2 A].
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Batch
from stb_gym.check.faults import next_row, right_value, targets, wrong_targets
from stb_gym.check.loss_batches import LossBatch

LOWS, HIGHS = (0.0, 0.6, 0.8, 0.9, 0.97), (1.03, 1.1, 1.2, 1.3, 2.0, 4.0)  # bounds between the ratios of the check
RANGE = "ratios are clipped, but not to 1 - batch.clip and 1 + batch.clip"
STEP = 1e-6  # of central differences, in temperatures: their errors are below 1e-8
POLICY, ENTROPY, VALUE = "the policy loss", "the entropy bonus", "the value loss"
Loss = Callable[[FloatArray, LossBatch], Any]
Change = Callable[[LossBatch], Any]
Parts = dict[str, Loss]
Faults = list[tuple[str, Parts]]  # what is wrong, and the parts in which it is


@np.errstate(all="ignore")
def derivatives(loss: Loss, inputs: FloatArray, batch: LossBatch) -> FloatArray:
    """Return [C, K] the derivatives of the losses of steps by their inputs, as central differences."""
    step = STEP * batch.temperature
    shifts = step * np.eye(inputs.shape[1])
    columns = [(loss(inputs + shift, batch) - loss(inputs - shift, batch)) / (2 * step) for shift in shifts]
    return np.nan_to_num(np.stack(columns, axis=1), posinf=0, neginf=0)


def closest(found: FloatArray, parts: Iterable[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Return the factors with which the sum of some parts comes closest to an array, and this sum.

    The factor of the first part is made positive.
    """
    arrays = np.stack([*parts])
    columns = arrays.reshape(len(arrays), -1)
    finite = np.nan_to_num(found.ravel(), posinf=0, neginf=0)
    factors = np.asarray(np.linalg.lstsq(columns @ columns.T, columns @ finite, rcond=None)[0])
    factors[0] = abs(factors[0]) or 1.0
    return factors, np.asarray(np.tensordot(factors, arrays, axes=1))


def distance(found: FloatArray, parts: Iterable[FloatArray]) -> float:
    """Return the length of the difference from the closest sum of some parts."""
    return float(np.linalg.norm(found - closest(found, parts)[1]))


def explanations(
    found: FloatArray,
    right: dict[str, FloatArray],
    wrong: Faults,
    slopes: Callable[[Loss], FloatArray],
    tolerance: float,
) -> list[str]:
    """Return the faults that explain an array: it is a sum of the right parts, some of them replaced by the fault.

    Args:
        found: the derivatives of the code under test.
        right: the right parts by name.
        wrong: the faults.
        slopes: returns the derivatives of a part.
        tolerance: the greatest length of a difference, relative to that of the array.
    """
    allowed = min(tolerance * float(np.linalg.norm(found)), distance(found, right.values()) / 10)
    if distance(-found, right.values()) < allowed:
        return ["the sign is wrong"]

    def explains(changed: Parts) -> bool:
        parts = right | {part: slopes(loss) for part, loss in changed.items()}
        return distance(found, parts.values()) < allowed

    return [*dict.fromkeys(name for name, changed in wrong if explains(changed))]


# What a loss reads wrongly in its batch: a field, and what it reads instead


def standardised(batch: LossBatch) -> Any:
    """Return the advantages, normalised over the steps."""
    existing = batch.advantage[batch.step_mask]
    return (batch.advantage - existing.mean()) / existing.std()


CHANGES: dict[str, tuple[str, Change]] = {
    "each turn is averaged over its own steps, and then the means are averaged": (
        "step_mask",
        lambda batch: batch.step_mask / np.bincount(batch.turn, batch.step_mask)[batch.turn],
    ),
    "the step mask is inverted": ("step_mask", lambda batch: ~batch.step_mask),
    "the step mask is missing: padding counts as steps": ("step_mask", lambda batch: np.ones_like(batch.step_mask)),
    "the step mask is that of the next step: the last step of each turn is left out": (
        "step_mask",
        lambda batch: next_row(batch.step_mask) * (next_row(batch.turn, -1) == batch.turn),
    ),
    "advantages are passed as the mask": ("step_mask", lambda batch: batch.advantage / batch.advantage.sum()),
    "each value is regressed on all targets: shapes are broadcast": (
        "returns",
        lambda batch: batch.returns[batch.step_mask].mean(),
    ),
    "illegal actions are not masked in the update": ("mask", lambda batch: True),
    "ratios or values are not clipped": ("clip", lambda batch: np.inf),
    "the second clip of dual clip is missing": ("dual_clip", lambda batch: np.inf),
    "the second clip of dual clip is on": ("dual_clip", lambda batch: LossBatch.dual_clip),
    "the bound of dual clip is smaller than batch.dual_clip": ("dual_clip", lambda batch: 2.0),
    "the bound of dual clip is greater than batch.dual_clip": ("dual_clip", lambda batch: 4.0),
    "the temperature is missing": ("temperature", lambda batch: 1.0),
    "the actions are those of the next step": ("action", lambda batch: np.roll(batch.action, -1)),
}


RANGES: dict[str, tuple[str, Change]] = {
    "the clip range is smaller than batch.clip": ("clip", lambda batch: 0.1),
    "the clip range is greater than batch.clip": ("clip", lambda batch: 0.3),
}


def faults_of(right: Parts, changes: dict[str, tuple[str, Change]] = CHANGES) -> Faults:
    """Return the faults of reading the batch wrongly, in all parts of a loss or in one."""

    def changed(loss: Loss, field: str, change: Change) -> Loss:
        return lambda inputs, batch: loss(inputs, replace(batch, **{field: change(batch)}))

    faults: Faults = []
    for name, change in changes.items():
        parts = {part: changed(loss, *change) for part, loss in right.items()}
        faults.append((name, parts))
        faults += [(f"{part}: {name}" if part == ENTROPY else name, {part: loss}) for part, loss in parts.items()]
    return faults


# The objective of a step, by the ratio of the probabilities of its action


def log_probability(ratio: FloatArray, batch: LossBatch) -> Any:
    """Return the objective of A2C."""
    return (np.log(ratio) + batch.old_log_prob) * batch.advantage


def clip(ratio: FloatArray, batch: LossBatch) -> FloatArray:
    """Return ratios in the clip range."""
    return np.clip(ratio, 1 - batch.clip, 1 + batch.clip)


def clipped(ratio: FloatArray, batch: LossBatch) -> Any:
    """Return the clipped objective, with a bound on the ratio where advantages are negative."""
    return clipped_to(1 - batch.clip, 1 + batch.clip)(ratio, batch)


def clipped_to(low: float, high: float) -> Loss:
    """Return the clipped objective with other bounds."""

    def objective(ratio: FloatArray, batch: LossBatch) -> Any:
        smaller = np.minimum(ratio * batch.advantage, np.clip(ratio, low, high) * batch.advantage)
        return np.where(batch.advantage < 0, np.maximum(smaller, batch.dual_clip * batch.advantage), smaller)

    return objective


OBJECTIVES: dict[str, Loss] = {"ppo": clipped, "a2c": log_probability}
WRONG_OBJECTIVES: dict[str, Loss] = {
    "the second clip of dual clip acts on positive advantages, too": lambda ratio, batch: np.maximum(
        clipped(ratio, batch), batch.dual_clip * batch.advantage
    ),
    "the ratio is squared": lambda ratio, batch: clipped(ratio**2, batch),
    "the ratio is upside down": lambda ratio, batch: clipped(1 / ratio, batch),
    "the larger of the two terms is taken, not the smaller one: the sign is inside the minimum": lambda ratio, batch: (
        np.maximum(ratio * batch.advantage, clip(ratio, batch) * batch.advantage)
    ),
    "the minimum of the two ratios is taken before the advantage multiplies it": lambda ratio, batch: (
        np.minimum(ratio, clip(ratio, batch)) * batch.advantage
    ),
    "ratios are clipped on both sides, whatever the sign of the advantage": lambda ratio, batch: (
        clip(ratio, batch) * batch.advantage
    ),
    "advantages are normalised between the two terms of the minimum": lambda ratio, batch: np.minimum(
        ratio * batch.advantage, clip(ratio, batch) * standardised(batch)
    ),
}


# Losses of a policy


def log_policy(inputs: FloatArray, batch: LossBatch) -> FloatArray:
    """Return [C, A] the log-probabilities of actions; minus infinity where they are illegal."""
    logits = np.where(batch.mask, inputs[:, :-1] / batch.temperature, -np.inf)
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def taken(table: FloatArray, action: Any) -> FloatArray:
    """Return the entries [C] of a table [C, A] at some actions."""
    return table[np.arange(len(table)), action]


def policy_loss(objective: Loss, scores: Loss = log_policy) -> Loss:
    """Return the loss with an objective; `scores` returns [C, A] log-probabilities, or what stands in their place."""

    def loss(inputs: FloatArray, batch: LossBatch) -> Any:
        ratio = np.exp(taken(scores(inputs, batch), batch.action) - batch.old_log_prob)
        return batch.step_mask * -objective(ratio, batch)

    return loss


def entropy_loss(inputs: FloatArray, batch: LossBatch) -> Any:
    """Return minus the entropy."""
    log = log_policy(inputs, batch)
    share = np.exp(log)
    return batch.step_mask * (share * np.where(share > 0, log, 0)).sum(axis=1)


def entropy_of_taken(ratio: FloatArray, batch: LossBatch) -> Any:
    """Return the term of the action taken in the entropy, as an objective."""
    return -(ratio * np.exp(batch.old_log_prob)) * (np.log(ratio) + batch.old_log_prob)


def losses_of_policy(kind: str) -> tuple[Parts, Faults]:
    """Return the parts of a loss of a policy with an entropy bonus, and its faults."""
    objective = OBJECTIVES.get(kind, clipped)

    def softmax_twice(loss: Loss) -> Loss:
        return lambda inputs, batch: loss(np.column_stack([np.exp(log_policy(inputs, batch)), inputs[:, -1]]), batch)

    right = {POLICY: policy_loss(objective), ENTROPY: entropy_loss}
    return right, [
        *faults_of(right),
        *((f"the loss is that of kind {name}", {POLICY: policy_loss(other)}) for name, other in OBJECTIVES.items()),
        *((name, {POLICY: policy_loss(wrong)}) for name, wrong in WRONG_OBJECTIVES.items()),
        *((RANGE, {POLICY: policy_loss(clipped_to(*bounds))}) for bounds in product(LOWS, HIGHS) if kind != "a2c"),
        (
            "logits are taken for log-probabilities: log_softmax is missing",
            {POLICY: policy_loss(objective, lambda inputs, batch: inputs[:, :-1] / batch.temperature)},
        ),
        (f"{ENTROPY}: only the action taken counts, as -p log p", {ENTROPY: policy_loss(entropy_of_taken)}),
        (
            "softmax is applied twice: probabilities are taken for logits",
            {part: softmax_twice(loss) for part, loss in right.items()},
        ),
    ]


# Losses of the critic's value, whose target is `batch.returns`


def square(inputs: FloatArray, batch: LossBatch) -> Any:
    """Return the squared error."""
    return batch.step_mask * (inputs[:, -1] - batch.returns) ** 2


def clamped_square(inputs: FloatArray, batch: LossBatch) -> Any:
    """Return the squared error of the value that is clipped to a range around the old one."""
    near = batch.old_value + np.clip(inputs[:, -1] - batch.old_value, -batch.clip, batch.clip)
    return square(near[:, None], batch)


def clipped_square(inputs: FloatArray, batch: LossBatch) -> Any:
    """Return the greater of the errors of the value and of the clipped value."""
    return np.maximum(square(inputs, batch), clamped_square(inputs, batch))


ERRORS: dict[str, Loss] = {"plain": square, "clipped": clipped_square, "clamped": clamped_square}


def losses_of_values(kind: str, now: FloatArray) -> tuple[Parts, Faults]:
    """Return a loss of values, and its faults, given the values themselves [C, 1]."""
    right = {VALUE: ERRORS[kind]}
    wrong: dict[str, Loss] = {f"the loss is that of kind {name}": error for name, error in ERRORS.items()}
    wrong["the clipped value has no gradient, even within the range"] = lambda inputs, batch: np.maximum(
        square(inputs, batch), clamped_square(now, batch)
    )
    return right, [*faults_of(right, CHANGES | RANGES), *((name, {VALUE: error}) for name, error in wrong.items())]


# Losses of action values, whose target is `batch.returns`


def td_loss(inputs: FloatArray, batch: LossBatch) -> Any:
    """Return half of the squared error of the value of the action."""
    q, _ = np.split(inputs, 2, axis=1)
    return batch.step_mask * (taken(q, batch.action) - batch.returns) ** 2 / 2


def losses_of_action_values(kind: str, stream: Batch, q: FloatArray, action: Any) -> tuple[Parts, Faults, FloatArray]:
    """Return a loss of action values, its faults, and the right targets [C].

    Args:
        kind: "greedy" or "double".
        stream: the steps [C, 1].
        q: [C, A] action values.
        action: [C] the actions taken.
    """

    def with_target(answer: FloatArray) -> Loss:
        return lambda inputs, batch: td_loss(inputs, replace(batch, returns=answer))

    def on_targets(count: Any, total: FloatArray) -> Loss:
        """Return a loss that regresses each value on `count` targets, whose sum is `total`."""
        columns = slice(q.shape[1])
        return lambda inputs, batch: (count * inputs[:, columns] ** 2 / 2 - total * inputs[:, columns]).sum(axis=1)

    answer = targets(stream, right_value(stream, kind))[:, 0]
    is_taken = np.eye(q.shape[1])[action]
    of_current = taken(stream.next_q[:, 0], q.argmax(axis=1))[:, None]
    others = wrong_targets(stream, kind)
    others["the next action is the greatest one of the current state"] = targets(stream, of_current)
    wrong = {name: with_target(other[:, 0]) for name, other in others.items()} | {
        "values of actions that were not taken are pulled to 0": on_targets(1, is_taken * answer[:, None]),
        "each step moves the values of the actions of all steps: wrong indices": on_targets(
            is_taken.sum(axis=0), answer @ is_taken
        ),
    }
    right: Parts = {VALUE: td_loss}
    return right, faults_of(right) + [(name, {VALUE: loss}) for name, loss in wrong.items()], answer
