"""Check whole updates of learners: one update on all turns of a small game, each as often as it is likely.

The data have no sampling error, so one update by plain gradient descent moves the parameters exactly along the
gradient that follows from the tables of the game.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from importlib import import_module
from importlib.metadata import version
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stb_gym.arguments import checked
from stb_gym.arrays import FloatArray, IntArray
from stb_gym.check.learners import Transitions, UpdateTask
from stb_gym.check.results import Case, CheckResult
from stb_gym.check.trajectories import Process, random_process, turns
from stb_gym.check.update_faults import Movement, policy_faults, q_faults
from stb_gym.games import ShutTheBox
from stb_gym.messages import quoted, reason

SPREAD = 0.5  # standard deviation of the numbers in observations
REWARD = 0.1  # standard deviation of rewards: small, so that the Huber loss of action values is half a square
NOISE = 0.03  # standard deviation of what is added to the parameters of a target network
FIT = 1e-2  # how close log-probabilities of the learner must come to those of the policy of the data
ROUNDING = 1e-7  # of parameters in single precision
EXACT, NEARLY = 1e-3, 0.1  # tolerances of one step, which is linear in the learning rate, and of several
COPY = 1e-6  # tolerance of the parameters of a target network
REMEDY = "make one update by hand on two transitions: print the loss, the gradients and what the optimiser holds"
Judged = tuple[Case, list[str]]  # a case, and the faults that look like its error


@dataclass(frozen=True, repr=False)
class MoreActions(ShutTheBox):
    """Shut the Box in which illegal actions are allowed and end the turn; with masks only every second one is."""

    name = "more-actions"
    masked: bool = True

    def moves(self, afterstate: tuple[int, int], roll: tuple[int, ...]) -> dict[int, tuple[int, int]]:
        """Return the afterstate of each action, without dice if it ends the turn; {} where the turn is over."""
        legal = super().moves(afterstate, roll)
        others = range(1, len(self.actions), 2) if self.masked else range(len(self.actions))
        return dict.fromkeys(others, (afterstate[0], 0)) | legal if legal else {}


@dataclass(frozen=True, eq=False)
class Data:
    """Turns of a small game, back to back, each as often as it is likely.

    Attributes:
        process: the game, its rewards and the policy of the data.
        observation: [S, O] the observation of each state.
        pair: [N] the state and action of each step, as an index of the tables.
        next_state: [N] the state that each step leads to.
        transitions: what a learner gets, with zeros in the place of its log-probabilities and values.
    """

    process: Process
    observation: NDArray[np.float32]
    pair: IntArray
    next_state: IntArray
    transitions: Transitions

    @property
    def state(self) -> IntArray:
        """[N] the state in which each step begins."""
        return self.process.tables.pair_state[self.pair]


def exact_data(masked: bool) -> Data:
    """Return all turns under a policy of simple fractions, each as often as it is likely, in random order."""
    draws = np.random.default_rng(0)
    game = MoreActions(tiles=3, dice=1, faces=4 if masked else 3, masked=masked)
    process = random_process(game, UpdateTask.discount, seed=0)
    tables = process.tables
    weight = np.ones(len(process.policy))
    weight[tables.pair_start[tables.decisions]] = 2.0  # of the first action of each state
    process = replace(
        process,
        policy=weight / tables.at_pairs(tables.sum_at_states(weight)),
        move_reward=REWARD * process.move_reward,
        final_reward=REWARD * draws.normal(size=tables.num_afterstates),
    )
    once = turns(process)
    ends = np.flatnonzero(once.terminated) + 1
    begins = np.append(0, ends[:-1])
    chances = [Fraction(chance).limit_denominator(10**6) for chance in once.weight[begins, 0]]
    number = lcm(*(chance.denominator for chance in chances))
    copies = np.repeat(np.arange(len(ends)), [int(number * chance) for chance in chances])
    rows = np.concatenate([np.arange(begins[turn], ends[turn]) for turn in draws.permutation(copies)])

    observation = SPREAD * draws.normal(size=(tables.num_states, UpdateTask.num_features)).astype(np.float32)
    pair, state, next_state = (column[rows, 0] for column in (once.pair, once.state, once.next_state))
    terminated = once.terminated[rows, 0]
    transitions = Transitions(
        observation[state],
        tables.pair_action[pair].astype(np.int64),
        once.reward[rows, 0].astype(np.float32),
        terminated,
        tables.legal[state],
        observation[next_state],
        tables.legal[next_state] | terminated[:, None],
        log_prob=np.zeros(len(rows), np.float32),
        value=np.zeros(len(rows), np.float32),
    )
    return Data(process, observation, pair, next_state, transitions)


@checked
def update(
    make: Callable[[UpdateTask], Any],
    *,
    masked: bool = True,
    double: bool = False,
    minibatches: bool = True,
    clipping: bool = True,
    entropy: bool = True,
    normalised: bool = False,
) -> CheckResult:
    """Check one whole update of a learner: buffer, advantages, losses, masks, gradients, clipping and optimiser.

    The learner's policy is first fitted to simple fractions. So all turns of a small game, each as often as it is
    likely, are some thousand transitions of equal weight. Rewards on moves, a discount and the learner's own critic
    make every part of the update matter.

    Args:
        make: takes an `UpdateTask` and returns a `Learner`, or a class of stable-baselines3 or sb3-contrib: PPO, A2C,
            DQN or MaskablePPO, for which `masked` and `minibatches` are known.
        masked: whether the learner uses masks. Without masks all actions are in the data, and illegal ones end the
            turn.
        double: whether a learner of action values selects the next action by the network that it trains.
        minibatches: whether a learner of a policy divides the data into minibatches, several times.
        clipping: whether the norm of the gradient of all parameters together is clipped.
        entropy: whether a learner of a policy has an entropy bonus.
        normalised: whether it normalises advantages and cannot do without. Then the policy loss may have any positive
            factor, and clipping is not checked.

    Returns:
        The result; an error is the difference from the exact step, relative to its length.

    Raises:
        TypeError: if `make` returns no learner, or a method of it fails.
        ValueError: if a method returns another shape, or a tensor without gradients.

    Example:
        >>> import stable_baselines3
        >>> from stb_gym import check
        >>> check.update(stable_baselines3.A2C).passed
        True
    """
    if any(base.__module__.startswith("stable_baselines3.") for base in getattr(make, "__mro__", ())):
        make, masked, minibatches = import_module("stb_gym.check.adapters").stable_baselines3(make)
    size, num_actions = exact_data(masked).transitions.mask.shape
    whole = UpdateTask(num_actions, size, size, entropy_coefficient=0.05 if entropy else 0.0)
    learner = make(whole)
    of_values = hasattr(learner, "q_values")
    if not (hasattr(learner, "network") and (of_values or hasattr(learner, "logits"))):
        raise TypeError(
            f"make must return a learner with network, update, and logits or q_values, not {quoted(learner)}"
        )
    if not hasattr(learner, "values"):
        whole = replace(whole, lam=1.0)
    tasks = {"one step on all data": whole}
    if minibatches and not of_values:
        number = next(number for number in range(4, size + 1) if size % number == 0)
        tasks[f"{number} minibatches, twice"] = replace(
            whole, batch_size=size // number, num_epochs=2, learning_rate=2e-4
        )
    if clipping and not normalised:
        tasks["clipped gradient"] = replace(whole, learning_rate=10.0, max_grad_norm=0.02)

    judged = []
    if hasattr(learner, "target_network") and hasattr(learner, "update_target"):
        judged.append(_check_target_network(learner, whole.tau))
    for name, task in tasks.items():
        if all(case.passed for case, _ in judged):
            judged.append(_check_step(name, make(task), task, exact_data(masked), double, normalised))
        else:
            judged.append((Case(name, skipped="an earlier case failed"), []))
    cases = tuple(case for case, _ in judged)
    remedy = "" if all(case.passed for case in cases) else REMEDY
    likely = dict.fromkeys(words for _, found in judged for words in found)
    versions = {name: version(name) for name in ("torch", *getattr(learner, "distributions", ()))}
    return CheckResult("update", cases, tuple(likely), remedy, versions)


def _check_target_network(learner: Any, tau: float) -> Judged:
    """Check that the target network has its own parameters, and follows the network that is trained."""
    before = _joined(learner.network.parameters())
    _add_noise(learner.target_network)
    online = _joined(learner.network.parameters())
    target = _joined(learner.target_network.parameters())
    if (online != before).any():
        same = "the target network is the network that is trained, not a copy"
        return Case("a target network of its own", 1.0, where="both changed at once"), [same]
    _call(learner, "update_target")
    after = _joined(learner.target_network.parameters())
    error = float(abs(after - target - tau * (online - target)).max())
    wrong = {
        "the target network does not change: the update copies it to itself, or does not reach it": target,
        "the target network is copied at once: tau is ignored": online,
        "tau and 1 - tau are exchanged": (1 - tau) * online + tau * target,
    }
    likely = [words for words, numbers in wrong.items() if error > COPY and abs(after - numbers).max() <= COPY]
    return Case("the target network follows", error, COPY, "its parameters, all in one update"), likely


def _check_step(name: str, learner: Any, task: UpdateTask, data: Data, double: bool, normalised: bool) -> Judged:
    """Let a learner make its update, and compare its step with the exact one."""
    torch = import_module("torch")
    if hasattr(learner, "q_values"):
        losses, faults, transitions = _q_loss(learner, data, double)
    else:
        losses, faults, transitions = _policy_losses(learner, task, data)
    names, weights = zip(*learner.network.named_parameters(), strict=True)

    def descent(loss: Any) -> FloatArray:
        """Return [K] minus the derivatives of a loss."""
        slopes = torch.autograd.grad(loss, weights, retain_graph=True, allow_unused=True, materialize_grads=True)
        return -_joined(slopes)

    parts = {part: descent(loss) for part, loss in losses.items()} | {"weight decay": -_joined(weights)}
    factors = {
        "the loss": 1.0,
        "the policy loss": 1.0,
        "the value loss": task.value_coefficient,
        "the entropy bonus": task.entropy_coefficient,
        "weight decay": 0.0,
    }
    norm = float(np.linalg.norm(sum(factors[part] * slope for part, slope in parts.items())))
    minibatches = task.num_steps // task.batch_size
    rate = task.learning_rate * task.num_epochs * minibatches
    scale = rate * min(1.0, task.max_grad_norm / (norm + 1e-6))
    whole_step = task.num_epochs == 1 and task.max_grad_norm >= norm
    wrong = {words: rate * descent(loss) for words, loss in faults().items()} if whole_step else {}

    before = _joined(weights)
    _call(learner, "update", transitions)
    movement = Movement(
        names,
        np.repeat(np.arange(len(names)), [weight.numel() for weight in weights]),
        _joined(weights) - before,
        {part: scale * slope for part, slope in parts.items()},
        factors,
        EXACT if task.num_epochs == 1 else NEARLY,
        ROUNDING * float(np.linalg.norm(before)),
    )
    if normalised:
        policy = movement.parts["the policy loss"]
        factor = 1 + float(policy @ (movement.moved - movement.exact) / (policy @ policy))
        movement = replace(movement, factors=factors | {"the policy loss": max(factor, 0.01)})
    case = Case(name, movement.error, movement.tolerance, movement.where)
    if case.passed:
        return case, []
    if whole_step:
        lengths = {
            "the learning rate is applied twice": task.learning_rate,
            "the sign of the whole loss is wrong": -1.0,
            "the loss is a sum over steps, not a mean": task.num_steps,
            "the loss is a mean over turns, not over steps": task.num_steps / transitions.terminated.sum(),
        }
        return case, movement.explanations({words: each * movement.exact for words, each in lengths.items()} | wrong)
    if task.num_epochs == 1:
        return case, ["the gradient is not clipped by the norm of all parameters together"]
    shares = {
        "only the first of all minibatches is used": 1 / minibatches / task.num_epochs,
        "only the first minibatch of each epoch is used": 1 / minibatches,
        "only one epoch is done": 1 / task.num_epochs,
    }
    found = [words for words, share in shares.items() if abs(movement.ratio / share - 1) < 0.25]
    return case, found or ["minibatches are left out, overlap, or are weighted in another way"]


# The truth, from the tables of the game

Truth = tuple[dict[str, Any], Callable[[], dict[str, Any]], Transitions]  # exact losses, wrong ones, the data


def _policy_losses(learner: Any, task: UpdateTask, data: Data) -> Truth:
    """Return the losses of a policy, of a critic and of entropy."""
    torch = import_module("torch")
    process, tables = data.process, data.process.tables
    illegal = torch.as_tensor(~tables.legal)

    def log_policy() -> Any:
        return _answer(learner, "logits", data).masked_fill(illegal, -1e9).log_softmax(dim=1)

    # Fit the policy to that of the data: then a baseline that depends on the state does not change the mean gradient.
    optimiser = torch.optim.LBFGS(
        learner.network.parameters(), max_iter=1000, tolerance_grad=1e-4, line_search_fn="strong_wolfe"
    )
    wanted = torch.as_tensor(np.log(process.policy))

    def misfit() -> Any:
        optimiser.zero_grad()
        loss = ((log_policy()[tables.pair_state.copy(), tables.pair_action.copy()] - wanted) ** 2).sum()
        loss.backward()
        return loss

    optimiser.step(misfit)
    off = float(misfit().detach().sqrt())
    if off > FIT:
        raise ValueError(f"the network cannot represent the policy of the data: log-probabilities are off by {off:.2g}")
    optimiser.zero_grad()

    log_probs = log_policy()[data.state]
    taken = log_probs[np.arange(len(log_probs)), data.transitions.action]
    values = _answer(learner, "values", data) if hasattr(learner, "values") else 0 * log_policy()[:, 0]
    value = _array(values)
    error = process.backup(value) - tables.at_pairs(value)
    advantage = process.look_ahead(error, task.lam, process.longest_turn)[-1]
    target = value + process.mean_at_states(advantage)
    losses = {
        "the policy loss": -(torch.as_tensor(advantage[data.pair]) * taken).mean(),
        "the value loss": ((values - torch.as_tensor(target))[data.state] ** 2).mean(),
        "the entropy bonus": (log_probs.exp() * log_probs).sum(dim=1).mean(),
    }
    transitions = replace(
        data.transitions,
        log_prob=_array(taken).astype(np.float32),
        value=value[data.state].astype(np.float32),
    )
    logits = _answer(learner, "logits", data)
    faults = partial(policy_faults, task, transitions, logits[data.state], values[data.state])
    return losses, faults, transitions


def _q_loss(learner: Any, data: Data, double: bool) -> Truth:
    """Return half the mean square of the errors of action values."""
    torch = import_module("torch")
    process, tables = data.process, data.process.tables
    online = target = _answer(learner, "q_values", data)
    if hasattr(learner, "target_network"):
        _add_noise(learner.target_network)
        target = _answer(learner, "target_q_values", data)
    selects = np.where(tables.legal, _array(online if double else target), -np.inf).argmax(axis=1)
    best = np.where(process.is_over, 0, _array(target)[np.arange(len(selects)), selects])
    taken = online[data.state, data.transitions.action]
    if abs(_array(taken) - data.transitions.reward - process.discount * best[data.next_state]).max() >= 1:
        raise ValueError("action values of a new network must be near 0, so that no error is 1 or more")
    losses = {"the loss": 0.5 * ((taken - torch.as_tensor(process.backup(best)[data.pair])) ** 2).mean()}
    faults = partial(
        q_faults, data.transitions, online[data.state], online[data.next_state], target[data.next_state], double
    )
    return losses, faults, data.transitions


def _add_noise(network: Any) -> None:
    """Add noise to the parameters of a target network, so that it differs from the network that is trained."""
    torch = import_module("torch")
    draws = np.random.default_rng(0)
    with torch.no_grad():
        for weight in network.parameters():
            weight += torch.as_tensor(NOISE * draws.normal(size=weight.shape)).to(weight)


def _array(tensor: Any) -> FloatArray:
    """Return a tensor as an array."""
    return np.asarray(tensor.detach().cpu().double())


def _joined(tensors: Any) -> FloatArray:
    """Return all numbers of tensors in one array."""
    return np.concatenate([_array(tensor).ravel() for tensor in tensors])


def _call(learner: Any, method: str, *arguments: Any) -> Any:
    """Return the answer of a method; raise TypeError in one line if it fails."""
    try:
        return getattr(learner, method)(*arguments)
    except Exception as error:
        name = f"{type(learner).__name__}.{method}"
        raise TypeError(f"{name} raised {type(error).__name__}: {quoted(reason(error), 90)}") from error


def _answer(learner: Any, method: str, data: Data) -> Any:
    """Return what a method answers for all states, as float64; raise ValueError if that has another shape."""
    answer = _call(learner, method, import_module("torch").as_tensor(data.observation))
    shape = data.process.tables.legal.shape[: 1 if method == "values" else 2]
    found = getattr(answer, "shape", type(answer).__name__)
    if found != shape:
        raise ValueError(f"{type(learner).__name__}.{method} must return a tensor of shape {shape}, not {found}")
    if not (answer.requires_grad or method == "target_q_values"):
        raise ValueError(f"{type(learner).__name__}.{method} must return a tensor with gradients")
    return answer.double()
