"""Wrong updates, by what is wrong with them: they only give a failed check of an update its words.

Losses are written here as textbooks have them, over N transitions. The truth of the check does not come from them.
"""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Batch
from stb_gym.check.faults import estimate, next_row, wrong_advantages, wrong_targets
from stb_gym.check.learners import Transitions, UpdateTask
from stb_gym.messages import shortened

CLIP = 0.2  # of the ratio of probabilities in proximal policy optimisation


@dataclass(frozen=True)
class Movement:
    """How one update moved the parameters, and how it should have.

    Attributes:
        names: the name of each parameter.
        owner: [K] the index of the parameter to which each of the K numbers belongs.
        moved: [K] the difference that the update made.
        parts: for each part of the loss, [K] the movement if its factor is 1; first the policy's, then the critic's.
        factors: the right factor of each part.
        tolerance: the greatest relative error of a right update.
        rounding: how far numbers in single precision may move all parameters together.
    """

    names: tuple[str, ...]
    owner: NDArray[np.int64]
    moved: FloatArray
    parts: dict[str, FloatArray]
    factors: dict[str, float]
    tolerance: float
    rounding: float

    @property
    def exact(self) -> FloatArray:
        """[K] how the parameters should have moved."""
        return np.asarray(sum(self.factors[part] * movement for part, movement in self.parts.items()))

    @property
    def error(self) -> float:
        """The difference from the right movement, relative to its length."""
        return float(np.linalg.norm(self.moved - self.exact) / np.linalg.norm(self.exact))

    @property
    def ratio(self) -> float:
        """The length of the movement in the right direction, relative to the right one."""
        return float(self.moved @ self.exact / (self.exact @ self.exact))

    @property
    def where(self) -> str:
        """The parameter that is most wrong, in words."""
        worst = int(np.bincount(self.owner, (self.moved - self.exact) ** 2).argmax())
        moved, exact = (movement[self.owner == worst] for movement in (self.moved, self.exact))
        return f"{self.names[worst]} moved by {np.linalg.norm(moved):.4g}, exactly {np.linalg.norm(exact):.4g}"

    def explanations(self, wrong: dict[str, FloatArray]) -> list[str]:
        """Return what is wrong, in words, given the movement [K] that each of some faults causes."""
        if not np.isfinite(self.moved).all():
            return ["parameters became infinite or NaN: look for logarithms of 0, and for masks of -inf times 0"]
        if not self.moved.any():
            return ["no parameter moved: the optimiser holds other parameters, or takes no step"]
        if cosine(self.moved, np.sign(self.exact)) > 0.95:
            return ["all numbers moved equally far, as by Adam or RMSprop: let the optimiser be plain SGD"]
        forgotten = self._has(self.exact) & ~self._has(self.moved)
        if forgotten.any():
            return [f"the optimiser does not hold {shortened(', '.join(np.array(self.names)[forgotten]))}"]
        known = [words for words, movement in wrong.items() if self._is_like(movement)]
        if known:
            return known
        if self._is_like(self.ratio * self.exact):
            step = f"the step is {self.ratio:.4g} times as long as it should be, in the right direction"
            return [f"{step}: look at the learning rate, its schedule, and divisions by a number of steps"]
        by_factors = self._by_factors()
        if by_factors:
            return by_factors
        along = cosine(self.moved, self.exact)
        if along > 0.5 and self.ratio < 1:
            return [f"only a part of the data is used, or some losses are wrong (cosine {along:.3f})"]
        return [f"the direction is wrong (cosine {along:.3f}): check the advantages and the losses alone"]

    def _is_like(self, candidate: FloatArray) -> bool:
        """Return whether the parameters moved like this."""
        allowed = self.tolerance * np.linalg.norm(self.moved) + self.rounding
        return bool(np.linalg.norm(self.moved - candidate) <= allowed)

    def _has(self, movement: FloatArray) -> NDArray[np.bool_]:
        """Return which parameters a movement has."""
        return np.bincount(self.owner, abs(movement), len(self.names)) > 0

    def _by_factors(self) -> list[str]:
        """Return the parts of the loss whose factors explain the movement, if they are other ones."""
        policy, value, *_ = (self._has(movement) for movement in self.parts.values())
        shared = (policy & value)[self.owner]
        places: dict[str, Any] = {"": 1.0, " in the layers that the policy and the critic share": shared}
        for place, here in places.items():
            columns = np.stack([movement * here for movement in self.parts.values()], axis=1)
            changes = np.linalg.lstsq(columns, self.moved - self.exact, rcond=None)[0]
            if self._is_like(self.exact + columns @ changes):
                return [
                    f"{part}{place} {_change(self.factors[part] + change, self.factors[part])}"
                    for part, change in zip(self.parts, changes.tolist(), strict=True)
                    if abs(change) > 0.01 * max(self.factors[part], 0.02)
                ]
        return []


def _change(factor: float, right: float) -> str:
    """Return in words how a factor differs from the right one."""
    if abs(factor + right) < 0.02 * right:
        return "has the wrong sign"
    if abs(factor) < 0.02 * right:
        return "is missing"
    return f"has the factor {factor:.4g} instead of {right:.4g}"


def cosine(left: FloatArray, right: FloatArray) -> float:
    """Return the cosine between two vectors; 0 if one is zero."""
    length = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / length if length > 0 else 0.0


def policy_faults(task: UpdateTask, transitions: Transitions, logits: Any, value: Any) -> dict[str, Any]:
    """Return wrong losses of a policy, by what is wrong.

    Args:
        task: the factors of the losses.
        transitions: the data.
        logits: [N, A] the scores of all actions, with gradients.
        value: [N] the critic's values, with gradients.
    """
    torch = import_module("torch")
    rows = np.arange(len(logits))
    action = transitions.action
    illegal = torch.as_tensor(~transitions.mask)
    old_value = torch.as_tensor(transitions.value)
    batch = _batch(transitions, task.lam)
    right = _column(estimate(batch))
    target = right + old_value
    unmasked = logits.log_softmax(dim=1)
    masked = logits.masked_fill(illegal, -1e9).log_softmax(dim=1)
    twice = masked.exp().masked_fill(illegal, -1e9).log_softmax(dim=1)
    taken = masked[rows, action]
    taken_unmasked = unmasked[rows, action]
    ratio = (taken_unmasked - taken.detach()).exp()
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)

    def loss(taken: Any = taken, advantage: Any = right, error: Any = value - target, log_probs: Any = masked) -> Any:
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
        return (task.value_coefficient * error**2 - advantage * taken - task.entropy_coefficient * entropy).mean()

    missing = "masks are missing in the update, where log-probabilities are computed again"
    graph = "advantages are not detached: the policy loss reaches the critic"
    wrong = {
        missing: loss(ratio.where(right * ratio < right * clipped, clipped), log_probs=unmasked),
        f"{missing} (and in the old ones, too)": loss(taken_unmasked, log_probs=unmasked),
        "masks are missing in the entropy": loss(log_probs=unmasked),
        graph: loss(advantage=target - value),
        f"{graph} (in a ratio)": loss((taken - taken.detach()).exp(), target - value),
        "the policy loss is missing, or advantages [N, 1] are multiplied with log-probabilities [N]": loss(
            advantage=right.mean()
        ),
        "the critic learns the advantages, not the returns": loss(error=value - right),
        "values and returns are subtracted by broadcasting [N, 1] and [N]": loss(error=value - target.mean()),
        "probabilities stand in the place of log-probabilities": loss(taken.exp()),
        "probabilities are passed where logits are expected": loss(twice[rows, action], log_probs=twice),
        "log-probabilities are those of the action before": loss(masked[rows, np.roll(action, 1)]),
        "advantages are normalised: switch that off for this check": loss(
            advantage=(right - right.mean()) / right.std(correction=0)
        ),
    }
    for name, answers in wrong_advantages(batch, "gae").items():
        advantage = _column(answers)
        wrong[f"advantages: {name}"] = loss(advantage=advantage, error=value - advantage - old_value)
    return wrong


def q_faults(transitions: Transitions, scores: Any, online: Any, target: Any, double: bool) -> dict[str, Any]:
    """Return wrong losses of action values, by what is wrong.

    Args:
        transitions: the data.
        scores: [N, A] action values, with gradients.
        online: [N, A] those of the next states, with gradients.
        target: [N, A] those of the next states by the target network.
        double: whether the network that is trained selects the next action.
    """
    mask = transitions.next_mask[:, None]
    batch = replace(
        _batch(transitions),
        next_q=target.detach().numpy()[:, None],
        next_q_online=online.detach().numpy()[:, None],
        next_mask=mask,
        next_policy=mask / mask.sum(axis=2, keepdims=True),
    )
    rows = np.arange(len(mask))
    selects = np.where(mask, batch.next_q_online if double else batch.next_q, -np.inf)[:, 0].argmax(axis=1)

    def loss(target: Any, action: Any = transitions.action) -> Any:
        return 0.5 * ((scores[rows, action] - target) ** 2).mean()

    def one_step(next_scores: Any) -> Any:
        return _column(batch.reward) + _column(batch.discount * ~batch.terminated) * next_scores[rows, selects]

    wrong = {
        "targets keep their gradient": loss(one_step(online)),
        "action values are those of the action before": loss(one_step(target).detach(), np.roll(transitions.action, 1)),
    }
    for name, answers in wrong_targets(batch, "double" if double else "greedy").items():
        wrong[name] = loss(_column(answers))
    return wrong


def _batch(transitions: Transitions, lam: float = 1.0) -> Batch:
    """Return the transitions as one stream [N, 1]."""
    reward, terminated, value = (getattr(transitions, name)[:, None] for name in ("reward", "terminated", "value"))
    return Batch(
        reward,
        terminated,
        np.zeros_like(terminated),
        UpdateTask.discount,
        value,
        next_row(value),
        np.zeros(1),
        lam,
        ratio=1.0,
    )


def _column(array: Any) -> Any:
    """Return [N, 1] numbers as a tensor [N]."""
    return import_module("torch").as_tensor(np.array(array, np.float64)[:, 0])
