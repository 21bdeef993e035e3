"""Check losses by their gradients: of a policy, of values, and of action values."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.check import loss_faults
from stb_gym.check.formulas import SPREAD, WILD
from stb_gym.check.loss_batches import LossBatch, gradients
from stb_gym.check.results import Case, CheckResult
from stb_gym.check.trajectories import Process, Steps, random_process, turns
from stb_gym.checks import check_choice
from stb_gym.games import ShutTheBox

GAME = ShutTheBox(tiles=5, dice=2, faces=3)  # 826 turns of at most four steps
FAIR_GAME = ShutTheBox(tiles=5, dice=2, faces=2)  # under a uniform policy, 512 equally likely turns
RATIOS = (0.5, 0.95, 1.05, 1.5, 5.0)  # every clip range from 0.06 to 0.4 separates them, and dual clip below 5
TOLERANCE = 1e-4  # of the greatest derivative: more than the rounding of single precision
SAME_LENGTH = 5e-3  # of the length of a gradient: more than the choice of a standard deviation changes
HIDDEN = -1e4  # a logit of an illegal action that is masked before the loss
LAYOUTS = ("T", "padded")
FRAMEWORKS = ("torch", "jax")
NAMED = 1e-3  # the greatest difference from a known fault, relative to the greatest derivative
NO_GRADIENT = "the loss has no gradient: something is detached, or computed without gradients"
WRONG_STEPS = "single steps have wrong derivatives: look at masks, actions, temperature, targets and ratios"
REMEDY = "compare the derivatives of the step above with those of your loss, one factor at a time"


@dataclass(frozen=True)
class Layout:
    """Where steps stand in the arrays that a loss receives. There are C cells, some of them padding.

    Attributes:
        row: [C] the index of the step; 0 for padding.
        turn: [C] the number of the turn.
        exists: [C] False for padding.
        shape: (C,) or (turns, longest turn).
    """

    row: IntArray
    turn: IntArray
    exists: NDArray[np.bool_]
    shape: tuple[int, ...]

    def show(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array [C, ...] in the shape of the layout."""
        return array.reshape(self.shape + array.shape[1:])

    @property
    def factors(self) -> dict[str, float]:
        """The factors of a sum over steps that losses have, by name."""
        cells, steps, turns = len(self.exists), int(self.exists.sum()), int(self.turn.max()) + 1
        factors = {"sum": 1.0, "mean over steps": 1 / steps, "mean over turns of sums": 1 / turns}
        return factors | ({"mean over steps and padding": 1 / cells} if cells > steps else {})


def _arranged(steps: Steps, copies: IntArray, layout: str) -> Layout:
    """Return the layout of turns back to back, each of which occurs several times."""
    ends = np.flatnonzero(steps.terminated[:, 0]) + 1
    starts = np.r_[0, ends[:-1]]
    which = np.repeat(np.arange(len(starts)), copies)
    length = (ends - starts)[which, None]
    position = np.arange(length.max())
    exists = position < length
    row = np.where(exists, starts[which, None] + position, 0)
    turn = np.broadcast_to(np.arange(len(which))[:, None], row.shape)
    if layout == "T":
        return Layout(row[exists], turn[exists], exists[exists], (int(exists.sum()),))
    return Layout(row.ravel(), turn.ravel(), exists.ravel(), row.shape)


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

    All turns of a small game are listed once, and their probabilities are factors of the advantages. Then the gradient
    of a right loss at the policy that played is minus the exact policy gradient, which the tables of the game give
    (Sutton et al., "Policy gradient methods for reinforcement learning with function approximation", 2000). A sum over
    steps, a mean over steps and a mean over turns of sums pass; advantages may be normalised in the loss. Away from
    that policy, each sign of the advantage is combined with ratios inside and outside the clip range.

    Args:
        function: takes logits [T, A] and a `LossBatch`, and returns the loss.
        kind: "ppo", the clipped objective (Schulman et al., "Proximal policy optimization algorithms", 2017);
            "dual-clip", the same with a bound on the ratio where advantages are negative (Ye et al., "Mastering complex
            control in MOBA games with deep reinforcement learning", 2020); "importance", ratios without clipping;
            "a2c", log-probabilities without ratios.
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
        ('the sign is wrong: the loss falls as the policy gets worse',)
    """
    check_choice("kind", kind, list(loss_faults.OBJECTIVES))
    _check_options(layout, framework)
    if not 0 < temperature < np.inf:
        raise ValueError(f"a temperature is more than 0, not {temperature}")
    draws = np.random.default_rng(0)
    process = random_process(GAME, 1.0, seed=0)
    tables = process.tables
    steps = turns(process)
    cells = _arranged(steps, np.ones(int(steps.terminated.sum()), np.int64), layout)
    exists, pair = cells.exists, steps.pair[cells.row, 0]
    state = tables.pair_state[pair]
    advantage = process.backup(process.value) - tables.at_pairs(process.value)
    weighted = steps.weight[cells.row, 0] * advantage[pair]
    unit = float(weighted[exists].std())  # the mean is 0
    visits = np.bincount(steps.state[:, 0], steps.weight[:, 0], tables.num_states)
    exact = np.zeros(tables.legal.shape)
    of_pairs = tables.at_pairs(visits) * process.policy * advantage
    exact[tables.pair_state, tables.pair_action] = -of_pairs / unit / temperature
    by_state = draws.normal(size=exact.shape)
    by_state[tables.pair_state, tables.pair_action] = temperature * np.log(process.policy)
    by_state += draws.normal(size=(tables.num_states, 1))
    logits = np.where(exists[:, None], by_state[state], draws.normal(size=(len(state), tables.num_actions)))
    if not masked:
        logits[exists] = np.where(tables.legal[state], logits, HIDDEN)[exists]
    played = LossBatch(
        np.where(exists, tables.pair_action[pair], 0),
        exists,
        cells.turn,
        mask=~exists[:, None] | tables.legal[state],
        old_log_prob=np.where(exists, np.log(process.policy[pair]), -1.0),
        advantage=np.where(exists, weighted / unit, WILD),
        value=draws.normal(size=len(state)),
        entropy_weight=float(entropy_weight),
        temperature=float(temperature),
    )
    is_good, ratio = draws.random(len(state)) < 0.6, draws.choice(RATIOS, len(state))
    moved = replace(
        played,
        old_log_prob=played.old_log_prob - np.where(exists, np.log(ratio), 0),
        advantage=np.where(exists, np.where(is_good, 1, -1) * draws.uniform(0.5, 3.0, len(state)), WILD),
    )

    def derivatives(batch: LossBatch) -> tuple[FloatArray, FloatArray]:
        """Return those by the logits [C, A] and those by the values [C]."""
        shown = replace(batch, returns=batch.advantage + batch.value).map(cells.show)
        inputs = {"logits": cells.show(logits), "value": shown.value}
        by_logits, by_value = gradients(function, inputs, shown if masked else replace(shown, mask=None), framework)
        return by_logits.reshape(logits.shape), by_value.ravel()

    of_entropy, _ = derivatives(replace(played, advantage=np.zeros(len(state))))
    if not entropy_weight and not np.isfinite(of_entropy).all():  # advantages divided by their standard deviation
        of_entropy = np.zeros(logits.shape)
    (at_play, value_at_play), (away, value_away) = derivatives(played), derivatives(moved)
    found = [at_play - of_entropy, away - of_entropy]
    total = np.zeros(exact.shape)
    np.add.at(total, state[exists], found[0][exists])
    length = _length(total, exact)
    objective = loss_faults.OBJECTIVES[kind]
    as_given = [played, moved]
    after_normalising = [loss_faults.normalised(batch) for batch in as_given]
    truths = [
        [loss_faults.policy_gradient(logits, batch, objective) for batch in batches]
        for batches in (as_given, after_normalising)
    ]
    normalises = abs(found[1] / length - truths[1][1]).max() <= TOLERANCE * abs(truths[1][1]).max()
    truth = truths[int(normalises)][1]

    def at_step(step: int, action: int) -> str:
        return f"step {step}: {_described(process, int(state[step]), action)}"

    cases = [
        _compared("policy gradient of all turns", total / length, exact, lambda *at: _described(process, *at)),
        *_of_padding(cells, [each / length for each in found], truth),
    ]
    for good in (True, False):
        for each in RATIOS:
            rows = exists & (is_good == good) & (ratio == each)
            name = f"{'positive' if good else 'negative'} advantages, ratio {each:g}"
            cases.append(_compared(name, found[1] / length, truth, at_step, rows))
    likely: list[str] = []
    if not np.isfinite(found).all():
        likely.append("derivatives are not finite: look for logarithms of 0, and divisions by 0")
    elif not found[0].any():
        likely.append(NO_GRADIENT)
    elif all(case.passed for case in cases):
        cases.append(_with_factor(cells, length))
        likely += [cases[-1].where] * (not cases[-1].passed)
    else:
        wrong = loss_faults.of_policy(objective)
        for batches in (as_given, after_normalising, as_given[1:]):  # the last, if sums of advantages are divisors
            likely = likely or _names(found[-len(batches) :], [logits, logits], batches, wrong)
        likely = likely or [next(filter(None, (_by_weight(found, rows) for rows in truths)), WRONG_STEPS)]
    into_critic = float(max(abs(value_at_play).max(), abs(value_away).max()) / (abs(at_play).max() or 1.0))
    cases.append(Case("no gradient into the critic", into_critic, TOLERANCE))
    likely += ["the advantage carries a gradient to the critic: detach it"] * (into_critic > TOLERANCE)
    of_bonus, names = _entropy(of_entropy, logits, played, length, cells, at_step)
    return _result("policy_loss", [*cases, *of_bonus], [*likely, *names])


def _entropy(
    found: FloatArray,
    logits: FloatArray,
    batch: LossBatch,
    length: float,
    cells: Layout,
    where: Callable[..., str],
) -> tuple[list[Case], list[str]]:
    """Return the cases of the entropy bonus, and the likely faults.

    Args:
        found: [C, A] the derivatives of the loss with advantages of zero.
        logits: [C, A].
        batch: the steps.
        length: the factor of the policy loss.
        cells: the layout.
        where: describes a step and an action.
    """
    exact = loss_faults.entropy_gradient(loss_faults.policy(logits, batch), batch)
    if not batch.entropy_weight:
        error = float(abs(found).max() / length / abs(exact).max())
        weight = float((found * exact).sum() / (exact**2).sum()) / length
        if error <= TOLERANCE:
            return [Case("entropy bonus", skipped="entropy_weight is 0")], []
        case = Case("no gradient without advantages", error, TOLERANCE)
        if float(abs(found / length - weight * exact).max()) > NAMED * abs(weight):
            return [case], ["the loss has another term than the policy's: check that alone"]
        return [case], [f"the loss has an entropy bonus of weight {weight:.3g}: pass it as entropy_weight"]
    own = _length(found, exact) / batch.entropy_weight
    case = _compared("entropy bonus", found / own / batch.entropy_weight, exact, where)
    if not case.passed:
        missing = [] if found.any() else ["the entropy bonus has no gradient: it is missing or detached"]
        return [case], missing or _names([found], [logits], [batch], loss_faults.ENTROPY) or [
            "the entropy bonus has wrong derivatives: look at its masks, temperature and sums"
        ]
    means = [factor for name, factor in cells.factors.items() if name != "sum"]
    allowed = means if _nearest(length, means) <= SAME_LENGTH else [length]
    times = f"the entropy bonus is {own / length:.4g} times entropy_weight"
    off = _nearest(own, allowed)
    weighed = Case("weight of the entropy bonus", off, SAME_LENGTH, times if off > SAME_LENGTH else "")
    if weighed.passed:
        return [case, weighed], []
    summed = "it is summed over steps, but the policy loss is a mean"
    return [case, weighed], [f"{times}: {summed}" if abs(own - 1) <= SAME_LENGTH else times]


@checked
def value_loss(
    function: Callable[[Any, LossBatch], Any],
    *,
    kind: str = "plain",
    layout: str = "T",
    framework: str = "torch",
) -> CheckResult:
    """Check a loss of values by its derivatives by the values.

    All turns of a small game under a uniform policy are listed as often as they are likely. Then the mean return of
    each state is its exact value, which backups over the tables give. There the gradient must be 0, and beside it a
    step down the gradient must approach it. Any positive factor passes. Errors are below 0.7, so that the squared error
    and Huber losses agree.

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
    check_choice("kind", kind, list(loss_faults.VALUE_RULES))
    _check_options(layout, framework)
    draws = np.random.default_rng(0)
    steps, cells = _fair_turns(1.0, layout)
    process, exists = steps.process, cells.exists
    state = steps.state[cells.row, 0]
    returns = _returns(steps)[cells.row]
    offset = draws.choice([-1, 1], len(process.value)) * draws.uniform(0.1, 0.3, len(process.value))
    exact, beside = (np.where(exists, values[state], 0.0) for values in (process.value, process.value + offset))
    batch = LossBatch(
        np.where(exists, process.tables.pair_action[steps.pair[cells.row, 0]], 0),
        exists,
        cells.turn,
        returns=np.where(exists, returns, WILD),
    )
    rounded = np.round(beside * 256) / 256  # so that the clipped value is exactly the value within the range
    distance = draws.choice([-1, 1], len(state)) * draws.choice([16, 96], len(state)) / 256
    points = [exact, beside, rounded]
    batches = [replace(batch, old_value=old) for old in (exact, beside, rounded + distance)]
    found = [
        gradients(function, {"values": cells.show(values)}, each.map(cells.show), framework)[0].ravel()
        for values, each in zip(points, batches, strict=True)
    ]

    def at_state(number: int) -> str:
        return process.tables.describe_state(number)

    stays, length = _stationary(found[0], found[1], state, exists, offset, at_state)
    rule = loss_faults.VALUE_RULES[kind]
    truth = rule(rounded, batch.returns, batches[2]) * exists
    is_near = abs(distance) < batch.clip
    cases = [*stays, *_of_padding(cells, [each / length for each in found], offset)]
    for name, rows in (("within", is_near), ("beyond", ~is_near)):
        title = f"values {name} the clip range of the old ones"
        cases.append(
            _compared(
                title, found[2] / length, truth, lambda step: f"step {step}: {at_state(state[step])}", exists & rows
            )
        )
    likely = _likely_of_values(cases, found[1:], points[1:], batches[1:], loss_faults.of_values(rule))
    return _result("value_loss", cases, likely)


@checked
def td_loss(
    function: Callable[[Any, Any, LossBatch], Any],
    *,
    kind: str = "greedy",
    masked: bool = True,
    framework: str = "torch",
) -> CheckResult:
    """Check a loss of action values, such as that of DQN, by its derivatives.

    All turns of a small game under a uniform policy are listed as often as they are likely. Then the mean target of
    each state and action is the exact Bellman backup of the next values, which the tables give. There the gradient must
    be 0, and beside it a step down the gradient must approach it. Values of actions that were not taken must not move,
    and no gradient may reach the next values. Any positive factor passes. Errors are below 1, so that the squared error
    and Huber losses agree; values of illegal actions, and of states after the end of a turn, are wild.

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
    _check_options("T", framework)
    draws = np.random.default_rng(0)
    steps, cells = _fair_turns(0.9, "T")
    process, tables = steps.process, steps.process.tables
    pair, next_state = steps.pair[cells.row, 0], steps.next_state[cells.row, 0]
    ends = steps.terminated[cells.row, 0]
    allowed = tables.legal if masked else np.ones(tables.legal.shape, np.bool_)
    next_values, online = (np.where(allowed, draws.uniform(-0.2, 0.2, allowed.shape), WILD) for _ in range(2))
    chosen = np.where(allowed, next_values if kind == "greedy" else online, -np.inf).argmax(axis=1)
    backup = process.backup(next_values[np.arange(len(chosen)), chosen])
    offset = draws.choice([-1, 1], len(backup)) * draws.uniform(0.1, 0.3, len(backup))
    wild = WILD + SPREAD * draws.normal(size=(len(pair), tables.num_actions))
    next_q = np.where(ends[:, None], wild, next_values[next_state])
    batch = LossBatch(
        tables.pair_action[pair],
        cells.exists,
        cells.turn,
        reward=steps.reward[cells.row, 0],
        terminated=ends,
        next_mask=ends[:, None] | allowed[next_state],
        next_q_online=np.where(ends[:, None], wild[:, ::-1], online[next_state]),
        discount=process.discount,
    )
    others = draws.uniform(-0.3, 0.3, tables.legal.shape)
    points, by_q, by_next = [], [], []
    for values in (backup, backup + offset):
        table = others.copy()
        table[tables.pair_state, tables.pair_action] = values
        points.append(table[tables.pair_state[pair]])
        at_q, at_next = gradients(
            function,
            {"q": points[-1], "next_q": next_q},
            batch if masked else replace(batch, next_mask=None),
            framework,
        )
        by_q.append(at_q)
        by_next.append(at_next)
    step = np.arange(len(pair))
    taken = [each[step, batch.action] for each in by_q]

    def at_pair(number: int) -> str:
        return f"{tables.describe_state(int(tables.pair_state[number]))}, {tables.describe_move(number)}"

    stays, length = _stationary(taken[0], taken[1], pair, cells.exists, offset, at_pair)
    untaken = by_q[1].copy()
    untaken[step, batch.action] = 0

    def at_step(step: int, action: int) -> str:
        return f"step {step}: {_described(process, int(tables.pair_state[pair[step]]), action)}"

    into_target = float(abs(np.array(by_next)).max() / (abs(by_q[1]).max() or 1.0))
    cases = [
        *stays,
        _compared("only actions that were taken move", untaken / length, np.zeros(untaken.shape), at_step),
        Case("no gradient into the target", into_target, TOLERANCE),
    ]
    wrong = loss_faults.of_action_values(kind, next_q, batch)
    likely = _likely_of_values(cases[:-1], by_q[1:], points[1:], [batch], wrong)
    if into_target > TOLERANCE:
        likely.insert(0, "the target carries a gradient: compute it without one, or detach it")
    return _result("td_loss", cases, likely)


def _check_options(layout: str, framework: str) -> None:
    check_choice("layout", layout, LAYOUTS)
    check_choice("framework", framework, FRAMEWORKS)


def _fair_turns(discount: float, layout: str) -> tuple[Steps, Layout]:
    """Return turns under a uniform policy, and a layout in which each occurs as often as it is likely.

    Rewards are scaled so that no return is farther than 0.3 from the value.
    """
    process = random_process(FAIR_GAME, discount, seed=0)
    steps = turns(replace(process, policy=process.tables.uniform))
    unit = 0.3 / abs(_returns(steps) - steps.process.value[steps.state[:, 0]]).max()
    scaled = replace(steps.process, move_reward=unit * process.move_reward, final_reward=unit * process.final_reward)
    probability = [Fraction(each).limit_denominator(10**6) for each in steps.weight[steps.terminated]]
    number = np.lcm.reduce([each.denominator for each in probability])
    copies = np.array([int(each * number) for each in probability])
    return replace(steps, process=scaled), _arranged(steps, copies, layout)


def _returns(steps: Steps) -> FloatArray:
    """Return [T] the discounted sum of the rewards from each step to the end of its turn."""
    sums = steps.reward[:, 0].copy()
    for step in reversed(range(len(sums) - 1)):
        sums[step] += steps.process.discount * ~steps.terminated[step, 0] * sums[step + 1]
    return sums


def _stationary(
    at_exact: FloatArray,
    beside: FloatArray,
    key: IntArray,
    exists: NDArray[np.bool_],
    offset: FloatArray,
    where: Callable[[int], str],
) -> tuple[list[Case], float]:
    """Return the cases of exact values, which stay, and of others, which move towards them; and the loss's factor.

    Args:
        at_exact: [C] derivatives where the values are exact.
        beside: [C] derivatives where an offset is added.
        key: [C] the entry of the table of values.
        exists: [C] False for padding.
        offset: [K] the offset.
        where: describes an entry.
    """
    count = np.bincount(key[exists], minlength=len(offset))
    right, stay, move = (
        np.bincount(key[exists], each[exists], len(offset)).astype(np.float64)
        for each in (offset[key], at_exact, beside)
    )
    length = _length(move, right)
    per_step = np.maximum(count, 1) * length
    moves = _compared("values beside the exact ones", move / per_step, np.where(count > 0, offset, 0), where)
    stays = _compared("exact values", stay / per_step, np.zeros(len(offset)), where, unit=float(abs(offset).max()))
    return [stays, moves], length


def _likely_of_values(
    cases: Sequence[Case],
    found: list[FloatArray],
    values: list[FloatArray],
    batches: list[LossBatch],
    wrong: loss_faults.Named,
) -> list[str]:
    """Return which faults of a loss of values look like this."""
    if all(case.passed for case in cases):
        return []
    if not any(each.any() for each in found):
        return [NO_GRADIENT]
    return _names(found, values, batches, wrong) or [WRONG_STEPS]


def _length(found: FloatArray, exact: FloatArray) -> float:
    """Return how many times as long as the exact gradient a gradient is; 1 if it is 0."""
    return float(np.linalg.norm(found) / np.linalg.norm(exact)) or 1.0


def _nearest(length: float, factors: Sequence[float]) -> float:
    """Return the relative difference to the nearest of some factors."""
    return min(abs(length / factor - 1) for factor in factors)


def _with_factor(cells: Layout, length: float) -> Case:
    """Return the case that a gradient has a length which an ordinary sum or mean gives."""
    factors = cells.factors
    name = min(factors, key=lambda each: abs(np.log(length / factors[each])))
    off = _nearest(length, [factors[name]])
    times = length / factors["mean over steps"]
    where = f"the gradient is {times:.4g} times that of a mean over steps: a factor is wrong or occurs twice"
    return Case(f"length of the gradient ({name})", off, SAME_LENGTH, where if off > SAME_LENGTH else "")


def _compared(
    name: str,
    found: FloatArray,
    exact: FloatArray,
    where: Callable[..., str],
    rows: Any = True,
    unit: float = 0.0,
) -> Case:
    """Return a case: the greatest difference of derivatives.

    Args:
        name: of the case.
        found: derivatives.
        exact: the same, exactly.
        where: describes an index.
        rows: [C] False where differences do not count.
        unit: of the error; by default the greatest exact derivative.
    """
    differs = abs(found - exact) * np.reshape(rows, np.shape(rows) + (1,) * (found.ndim - np.ndim(rows)))
    differs = np.where(np.isnan(differs), np.inf, differs) / (unit or float(abs(exact).max()) or 1.0)
    worst = tuple(map(int, np.unravel_index(np.argmax(differs), differs.shape)))
    error = float(differs[worst])
    text = f"{where(*worst)}: the derivative is {found[worst]:.4g}, exactly {exact[worst]:.4g}" if error else ""
    return Case(name, error, TOLERANCE, text)


def _of_padding(cells: Layout, found: list[FloatArray], exact: FloatArray) -> Iterator[Case]:
    """Yield the case that padding has no gradient, if there is any."""
    if not cells.exists.all():
        largest = max(float(np.nan_to_num(abs(each[~cells.exists]), nan=np.inf).max()) for each in found)
        yield Case("padding has no gradient", largest / float(abs(exact).max()), TOLERANCE)


def _explains(found: list[FloatArray], wrong: Iterator[FloatArray]) -> bool:
    """Return True if derivatives are a positive multiple of those of a known fault."""
    scale = 0.0
    for each, other in zip(found, wrong, strict=True):
        if not scale:
            square = float((other**2).sum())
            scale = float((each * other).sum()) / square if square else 0.0
        if not scale > 0 or not abs(each - scale * other).max() <= NAMED * abs(each).max():
            return False
    return True


def _names(
    found: list[FloatArray], inputs: list[FloatArray], batches: list[LossBatch], wrong: loss_faults.Named
) -> list[str]:
    """Return the names of the faults that have these derivatives."""
    with np.errstate(all="ignore"):
        explained = (name for name, gradient in wrong if _explains(found, map(gradient, inputs, batches)))
        return list(dict.fromkeys(explained))


def _by_weight(found: list[FloatArray], exact: list[FloatArray]) -> str:
    """Return what weights of steps, other than equal ones, would explain derivatives; "" if none do."""
    by_step = []
    for each, right in zip(found, exact, strict=True):
        square = (right**2).sum(axis=1)
        weight = np.divide((each * right).sum(axis=1), square, out=np.full(len(square), np.nan), where=square > 1e-8)
        if abs(each - np.nan_to_num(weight)[:, None] * right).max() > NAMED * abs(each).max():
            return ""
        by_step.append(weight)
    weight = np.where(np.isnan(by_step[0]), by_step[1], by_step[0])
    weight = weight[~np.isnan(weight)]
    is_zero = abs(weight) < NAMED * abs(weight).max()
    last = int(np.flatnonzero(~is_zero)[-1]) + 1
    if is_zero[last:].any():
        return "the last steps of the batch have no gradient: a part of the batch is left out"
    if is_zero.any():
        return "some steps have no gradient: they are left out"
    return "steps have different weights: parts of the batch are averaged on their own, and then the means are averaged"


def _described(process: Process, state: int, action: int) -> str:
    """Return a state and an action in words."""
    tables = process.tables
    pair = next((pair for pair in tables.pairs_of(state) if tables.pair_action[pair] == action), None)
    move = f"illegal action {action}" if pair is None else tables.describe_move(pair)
    return f"{tables.describe_state(state)}, {move}"


def _result(name: str, cases: list[Case], likely: list[str]) -> CheckResult:
    passed = all(case.passed for case in cases)
    return CheckResult(name, tuple(cases), () if passed else tuple(likely), "" if passed else REMEDY)
