"""Derivatives of losses, right and wrong, by what is wrong with them.

The wrong ones only give a failed check its words: if the loss under test has the derivatives of one of these, the
report says so. Losses are sums over C steps; of these, those without `step_mask` are padding.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from stb_gym.arrays import FloatArray
from stb_gym.check import faults
from stb_gym.check.batches import Batch
from stb_gym.check.faults import next_row, previous_row
from stb_gym.check.loss_batches import LossBatch

Gradient = Callable[[FloatArray, LossBatch], Any]
Named = list[tuple[str, Gradient]]
Rule = Callable[[FloatArray, Any, LossBatch], Any]


def lengths(batch: LossBatch) -> FloatArray:
    """Return [C] the number of steps of the turn of each step."""
    return np.bincount(batch.turn, batch.step_mask)[batch.turn]


def normalised(batch: LossBatch) -> LossBatch:
    """Return the batch with its advantages normalised over the steps."""
    existing = batch.advantage[batch.step_mask]
    return replace(batch, advantage=(batch.advantage - existing.mean()) / existing.std())


def _follows(batch: LossBatch) -> Any:
    """Return True where the next cell belongs to the same turn."""
    return next_row(batch.turn, -1) == batch.turn


WEIGHTS: list[tuple[str, Callable[[LossBatch], Any]]] = [
    (
        "each turn is averaged over its own steps, and then the means are averaged",
        lambda batch: batch.step_mask / lengths(batch),
    ),
    ("the step mask is inverted", lambda batch: ~batch.step_mask),
    ("the step mask is missing: padding counts as steps", lambda batch: np.ones(len(batch.turn))),
    (
        "the step mask is that of the next step: the last step of each turn is left out",
        lambda batch: next_row(batch.step_mask) & _follows(batch),
    ),
    (
        "the step mask is that of the step before: the first step of each turn is left out",
        lambda batch: previous_row(batch.step_mask & _follows(batch)),
    ),
    (
        "the first step of each turn is left out",
        lambda batch: batch.step_mask & previous_row(_follows(batch)),
    ),
    (
        "advantages are passed as the mask",
        lambda batch: 0 if batch.advantage is None else batch.advantage / batch.advantage.sum(),
    ),
]


# The objective of each step, differentiated by the log-probability of the action


def plain(ratio: FloatArray, advantage: Any, batch: LossBatch) -> Any:
    """Return the derivative of advantage x log-probability."""
    return advantage


def unclipped(ratio: FloatArray, advantage: Any, batch: LossBatch) -> Any:
    """Return the derivative of advantage x ratio."""
    return ratio * advantage


def clipped(ratio: FloatArray, advantage: Any, batch: LossBatch) -> Any:
    """Return the derivative of the clipped objective of PPO."""
    is_beyond = np.where(advantage > 0, ratio > 1 + batch.clip, ratio < 1 - batch.clip)
    return np.where(is_beyond, 0, ratio * advantage)


def dual_clipped(ratio: FloatArray, advantage: Any, batch: LossBatch) -> Any:
    """Return the derivative of the dual-clip objective of PPO."""
    return np.where((advantage < 0) & (ratio > batch.dual_clip), 0, clipped(ratio, advantage, batch))


OBJECTIVES: dict[str, Rule] = {"ppo": clipped, "dual-clip": dual_clipped, "importance": unclipped, "a2c": plain}


def _is_inside(ratio: FloatArray, batch: LossBatch) -> Any:
    return abs(ratio - 1) <= batch.clip


def _optimistic(ratio: FloatArray, advantage: Any, batch: LossBatch) -> Any:
    return np.where(np.where(advantage > 0, ratio < 1 - batch.clip, ratio > 1 + batch.clip), 0, ratio * advantage)


def _normalised_between(ratio: FloatArray, advantage: Any, batch: LossBatch) -> Any:
    scaled = normalised(batch).advantage
    first, second = ratio * advantage, np.clip(ratio, 1 - batch.clip, 1 + batch.clip) * scaled
    return np.where(first < second, first, np.where(_is_inside(ratio, batch), ratio * scaled, 0))


WRONG_OBJECTIVES: list[tuple[str, Rule]] = [
    ("ratios are not clipped", unclipped),
    ("ratios are clipped on one side, as in PPO, and no more", clipped),
    ("ratios are ignored", plain),
    ("the ratio is upside down", lambda ratio, advantage, batch: -clipped(1 / ratio, advantage, batch)),
    ("the larger of the two terms is taken, not the smaller one: the sign is inside the minimum", _optimistic),
    (
        "the minimum of the two ratios is taken before the advantage multiplies it",
        lambda ratio, advantage, batch: np.where(ratio > 1 + batch.clip, 0, ratio * advantage),
    ),
    (
        "ratios are clipped on both sides, whatever the sign of the advantage",
        lambda ratio, advantage, batch: np.where(_is_inside(ratio, batch), ratio * advantage, 0),
    ),
    (
        "the second clip of dual clip acts on positive advantages, too",
        lambda ratio, advantage, batch: np.where(advantage > 0, 0, dual_clipped(ratio, advantage, batch)),
    ),
    ("the second clip of dual clip is on", dual_clipped),
    ("advantages are normalised between the two terms of the minimum", _normalised_between),
    (
        "the advantage multiplies the probability, not its logarithm",
        lambda ratio, advantage, batch: advantage * ratio * np.exp(batch.old_log_prob),
    ),
]


def softmax(logits: FloatArray, mask: Any = True) -> FloatArray:
    """Return [C, A] the probabilities of actions; 0 where the mask is False."""
    shifted = np.where(mask, logits - np.where(mask, logits, -np.inf).max(axis=1, keepdims=True), -np.inf)
    return np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)


def policy(logits: FloatArray, batch: LossBatch) -> FloatArray:
    """Return [C, A] the probabilities of actions."""
    return softmax(logits / batch.temperature, batch.mask)


def one_hot(action: Any, num_actions: int) -> FloatArray:
    """Return [C, A] ones at the actions."""
    return np.eye(num_actions)[action]


def policy_gradient(
    logits: FloatArray,
    batch: LossBatch,
    objective: Rule,
    share: FloatArray | None = None,
    action: Any = None,
    weight: Any = None,
) -> FloatArray:
    """Return [C, A] the derivatives of a policy loss by the logits.

    Args:
        logits: [C, A].
        batch: the steps.
        objective: the derivative of the objective by the log-probability of the action.
        share: [C, A] the probabilities of actions; by default those of the logits.
        action: [C] by default that of the batch.
        weight: [C] by default the step mask.
    """
    share = policy(logits, batch) if share is None else share
    taken = one_hot(batch.action if action is None else action, logits.shape[1])
    ratio = np.maximum((share * taken).sum(axis=1), 1e-30) / np.exp(batch.old_log_prob)
    gain = objective(ratio, batch.advantage, batch) * (batch.step_mask if weight is None else weight)
    return -gain[:, None] * (taken - share) / batch.temperature


def _softmax_twice(logits: FloatArray, batch: LossBatch, objective: Rule, masked: tuple[bool, bool]) -> FloatArray:
    """Return the derivatives if probabilities are taken for logits; either softmax may have the mask."""
    first, second = (batch.mask | (not each) for each in masked)
    inner = softmax(logits / batch.temperature, first)
    outer = policy_gradient(inner, batch, objective, softmax(inner, second))
    return inner * (outer - (inner * outer).sum(axis=1, keepdims=True))


CHANGES: list[tuple[str, Callable[[FloatArray, LossBatch], dict[str, Any]]]] = [
    (
        "the sign is wrong: the loss falls as the policy gets worse",
        lambda logits, batch: {"weight": -1.0 * batch.step_mask},
    ),
    (
        "illegal actions are not masked in the update",
        lambda logits, batch: {"share": softmax(logits / batch.temperature)},
    ),
    (
        "masks are those of the next step",
        lambda logits, batch: {"share": softmax(logits / batch.temperature, np.roll(batch.mask, -1, axis=0))},
    ),
    ("the temperature is missing", lambda logits, batch: {"share": softmax(logits, batch.mask)}),
    (
        "the temperature and the masks are missing",
        lambda logits, batch: {"share": softmax(logits, batch.mask | (batch.temperature != 1))},
    ),
    (
        "the log-probability is that of the likeliest action",
        lambda logits, batch: {"action": policy(logits, batch).argmax(axis=1)},
    ),
    (
        "the log-probability is that of the action of the next step",
        lambda logits, batch: {"action": np.roll(batch.action, -1)},
    ),
    (
        "the log-probability is that of the action of the step before",
        lambda logits, batch: {"action": np.roll(batch.action, 1)},
    ),
    *((name, lambda logits, batch, weight=weight: {"weight": weight(batch)}) for name, weight in WEIGHTS),
    *((name, lambda logits, batch, wrong=wrong: {"objective": wrong}) for name, wrong in WRONG_OBJECTIVES),
]


def of_policy(objective: Rule) -> Named:
    """Return wrong derivatives of a policy loss, given the right objective."""
    own = [name for name, wrong in WRONG_OBJECTIVES if wrong is objective]
    twice = "probabilities are taken for logits: softmax is applied twice"
    return [
        *(
            (
                name,
                lambda logits, batch, change=change: policy_gradient(
                    logits, batch, **({"objective": objective} | change(logits, batch))
                ),
            )
            for name, change in CHANGES
            if name not in own
        ),
        *(
            (twice, lambda logits, batch, masked=masked: _softmax_twice(logits, batch, objective, masked))
            for masked in ((True, True), (True, False), (False, True))
        ),
    ]


def entropy_gradient(share: FloatArray, batch: LossBatch, weight: Any = None) -> FloatArray:
    """Return [C, A] the derivatives of minus the entropy of probabilities [C, A] by the logits."""
    log = np.log(np.where(share > 0, share, 1))
    entropy = -(share * log).sum(axis=1, keepdims=True)
    return share * (log + entropy) / batch.temperature * np.c_[batch.step_mask if weight is None else weight]


ENTROPY: Named = [
    ("the sign of the entropy bonus is wrong", lambda logits, batch: -entropy_gradient(policy(logits, batch), batch)),
    (
        "the entropy bonus counts only the action taken, -p log p",
        lambda logits, batch: policy_gradient(logits, batch, lambda ratio, *_: _of_taken(ratio, batch)),
    ),
    (
        "the entropy bonus is only the log-probability of the action taken",
        lambda logits, batch: policy_gradient(logits, batch, lambda ratio, *_: -np.ones(len(ratio))),
    ),
    (
        "the entropy bonus counts illegal actions",
        lambda logits, batch: entropy_gradient(softmax(logits / batch.temperature), batch),
    ),
    (
        "the temperature is missing in the entropy bonus",
        lambda logits, batch: entropy_gradient(softmax(logits, batch.mask), batch),
    ),
    *(
        (
            f"in the entropy bonus, {name}",
            lambda logits, batch, weight=weight: entropy_gradient(policy(logits, batch), batch, weight(batch)),
        )
        for name, weight in WEIGHTS
    ),
]


def _of_taken(ratio: FloatArray, batch: LossBatch) -> FloatArray:
    """Return the derivative of -p log p by log p, for the probability p of the action taken."""
    log = np.log(ratio) + batch.old_log_prob
    return -np.exp(log) * (log + 1)


# Losses of values: the derivative of each step by its value, for a loss of half of the squared error


def square(values: FloatArray, target: Any, batch: LossBatch) -> Any:
    """Return the derivative of half of the squared error."""
    return values - target


def _clip_wins(values: FloatArray, target: Any, batch: LossBatch) -> Any:
    """Return True where the error of the clipped value is greater."""
    near = batch.old_value + np.clip(values - batch.old_value, -batch.clip, batch.clip)
    return abs(near - target) > abs(values - target)


def clipped_square(values: FloatArray, target: Any, batch: LossBatch) -> Any:
    """Return the derivative of the greater of two squared errors: of the value, and of the clipped value."""
    return np.where(_clip_wins(values, target, batch), 0, values - target)


def clamped_square(values: FloatArray, target: Any, batch: LossBatch) -> Any:
    """Return the derivative of the squared error of the clipped value."""
    return np.where(abs(values - batch.old_value) > batch.clip, 0, values - target)


def _dead(share: float) -> Rule:
    """Return the derivative if the clipped value has no gradient, given its share of the derivative of a tie."""

    def derivative(values: FloatArray, target: Any, batch: LossBatch) -> Any:
        is_inside = abs(values - batch.old_value) <= batch.clip
        factor = np.where(is_inside, 1 - share, ~_clip_wins(values, target, batch))
        return factor * (values - target)

    return derivative


VALUE_RULES: dict[str, Rule] = {"plain": square, "clipped": clipped_square, "clamped": clamped_square}
WRONG_VALUE_RULES: list[tuple[str, Rule]] = [
    ("values are not clipped", square),
    ("values are clipped, with the greater of two errors", clipped_square),
    ("values are clipped, and those beyond the range have no gradient", clamped_square),
    ("the clipped value has no gradient, even within the range", _dead(0.5)),
    ("the clipped value has no gradient, even within the range", _dead(1.0)),
    (
        "each value is regressed on all targets: shapes are broadcast",
        lambda values, target, batch: values - target[batch.step_mask].mean(),
    ),
]


def of_values(rule: Rule) -> Named:
    """Return wrong derivatives of a loss of values, given the right rule."""
    weights: list[tuple[str, Any]] = [
        ("the sign is wrong: values move away from their targets", lambda batch: -1.0 * batch.step_mask),
        *WEIGHTS,
    ]
    return [
        *(
            (name, lambda values, batch, wrong=wrong: wrong(values, batch.returns, batch) * batch.step_mask)
            for name, wrong in WRONG_VALUE_RULES
            if wrong is not rule
        ),
        *(
            (name, lambda values, batch, weight=weight: rule(values, batch.returns, batch) * weight(batch))
            for name, weight in weights
        ),
    ]


# Losses of action values


def of_action_values(kind: str, next_q: FloatArray, batch: LossBatch) -> Named:
    """Return wrong derivatives of half of the squared errors of action values.

    Args:
        kind: of `q_targets`: "greedy" or "double".
        next_q: [C, A] action values of the next states.
        batch: the steps.
    """
    arrays = {
        "reward": batch.reward,
        "terminated": batch.terminated,
        "truncated": np.zeros_like(batch.terminated),
        "next_q": next_q,
        "next_q_online": batch.next_q_online,
        "next_mask": batch.next_mask,
        "next_policy": batch.next_mask / batch.next_mask.sum(axis=1, keepdims=True),
    }
    steps = Batch(**{name: array[:, None] for name, array in arrays.items()}, discount=batch.discount)
    num_actions = next_q.shape[1]
    taken = one_hot(batch.action, num_actions)

    def target(rule: Callable[[Batch], Any]) -> Any:
        """Return [C, 1] the targets for a rule for the next value."""
        return batch.reward[:, None] + batch.discount * ~steps.terminated * rule(steps)

    def of_current(q: FloatArray) -> Any:
        return lambda steps: (one_hot(q.argmax(axis=1), num_actions) * next_q).sum(axis=1, keepdims=True)

    right = faults.RIGHT_VALUES.get(kind, "the next value is the greatest one")
    y = target(faults.NEXT_VALUES[right])
    return [
        ("the sign is wrong: values move away from their targets", lambda q, batch: taken * (y - q)),
        ("values of actions that were not taken are pulled to 0", lambda q, batch: q - taken * y),
        (
            "each step moves the values of the actions of all steps: wrong indices",
            lambda q, batch: q * taken.sum(axis=0) - y[:, 0] @ taken,
        ),
        (
            "each value is regressed on all targets: shapes are broadcast",
            lambda q, batch: taken * (q - y.mean()),
        ),
        (
            "the greatest value moves, not that of the action taken",
            lambda q, batch: one_hot(q.argmax(axis=1), num_actions) * (q - y),
        ),
        (
            "values of illegal next actions are taken as 0",
            lambda q, batch: (
                taken * (q - target(lambda steps: np.where(steps.next_mask, steps.next_q, 0).max(axis=-1)))
            ),
        ),
        (
            "the next action is the greatest one of the current state",
            lambda q, batch: taken * (q - target(of_current(q))),
        ),
        *(
            (name, lambda q, batch, wrong=wrong: taken * (q - wrong(steps)))
            for name, wrong in faults.faults_of_targets(kind).items()
        ),
    ]
