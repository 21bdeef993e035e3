"""Check the gradient of a batch of sampled turns against the exact policy gradient.

What depends on its batch has no mean that can be enumerated: normalised advantages, groups as in RLOO and GRPO,
baselines of each move. So many batches are sampled, and the noise of their mean is taken out.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.check import estimators
from stb_gym.check.batches import called
from stb_gym.check.results import WIDTH, Case, CheckResult
from stb_gym.check.sampled_turns import Turns, TurnSampler
from stb_gym.checks import check_integer
from stb_gym.measure import RegretMeter, policy_gradient
from stb_gym.measure.policy_gradients import flat_gradient, probability_gradient
from stb_gym.measure.tensors import is_module
from stb_gym.messages import in_lines

CONFIDENCE = 0.99
ROUNDING = 1e-6  # share of a squared length that single precision may lose
COSINES = np.linspace(-1, 1, 20_001)
WANTED = 0.9  # cosine of a batch
SIZES = np.append(np.geomspace(1, 1e12, 2**15 + 1), np.inf)  # turns in a batch
LEAST_KNOWN = 0.8  # a check that cannot exclude a smaller cosine is undecided
REPEATED = 8  # batches that are asked for a second time
ALIKE = 1e-6  # 1 - cosine of a gradient and the wrong formula that it follows
SIGN = "the sign is wrong: return minus the gradient of a loss"
UNKNOWN = (
    "a baseline or a divisor depends on the action",
    "padding has a weight",
    "the gradient is that of another policy, or of more than the policy",
)


@dataclass(frozen=True)
class Direction:
    """The mean of the gradients of many batches against the exact gradient.

    Attributes:
        cosine: the cosine between both; NaN if the noise hides the length of the mean.
        interval: a confidence interval of the cosine.
        length: the length of the mean, divided by that of the exact gradient; NaN if the noise hides it.
        batch_cosine: the mean cosine between the gradient of one batch and the exact one.
        turns_needed: the turns of a batch whose gradient has a cosine of 0.9 on average; infinite if none has.
    """

    cosine: float
    interval: tuple[float, float]
    length: float
    batch_cosine: float
    turns_needed: float


def direction(
    gradients: FloatArray,
    exact: FloatArray,
    turns: int,
    confidence: float = CONFIDENCE,
    unbiased: FloatArray | None = None,
) -> Direction:
    """Compare the mean of independent gradients with the exact gradient.

    The gradients of unbiased estimators for the same turns share most of the noise, and their mean is known: a multiple
    of their difference from it is subtracted (control variates; Lavenberg and Welch, 1981).

    Products of different batches, which have no noise in common, estimate two squares: that of the length of the mean,
    and that of its part along the exact gradient. The interval has all cosines c for which part**2 - c**2 length**2 may
    be 0 (Fieller, "Some problems in interval estimation", 1954). The variance of this difference is the greater of two
    estimates, because each alone is too small at times: that of the jackknife (Efron and Stein, "The jackknife estimate
    of variance", 1981), and that which it would have if c were the cosine.

    Args:
        gradients: [K, P] the gradients of K batches, at least 3.
        exact: [P] the exact gradient, not 0.
        turns: the turns of a batch.
        confidence: the probability that the interval contains the cosine.
        unbiased: [J, K, P] gradients of J unbiased estimators for the same turns, whose mean is `exact`.
    """
    size = float(np.linalg.norm(exact))
    unit = exact / size
    controlled = gradients if unbiased is None else _controlled(gradients, unbiased - exact)
    part, length, interval = _squares_and_interval(controlled, unit, confidence)
    batch_cosine = float(np.mean([_cosine(each, exact) for each in gradients]))
    if length <= 0:
        return Direction(np.nan, interval, np.nan, batch_cosine, np.inf)
    mean = controlled.mean(axis=0)
    cosine = float(np.clip(mean @ unit / np.sqrt(length), -1, 1))
    needed = _turns_needed(turns, gradients - gradients.mean(axis=0), mean, max(length, part), unit)
    return Direction(cosine, interval, float(np.sqrt(length) / size), batch_cosine, needed)


def _controlled(gradients: FloatArray, noise: FloatArray) -> FloatArray:
    """Subtract from gradients [K, P] what they share with noise [J, K, P], whose mean is 0."""
    deviations = gradients - gradients.mean(axis=0)
    others = (noise - noise.mean(axis=1, keepdims=True)).reshape(len(noise), -1)
    shares = np.linalg.lstsq(others @ others.T, others @ deviations.ravel())[0]
    return gradients - np.tensordot(shares, noise, 1)


def _squares_and_interval(
    vectors: FloatArray, unit: FloatArray, confidence: float
) -> tuple[float, float, tuple[float, float]]:
    """Return squares of the mean of vectors [K, P], of its part along a unit vector and of its length, and an interval.

    The interval is that of the cosine between both, as `direction` explains it.
    """
    count = len(vectors)
    num_pairs = count * (count - 1)
    of_different = 1 - np.eye(count)
    along = vectors @ unit
    sign = -1.0 if along.mean() < 0 else 1.0

    def products(vectors: FloatArray) -> FloatArray:
        """Return [2, K, K] products of the parts along the unit vector (with the sign), and of whole vectors."""
        parts = vectors @ unit
        return np.stack([sign * np.outer(parts, parts), vectors @ vectors.T])

    # The squares, from pairs of different vectors, and their covariance by the jackknife
    of_vectors = (products(vectors) * of_different).sum(axis=2)
    sums = of_vectors.sum(axis=1)
    part, length = sums / num_pairs
    without_one = (sums[:, None] - 2 * of_vectors) / ((count - 1) * (count - 2))
    jackknife = np.cov(without_one) * (count - 1) ** 2 / count

    # What a cosine implies: products of the mean with noise, and of the noise of one vector with that of another
    noise = products(vectors - vectors.mean(axis=0))
    greatest = np.linalg.eigvalsh(noise[1])[-1] / (count - 1)
    noise *= of_different
    of_pairs = np.einsum("iab,jab->ij", noise, noise) * 2 / num_pairs / count**2
    greatest_length = max(length, 0) + np.sqrt(of_pairs[1, 1])

    # The cosines for which part - cosine**2 length may be 0
    square = COSINES**2
    contrast = np.stack([np.ones(len(COSINES)), -COSINES * abs(COSINES)])
    by_jackknife, by_model = np.einsum("ac,nab,bc->nc", contrast, np.stack([jackknife, of_pairs]), contrast)
    by_model += 4 * greatest * greatest_length * square * (1 - square) / count
    normal = NormalDist().inv_cdf((1 + confidence) / 2)
    quantile = normal + (normal**3 + normal) / (4 * (count - 1))  # nearly that of Student's distribution
    allowed = quantile * np.sqrt(np.maximum(by_jackknife, by_model)) + ROUNDING * abs(length)
    excess = abs(np.array([part, length]) @ contrast) - allowed
    if abs(along.mean()) < quantile * along.std(ddof=1) / np.sqrt(count):  # the sign is not known
        excess = np.minimum(excess, excess[::-1])
    possible = COSINES[excess <= max(excess.min(), 0)]
    return float(part), float(length), (float(possible[0]), float(possible[-1]))


def _turns_needed(turns: int, noise: FloatArray, mean: FloatArray, square: float, unit: FloatArray) -> float:
    """Return the turns of a batch whose gradient has a cosine of `WANTED` on average; infinite if none has.

    Args:
        turns: the turns of each batch that was sampled.
        noise: [K, P] the noise of their gradients.
        mean: [P] the mean gradient.
        square: the square of its length.
        unit: [P] the direction of the exact gradient.
    """
    count = len(noise)
    noise_along, noise_to_mean, noise_square = noise @ unit, noise @ mean, np.square(noise).sum(axis=1)

    def cosine_of(size: float) -> float:
        """Return the mean cosine of batches of another size, whose noise is that of these, scaled."""
        scale = np.sqrt(turns / size * count / (count - 1))
        along = mean @ unit + scale * noise_along
        squares = square + 2 * scale * noise_to_mean + scale**2 * noise_square
        return float((along / np.sqrt(np.maximum(squares, along**2) + 1e-300)).mean())

    return float(SIZES[bisect_left(SIZES, WANTED, hi=len(SIZES) - 1, key=cosine_of)])


@dataclass(frozen=True, repr=False, kw_only=True)
class GradientResult(CheckResult):
    """What a check of a gradient found; see `CheckResult`.

    Attributes:
        direction: the numbers.
        turns: the turns of a batch.
        batches: the number of batches.
    """

    direction: Direction
    turns: int
    batches: int

    @property
    def sentence(self) -> str:
        """The numbers in words."""
        found = self.direction
        low, high = found.interval
        if np.isnan(found.cosine):
            mean = "cannot be told from noise"
        else:
            mean = f"has a cosine of {found.cosine:.4f} with the exact gradient, and {found.length:.3g} of its length"
        verdict = (
            "the direction is biased" if high < 1 else "no bias is found" if self.passed else "this decides nothing"
        )
        needed = "no number of turns" if np.isinf(found.turns_needed) else f"{found.turns_needed:,.0f} turns"
        return (
            f"The mean of {self.batches} batches of {self.turns} turns {mean}. The {CONFIDENCE:.0%} interval of "
            f"the cosine is {low:.4f} to {high:.4f}: {verdict}. One batch has a cosine of {found.batch_cosine:.3f} on "
            f"average; {needed} in a batch would have {WANTED:g}."
        )

    def summary(self) -> dict[str, Any]:
        """Return the result by name, ready for JSON."""
        numbers = asdict(self.direction) | {"turns": self.turns, "batches": self.batches}
        # JSON has no NaN and no infinity.
        known = {name: value if np.isfinite(value).all() else None for name, value in numbers.items()}
        return super().summary() | known

    def _lines(self) -> Iterator[str]:
        yield from super()._lines()
        yield from in_lines(self.sentence, WIDTH)


@checked
def gradient(
    meter: RegretMeter,
    agent: Any,
    gradient_of_a_batch: Callable[[Turns], Any],
    *,
    turns: int = 512,
    batches: int = 50,
    group_size: int = 1,
    seed: int = 0,
    masked: bool | None = None,
) -> GradientResult:
    """Check that the mean gradient of batches of sampled turns points along the exact policy gradient.

    The check samples the turns by the exact probabilities of the game and of the agent, and gives each batch to your
    function. Most of the noise is taken out of the mean: unbiased estimators, whose mean is known, see the same turns.
    It fails if the interval of the cosine between the mean and the exact gradient excludes 1: then more turns
    do not help. It also fails if the noise is so great that the interval includes cosines below 0.8, or if some of the
    batches have another gradient when they come in another order.

    Args:
        meter: the meter of the agent's environment, for a game with tables.
        agent: a torch module that returns scores, a model of stable-baselines3 with an actor-critic policy, or a
            function of observations and masks that returns probabilities: a tabular policy.
        gradient_of_a_batch: takes `Turns`, and returns the direction in which the parameters of the policy would move:
            minus the gradient of a loss. For a network, a list with a tensor or None for each of its parameters, or one
            vector; for a tabular policy, a number for the logit of each pair of the tables, see `Turns.pair`. Leave out
            the gradients of a value loss and of an entropy bonus. A function that plays its own turns may use
            `turns.seed`.
        turns: the turns of a batch, a multiple of `group_size`.
        batches: the number of batches, at least 10.
        group_size: the number of turns of a group, which begin with the same throw.
        seed: of the throws and the actions.
        masked: see `RegretMeter`.

    Returns:
        The result, with the numbers in `direction` and in words in `sentence`.

    Raises:
        TypeError: as `meter` does, or if the function fails.
        ValueError: as `meter` does; if the function returns no gradient of the right size, adds to the gradient of
            its last call, or changes the agent; if the exact gradient is 0; or if an argument is not allowed.

    Example:
        >>> import numpy as np, stb_gym
        >>> from stb_gym import check
        >>> meter = stb_gym.RegretMeter(stb_gym.Threes())
        >>> tables = meter.solution.tables
        >>> def random_play(observations, masks):
        ...     return masks / masks.sum(axis=1, keepdims=True)
        >>> def reinforce(turns, share=1.0):
        ...     returns = turns.reward.sum(axis=1, keepdims=True)
        ...     weights = (returns - returns.mean()) * turns.valid * share
        ...     by_pair = np.bincount(turns.pair.ravel(), weights.ravel(), len(tables.pair_state))
        ...     return by_pair - tables.uniform * tables.at_pairs(tables.sum_at_states(by_pair))
        >>> check.gradient(meter, random_play, reinforce).passed
        True
        >>> def by_turn(turns):
        ...     return reinforce(turns, 1 / turns.length[:, None])
        >>> check.gradient(meter, random_play, by_turn).likely
        ('each turn is averaged over its own moves, so moves of short turns count more',)
    """
    check_integer("batches", batches, 10, 100_000)
    check_integer("group_size", group_size, 1, 10**6)
    check_integer("turns", turns, 2, 10**6)
    check_integer("seed", seed, 0, 2**63 - 1)
    if turns % group_size:
        raise ValueError(f"turns must be a multiple of group_size {group_size}, not {turns}")
    tested = _Policy(meter, agent, masked)
    size = len(tested.exact)
    if not tested.exact.any():
        raise ValueError("the exact gradient is 0: use a policy that is neither deterministic nor optimal")
    sampler = TurnSampler(tested.evaluation, tested.probabilities, meter.view)
    seeds = np.random.SeedSequence(seed).spawn(batches)
    gradients = np.empty((batches, size))
    unbiased = np.empty((len(estimators.RIGHT), batches, size))
    for number, each in enumerate(seeds):
        batch = sampler(turns, group_size, each)
        unbiased[:, number] = [tested.gradient(batch, estimator(batch) / turns) for estimator in estimators.RIGHT]
        gradients[number] = tested.ask(gradient_of_a_batch, batch)
    order = [0, *range(REPEATED - 1, 0, -1)]
    again = [tested.ask(gradient_of_a_batch, sampler(turns, group_size, seeds[number])) for number in order]
    same = [_cosine(*pair) >= 1 - ALIKE for pair in zip(again, gradients[order], strict=True)]
    differences = again[1] - again[0], gradients[REPEATED - 1] - gradients[REPEATED - 2]  # equal if it adds
    if not same[0] and _cosine(*differences) > 1 - ALIKE:
        raise ValueError("gradient_of_a_batch adds to the gradient of its last call: set the gradients to zero first")
    if not np.array_equal(meter.policy(agent, False, masked), tested.probabilities):
        raise ValueError("gradient_of_a_batch changed the agent: return the gradient, and make no step")
    found = direction(gradients, tested.exact, turns, unbiased=unbiased)
    low, high = found.interval
    cases = (
        Case(f"cosines that the mean of {batches} batches excludes", 1 - high),
        Case("cosines that noise leaves open", high - low, 1 - LEAST_KNOWN),
        # A function that draws numbers of its own changes all of them
        Case("batches whose gradient changes in another order of batches", float(same.count(False) % REPEATED)),
    )
    likely: tuple[str, ...] = ()
    remedy = ""
    if high < 1:
        fault = tested.fault(gradients[0], sampler(turns, group_size, seeds[0])) or (SIGN if high < -WANTED else "")
        likely = (fault,) if fault else UNKNOWN
        remedy = "more turns do not help: correct the weight of each move"
    elif not cases[2].passed:
        likely = ("the gradient of a batch depends on the batches before it: something is left over from them",)
        remedy = "compute the gradient of a batch twice, with another one in between, and compare what it read"
    elif low < LEAST_KNOWN:
        likely = ("too few turns to tell",)
        remedy = "use more turns or batches, or a policy with a greater gradient"
    return GradientResult("gradient", cases, likely, remedy, direction=found, turns=turns, batches=batches)


class _Policy:
    """A policy with parameters: those of a network, or the logits of the pairs of a table.

    Args:
        meter: as `gradient` takes it.
        agent: as `gradient` takes it.
        masked: as `gradient` takes it.
    """

    def __init__(self, meter: RegretMeter, agent: Any, masked: bool | None):
        self._meter = meter
        self._agent = agent
        self.evaluation = found = meter(agent, False, masked)
        self.probabilities = meter.policy(agent, False, masked)
        network = getattr(agent, "policy", agent) if hasattr(agent, "predict") else agent
        self._weights = list(network.parameters()) if is_module(network) else None
        if self._weights is not None:
            self.exact = policy_gradient(meter, agent, masked)
            return
        if self.probabilities.ndim == 1:
            raise ValueError("the agent returns actions: a gradient needs a function that returns probabilities")
        if found.illegal.any():
            raise ValueError("the agent must return probability 0 for illegal actions: its masks say which")
        self.exact = found.tables.at_pairs(found.visits) * found.weights * found.pair_advantage

    def gradient(self, turns: Turns, weights: FloatArray) -> FloatArray:
        """Return the gradient of the sum of weights [N, T] x the log-probabilities of the actions of turns."""
        policy = self.probabilities
        actions = np.ravel_multi_index((turns.state, turns.action), policy.shape)
        sums = np.bincount(actions.ravel(), (weights * turns.valid).ravel(), policy.size).reshape(policy.shape)
        if self._weights is None:
            by_logit = sums - policy * sums.sum(axis=1, keepdims=True)
            tables = self.evaluation.tables
            return by_logit[tables.pair_state, tables.pair_action]
        by_probability = np.divide(sums, policy, out=np.zeros(policy.shape), where=policy > 0)
        return probability_gradient(self._meter, self._agent, by_probability, bool(self.evaluation.masked))

    def ask(self, function: Callable[[Turns], Any], turns: Turns) -> FloatArray:
        """Return [P] the gradient that a function gives for a batch.

        Raises:
            TypeError: if the function fails.
            ValueError: if it does not return a gradient of this size.
        """
        answer = called(function, "gradient_of_a_batch", f"for turns with rewards {turns.reward.shape}", turns)
        wanted = f"gradient_of_a_batch must return {len(self.exact)} numbers"
        if answer is None:
            raise ValueError(f"{wanted}, not None")
        vector = np.array(answer, np.float64) if self._weights is None else flat_gradient(answer, self._weights)
        if vector.shape != self.exact.shape:
            raise ValueError(f"{wanted}, not shape {vector.shape}")
        if not np.isfinite(vector).all():
            raise ValueError("gradient_of_a_batch returned numbers that are infinite or not a number")
        return vector

    def fault(self, given: FloatArray, turns: Turns) -> str:
        """Return what is wrong in the formula that the gradient of a batch follows; "" if it is not known."""
        policies = {"": self}
        if self.evaluation.masked and self._weights is not None:
            unmasked = _Policy(self._meter, self._agent, masked=False)
            policies["log-probabilities in the update ignore the masks"] = unmasked
        kinds = product(policies.items(), estimators.SHARES.items(), estimators.ADVANTAGES)
        for (of_mask, policy), (of_share, share), (of_advantage, estimator) in kinds:
            cosine = _cosine(given, policy.gradient(turns, estimator(turns) * share(turns)))
            names = [SIGN if cosine < 0 else "", of_mask, of_share, of_advantage]
            if any(names) and abs(cosine) > 1 - ALIKE:
                return "; and ".join(filter(None, names))
        return ""


def _cosine(one: FloatArray, other: FloatArray) -> float:
    """Return the cosine between two vectors; 0 if one of them is 0."""
    norms = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / norms if norms else 0.0
