"""Check losses by their derivatives: of a policy, of values, and of action values.

Each check runs the loss on all turns of a small game. The tables of the game give the exact sum of the derivatives:
minus the policy gradient, or the distance from exact values. Then the derivatives of each step are compared with those
of the textbook's loss; if they differ, with those of `loss_faults`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.check import faults, loss_faults
from stb_gym.check.formulas import GAME, with_action_values
from stb_gym.check.loss_batches import LossBatch, gradients
from stb_gym.check.loss_faults import Faults, Parts, derivatives
from stb_gym.check.results import Case, CheckResult, Judged, combined
from stb_gym.check.trajectories import Steps, random_process, turns
from stb_gym.checks import check_choice, check_number

RATIOS = (0.5, 0.798, 0.802, 0.95, 1.05, 1.198, 1.202, 1.5, 2.99, 3.01, 5.0)  # near both clips of a LossBatch, and far
UNIT = 0.01  # scale of rewards: even wrong targets are within 1 of the values, where Huber losses are squares
TOLERANCE = 1e-5  # share of the greatest derivative: more than the rounding of single precision
SAME_LENGTH = 5e-3  # share of the length of a gradient: more than the choice of a standard deviation changes
NAMED = 1e-3  # share of the greatest derivative: a known fault is named if the difference from it is less
NEARLY = 0.01  # the same for a loss that is nearly right
FEW = 0.1  # share of the steps: more do not begin parts of a batch
HIDDEN = -1e4  # a logit of an illegal action that is masked before the loss
REMEDY = "compare the derivatives of the step above with those of your loss, one factor at a time"


@dataclass(frozen=True)
class Cells:
    """The places of the arrays that a loss receives: C cells, which hold the steps of all turns in order, or padding.

    Attributes:
        steps: [C, 1] the steps; padding repeats the last step of its turn, with a weight of 0.
        turn: [C] the number of the turn.
        shape: of the arrays, (C,) or (turns, longest turn).
    """

    steps: Steps
    turn: IntArray
    shape: tuple[int, ...]

    def batch(self, **fields: Any) -> LossBatch:
        """Return a batch with the actions of the steps, the step mask, their turns, and other fields."""
        action = self.steps.process.tables.pair_action[self.steps.pair[:, 0]]
        return LossBatch(action, self.steps.weight[:, 0] > 0, self.turn, **fields)

    @np.errstate(all="ignore")
    def compared(self, name: str, *derivatives: FloatArray) -> Case:
        """Compare derivatives [C, K] with the parts of exact ones, all summed by states over all weighted turns."""
        tables = self.steps.process.tables
        totals = np.zeros((len(derivatives), tables.num_states, derivatives[0].shape[1]))
        for total, each in zip(totals, derivatives, strict=True):
            np.add.at(total, self.steps.state[:, 0], self.steps.weight * each)
        case, _ = _compared(name, totals[0], totals[1:], tables.describe_state)
        return case

    def describe(self, cell: int) -> str:
        """Return a cell in words."""
        return f"step {cell}, {self.steps.process.tables.describe_state(self.steps.state[cell, 0])}"


def _arranged(steps: Steps, layout: str) -> Cells:
    """Return the cells of a layout: "T", or "padded"."""
    check_choice("layout", layout, ["T", "padded"])
    lengths = np.diff(np.flatnonzero(steps.terminated), prepend=-1)
    exists = np.arange(lengths.max()) < lengths[:, None]
    turn = np.indices(exists.shape)[0]
    if layout == "T":
        exists, turn = exists[exists], turn[exists]
    padded = steps.at(np.cumsum(exists)[:, None] - 1)
    return Cells(replace(padded, weight=padded.weight * exists.reshape(-1, 1)), turn.ravel(), exists.shape)


@checked
def policy_loss(
    function: Callable[[Any, LossBatch], Any],
    *,
    kind: str = "ppo",
    entropy_weight: float = 0.0,
    temperature: float = 1.0,
    masked: bool = True,
    layout: str = "T",
    framework: str = "torch",
) -> CheckResult:
    """Check a policy loss by its derivatives by the logits.

    All turns of a small game are listed once. At the policy that played, the derivatives of a right loss, weighted by
    the probabilities of their turns, sum to minus the exact policy gradient, which the tables of the game give (Sutton
    et al., "Policy gradient methods for reinforcement learning with function approximation", 2000). Away from that
    policy, each sign of the advantage is combined with ratios inside and outside the clip range, some of them close to
    it, and the derivatives of each step are compared. So give your loss the clip range `batch.clip`, which is 0.2 on
    both sides. A sum over steps, a mean over steps and a mean over turns of sums pass; advantages may be
    normalised in the loss. A loss divided by a configured constant, such as the maximum length of Dr. GRPO, passes only
    if that constant is the batch's own: in the padded layout, the longest turn.

    Args:
        function: takes logits [T, A] and a `LossBatch`, and returns the loss.
        kind: "ppo", the clipped objective (Schulman et al., "Proximal policy optimization algorithms", 2017);
            "dual-clip", the same with a bound on the ratio where advantages are negative (Ye et al., "Mastering complex
            control in MOBA games with deep reinforcement learning", 2020); "a2c", log-probabilities without ratios.
        entropy_weight: the weight of the entropy bonus, `batch.entropy_weight`; 0 if the loss has none.
        temperature: `batch.temperature`; not 1 if the loss divides logits by it.
        masked: whether the loss masks illegal actions by `batch.mask`; if not, their logits are -10,000.
        layout: "T", all steps in one row, or "padded", arrays [turns, longest turn] with `batch.step_mask`.
        framework: "torch" or "jax".

    Returns:
        The result; its errors are relative to the greatest derivative.

    Raises:
        TypeError: if the function fails, or does not return one number.
        ValueError: if it changes its batch, or an argument is not allowed.

    Example:
        >>> import torch
        >>> from stb_gym import check
        >>> def loss(logits, batch):
        ...     log_prob = logits.masked_fill(~batch.mask, -torch.inf).log_softmax(dim=-1)
        ...     ratio = (log_prob.gather(-1, batch.action[..., None])[..., 0] - batch.old_log_prob).exp()
        ...     clipped = ratio.clamp(1 - batch.clip, 1 + batch.clip)
        ...     return -torch.minimum(ratio * batch.advantage, clipped * batch.advantage).mean()
        >>> check.policy_loss(loss).passed
        True
        >>> check.policy_loss(lambda logits, batch: -loss(logits, batch)).likely
        ('the sign is wrong',)
    """
    check_choice("kind", kind, ["ppo", "dual-clip", "a2c"])
    check_number("entropy_weight", entropy_weight, -1e6, 1e6)
    check_number("temperature", temperature, 1e-6, 1e6)
    draws = np.random.default_rng(0)
    process = random_process(GAME, 1.0, seed=0)
    tables = process.tables
    cells = _arranged(turns(process), layout)
    state, pair, size = cells.steps.state[:, 0], cells.steps.pair[:, 0], len(cells.turn)
    advantage = process.td_error(process.value)
    advantage /= advantage[pair].std()

    # Logits of the policy that played, and batches of that policy and of one with other ratios
    by_state = draws.normal(size=tables.legal.shape) if masked else np.full(tables.legal.shape, HIDDEN)
    by_state[tables.pair_state, tables.pair_action] = temperature * np.log(process.policy)
    logits = (by_state + temperature * draws.normal(size=(tables.num_states, 1)))[state]
    value = draws.normal(size=size)
    played = cells.batch(
        mask=tables.legal[state],
        old_log_prob=np.log(process.policy[pair]),
        advantage=advantage[pair],
        returns=advantage[pair] + value,
        value=value,
        entropy_weight=float(entropy_weight),
        temperature=float(temperature),
    )
    ratio = draws.choice(RATIOS, size)
    signed = draws.choice([-1, 1], size) * draws.uniform(0.5, 3.0, size)
    moved = replace(played, old_log_prob=played.old_log_prob - np.log(ratio), advantage=signed, returns=signed + value)

    def found(batch: LossBatch) -> FloatArray:
        """Return the derivatives of the loss under test by logits and the critic's values."""
        given = batch if masked else replace(batch, mask=None)
        return gradients(function, [logits], given, cells.shape, framework)

    def describe(cell: int) -> str:
        return f"{cells.describe(cell)}, ratio {ratio[cell]:g}, advantage {signed[cell]:.2f}"

    inputs = np.column_stack([logits, value])
    textbook = loss_faults.losses_of_policy(kind)
    known = replace(moved, dual_clip=moved.dual_clip if kind == "dual-clip" else np.inf)
    may_be = [replace(known, advantage=loss_faults.standardised(known)), known]  # the loss may normalise advantages
    by_step, (length, bonus) = _compared_by_step(found(moved), inputs, may_be, *textbook, describe)
    exact = np.eye(inputs.shape[1])[played.action] * -played.advantage[:, None] / temperature
    of_entropy = derivatives(loss_faults.entropy_loss, inputs, played)
    whole = cells.compared("policy gradient of all turns", found(played), exact, of_entropy)
    judged: list[Judged] = [(whole, ()), by_step]
    if by_step[0].passed:
        means = [1 / played.step_mask.sum(), 1 / (cells.turn[-1] + 1), 1 / size]  # over steps, turns, cells
        off = min(abs(length / factor - 1) for factor in (1, *means))
        times = length / means[0]
        fault = f"the gradient is {times:.4g} times that of a mean over steps: a factor is wrong or occurs twice"
        if abs(times * signed[played.step_mask].std() - 1) < SAME_LENGTH:
            fault = "advantages are divided by their standard deviation, and their mean is not subtracted"
        judged.append((Case("length of the gradient of a sum or a mean", off, SAME_LENGTH), [fault]))
        # One of the two may be a mean over turns, and the other one over steps
        off = min(abs(bonus / factor - entropy_weight) for factor in (length, *means))
        case = Case("weight of the entropy bonus", off, max(SAME_LENGTH * abs(entropy_weight), TOLERANCE))
        fault = f" has weight {bonus / length:.3g}: pass it, or see whether a sum stands beside a mean"
        if abs(bonus) < TOLERANCE * length:
            fault = ": no gradient"
        judged.append((case, [f"{loss_faults.ENTROPY}{fault}"]))
    return combined("policy_loss", judged, REMEDY)


@checked
def value_loss(
    function: Callable[[Any, LossBatch], Any],
    *,
    kind: str = "plain",
    layout: str = "T",
    framework: str = "torch",
) -> CheckResult:
    """Check a loss of values by its derivatives by the values.

    All turns of a small game are listed once. The mean return of each state is its exact value, which backups over the
    tables give. So the derivatives of a right loss, weighted by the probabilities of their turns, sum to the distance
    from exact values. The derivatives of each step are compared, too. Any positive factor passes. Errors are below 1,
    so that the squared error and Huber losses agree.

    Args:
        function: takes values [T] and a `LossBatch`, and returns the loss. The targets are `batch.returns`.
        kind: "plain"; "clipped", the greater of the errors of the value and of the value clipped to `batch.clip` around
            `batch.old_value`, as in PPO; "clamped", the error of the clipped value alone, as in stable-baselines3.
        layout: see `policy_loss`.
        framework: "torch" or "jax".

    Returns:
        The result; its errors are relative to the greatest error of a value.

    Raises:
        TypeError: as `policy_loss` does.
        ValueError: as `policy_loss` does.

    Example:
        >>> from stb_gym import check
        >>> check.value_loss(lambda values, batch: ((values - batch.returns) ** 2).mean()).passed
        True
        >>> check.value_loss(lambda values, batch: ((values[:, None] - batch.returns) ** 2).mean()).likely
        ('each value is regressed on all targets: shapes are broadcast',)
    """
    check_choice("kind", kind, list(loss_faults.ERRORS))
    draws = np.random.default_rng(0)
    process = random_process(GAME, 1.0, seed=0)
    cells = _arranged(turns(process), layout)
    state = cells.steps.state[:, 0]
    exact = UNIT * process.value
    beside = np.round(256 * (exact + _offset(draws, len(exact)))) / 256  # exact, so that the clipped value equals it
    values = beside[state]
    distance = draws.choice([-1, 1], len(values)) * draws.choice([16, 51, 52, 96], len(values)) / 256  # in it or not
    returns = UNIT * faults.looked_ahead(cells.steps.reward, ~cells.steps.terminated)[:, 0]
    within = cells.batch(returns=returns, old_value=values)
    clipped = replace(within, old_value=values + distance)
    by_step, _ = _compared_by_step(
        gradients(function, [values], clipped, cells.shape, framework),
        values[:, None],
        [replace(clipped, advantage=returns)],
        *loss_faults.losses_of_values(kind, values[:, None]),
        cells.describe,
    )
    found = gradients(function, [values], within, cells.shape, framework)
    whole = cells.compared("exact values", found, (beside - exact)[state, None])
    return combined("value_loss", [(whole, ()), by_step], REMEDY)


@checked
def td_loss(
    function: Callable[[Any, Any, LossBatch], Any],
    *,
    kind: str = "greedy",
    masked: bool = True,
    framework: str = "torch",
) -> CheckResult:
    """Check a loss of action values, such as that of DQN, by its derivatives.

    All turns of a small game are listed once. The mean target of each state and action is the exact Bellman backup of
    the next values, which the tables give. So the derivatives of a right loss, weighted by the probabilities of their
    turns, sum to the distance from exact values. The derivatives of each step are compared, too. Values of actions that
    were not taken must not move, and no gradient may reach the next values. Any positive factor passes. Errors are
    below 1, so that the squared error and Huber losses agree; next values of illegal actions, and of states after the
    end of a turn, are wild.

    Args:
        function: takes action values [T, A], those of the next states [T, A] by the target network, and a `LossBatch`
            with action, reward, terminated, next_mask, discount; returns the loss.
        kind: "greedy", the greatest next value; "double", the next value of the action with the greatest of
            `batch.next_q_online`.
        masked: whether only actions of `batch.next_mask` count; if not, values of illegal actions are like others.
        framework: "torch" or "jax".

    Returns:
        The result; its errors are relative to the greatest error of a value.

    Raises:
        TypeError: as `policy_loss` does.
        ValueError: as `policy_loss` does.

    Example:
        >>> import torch
        >>> from stb_gym import check
        >>> def loss(q, next_q, batch):
        ...     best = next_q.masked_fill(~batch.next_mask, -torch.inf).amax(dim=1).detach()
        ...     target = batch.reward + batch.discount * best * ~batch.terminated
        ...     return torch.nn.functional.smooth_l1_loss(q.gather(1, batch.action[:, None])[:, 0], target)
        >>> check.td_loss(loss).passed
        True
    """
    check_choice("kind", kind, ["greedy", "double"])
    process = random_process(GAME, 0.9, seed=0)
    tables = process.tables
    cells = _arranged(turns(process), "T")
    situation = with_action_values(kind, "", cells.steps, 1, masked)
    scaled = {name: UNIT * getattr(situation.batch, name) for name in ("reward", "next_q", "next_q_online")}
    stream = replace(situation.batch, **scaled)
    shown = stream.column(0)
    offset = _offset(np.random.default_rng(0), len(process.policy))
    table = np.zeros(tables.legal.shape)
    table[tables.pair_state, tables.pair_action] = UNIT * situation.exact[1] + offset
    q = table[cells.steps.state[:, 0]]
    batch = cells.batch(
        reward=shown.reward,
        terminated=shown.terminated,
        next_mask=shown.next_mask if masked else None,
        next_q_online=shown.next_q_online,
        discount=process.discount,
    )
    found = gradients(function, [q, shown.next_q], batch, cells.shape, framework)
    inputs = np.column_stack([q, shown.next_q])
    whole = cells.compared("exact values", found, np.eye(inputs.shape[1])[batch.action] * offset[cells.steps.pair])
    right, wrong, target = loss_faults.losses_of_action_values(kind, stream, q, batch.action)
    known = replace(batch, returns=target, advantage=target)
    by_step, _ = _compared_by_step(found, inputs, [known], right, wrong, cells.describe)
    return combined("td_loss", [(whole, ()), by_step], REMEDY)


def _offset(draws: np.random.Generator, number: int) -> FloatArray:
    """Return errors of values, none of which is near 0."""
    return draws.choice([-1, 1], number) * draws.uniform(0.1, 0.3, number)


@np.errstate(all="ignore")
def _compared_by_step(
    found: FloatArray,
    inputs: FloatArray,
    batches: Sequence[LossBatch],
    right: Parts,
    wrong: Faults,
    where: Callable[[int], str],
) -> tuple[Judged, FloatArray]:
    """Compare the derivatives of each step with those of a right loss, then with those of wrong ones.

    Args:
        found: [C, K] the derivatives of the loss under test.
        inputs: [C, K] what they are derivatives by.
        batches: versions of the batch that the loss may use, such as one with normalised advantages.
        right: the parts of the right loss, up to their factors.
        wrong: its faults.
        where: describes a step.

    Returns:
        The case with the likely faults, and the factors of the parts.
    """
    nearly = np.inf
    for batch in batches:
        slopes = cache(partial(derivatives, inputs=inputs, batch=batch))
        exact = {part: slopes(loss) for part, loss in right.items()}
        case, factors = _compared("single steps", found, exact.values(), where)
        if case.passed:
            return (case, ()), factors
        likely = loss_faults.explanations(found, exact, wrong, slopes, NAMED)
        if likely:
            return (case, likely), factors
        nearly = min(nearly, case.error)
    hint = "derivatives are nearly right: look for half precision and small terms, such as a penalty"
    if nearly >= NEARLY:
        hint = _hint(found, next(iter(exact.values())), batch)
    return (case, [hint]), factors


def _hint(found: FloatArray, exact: FloatArray, batch: LossBatch) -> str:
    """Return what is special about wrong derivatives [C, K] that no known fault has."""
    is_policy = batch.value is not None
    own = exact.shape[1] - 1 if is_policy else exact.shape[1] // (1 if batch.reward is None else 2)
    if not np.isfinite(found).all():
        return "derivatives are not finite: look for logarithms of 0, and divisions by 0"
    if not found.any():
        return "no gradient: something is missing, detached, or computed without gradients"
    if abs(found[:, own:]).max(initial=0) > NAMED * abs(found).max():
        return f"a gradient reaches the {'critic of a policy' if is_policy else 'target'}: detach it"
    squares = (exact**2).sum(axis=1)
    matters = squares > NAMED**2 * squares.max()
    weight = np.divide((found * exact).sum(axis=1), squares, out=np.zeros(len(exact)), where=matters)
    if np.linalg.norm(found - weight[:, None] * exact) > NAMED * np.linalg.norm(found):
        terms = "ratios, temperature and the axis of the softmax" if is_policy else "indices and targets"
        return f"single steps have wrong derivatives: look at masks, actions, {terms}, and for other terms of the loss"
    weight = weight[matters]
    if not weight.all():
        clips = ", or ratios are clipped on the wrong side" if is_policy else ""
        return f"some steps have no gradient: a part of the batch is left out{clips}"
    if (abs(np.diff(weight)) > NAMED * abs(weight).max()).mean() < FEW:
        return "steps have wrong weights: parts of the batch are averaged on their own"
    if is_policy:
        return "steps have wrong weights: look at the ratio and at both terms of the minimum"
    return "steps have wrong weights: errors are not squared, are weighted, or another term is added"


def _compared(
    name: str, found: FloatArray, parts: Iterable[FloatArray], where: Callable[[int], str]
) -> tuple[Case, FloatArray]:
    """Compare derivatives [C, K] with the closest sum of some parts, of which the first has a positive factor.

    Returns:
        The case, with the greatest difference relative to the greatest exact derivative, and the factors.
    """
    factors, exact = loss_faults.closest(found, parts)
    differs = np.nan_to_num(abs(found - exact) / abs(exact).max(), nan=np.inf)
    row, column = np.unravel_index(np.argmax(differs), differs.shape)
    error = float(differs[row, column])
    text = f"the derivative by input {column} is {found[row, column]:.4g}, exactly {exact[row, column]:.4g}"
    return Case(name, error, TOLERANCE, f"{where(int(row))}: {text}"), factors
