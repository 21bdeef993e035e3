"""Check advantages, returns and targets of Q-learning: their mean for every state and action is known exactly."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray
from stb_gym.check import faults
from stb_gym.check.batches import Batch, ask, name_of
from stb_gym.check.results import Case, CheckResult
from stb_gym.check.trajectories import Steps, random_process, streams, turns
from stb_gym.checks import check_choice, check_integer, check_number
from stb_gym.games import ShutTheBox

GAME = ShutTheBox(tiles=4, dice=1, faces=4)  # 158 turns; few enough throws to enumerate streams of several turns
LENGTH = 3  # steps of a stream
LIMIT = 2  # moves
WILD = 50.0  # numbers that no right code reads are this large
SPREAD = 3.0  # standard deviation of the errors of a wrong critic
TOLERANCE = 1e-5  # of the largest mean: more than the rounding of single precision, and less than faults change
REMEDY = "compute the step above by hand: its rewards, its end flags and the values that it uses"
NOT_FINITE = "answers are not finite: look for divisions by 0, and for 0 times infinity"
NO_DISTRIBUTION = "probabilities do not sum to 1"
HALF = "answers are nearly right and have half precision: compute them in single or double precision"
NEARLY = 0.01  # of the largest mean: rounding to half precision changes less
LAYOUTS = ("both", "T", "TB", "BT")
ADVANTAGES = ("gae", "lambda-return", "n-step", "v-trace", "v-trace-advantage")
TARGETS = ("greedy", "double", "expected", "categorical", "quantile")
CUTS = {  # the steps of a stream and the limit of a turn
    "whole turns": (None, None),
    "turns with a time limit": (None, LIMIT),
    "streams cut in the middle of a turn": (LENGTH, None),
    "streams with a time limit": (LENGTH, LIMIT),
}
ATOMS = np.arange(-30.0, 71.0)  # the support of categorical distributions
QUANTILES = 5
BEYOND = 30.0  # a factor of rewards with which targets leave the support
CLOSE = 1e-4  # tolerance of a probability or, relative to the greatest one, of a quantile
DISTRIBUTION_FAULTS = {
    "distributions": "the mean of the targets is right, and their distribution is not: look at how it is projected",
    "targets beyond the support": "targets beyond the support are not clipped to its ends",
}


@dataclass(frozen=True)
class Situation:
    """Steps, the batch that shows them, and the exact mean of the right answer.

    Attributes:
        name: the situation in words.
        steps: the steps.
        batch: what the code under test receives.
        exact: [longest + 1, P] the exact mean for each number of steps left and each pair.
    """

    name: str
    steps: Steps
    batch: Batch
    exact: FloatArray


@checked
def advantages(
    function: Callable[[Batch], Any],
    *,
    kind: str = "gae",
    lam: Iterable[float] = (0.0, 0.5, 0.95, 1.0),
    discount: Iterable[float] = (1.0, 0.9),
    num_steps: int = 3,
    layout: str = "both",
    truncation: bool = True,
) -> CheckResult:
    """Check an estimator of advantages, or of returns that bootstrap from a critic.

    The critic is wrong everywhere and moves have rewards, so that each part of the formula matters. All turns of a
    small game, with and without a time limit, and all streams of several steps are enumerated with their probabilities.
    The mean answer for each state and action is compared with the one that backups over the tables of the game give.

    Args:
        function: takes a `Batch` and returns numbers in the shape of `batch.reward`.
        kind: "gae", generalised advantage estimation (Schulman et al., "High-dimensional continuous control using
            generalized advantage estimation", 2016); "lambda-return", the same plus the value; "n-step", the advantage
            over `batch.num_steps` steps; "v-trace", the targets of Espeholt et al. ("IMPALA", 2018) with both ratios
            clipped at 1, or "v-trace-advantage", the advantage of their policy gradient.
        lam: the values of lambda to try; n-step advantages have none.
        discount: the discounts to try.
        num_steps: n of n-step advantages.
        layout: shapes to try: "T" streams one at a time, "TB" or "BT" many at a time, "both" for "T" and "TB".
        truncation: whether to try turns that a time limit cuts; if not, the report calls them skipped.

    Returns:
        The result; its errors are in the unit of rewards.

    Raises:
        TypeError: if the function fails, or returns no numbers.
        ValueError: if it returns another shape or changes its batch, or an argument is not allowed.

    Example:
        >>> import numpy as np
        >>> from stb_gym import check
        >>> def gae(batch):
        ...     advantage, last = np.zeros(batch.reward.shape), 0.0
        ...     next_value = np.where(batch.terminated, 0, batch.next_value)
        ...     delta = batch.reward + batch.discount * next_value - batch.value
        ...     for t in reversed(range(len(delta))):
        ...         last = delta[t] + batch.discount * batch.lam * ~batch.done[t] * last
        ...         advantage[t] = last
        ...     return advantage
        >>> result = check.advantages(gae)
        >>> result.passed, result.error < 1e-12
        (True, True)
    """
    check_choice("kind", kind, ADVANTAGES)
    check_integer("num_steps", num_steps, 1, 100)
    lams = (1.0,) if kind == "n-step" else tuple(lam)
    for each in lams:
        check_number("each lam", each, 0, 1)

    situations = (
        _with_critic(kind, name if kind == "n-step" else f"{name}, lambda {each:g}", steps, float(each), num_steps)
        for name, steps in _cut(discount, layout, truncation)
        for each in lams
    )
    return _judge("advantages", function, situations, partial(faults.wrong_advantages, kind=kind), layout, truncation)


@checked
def returns(
    function: Callable[[Batch], Any],
    *,
    discount: Iterable[float] = (1.0, 0.9),
    layout: str = "both",
    truncation: bool = True,
) -> CheckResult:
    """Check returns: the discounted sum of the rewards from each step to the end of its turn.

    Where a time limit or the end of a stream cuts a turn, the return is that of the steps before.

    Args:
        function: takes a `Batch` and returns numbers in the shape of `batch.reward`.
        discount: the discounts to try.
        layout: see `advantages`.
        truncation: see `advantages`.

    Returns:
        The result; its errors are in the unit of rewards.

    Raises:
        TypeError: as `advantages` does.
        ValueError: as `advantages` does.

    Example:
        >>> from stb_gym import check
        >>> def sums(batch):
        ...     return batch.reward[::-1].cumsum(axis=0)[::-1]
        >>> check.returns(sums, discount=[1.0]).likely
        ('sums go on over the ends of turns',)
    """
    situations = (
        Situation(name, steps, steps.batch(), steps.process.look_ahead(steps.process.reward, 1.0, steps.longest))
        for name, steps in _cut(discount, layout, truncation)
    )
    return _judge("returns", function, situations, faults.wrong_returns, layout, truncation)


@checked
def q_targets(
    function: Callable[[Batch], Any],
    *,
    kind: str = "greedy",
    discount: Iterable[float] = (1.0, 0.9),
    num_steps: int = 1,
    masked: bool = True,
    layout: str = "T",
    truncation: bool = True,
) -> CheckResult:
    """Check the targets of Q-learning and its relatives.

    Action values are random. Those of illegal actions, and of states after the end of a turn, are wild. The mean target
    of each state and action is compared with the Bellman backup over the tables of the game.

    Args:
        function: takes a `Batch` and returns targets in the shape of `batch.reward`.
        kind: "greedy", the greatest of `batch.next_q`; "double", the value in `batch.next_q` of the action with the
            greatest of `batch.next_q_online` (van Hasselt et al., "Deep reinforcement learning with double Q-learning",
            2016); "expected", the mean of `batch.next_q` over `batch.next_policy`; "categorical", the probabilities
            [..., N] of `batch.support` (Bellemare et al., "A distributional perspective on reinforcement learning",
            2017), or "quantile", N quantiles (Dabney et al., "Distributional reinforcement learning with quantile
            regression", 2018), for the action whose `batch.next_distribution` [..., A, N] has the greatest mean. Where
            the mean is right, whole distributions are compared with those of the textbook.
        discount: the discounts to try.
        num_steps: n of n-step targets, `batch.num_steps`, which follow the policy that played. The steps of a stream
            are in order.
        masked: whether only legal actions count; if not, values of illegal actions are like others.
        layout: see `advantages`.
        truncation: see `advantages`.

    Returns:
        The result; its errors are in the unit of rewards.

    Raises:
        TypeError: as `advantages` does.
        ValueError: as `advantages` does.

    Example:
        >>> import numpy as np
        >>> from stb_gym import check
        >>> def target(batch):
        ...     best = np.where(batch.next_mask, batch.next_q, -np.inf).max(axis=-1)
        ...     return batch.reward + batch.discount * np.where(batch.terminated, 0, best)
        >>> check.q_targets(target).passed
        True
        >>> def unmasked(batch):
        ...     return batch.reward + batch.discount * ~batch.terminated * batch.next_q.max(axis=-1)
        >>> check.q_targets(unmasked).likely
        ('the next value is the greatest one over illegal actions, too',)
    """
    check_choice("kind", kind, TARGETS)
    check_integer("num_steps", num_steps, 1, 100)

    situations = (
        with_action_values(kind, name, steps, num_steps, masked)
        for name, steps in _cut(discount, layout, truncation, in_streams=num_steps > 1 or layout != "T")
    )
    return _judge("q_targets", function, situations, partial(faults.wrong_targets, kind=kind), layout, truncation)


def _cut(
    discounts: Iterable[float], layout: str, truncation: bool, in_streams: bool = True
) -> Iterator[tuple[str, Steps]]:
    """Yield the steps of each situation, and what is special about it in words."""
    check_choice("layout", layout, LAYOUTS)
    for discount in discounts:
        check_number("each discount", discount, 0.01, 1)
        process = random_process(GAME, float(discount), seed=0)
        for name, (length, limit) in CUTS.items():
            if (in_streams or not length) and (truncation or not limit):
                steps = streams(process, length, limit) if length else turns(process, limit)
                yield f"{name}, discount {discount:g}", steps


def _wild(draws: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    return WILD + SPREAD * draws.normal(size=shape)


def _with_critic(kind: str, name: str, steps: Steps, lam: float, num_steps: int) -> Situation:
    """Return a situation with a wrong critic."""
    draws = np.random.default_rng(0)
    process = steps.process
    tables = process.tables
    critic = process.value + SPREAD * draws.normal(size=tables.num_states)
    ratio = np.exp(draws.normal(size=len(process.policy)))
    ratio /= tables.at_pairs(process.mean_at_states(ratio))
    next_value = np.where(steps.terminated, _wild(draws, steps.pair.shape), critic[steps.next_state])
    value = tables.at_pairs(critic)
    error = process.td_error(critic)
    weight = np.minimum(ratio, 1.0) if "v-trace" in kind else np.ones(len(ratio))
    sums = process.look_ahead(weight * error, lam * weight, steps.longest)
    if kind == "n-step":
        exact = _windows(sums, num_steps)
    elif kind == "v-trace-advantage":
        after = [process.next_mean(process.mean_at_states(row)) for row in sums[:-1]]
        exact = np.array([np.zeros(len(error)), *(weight * (error + each) for each in after)])
    else:
        exact = sums if kind == "gae" else value + sums
    batch = steps.batch(
        value=critic[steps.state],
        next_value=next_value,
        last_value=np.where(
            (steps.terminated | steps.truncated)[-1], _wild(draws, next_value[-1].shape), next_value[-1]
        ),
        lam=lam,
        ratio=ratio[steps.pair],
        num_steps=num_steps,
    )
    return Situation(name, steps, batch, exact)


def _windows(sums: FloatArray, num_steps: int) -> FloatArray:
    """Return [longest + 1, P] sums over at most n steps."""
    return sums[np.minimum(np.arange(len(sums)), num_steps)]


def _categorical(mean: FloatArray) -> FloatArray:
    """Return [..., N] probabilities of the support with given means [...]: two values on both sides of the mean."""
    low = np.floor(mean)[..., None] - 2
    high_share = (mean[..., None] - low) / 5
    return (1 - high_share) * (low == ATOMS) + high_share * (low + 5 == ATOMS)


def _quantiles(mean: FloatArray) -> FloatArray:
    """Return [..., A, N] quantiles with given means [..., A] and other spreads for each action."""
    spread = np.linspace(3 * SPREAD, SPREAD, mean.shape[-1])
    return mean[..., None] + spread[:, None] * np.linspace(-1, 1, QUANTILES)


DISTRIBUTIONS = {"categorical": _categorical, "quantile": _quantiles}


def with_action_values(kind: str, name: str, steps: Steps, num_steps: int, masked: bool) -> Situation:
    """Return a situation with random action values."""
    draws = np.random.default_rng(0)
    if kind == "categorical":  # rewards that are integers lead from one value of the support exactly to another
        rounded = steps.process.move_reward.copy()
        rounded[::2] = rounded[::2].round()
        steps = replace(steps, process=replace(steps.process, move_reward=rounded))
    process = steps.process
    tables = process.tables
    shape = tables.legal.shape
    allowed = tables.legal if masked else np.ones(shape, np.bool_)
    q, online = (np.where(allowed, SPREAD * draws.normal(size=shape), _wild(draws, shape)) for _ in range(2))
    preference = np.where(allowed | ~allowed.any(axis=1, keepdims=True), np.exp(draws.normal(size=shape)), 0.0)
    shares = preference / preference.sum(axis=1, keepdims=True)
    selects = np.where(allowed, online if kind == "double" else q, -np.inf).argmax(axis=1)
    value = (shares * q).sum(axis=1) if kind == "expected" else q[np.arange(len(q)), selects]
    ends = steps.terminated[..., None]
    wild = (*steps.pair.shape, shape[1])
    next_q = np.where(ends, _wild(draws, wild), q[steps.next_state])
    sums = process.look_ahead(process.td_error(value), 1.0, steps.longest)
    batch = steps.batch(
        num_steps=num_steps,
        next_q=next_q,
        next_q_online=np.where(ends, _wild(draws, wild), online[steps.next_state]),
        next_mask=ends | allowed[steps.next_state],
        next_policy=shares[steps.next_state],
        support=ATOMS if kind == "categorical" else None,
        next_distribution=DISTRIBUTIONS[kind](next_q) if kind in DISTRIBUTIONS else None,
    )
    return Situation(name, steps, batch, tables.at_pairs(value) + _windows(sums, num_steps))


def _judge(
    check: str,
    function: Callable[[Batch], Any],
    situations: Iterable[Situation],
    wrong: Callable[[Batch], dict[str, FloatArray]],
    layout: str,
    truncation: bool,
) -> CheckResult:
    """Compare the mean answers of a function with the exact ones, and name the faults that would explain them.

    Args:
        check: the name of the check.
        function: the code under test.
        situations: where to try it.
        wrong: returns the answers of wrong versions of the formula, by what is wrong.
        layout: how to present the steps.
        truncation: whether turns with a time limit are among the situations.
    """
    cases = []
    explains: dict[str, bool] = {}
    for situation in situations:
        answers = _means(_answers(function, situation.batch, layout), situation.batch)
        mean, weight = situation.steps.mean(answers)
        differs = np.where(weight > 0, abs(mean - situation.exact), 0)
        worst = np.unravel_index(np.argmax(differs), differs.shape)  # the first that is not a number, if any
        case = Case(situation.name, float(differs[worst]), TOLERANCE * float(abs(situation.exact).max()))
        if not np.isfinite(answers).all():
            explains = {NOT_FINITE if situation.batch.support is None else NO_DISTRIBUTION: True}
        if not case.passed:
            case = replace(case, where=_where(situation, mean, *map(int, worst)))
            for name, answer in wrong(situation.batch).items():
                alike = np.allclose(answer, answers, rtol=0, atol=case.tolerance)
                explains[name] = explains.get(name, True) and alike
            is_near = case.error < NEARLY * abs(situation.exact).max()
            explains[HALF] = explains.get(HALF, True) and is_near and _is_half(answers)
        cases.append(case)
        if case.passed and situation.batch.next_distribution is not None:
            for name, case in _distribution_cases(function, situation, layout):
                cases.append(case)
                if not case.passed:
                    explains[DISTRIBUTION_FAULTS[name]] = True
                    break
    if not truncation:
        cases.append(Case("turns and streams with a time limit", skipped="truncation=False"))
    likely = tuple(name for name, possible in explains.items() if possible)
    return CheckResult(check, tuple(cases), likely, REMEDY if explains else "")


@np.errstate(over="ignore")
def _is_half(answers: FloatArray) -> bool:
    """Return whether half precision represents all answers."""
    return np.array_equal(answers, answers.astype(np.float16))


def _answers(function: Callable[[Batch], Any], batch: Batch, layout: str) -> FloatArray:
    """Return [T, B], or [T, B, N] for distributions, the answers for a batch in some layout."""
    length, width = batch.reward.shape
    atoms = () if batch.next_distribution is None else batch.next_distribution.shape[-1:]
    if layout == "T" or (layout == "both" and width == 1):
        columns = [ask(function, batch.column(number), (length, *atoms)) for number in range(width)]
        answers = np.stack(columns, axis=1)
    elif layout == "BT":
        across = batch.map(lambda array: array if array.ndim == 1 else array.swapaxes(0, 1))
        answers = ask(function, across, (width, length, *atoms)).swapaxes(0, 1)
    else:
        try:
            answers = ask(function, batch, (length, width, *atoms))
        except (TypeError, ValueError) as error:
            if layout == "TB":
                raise
            raise type(error)(f'pass layout="T" if {name_of(function)} takes one stream at a time: {error}') from error
    return answers


def _means(answers: FloatArray, batch: Batch) -> FloatArray:
    """Return [T, B] the answers, or their means if they are distributions; NaN where probabilities do not sum to 1."""
    if batch.support is not None:
        return np.where(abs(answers.sum(axis=-1) - 1) < TOLERANCE, answers @ batch.support, np.nan)
    return answers if batch.next_distribution is None else answers.mean(axis=-1)


def _distribution_cases(
    function: Callable[[Batch], Any], situation: Situation, layout: str
) -> Iterator[tuple[str, Case]]:
    """Compare whole distributions with those of the textbook, categorical ones also where they leave the support."""
    batches = {"distributions": situation.batch}
    if situation.batch.support is not None:
        batches["targets beyond the support"] = replace(situation.batch, reward=BEYOND * situation.batch.reward)
    for name, batch in batches.items():
        answers = _answers(function, batch, layout)
        exact = faults.target_distributions(batch)
        tolerance = CLOSE
        if batch.support is None:  # the order of quantiles does not matter
            answers, exact = np.sort(answers), np.sort(exact)
            tolerance *= float(abs(exact).max())
        differs = abs(answers - exact)
        worst = np.unravel_index(np.argmax(differs), differs.shape)
        entry = f"value {batch.support[worst[-1]]:g}" if batch.support is not None else f"quantile {worst[-1]}"
        where = f"step {worst[0]} of stream {worst[1]}, {entry}: {answers[worst]:.6g}, exactly {exact[worst]:.6g}"
        yield name, Case(f"{situation.name}, {name}", float(differs[worst]), tolerance, where)


def _where(situation: Situation, mean: NDArray[Any], steps_left: int, pair: int) -> str:
    """Return a step and its mean in words."""
    tables = situation.steps.process.tables
    state = tables.describe_state(int(tables.pair_state[pair]))
    cut = "" if "whole" in situation.name else f", steps to the cut: {steps_left}"
    return (
        f"{state}, {tables.describe_move(pair)}{cut}: the mean is {mean[steps_left, pair]:.6g}, "
        f"exactly {situation.exact[steps_left, pair]:.6g}"
    )
