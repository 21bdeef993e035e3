"""Code to check: generalised advantages, and targets of Q-learning."""

import numpy as np


def gae(batch):
    """Return generalised advantages."""
    advantages, last = np.zeros(batch.reward.shape), 0.0
    next_value = np.where(batch.terminated, 0, batch.next_value)
    for t in reversed(range(len(advantages))):
        error = batch.reward[t] + batch.discount * next_value[t] - batch.value[t]
        last = error + batch.discount * batch.lam * ~batch.done[t] * last
        advantages[t] = last
    return advantages


def targets(batch):
    """Return targets of Q-learning, but over illegal actions, too."""
    best = batch.next_q.max(axis=-1)
    return batch.reward + batch.discount * np.where(batch.terminated, 0, best)
