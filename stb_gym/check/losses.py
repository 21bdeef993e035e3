"""Check losses by their derivatives: of a policy, of values, and of action values.

Each check runs the loss on all turns of a small game at two points. At the first, the tables of the game give the exact
sum of the derivatives: minus the policy gradient, or 0 at exact values. At the second, the derivatives of each step are
compared with those of the textbook's loss; if they differ, with those of `loss_faults`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.check import faults, loss_faults
from stb_gym.check.formulas import GAME, WILD, with_action_values
from stb_gym.check.loss_batches import LossBatch, gradients
from stb_gym.check.loss_faults import Loss
from stb_gym.check.results import Case, CheckResult
from stb_gym.check.trajectories import Steps, random_process, turns
from stb_gym.checks import check_choice, check_number

RATIOS = (0.5, 0.95, 1.05, 1.5, 5.0)  # every clip range from 0.06 to 0.4 separates them, and dual clip below 5
UNIT = 0.01  # of rewards: even wrong targets are less than 1 away from values, where Huber losses are squares
TOLERANCE = 1e-4  # of the greatest derivative: more than the rounding of single precision
SAME_LENGTH = 5e-3  # of the length of a gradient: more than the choice of a standard deviation changes
NAMED = 1e-3  # of the greatest derivative: the greatest difference from a known fault
HIDDEN = -1e4  # a logit of an illegal action that is masked before the loss
REMEDY = "compare the derivatives of the step above with those of your loss, one factor at a time"


@dataclass(frozen=True)
class Cells:
    """Where the steps of turns stand in the arrays that a loss receives. There are C cells, some of them padding.

    Attributes:
        steps: T steps of turns back to back.
        row: [C] the index of the step; that of another step for padding.
        exists: [C] False for padding.
        turn: [C] the number of the turn.
        shape: of the arrays, (C,) or (turns, longest turn).
    """

    steps: Steps
    row: IntArray
    exists: NDArray[np.bool_]
    turn: IntArray
    shape: tuple[int, ...]

    @property
    def state(self) -> IntArray:
        """[C] the state of each step."""
        return self.steps.state[self.row, 0]

    def spread(self, values: NDArray[Any], padding: float) -> NDArray[Any]:
        """Return [C] the values of steps [T], and a number for padding."""
        return np.where(self.exists, values[self.row], padding)

    def batch(self, **fields: Any) -> LossBatch:
        """Return a batch with the actions of the steps, their turns, the step mask, and other fields."""
        action = self.steps.process.tables.pair_action[self.steps.pair[:, 0]]
        return LossBatch(self.spread(action, 0), self.exists, self.turn, **fields)

    def totals(self, derivatives: FloatArray) -> FloatArray:
        """Return [S, ...] the sums of derivatives [C, ...] by states, weighted by the probabilities of turns."""
        totals = np.zeros((self.steps.process.tables.num_states, *derivatives.shape[1:]))
        weight = self.steps.weight[self.row, 0] * self.exists
        np.add.at(totals, self.state, (weight * derivatives.T).T)
        return totals

    @property
    def factors(self) -> dict[str, float]:
        """The factors of a sum over steps that losses have, by name."""
        return {
            "sum": 1.0,
            "mean over steps": 1 / self.exists.sum(),
            "mean over turns of sums": 1 / (self.turn.max() + 1),
            "mean over steps and padding": 1 / len(self.exists),
        }

    def describe_state(self, state: int, action: int | None = None) -> str:
        """Return a state and an action in words."""
        tables = self.steps.process.tables
        if action is None:
            return tables.describe_state(state)
        moves = [tables.describe_move(pair) for pair in tables.pairs_of(state) if tables.pair_action[pair] == action]
        return ", ".join([tables.describe_state(state), *(moves or [f"illegal action {action}"])])

    def describe(self, cell: int, action: int | None = None) -> str:
        """Return a cell and an action in words."""
        return f"step {cell}: {self.describe_state(self.state[cell], action)}" if self.exists[cell] else "padding"


def _arranged(steps: Steps, layout: str) -> Cells:
    """Return the cells of a layout: "T", or "padded"."""
    check_choice("layout", layout, ["T", "padded"])
    turn = np.cumsum(faults.previous_row(steps.terminated[:, 0]))
    if layout == "T":
        return Cells(steps, np.arange(len(turn)), np.ones(len(turn), np.bool_), turn, turn.shape)
    lengths = np.bincount(turn)
    exists = np.arange(lengths.max()) < lengths[:, None]
    return Cells(steps, np.cumsum(exists) - 1, exists.ravel(), np.indices(exists.shape)[0].ravel(), exists.shape)


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
    policy, each sign of the advantage is combined with ratios inside and outside the clip range, and the derivatives of
    each step are compared. A sum over steps, a mean over steps and a mean over turns of sums pass; advantages may be
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
    check_choice("kind", kind, list(loss_faults.OBJECTIVES))
    check_number("entropy_weight", entropy_weight, -1e6, 1e6)
    check_number("temperature", temperature, 1e-6, 1e6)
    draws = np.random.default_rng(0)
    process = random_process(GAME, 1.0, seed=0)
    tables = process.tables
    cells = _arranged(turns(process), layout)
    exists, pair, size = cells.exists, cells.steps.pair[:, 0], len(cells.exists)

    # The exact policy gradient, and logits of the policy that played
    advantage = process.backup(process.value) - tables.at_pairs(process.value)
    advantage /= advantage[pair].std()
    visits = np.bincount(cells.steps.state[:, 0], cells.steps.weight[:, 0], tables.num_states)
    exact = np.zeros(tables.legal.shape)
    exact[tables.pair_state, tables.pair_action] = -tables.at_pairs(visits) * process.policy * advantage / temperature
    by_state = draws.normal(size=exact.shape) if masked else np.full(exact.shape, HIDDEN)
    by_state[tables.pair_state, tables.pair_action] = temperature * np.log(process.policy)
    by_state += draws.normal(size=(tables.num_states, 1))

    # Batches of that policy, and of one with other ratios
    played = cells.batch(
        mask=~exists[:, None] | tables.legal[cells.state],
        old_log_prob=cells.spread(np.log(process.policy[pair]), -1.0),
        advantage=cells.spread(advantage[pair], WILD),
        value=draws.normal(size=size),
        entropy_weight=float(entropy_weight),
        temperature=float(temperature),
    )
    logits = np.where(exists[:, None], by_state[cells.state], draws.normal(size=played.mask.shape))
    ratio = draws.choice(RATIOS, size)
    signed = draws.choice([-1, 1], size) * draws.uniform(0.5, 3.0, size)
    moved = replace(
        played,
        old_log_prob=played.old_log_prob - np.log(ratio) * exists,
        advantage=np.where(exists, signed, WILD),
    )

    # Derivatives of the loss under test
    def derivatives(batch: LossBatch) -> list[FloatArray]:
        """Return those by the logits [C, A] and those by the values [C]."""
        given = replace(batch, returns=batch.advantage + batch.value, mask=batch.mask if masked else None)
        return gradients(function, [logits], given, cells.shape, framework)

    bonus, _ = derivatives(replace(played, advantage=np.zeros(size)))
    if not entropy_weight and not np.isfinite(bonus).all():  # advantages divided by their standard deviation
        bonus = np.zeros(bonus.shape)
    at_play, _ = derivatives(played)
    away, by_value = derivatives(moved)

    # Comparisons
    def describe(cell: int, action: int) -> str:
        return f"{cells.describe(cell, action)}, ratio {ratio[cell]:g}, advantage {signed[cell]:.2f}"

    objective = loss_faults.OBJECTIVES[kind]
    right, wrong = loss_faults.policy_loss(objective), loss_faults.faults_of_policy(objective)
    may_be = [loss_faults.standardised(moved), moved]  # the loss may normalise advantages, or not
    by_step, likely, length = _compared_by_step(away - bonus, logits, may_be, right, wrong, describe)
    total = cells.totals(at_play - bonus)
    leak, leaks = _leak("the critic", by_value, away)
    of_bonus, names = _entropy(cells, bonus, logits, played, length)
    whole = _compared("policy gradient of all turns", total / _length(total, exact), exact, cells.describe_state)
    cases = [whole, by_step, leak, *of_bonus]
    if by_step.passed:
        nearest = min(cells.factors, key=lambda name: abs(np.log(length / cells.factors[name])))
        off = abs(length / cells.factors[nearest] - 1)
        cases.append(Case(f"length of the gradient ({nearest})", off, SAME_LENGTH))
        if not cases[-1].passed:
            times = length / cells.factors["mean over steps"]
            likely = [f"the gradient is {times:.4g} times that of a mean over steps: a factor is wrong or occurs twice"]
    return _result("policy_loss", cases, [*leaks, *likely, *names])


def _entropy(
    cells: Cells, bonus: FloatArray, logits: FloatArray, batch: LossBatch, length: float
) -> tuple[list[Case], list[str]]:
    """Return the cases of the entropy bonus, and the likely faults.

    Args:
        cells: where steps stand.
        bonus: [C, A] the derivatives of the loss with advantages of zero.
        logits: [C, A].
        batch: the steps.
        length: the factor of the policy loss.
    """
    right, wrong = loss_faults.entropy_loss, loss_faults.FAULTS_OF_ENTROPY
    if not batch.entropy_weight and abs(bonus).max() <= TOLERANCE * length:
        return [Case("entropy bonus", skipped="entropy_weight is 0")], []
    case, likely, own = _compared_by_step(bonus, logits, [batch], right, wrong, cells.describe)
    if not case.passed:
        return [case], [f"the entropy bonus: {name}" for name in likely]
    factors = cells.factors | {"sum": length}  # one may be a mean over turns, and the other one over steps
    off = min(abs(own / factor - batch.entropy_weight) for factor in factors.values())
    of_weight = Case("weight of the entropy bonus", off, SAME_LENGTH * batch.entropy_weight)
    likely = [f"the entropy bonus has weight {own / length:.3g}: pass it, or see whether a sum stands beside a mean"]
    return [case, of_weight], [] if of_weight.passed else likely


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
    tables give. There the derivatives of a right loss, weighted by the probabilities of their turns, sum to 0. Beside
    it, the derivatives of each step are compared. Any positive factor passes. Errors are below 1, so that the squared
    error and Huber losses agree.

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
    returns = faults.looked_ahead(cells.steps.reward, ~cells.steps.terminated)[:, 0]
    table = UNIT * process.value
    exact = np.where(cells.exists, table[cells.state], 0.0)
    moved = np.round(256 * (table + _offset(draws, table.shape))) / 256  # exact, so that the clipped value equals it
    beside = np.where(cells.exists, moved[cells.state], 0.0)
    distance = draws.choice([-1, 1], len(exact)) * draws.choice([16, 96], len(exact)) / 256  # within the range or not
    batch = cells.batch(returns=UNIT * cells.spread(returns, WILD), old_value=exact)
    clipped = replace(batch, old_value=beside + distance)
    at_exact, _ = gradients(function, [exact], batch, cells.shape, framework)
    found, _ = gradients(function, [beside], clipped, cells.shape, framework)
    error = loss_faults.ERRORS[kind]
    right, wrong = loss_faults.value_loss(error), loss_faults.faults_of_values(error, beside)
    by_step, likely, _ = _compared_by_step(found, beside, [clipped], right, wrong, cells.describe)
    return _result("value_loss", [_balance(cells, at_exact, found), by_step], likely)


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
    the next values, which the tables give. There the derivatives of a right loss, weighted by the probabilities of
    their turns, sum to 0. Beside it, the derivatives of each step are compared. Values of actions that were not taken
    must not move, and no gradient may reach the next values. Any positive factor passes. Errors are below 1, so that
    the squared error and Huber losses agree; next values of illegal actions, and of states after the end of a turn, are
    wild.

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
    draws = np.random.default_rng(0)
    process = random_process(GAME, 0.9, seed=0)
    tables = process.tables
    cells = _arranged(turns(process), "T")
    situation = with_action_values(kind, "", cells.steps, 1, masked)
    scaled = {name: UNIT * getattr(situation.batch, name) for name in ("reward", "next_q", "next_q_online")}
    stream = replace(situation.batch, **scaled)
    shown = stream.column(0)
    table = _offset(draws, tables.legal.shape)
    table[tables.pair_state, tables.pair_action] = UNIT * situation.exact[1]
    exact = table[cells.state]
    beside = (table + _offset(draws, table.shape))[cells.state]
    batch = cells.batch(
        reward=shown.reward,
        terminated=shown.terminated,
        next_mask=shown.next_mask if masked else None,
        next_q_online=shown.next_q_online,
        discount=process.discount,
    )
    at_exact, *_ = gradients(function, [exact, shown.next_q], batch, cells.shape, framework)
    found, into_target, _ = gradients(function, [beside, shown.next_q], batch, cells.shape, framework)

    def target(next_value: FloatArray) -> Any:
        return shown.reward + shown.discount * np.where(shown.terminated, 0, next_value)

    right_value = faults.NEXT_VALUES[faults.RIGHT_VALUES.get(kind, "the next value is the greatest one")]
    known = replace(batch, returns=target(right_value(stream)[:, 0]))
    wrong = loss_faults.faults_of_action_values(
        {name: answers[:, 0] for name, answers in faults.wrong_targets(stream, kind).items()}
        | {
            "the next action is the greatest one of the current state": target(
                shown.next_q[cells.row, beside.argmax(axis=1)]
            ),
            "values of illegal next actions are taken as 0": target((shown.next_q * shown.next_mask).max(axis=1)),
        }
    )
    by_step, likely, _ = _compared_by_step(found, beside, [known], loss_faults.td_loss, wrong, cells.describe)
    leak, leaks = _leak("the target", into_target, found)
    return _result("td_loss", [_balance(cells, at_exact, found), by_step, leak], [*leaks, *likely])


def _offset(draws: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
    """Return errors of values, none of which is near 0."""
    return draws.choice([-1, 1], shape) * draws.uniform(0.1, 0.3, shape)


def _balance(cells: Cells, at_exact: FloatArray, beside: FloatArray) -> Case:
    """Return the case that derivatives at exact values sum to 0, relative to the sums beside these values."""
    sums = cells.totals(at_exact) / (abs(cells.totals(beside)).max() or 1.0)
    return _compared("exact values", sums, np.zeros(sums.shape), cells.describe_state)


def _leak(name: str, into: FloatArray, found: FloatArray) -> tuple[Case, list[str]]:
    """Return the case that no gradient reaches a constant of the loss, and the likely fault."""
    case = Case(f"no gradient into {name}", float(abs(into).max() / (abs(found).max() or 1.0)), TOLERANCE)
    return case, [] if case.passed else [f"a gradient reaches {name}: detach it, or compute it without one"]


def _compared_by_step(
    found: FloatArray,
    inputs: FloatArray,
    batches: list[LossBatch],
    right: Loss,
    wrong: Mapping[str, Loss],
    where: Callable[..., str],
) -> tuple[Case, list[str], float]:
    """Compare the derivatives of each step with those of a right loss, then with those of wrong ones.

    Args:
        found: [C, ...] the derivatives of the loss under test.
        inputs: [C, ...] what they are derivatives by.
        batches: versions of the batch that the loss may use, such as one with normalised advantages.
        right: the right loss, up to a positive factor.
        wrong: wrong losses by name.
        where: describes a step.

    Returns:
        The case, the likely faults, and how many times as long as the right derivatives those found are.
    """
    with np.errstate(all="ignore"):
        for batch in batches:
            exact = loss_faults.derivatives(right, inputs, batch)
            length = _length(found, exact)
            case = _compared("single steps", found / length, exact, where)
            if case.passed:
                return case, [], length
            others = {name: loss_faults.derivatives(loss, inputs, batch) for name, loss in wrong.items()}
            names = [name for name, other in others.items() if _explains(found, other)]
            if names:
                return case, names, length
        return case, [_hint(found / length, exact)], length


def _length(found: FloatArray, exact: FloatArray) -> float:
    """Return how many times as long as others derivatives are; 1 if all are 0."""
    return float(np.linalg.norm(found) / np.linalg.norm(exact)) or 1.0


def _explains(found: FloatArray, wrong: FloatArray) -> bool:
    """Return True if derivatives are a positive multiple of those of a known fault."""
    return bool(abs(found - _length(found, wrong) * wrong).max() <= NAMED * abs(found).max())


def _hint(found: FloatArray, exact: FloatArray) -> str:
    """Return what is special about wrong derivatives [C, ...] that no known fault has."""
    if not np.isfinite(found).all():
        return "derivatives are not finite: look for logarithms of 0, and divisions by 0"
    if not found.any():
        return "no gradient: something is missing, detached, or computed without gradients"
    own, right = (np.linalg.norm(each.reshape(len(each), -1), axis=1) for each in (found, exact))
    matters = right > NAMED * right.max()
    weight = np.divide(own, right, out=np.zeros(len(own)), where=matters)
    if abs(found.T - weight * exact.T).max() <= NAMED * abs(found).max():
        if not own[matters].all():
            return "some steps have no gradient: a part of the batch is left out"
        return "steps have wrong weights: parts of the batch are averaged on their own, or errors are not squared"
    return "single steps have wrong derivatives: look at masks, actions, temperature, targets and ratios"


def _compared(name: str, found: FloatArray, exact: FloatArray, where: Callable[..., str]) -> Case:
    """Return a case: the greatest difference of derivatives, relative to the greatest exact one if any is not 0."""
    differs = np.nan_to_num(abs(found - exact) / (abs(exact).max() or 1.0), nan=np.inf)
    worst = np.unravel_index(np.argmax(differs), differs.shape)
    case = Case(name, float(differs[worst]), TOLERANCE)
    text = f"{where(*map(int, worst))}: the derivative is {found[worst]:.4g}, exactly {exact[worst]:.4g}"
    return case if case.passed else replace(case, where=text)


def _result(name: str, cases: list[Case], likely: list[str]) -> CheckResult:
    passed = all(case.passed for case in cases)
    return CheckResult(name, tuple(cases), tuple(likely), "" if passed else REMEDY)
