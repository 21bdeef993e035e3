"""Losses of steps, right and wrong, by what is wrong with them.

The wrong ones only give a failed check its words: if the loss under test has the derivatives of one of these, the
report says so. A fault changes one part of a right loss: the batch that it reads, the log-probabilities, the objective,
or the error of a value. Each loss returns the losses of C steps; these depend on the inputs of their own step alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.check.faults import next_row
from stb_gym.check.loss_batches import LossBatch

STEP = 1e-6  # of central differences: their errors are below 1e-8
Loss = Callable[[FloatArray, LossBatch], Any]
Objective = Callable[[FloatArray, LossBatch], Any]  # from the ratios [C]
Change = Callable[[LossBatch], LossBatch]


def derivatives(loss: Loss, inputs: FloatArray, batch: LossBatch) -> FloatArray:
    """Return the derivatives of the losses of steps by their inputs [C] or [C, A], as central differences."""
    shifts = STEP * (np.ones(1) if inputs.ndim == 1 else np.eye(inputs.shape[1]))
    columns = [(loss(inputs + shift, batch) - loss(inputs - shift, batch)) / (2 * STEP) for shift in shifts]
    return np.stack(columns, axis=-1).reshape(inputs.shape)


def taken(table: FloatArray, batch: LossBatch) -> FloatArray:
    """Return the entries [C] of a table [C, A] at the actions of the batch."""
    return table[np.arange(len(table)), batch.action]


def standardised(batch: LossBatch) -> LossBatch:
    """Return the batch with its advantages normalised over the steps."""
    existing = batch.advantage[batch.step_mask]
    return replace(batch, advantage=(batch.advantage - existing.mean()) / existing.std())


# What a loss reads wrongly in its batch


def _turn_means(batch: LossBatch) -> LossBatch:
    lengths = np.bincount(batch.turn, batch.step_mask)
    return replace(batch, step_mask=batch.step_mask / lengths[batch.turn])


def _next_step_mask(batch: LossBatch) -> LossBatch:
    is_last = next_row(batch.turn, -1) != batch.turn
    return replace(batch, step_mask=next_row(batch.step_mask) & ~is_last)


STEP_MASKS: dict[str, Change] = {
    "the sign is wrong": lambda batch: replace(batch, step_mask=-1.0 * batch.step_mask),
    "each turn is averaged over its own steps, and then the means are averaged": _turn_means,
    "the step mask is inverted": lambda batch: replace(batch, step_mask=~batch.step_mask),
    "the step mask is missing: padding counts as steps": lambda batch: replace(batch, step_mask=np.True_),
    "the step mask is that of the next step: the last step of each turn is left out": _next_step_mask,
}
TARGETS: dict[str, Change] = STEP_MASKS | {
    "each value is regressed on all targets: shapes are broadcast": lambda batch: replace(
        batch, returns=batch.returns[batch.step_mask].mean()
    ),
}
MASKS: dict[str, Change] = STEP_MASKS | {
    "illegal actions are not masked in the update": lambda batch: replace(batch, mask=True),
    "the temperature is missing": lambda batch: replace(batch, temperature=1.0),
}
BATCHES: dict[str, Change] = MASKS | {
    "the log-probability is that of the action of the next step": lambda batch: replace(
        batch, action=np.roll(batch.action, -1)
    ),
    "advantages are passed as the mask": lambda batch: replace(
        batch, step_mask=batch.advantage / batch.advantage.sum()
    ),
}


def with_changes(right: Loss, changes: Mapping[str, Change]) -> dict[str, Loss]:
    """Return a right loss of changed batches, by the names of the changes."""

    def changed(change: Change) -> Loss:
        return lambda inputs, batch: right(inputs, change(batch))

    return {name: changed(change) for name, change in changes.items()}


# The objective of a step, by the ratio of the probabilities of its action


def log_probability(ratio: FloatArray, batch: LossBatch) -> Any:
    """Return the objective of A2C, up to a constant."""
    return np.log(ratio) * batch.advantage


def clip(ratio: FloatArray, batch: LossBatch) -> FloatArray:
    """Return ratios in the clip range."""
    return np.clip(ratio, 1 - batch.clip, 1 + batch.clip)


def ppo(ratio: FloatArray, batch: LossBatch) -> Any:
    """Return the clipped objective."""
    return np.minimum(ratio * batch.advantage, clip(ratio, batch) * batch.advantage)


def dual_clip(ratio: FloatArray, batch: LossBatch) -> Any:
    """Return the clipped objective with a bound on the ratio where advantages are negative."""
    return np.where(batch.advantage < 0, _dual_clip_everywhere(ratio, batch), ppo(ratio, batch))


def _dual_clip_everywhere(ratio: FloatArray, batch: LossBatch) -> Any:
    return np.maximum(ppo(ratio, batch), batch.dual_clip * batch.advantage)


OBJECTIVES: dict[str, Objective] = {"ppo": ppo, "dual-clip": dual_clip, "a2c": log_probability}
WRONG_OBJECTIVES: dict[str, Objective] = {
    "ratios are not clipped": lambda ratio, batch: ratio * batch.advantage,
    "ratios are clipped on one side, as in PPO, and no more": ppo,
    "the second clip of dual clip is on": dual_clip,
    "the second clip of dual clip acts on positive advantages, too": _dual_clip_everywhere,
    "ratios are ignored": log_probability,
    "the ratio is upside down": lambda ratio, batch: ppo(1 / ratio, batch),
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
        ratio * batch.advantage, clip(ratio, batch) * standardised(batch).advantage
    ),
    "the advantage multiplies the probability, not its logarithm": lambda ratio, batch: (
        ratio * np.exp(batch.old_log_prob) * batch.advantage
    ),
}


# Losses of a policy, by its logits


def log_softmax(logits: FloatArray, mask: Any) -> FloatArray:
    """Return [C, A] log-probabilities; minus infinity where the mask is False."""
    shifted = np.where(mask, logits - logits.max(axis=1, keepdims=True), -np.inf)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def log_policy(logits: FloatArray, batch: LossBatch) -> FloatArray:
    """Return [C, A] the log-probabilities of actions."""
    return log_softmax(logits / batch.temperature, batch.mask)


def policy_loss(objective: Objective, log_probs: Loss = log_policy) -> Loss:
    """Return the loss with an objective and log-probabilities."""

    def loss(logits: FloatArray, batch: LossBatch) -> Any:
        log_prob = taken(log_probs(logits, batch), batch)
        return batch.step_mask * -objective(np.exp(log_prob - batch.old_log_prob), batch)

    return loss


def faults_of_policy(objective: Objective) -> dict[str, Loss]:
    """Return wrong losses of a policy, given the right objective."""

    def of_probabilities(logits: FloatArray, batch: LossBatch) -> FloatArray:
        return log_softmax(np.exp(log_policy(logits, batch)), True)

    return (
        with_changes(policy_loss(objective), BATCHES)
        | {name: policy_loss(wrong) for name, wrong in WRONG_OBJECTIVES.items() if wrong is not objective}
        | {"softmax is applied twice: probabilities are taken for logits": policy_loss(objective, of_probabilities)}
    )


def entropy_loss(logits: FloatArray, batch: LossBatch) -> Any:
    """Return minus the entropy."""
    log = log_policy(logits, batch)
    share = np.exp(log)
    return batch.step_mask * (share * np.where(share > 0, log, 0)).sum(axis=1)


FAULTS_OF_ENTROPY: dict[str, Loss] = with_changes(entropy_loss, MASKS) | {
    "only the action taken counts, as -p log p": policy_loss(
        lambda ratio, batch: -(ratio * np.exp(batch.old_log_prob)) * (np.log(ratio) + batch.old_log_prob)
    ),
    "it is only the log-probability of the action taken": policy_loss(lambda ratio, batch: -np.log(ratio)),
}


# The error of a value, whose target is `batch.returns`


def square(values: FloatArray, batch: LossBatch) -> Any:
    """Return half of the squared error."""
    return (values - batch.returns) ** 2 / 2


def clamped_square(values: FloatArray, batch: LossBatch) -> Any:
    """Return half of the squared error of the value that is clipped to a range around the old one."""
    return square(batch.old_value + np.clip(values - batch.old_value, -batch.clip, batch.clip), batch)


def clipped_square(values: FloatArray, batch: LossBatch) -> Any:
    """Return the greater of the errors of the value and of the clipped value."""
    return np.maximum(square(values, batch), clamped_square(values, batch))


ERRORS: dict[str, Loss] = {"plain": square, "clipped": clipped_square, "clamped": clamped_square}


def value_loss(error: Loss) -> Loss:
    """Return the loss of values [C] with a kind of error."""
    return lambda values, batch: batch.step_mask * error(values, batch)


def faults_of_values(error: Loss, now: FloatArray) -> dict[str, Loss]:
    """Return wrong losses of values, given the right error and the values themselves."""
    wrong: dict[str, Loss] = {
        "values are not clipped": square,
        "values are clipped, with the greater of two errors": clipped_square,
        "values are clipped, and those beyond the range have no gradient": clamped_square,
        "the clipped value has no gradient, even within the range": lambda values, batch: np.maximum(
            square(values, batch), clamped_square(now, batch)
        ),
    }
    return with_changes(value_loss(error), TARGETS) | {
        name: value_loss(each) for name, each in wrong.items() if each is not error
    }


def td_loss(q: FloatArray, batch: LossBatch) -> Any:
    """Return the loss of action values [C, A]."""
    return batch.step_mask * square(taken(q, batch), batch)


def faults_of_action_values(targets: Mapping[str, Any]) -> dict[str, Loss]:
    """Return wrong losses of action values [C, A], given wrong targets [C]."""

    def with_target(target: Any) -> Change:
        return lambda batch: replace(batch, returns=target)

    changes = {name: with_target(target) for name, target in targets.items()} | TARGETS
    return with_changes(td_loss, changes) | {
        "values of actions that were not taken are pulled to 0": lambda q, batch: (
            (q - np.eye(q.shape[1])[batch.action] * batch.returns[:, None]) ** 2
        ).sum(axis=1),
        "each step moves the values of the actions of all steps: wrong indices": lambda q, batch: (
            (q[:, batch.action] - batch.returns) ** 2
        ).sum(axis=1),
    }
