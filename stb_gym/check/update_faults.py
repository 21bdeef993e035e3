"""Wrong updates, by what is wrong with them: they only give a failed check of an update its words.

Losses are written here as textbooks have them, over N transitions. The truth of the check does not come from them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arrays import FloatArray
from stb_gym.check.batches import Batch
from stb_gym.check.faults import (
    bootstrapped,
    faults_of_advantages,
    faults_of_targets,
    gae,
    goes_on,
)

Losses = dict[str, Callable[[], Any]]
ROUNDING = 1e-7  # of parameters in single precision
CLIP = 0.2  # of the ratio of probabilities in proximal policy optimisation
SHARED = " in the layers that the policy and the critic share"


@dataclass(frozen=True)
class Movement:
    """How one update moved the parameters, and how it should have.

    Attributes:
        names: the name of each parameter.
        owner: [K] the index of the parameter to which each of the K numbers belongs.
        before: [K] the numbers before the update.
        moved: [K] the difference that the update made.
        parts: for each part of the loss, [K] the movement if its factor is 1.
        factors: the right factor of each part.
        tolerance: the greatest relative error of a right update.
    """

    names: tuple[str, ...]
    owner: NDArray[np.int64]
    before: FloatArray
    moved: FloatArray
    parts: dict[str, FloatArray]
    factors: dict[str, float]
    tolerance: float

    @property
    def exact(self) -> FloatArray:
        """[K] how the parameters should have moved."""
        return np.asarray(sum(factor * self.parts[part] for part, factor in self.factors.items()))

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
        one, total = (
            f"by {np.linalg.norm(self.moved[at]):.4g}, exactly {np.linalg.norm(self.exact[at]):.4g}, "
            f"with a cosine of {cosine(self.moved[at], self.exact[at]):.5f}"
            for at in (self.owner == worst, slice(None))
        )
        return f"{self.names[worst]} moved {one}; all parameters together {total}"

    def is_like(self, candidate: FloatArray) -> bool:
        """Return whether the parameters moved like this."""
        allowed = self.tolerance * np.linalg.norm(self.moved) + ROUNDING * np.linalg.norm(self.before)
        return bool(np.linalg.norm(self.moved - candidate) <= allowed)

    def explanations(
        self, lengths: dict[str, float], wrong: Callable[[], Iterator[tuple[str, FloatArray]]]
    ) -> Iterator[str]:
        """Yield what is wrong, in words.

        Args:
            lengths: the relative length of the movement for some faults.
            wrong: yields other faults with the movement [K] that they cause.
        """
        if not np.isfinite(self.moved).all():
            yield "parameters became infinite or NaN: look for logarithms of 0, and for masks of -inf times 0"
            return
        if not self.moved.any():
            yield "no parameter moved: the optimiser holds other parameters, or takes no step"
            return
        has_moved, should_move = self._with(self.moved), self._with(self.exact)
        for these, words in (
            (should_move & ~has_moved, "the optimiser does not hold {}"),
            (has_moved & ~should_move, "parameters moved on which no loss depends: {}"),
        ):
            if these.any():
                listed = [self.names[number] for number in np.flatnonzero(these)]
                yield words.format(", ".join(listed[:4]) + f" and {len(listed) - 4} more" * (len(listed) > 4))
        kept = (has_moved == should_move)[self.owner]
        parts = {part: movement[kept] for part, movement in self.parts.items()}
        rest = replace(self, owner=self.owner[kept], before=self.before[kept], moved=self.moved[kept], parts=parts)
        if rest.error > self.tolerance:
            by_catalogue = (words for words, movement in wrong() if rest.is_like(movement[kept]))
            yield from rest._by_length(lengths) or [*by_catalogue] or rest._by_factors() or [rest._in_numbers()]

    def _with(self, movement: FloatArray) -> NDArray[np.bool_]:
        """Return which parameters a movement has."""
        return np.bincount(self.owner, abs(movement), len(self.names)) > 0

    def _by_length(self, lengths: dict[str, float]) -> list[str]:
        """Explain the movement by its length, or by an optimiser that makes all numbers move equally far."""
        if cosine(self.moved, np.sign(self.exact)) > 0.95:
            return ["all numbers moved equally far, as by Adam or RMSprop: let the optimiser be plain SGD"]
        if not self.is_like(self.ratio * self.exact):
            return []
        known = [words for words, length in lengths.items() if abs(self.ratio / length - 1) < 0.01]
        step = f"the step is {self.ratio:.4g} times as long as it should be, in the right direction"
        return known or [f"{step}: look at the learning rate, its schedule, and divisions by a number of steps"]

    def _by_factors(self) -> list[str]:
        """Explain the movement by other factors of the parts of the loss, or by weight decay."""
        depends = [self._with(movement) for movement in self.parts.values()]
        shared = np.all(depends[:2], axis=0)[self.owner]
        directions = {"weight decay": -self.before}
        for part, movement in self.parts.items():
            directions |= {part: np.where(shared, 0, movement), part + SHARED: np.where(shared, movement, 0)}
        directions = {name: movement for name, movement in directions.items() if movement.any()}
        columns = np.stack([*directions.values()], axis=1)
        solved = np.linalg.lstsq(columns, self.moved, rcond=None)[0]
        if not self.is_like(columns @ solved):
            return []
        words: dict[str, str] = {}
        for name, factor in zip(directions, solved.tolist(), strict=True):
            part = name.removesuffix(SHARED)
            right = self.factors.get(part, 0.0)
            if abs(factor - right) > 0.01 * max(right, 0.02):
                change = _change(factor, right)
                words[part if words.get(part) == change else name] = change
        if words.get("the policy loss") == "is missing":
            words["the policy loss"] += ", or advantages [N, 1] are multiplied with log-probabilities [N]"
        return [f"{name} {change}" for name, change in words.items()]

    def _in_numbers(self) -> str:
        along = cosine(self.moved, self.exact)
        if along > 0.5 and self.ratio < 1:
            return (
                f"only a part of the data is used, or some losses are wrong (cosine {along:.3f}, {self.ratio:.3f} long)"
            )
        return f"the direction is wrong (cosine {along:.3f}): check the advantages and the losses alone"


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


def policy_faults(batch: Batch, data: dict[str, Any], scores: Any, value: Any, factors: tuple[float, float]) -> Losses:
    """Return wrong losses of an actor-critic, by what is wrong.

    Args:
        batch: [N, 1] rewards, ends and values.
        data: `Transitions` as tensors, by name.
        scores: [N, A] logits, with gradients.
        value: [N] the critic's values, with gradients.
        factors: those of the value loss and of the entropy bonus.
    """
    right = _tensor(gae(batch, bootstrapped(batch), goes_on(batch)), scores)
    target = right + data["value"]
    legal = scores.masked_fill(~data["mask"], -1e9).log_softmax(dim=1)
    twice = legal.exp().masked_fill(~data["mask"], -1e9).log_softmax(dim=1)
    unmasked = scores.log_softmax(dim=1)
    turn = np.append(0, np.cumsum(batch.terminated[:-1, 0]))
    share = len(turn) / (turn.max() + 1) / np.bincount(turn)[turn]

    def of_action(log_probs: Any, shift: int = 0) -> Any:
        return log_probs.gather(1, data["action"][:, None].roll(shift, 0))[:, 0]

    def clipped(log_prob: Any) -> Any:
        ratio = (log_prob - data["log_prob"]).exp()
        inside = ratio.clamp(1 - CLIP, 1 + CLIP)
        return ratio.where(right * ratio < right * inside, inside)

    def loss(
        taken: Any = None, advantage: Any = right, square: Any = None, log_probs: Any = legal, weight: Any = 1.0
    ) -> Any:
        taken = of_action(legal) if taken is None else taken
        square = (value - target) ** 2 if square is None else square
        entropy = -(log_probs.exp() * log_probs).sum(dim=1)
        return (weight * (factors[0] * square - advantage * taken - factors[1] * entropy)).mean()

    def of_advantage(fault: Callable[[Batch], Any]) -> Any:
        wrong = _tensor(fault(batch), scores)
        return loss(advantage=wrong, square=(value - wrong - data["value"]) ** 2)

    missing = "masks are missing in the update, where log-probabilities are computed again"
    graph = "advantages are not detached: the policy loss reaches the critic"
    return {
        missing: lambda: loss(clipped(of_action(unmasked)), log_probs=unmasked),
        f"{missing}, but not in the entropy": lambda: loss(clipped(of_action(unmasked))),
        f"{missing} (and in the old ones, too)": lambda: loss(of_action(unmasked), log_probs=unmasked),
        "masks are missing in the entropy": lambda: loss(log_probs=unmasked),
        graph: lambda: loss(advantage=target - value),
        f"{graph} (in a ratio)": lambda: loss(
            (of_action(legal) - of_action(legal).detach()).exp(), advantage=target - value
        ),
        "the critic learns the advantages, not the returns": lambda: loss(square=(value - right) ** 2),
        "values and returns are subtracted by broadcasting [N, 1] and [N]": lambda: loss(
            square=value**2 - 2 * value * target.mean()
        ),
        "probabilities stand in the place of log-probabilities": lambda: loss(of_action(legal.exp())),
        "probabilities are passed where logits are expected": lambda: loss(of_action(twice), log_probs=twice),
        "log-probabilities are those of the action before": lambda: loss(of_action(legal, shift=1)),
        "each turn counts the same, whatever its number of steps": lambda: loss(weight=_tensor(share[:, None], scores)),
        "advantages are normalised: switch that off for this check": lambda: loss(
            advantage=(right - right.mean()) / right.std(correction=0)
        ),
        **{f"advantages: {name}": partial(of_advantage, fault) for name, fault in faults_of_advantages("gae").items()},
    }


def q_faults(batch: Batch, action: Any, scores: Any, next_scores: Any, double: bool) -> Losses:
    """Return wrong losses of action values, by what is wrong.

    Args:
        batch: [N, 1] rewards, ends, and [N, 1, A] action values of the next states.
        action: [N] the actions that were taken.
        scores: [N, A] action values, with gradients.
        next_scores: [N, A] those of the next states, by the network that is trained, with gradients.
        double: see `stb_gym.check.update`.
    """
    online = batch.next_q_online if double else batch.next_q
    chosen = np.where(batch.next_mask, online, -np.inf)[:, 0].argmax(axis=1)

    def loss(target: Any, shift: int = 0) -> Any:
        return 0.5 * ((scores.gather(1, action[:, None].roll(shift, 0))[:, 0] - target) ** 2).mean()

    def target(ahead: Any) -> Any:
        return _tensor(batch.reward, scores) + _tensor(batch.discount * ~batch.terminated, scores) * ahead

    evaluated = _tensor(np.take_along_axis(batch.next_q[:, 0], chosen[:, None], axis=1), scores)
    return {
        "targets keep their gradient": lambda: loss(target(next_scores[np.arange(len(chosen)), chosen])),
        "action values are those of the action before": lambda: loss(target(evaluated), shift=1),
        **{
            name: partial(lambda fault: loss(_tensor(fault(batch), scores)), fault)
            for name, fault in faults_of_targets("double" if double else "greedy").items()
        },
    }


def _tensor(array: Any, like: Any) -> Any:
    """Return [N, 1] numbers as a tensor [N]."""
    return import_module("torch").as_tensor(np.asarray(array)[:, 0].copy()).to(like)
